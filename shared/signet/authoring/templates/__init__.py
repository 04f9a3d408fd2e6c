"""Contracts, patches and automations to begin with, as the package carries them: JSON beside this file.

They are made out of the examples (`make templates`), so that what a tenant begins with is what is tested.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    label: str
    summary: str
    contract: Mapping[str, Any] | None = None
    patch: Mapping[str, Any] | None = None
    automation: Mapping[str, Any] | None = None


@cache
def load_templates() -> Mapping[str, Template]:
    """By name."""
    return {
        path.stem: Template(path.stem, **json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.json"))
    }
