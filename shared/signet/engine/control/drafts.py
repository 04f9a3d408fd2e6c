"""Drafts on their way to publication: an author puts a text forward, and another person publishes it.

To save a draft is no consent to its publication: it may be a sketch. So where the tenant wants two people,
both act.
"""

from collections.abc import Collection
from dataclasses import dataclass

from signet.core.audit.trail import Subject
from signet.core.control.authorship import find_shared_persons, list_persons
from signet.core.errors import Rejected
from signet.engine.access.admin import AdminTransaction
from signet.engine.control.four_eyes import (
    describe_other_people,
    refuse_single_person,
    require_person,
    wants_two_people,
)
from signet.store.control import authorship as store
from signet.store.control.authorship import DraftName


@dataclass(frozen=True, slots=True)
class WrittenDraft:
    """A draft as it would be published now.

    `what` says in words which it is. `permission` is the one to publish it.
    """

    name: DraftName
    what: str
    hash: str
    authors: Collection[str]
    permission: str


@dataclass(frozen=True, slots=True)
class PutForward:
    """The text that may be published from now on, by its hash. `next_step` names who may publish it."""

    hash: str
    next_step: str


def put_forward(act: AdminTransaction, draft: WrittenDraft, subject: Subject) -> PutForward:
    """Put forward exactly this text, as one of its authors.

    It ends when that author saves a draft of the name, and when anybody deletes one. Behind a key each person
    must be an author: nobody who may publish the text puts it forward by the hand of another.
    """
    own = list_persons(act.caller.principal)
    others = own.difference(draft.authors)
    if others:
        raise Rejected(
            "PERMISSION_DENIED",
            f"{' and '.join(sorted(draft.authors))} wrote {draft.what}, and only an author puts it forward,"
            f" which {' and '.join(sorted(others))} is not",
            remedy="Ask an author. Or save the same text yourself: then you are an author too.",
        )
    tenant_id = act.caller.principal.tenant_id
    store.put_forward(act.connection, tenant_id, draft.name, draft.hash, own)
    act.note(subject, "put_forward", {"name": draft.name.name, "hash": draft.hash})
    return PutForward(draft.hash, describe_other_people(act, draft.authors, draft.permission))


def take_back(act: AdminTransaction, name: DraftName) -> None:
    """Take back what was put forward under a name, as any text: a draft of the name is deleted."""
    store.take_back(act.connection, act.caller.principal.tenant_id, name)


def require_another_publisher(act: AdminTransaction, draft: WrittenDraft) -> None:
    """Refuse to publish what a person behind the caller wrote, or what no author has put forward.

    It is so where the tenant wants two people.
    """
    if not wants_two_people(act):
        return
    require_other_person(act, draft.authors, draft)
    tenant_id = act.caller.principal.tenant_id
    if store.is_put_forward(act.connection, tenant_id, draft.name, draft.hash, draft.authors):
        return
    named = " and ".join(sorted(draft.authors))
    raise Rejected(
        "DRAFT_NOT_PUT_FORWARD",
        f"{named} wrote {draft.what}, and has not put this text forward for publication",
        remedy=f"Ask {named} to put it forward: POST …/put_forward, with the ETag that it has now.",
        details={"authors": sorted(draft.authors), "hash": draft.hash},
    )


def require_other_person(act: AdminTransaction, barred: Collection[str], draft: WrittenDraft) -> None:
    """Refuse a caller who is barred from publishing it, or who may not by the roles of the tables now."""
    shared = find_shared_persons(barred, list_persons(act.caller.principal))
    if shared:
        sentence = (
            f"{' and '.join(shared)} wrote {draft.what}, and the tenant wants another person to publish it"
        )
        raise refuse_single_person(act, sentence, barred, draft.permission)
    require_person(act, draft.permission)
