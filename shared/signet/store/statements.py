"""Named SQL: each module of the store speaks the statements of the `.sql` file of its name beside it.

    -- name: find_tenant
    -- Find a tenant with its settings.
    SELECT … WHERE tenant_id = %(tenant_id)s

Statements are reached as attributes. `integration/store/test_statements.py` prepares every one of them on
the migrated database and fails on a name that is unknown or unused.

Below its name a statement has a sentence: what it does, and why in this form. It is not sent. A
`part` instead of a `name` is text that the statements of a file share, and name in braces.
"""

import re
from pathlib import Path

from signet.core.errors import Defect

_HEAD_LINE = re.compile(r"^-- (name|part): ([a-z][a-z0-9_]*)\n", re.MULTILINE)
_COMMENT = re.compile(r"(?:--.*\n)+")


def read_statements(module_file: str) -> dict[str, str]:
    return {name: text for name, _, text in read_explained_statements(module_file)}


def read_explained_statements(module_file: str) -> list[tuple[str, str, str]]:
    """Return name, sentence and text of each statement, for a module that shows them to people."""
    path = Path(module_file).with_suffix(".sql")
    _preamble, *found = _HEAD_LINE.split(path.read_text(encoding="utf-8"))
    statements: dict[str, str] = {}
    parts: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for kind, name, body in zip(found[::3], found[1::3], found[2::3], strict=True):
        comment = _COMMENT.match(body)
        if comment is None:
            raise Defect("STATEMENT_UNEXPLAINED", f"no sentence says what {name} in {path.name} does")
        if name in statements or name in parts:
            raise Defect("STATEMENT_NAME_TWICE", f"a statement name stands twice in {path.name}")
        (statements if kind == "name" else parts)[name] = body[comment.end() :].strip().rstrip(";")
        sentences[name] = " ".join(line.removeprefix("--").strip() for line in comment[0].splitlines())
    for part, text in parts.items():
        statements = {name: body.replace(f"{{{part}}}", text) for name, body in statements.items()}
    return [(name, sentences[name], text) for name, text in statements.items()]


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
