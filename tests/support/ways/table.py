"""The table by which ways: each person, by each way. `docs/approvals.md` is made from it.

A new person is an `Involvement` in `involvements.py`, a new way is a line here. Each then needs its cells:
`tests/scenarios/authority/test_by_which_ways.py` names those that are missing.
"""

from collections.abc import Iterator, Mapping, Sequence

from tests.support.ways.automations import AUTOMATION
from tests.support.ways.cells import NotPossible, Way
from tests.support.ways.contents import AMEND, ERASE
from tests.support.ways.controls import DEFINITION
from tests.support.ways.events import EVENT
from tests.support.ways.grants import DISABLE, MANAGER_LINE, ROLE
from tests.support.ways.hands import ADVANCE, CANCEL_TOKEN, CORRECT, GO_TO, RETRY, SKIP
from tests.support.ways.involvements import RESPONSIBLE, WHO
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
    "automation": Way("They fire an automation, or publish one, whose step runs as the system.", AUTOMATION),
    "definition": Way(
        "They change the control, in a tenant that wants two people for it. Elsewhere one person may,"
        " and is named.",
        DEFINITION,
    ),
    "erase": Way("They erase a personal value while the approval waits.", ERASE),
    "event": Way("They send the event that the document waits for.", EVENT),
    "amend": Way("They replace the document by an amendment.", AMEND),
    "advance": Way("They end a wait by hand, with an answer of their own.", ADVANCE),
    "skip": Way("They skip a held node, with an answer of their own.", SKIP),
    "retry": Way("They retry what is held.", RETRY),
    "correct": Way("They correct what the document says while an incident is open.", CORRECT),
    "go to": Way("They send the instance back.", GO_TO),
    "cancel token": Way("They cancel the token that waits for the approval.", CANCEL_TOKEN),
    "SQL as worker": Way("They run statements with the database role of the worker.", SQL_AS_WORKER),
}


def write_people() -> Iterator[str]:
    yield "| who | is | the person |"
    yield "|---|---|---|"
    for name, involvement in WHO.items():
        bar = "responsible" if name in RESPONSIBLE else ""
        yield f"| {name} | {bar} | {involvement.does} |"


def write_ways() -> Iterator[str]:
    """Write one table for each way, in the order in which its scenes go on."""
    for name, way in WAYS.items():
        yield from (f"### {name[:1].upper()}{name[1:]}", "", way.does, "")
        yield "| tries | who | is answered |"
        yield "|---|---|---|"
        yield from _write_way(way)
        if name != list(WAYS)[-1]:
            yield ""


def _write_way(way: Way) -> Iterator[str]:
    """Write what is tried; people with the same answer share its line."""
    tried: dict[str, dict[str, list[str]]] = {}
    for person in WHO:
        cell = way.cells[person]
        if isinstance(cell, NotPossible):
            tried.setdefault("", {}).setdefault(f"not possible: {cell.reason}", []).append(person)
            continue
        for does, code in cell.steps:
            tried.setdefault(does, {}).setdefault(f"`{code}`", []).append(person)
    for does, answers in tried.items():
        for index, (answer, people) in enumerate(answers.items()):
            yield f"| {'' if index else does} | {_name(people)} | {answer} |"


def _name(people: Sequence[str]) -> str:
    if set(RESPONSIBLE) <= set(people):
        people = ["responsible", *people[len(RESPONSIBLE) :]]
    return ", ".join(people)
