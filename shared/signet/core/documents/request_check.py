"""Check a request for a transition against its document, for any person.

The check refuses the requests of people, and finds those that an explanation may name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.contracts.contract import Contract, EditWindow, Transition
from signet.core.documents.amendments import settles
from signet.core.errors import Rejected


@dataclass(frozen=True, slots=True)
class RequestedDocument:
    """The part of a document that decides about a request, beside its requester."""

    status: str
    # Why its workflow as a whole is paused, and whether a person has done it.
    pause: Mapping[str, Any] | None = None
    open_amendment: UUID | None = None


def check_asking(contract: Contract, name: str, document: RequestedDocument) -> Rejected | None:
    """Refuse a request that the status, an open amendment or a pause is against."""
    transition = contract.transitions[name]
    if document.status not in transition.from_states:
        allowed = ", ".join(transition.from_states)
        sentence = f"'{name}' begins in {allowed}; the document is {document.status}"
        remedy = _list_what_begins(contract, document.status)
        return Rejected("TRANSITION_NOT_POSSIBLE", sentence, remedy=remedy)
    if document.open_amendment is not None and suspends(contract, document.status, name):
        return refuse_amended(document.open_amendment, "and suspended until that settles")
    return _refuse_while_paused(contract, transition, document)


def suspends(contract: Contract, status: str, transition: str | None) -> bool:
    """Return whether an open amendment keeps people from acting on its original; an interrupt stays free."""
    amendment, asked = contract.amendment, contract.transitions.get(transition or "")
    if amendment is None or amendment.while_open != "suspended" or not settles(contract, status):
        return False
    return asked is None or asked.kind != "interrupting"


def refuse_amended(open_amendment: UUID, why: str) -> Rejected:
    return Rejected(
        "AMENDMENT_OPEN",
        f"the document is amended by {open_amendment}, {why}",
        remedy="Edit that document, or give it up: delete or cancel it.",
        details={"amendment_open": str(open_amendment)},
    )


def _refuse_while_paused(
    contract: Contract, transition: Transition, document: RequestedDocument
) -> Rejected | None:
    """Refuse what a paused workflow does not serve: all but an interrupt of what the engine has paused."""
    pause = document.pause
    if pause is None or (transition.kind == "interrupting" and not pause["is_by_person"]):
        return None
    if pause["is_by_person"]:
        remedy = "Have an operator resume it, then ask again."
    else:
        remedy = f"Have an operator retry it, then ask again.{_name_interrupts(contract, document.status)}"
    return Rejected("INSTANCE_PAUSED", f"the workflow is paused: {pause['reason']}", remedy=remedy)


def _name_interrupts(contract: Contract, status: str) -> str:
    names = [
        name
        for name, transition in contract.transitions.items()
        if transition.kind == "interrupting" and status in transition.from_states
    ]
    return f" Served while it is paused: {', '.join(names)}." if names else ""


def _list_what_begins(contract: Contract, status: str) -> str:
    """Say what a person can do where the transition that they asked for does not begin."""
    asked = [
        name
        for name, transition in contract.transitions.items()
        if status in transition.from_states and transition.kind != "automatic"
    ]
    begins = f"In {status} one can ask for: {', '.join(asked)}." if asked else f"Nothing begins in {status}."
    state = contract.states.get(status)
    if state is None or state.edit is not EditWindow.AMEND_ONLY:
        return begins
    return f"{begins} An edit makes an amendment: a new document, which begins again."
