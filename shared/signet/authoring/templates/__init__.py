"""Templates that a tenant may begin with: contracts, patches and automations, as JSON beside this file.

`make templates` makes them from the examples, so that a tenant begins with tested files.
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
    """Return the templates by name."""
    return {
        path.stem: Template(path.stem, **json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.json"))
    }
