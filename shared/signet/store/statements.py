"""Named SQL: each module of the store speaks the statements of the `.sql` file of its name beside it.

    -- name: find_tenant
    SELECT … WHERE tenant_id = %(tenant_id)s

Statements are reached as attributes. `tests/store/test_statements.py` prepares every one of them on
the migrated database and fails on a name that is unknown or unused.
"""

import re
from pathlib import Path

from signet.core.errors import Defect

_NAME_LINE = re.compile(r"^-- name: (?P<name>[a-z][a-z0-9_]*)$", re.MULTILINE)


def read_statements(module_file: str) -> dict[str, str]:
    path = Path(module_file).with_suffix(".sql")
    text = path.read_text(encoding="utf-8")
    _preamble, *parts = _NAME_LINE.split(text)
    names, bodies = parts[::2], parts[1::2]
    if len(set(names)) != len(names):
        raise Defect("STATEMENT_NAME_TWICE", f"a statement name stands twice in {path.name}")
    return {name: body.strip().rstrip(";") for name, body in zip(names, bodies, strict=True)}


class Statements:
    """The statements beside one module, by attribute."""

    def __init__(self, module_file: str) -> None:
        self._file_name = Path(module_file).with_suffix(".sql").name
        self._statements = read_statements(module_file)

    def __getattr__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise AttributeError(f"{self._file_name} has no statement {name!r}") from None
