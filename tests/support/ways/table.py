"""The table by which ways: each person, by each way. `docs/approvals.md` is made from it.

A new person is an `Involvement` in `involvements.py`, a new way is a line here. Each then needs its cells:
`tests/scenarios/authority/test_by_which_ways.py` names those that are missing.
"""

from collections.abc import Iterator, Mapping

from tests.support.ways.cells import NotPossible, Way
from tests.support.ways.contents import AMEND, ERASE
from tests.support.ways.controls import DEFINITION
from tests.support.ways.grants import DISABLE, MANAGER_LINE, ROLE
from tests.support.ways.involvements import WHO
from tests.support.ways.machines import DERIVE, KEY, SYSTEM_STEP
from tests.support.ways.statements import SQL_AS_WORKER
from tests.support.ways.votes import BULK, DELEGATE, VOTE

WAYS: Mapping[str, Way] = {
    "vote": Way("They vote themselves.", VOTE),
    "bulk": Way("They decide many approvals in one call.", BULK),
    "delegate": Way("They give or get a delegation.", DELEGATE),
    "key": Way("They act by an API key of their own.", KEY),
    "role": Way("They give or get a role, or a seat.", ROLE),
    "manager line": Way("They change the reporting line that a seat comes from.", MANAGER_LINE),
    "disable": Way("They disable the others, so that the approval escalates.", DISABLE),
    "derive": Way("They have an action make the document from another one.", DERIVE),
    "system step": Way("They let a step do it that runs as the system or as a service account.", SYSTEM_STEP),
    "definition": Way("They change the control, in a tenant that wants two people for it.", DEFINITION),
    "erase": Way("They erase a personal value while the approval waits.", ERASE),
    "amend": Way("They replace the document by an amendment.", AMEND),
    "SQL as worker": Way("They run statements with the database role of the worker.", SQL_AS_WORKER),
}


def write_people() -> Iterator[str]:
    yield "| who | the person |"
    yield "|---|---|"
    for name, involvement in WHO.items():
        yield f"| {name} | {involvement.does} |"


def write_ways() -> Iterator[str]:
    """Write one table for each way; people with the same answers share their lines."""
    for name, way in WAYS.items():
        yield f"### {name[:1].upper()}{name[1:]}"
        yield ""
        yield way.does
        yield ""
        yield "| who | tries | is answered |"
        yield "|---|---|---|"
        yield from _write_way(way)
        if name != list(WAYS)[-1]:
            yield ""


def _write_way(way: Way) -> Iterator[str]:
    groups: dict[tuple[object, ...], list[str]] = {}
    for person in WHO:
        cell = way.cells[person]
        key = (cell.reason,) if isinstance(cell, NotPossible) else cell.steps
        groups.setdefault(key, []).append(person)
    for people in groups.values():
        cell, names = way.cells[people[0]], ", ".join(people)
        if isinstance(cell, NotPossible):
            yield f"| {names} | | not possible: {cell.reason} |"
            continue
        for index, (does, code) in enumerate(cell.steps):
            yield f"| {'' if index else names} | {does} | `{code}` |"
