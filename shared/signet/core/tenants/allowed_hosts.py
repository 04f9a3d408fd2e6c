"""Hosts that a tenant may call: by name (`erp.a.example`), or all below one (`*.a.example`)."""

import re
from collections.abc import Collection
from typing import Annotated

from pydantic import Field

MAX_HOST_CHARACTERS = 253
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PATTERN = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*")
ANY_BELOW = "*."

HostPattern = Annotated[
    str,
    Field(
        pattern=f"^{_PATTERN.pattern}$",
        max_length=MAX_HOST_CHARACTERS,
        description="A host in lower case, or *. and a domain for all hosts below it (not for itself).",
    ),
]


def is_among(host: str, patterns: Collection[str]) -> bool:
    """Match a host with the patterns, regardless of case and of a dot at its end."""
    name = host.lower().removesuffix(".")
    return any(
        name.endswith(pattern.removeprefix("*")) if pattern.startswith(ANY_BELOW) else name == pattern
        for pattern in patterns
    )
