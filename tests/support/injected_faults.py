"""The states that the tests' proxy refuses statements with, and who of the engine opened a transaction."""

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import signet.engine
from signet.store.database import Database
from signet.store.sqlstates import find_failure
from tests.support.database.wire_proxy import Answer

# One of each entry of the table in store/sqlstates.py, and what servers send in its class.
STATES: Sequence[str] = (
    "25006", "53100", "40001", "55P03", "57014", "53300", "40P01", "53200", "57P01", "XX000", "58030",
    "25P03", "53400", "54001", "57P02", "08006", "25P04", "58P01",
)  # fmt: skip
# The server ends the connection with these.
FATAL = frozenset({"57P01", "57P02", "08006", "25P03", "25P04"})
ENGINE = Path(signet.engine.__file__).parent
OPENING = frozenset(
    {
        "transaction",
        "snapshot",
        "pipelined",
        "shared_transaction",
        "tenantless_transaction",
        "reading",
        "administering",
        "operating",
        "open_tenant",
    }
)


def refuse(number: int, state: str) -> Answer:
    """Return the fault at this statement. A lasting one leaves no way by which it is done after all."""
    is_fatal = state in FATAL
    return Answer(number, state, is_fatal=is_fatal, is_lasting=not is_fatal)


def codes_of(state: str) -> frozenset[str]:
    """Return the codes that a caller may be told of a state."""
    failure = find_failure(state)
    assert failure is not None, f"{state} is not in the table"
    lost = {"OUTCOME_UNKNOWN", "DATABASE_UNAVAILABLE"} if state in FATAL else set()
    return frozenset({failure.code, *lost})


def find_openers() -> frozenset[str]:
    """Find the modules of the engine whose text opens a transaction."""
    return frozenset(
        _name(path) for path in ENGINE.rglob("*.py") if _opens(ast.parse(path.read_text(encoding="utf-8")))
    )


def _opens(tree: ast.Module) -> bool:
    return any(
        _name_called(item.context_expr) in OPENING
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        for item in node.items
    )


def _name_called(called: ast.expr) -> str | None:
    if not isinstance(called, ast.Call):
        return None
    if isinstance(called.func, ast.Attribute):
        return called.func.attr
    return called.func.id if isinstance(called.func, ast.Name) else None


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ENGINE).with_suffix("").parts)


@contextmanager
def watching_openers(monkeypatch: Any) -> Iterator[set[str]]:
    """Collect the modules of the engine on whose way a transaction is opened."""
    seen: set[str] = set()
    real = Database._open_pipelined

    def watch(self: Database, begin: str, opening: Any) -> Any:
        frame = sys._getframe()
        while (above := frame.f_back) is not None:
            name = str(above.f_globals.get("__name__", ""))
            if name.startswith("signet.engine."):
                seen.add(name.removeprefix("signet.engine."))
            frame = above
        return real(self, begin, opening)

    with monkeypatch.context() as patching:
        patching.setattr(Database, "_open_pipelined", watch)
        yield seen
