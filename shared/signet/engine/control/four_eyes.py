"""Two people for each change of the control, where the tenant says so.

A person is meant, not a name: the key of an author is the author.
"""

from collections.abc import Collection, Iterable, Sequence

from signet.core.control.authorship import Authorship, list_persons
from signet.core.errors import Rejected
from signet.core.tenants.permissions import grants, list_granting
from signet.core.tenants.responsible import join_responsible
from signet.engine.access.admin import AdminTransaction
from signet.store.approvals.voters import read_people
from signet.store.control.authorship import DraftName, add_draft_authors
from signet.store.control.changes import find_holders_among, list_holders, read_four_eyes

_MAX_NAMED, _MAX_LOOKED_AT = 5, 100


def wants_two_people(act: AdminTransaction) -> bool:
    """Return whether the tenant wants two people. Call it under the lock of the administration."""
    return read_four_eyes(act.connection, act.caller.principal.tenant_id)


def join_authors(act: AdminTransaction, draft: DraftName, known: Iterable[str]) -> list[str]:
    """Return the authors of a draft that the caller saves now.

    They are the known ones, the persons behind the caller, and everybody who has saved a draft of its name
    since a version was published. So a draft is not rid of its author by being deleted and saved again.
    """
    principal, persons = act.caller.principal, list_persons(act.caller.principal)
    recent = add_draft_authors(act.connection, principal.tenant_id, draft, persons)
    return sorted(join_responsible(known, persons, recent))


def require_person(act: AdminTransaction, permission: str) -> None:
    """Refuse a caller without a known person behind it who may do this by the roles of the tables now.

    An unknown one may be the author's own, and a token keeps roles that its person has lost.
    """
    principal = act.caller.principal
    if not principal.responsible:
        sentence = f"nobody is known to stand behind {principal.subject}, so it is not another person"
        raise refuse_single_person(act, sentence, (), permission)
    persons = principal.responsible
    holders = find_holders_among(act.connection, principal.tenant_id, persons, list_granting(permission))
    if not persons & holders:
        sentence = f"{' and '.join(sorted(persons))} no longer may: no role of theirs has '{permission}' now"
        raise refuse_single_person(act, sentence, (), permission)


def make_authorship(act: AdminTransaction, authors: Sequence[str]) -> Authorship:
    """Make the authorship of a text that the caller publishes now."""
    principal = act.caller.principal
    return Authorship(authors, principal.subject, sorted(list_persons(principal)))


def refuse_single_person(
    act: AdminTransaction, sentence: str, persons: Collection[str], permission: str
) -> Rejected:
    """Make the refusal, with the people who may do what these persons may not."""
    return Rejected("FOUR_EYES_REQUIRED", sentence, remedy=describe_other_people(act, persons, permission))


def _name_first(names: Sequence[str]) -> str:
    """Name the first, and say how many more there are."""
    left = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {left} more" if left > 0 else "")


def describe_other_people(
    act: AdminTransaction, persons: Collection[str], permission: str, needed: Collection[str] = ()
) -> str:
    """Describe who may do what these persons may not. They need the permission, and the needed ones too."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    besides = {*persons, *list_persons(act.caller.principal)}
    others = list_holders(
        connection, tenant_id, list_granting(permission), other_than=besides, limit=_MAX_LOOKED_AT
    )
    more = [name for name in sorted(needed) if name != permission]
    if needed:
        people = read_people(connection, tenant_id, others)
        others = [
            name
            for name in others
            if name in people and all(grants(people[name].permissions, each) for each in needed)
        ]
    also = f" and {_name_first(more)}" if more else ""
    if others:
        named = _name_first(others)
        return f"Ask one of these people with the permission '{permission}'{also}: {named}."
    those = "them" if more else "it"
    return (
        f"No other active member has the permission '{permission}'{also}."
        f" Give {those} to a person who has no part in this."
    )
