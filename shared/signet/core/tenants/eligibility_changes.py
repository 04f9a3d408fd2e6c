"""Changes of who may vote, as they are kept: roles, membership, reporting lines, delegations and seats.

A vote is judged by them later: nobody votes by an eligibility that they gave themselves after the question
was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from signet.core.tenants.caller import Caller

EligibilityKind = Literal[
    "role_given",
    "role_taken",
    "member_enabled",
    "member_disabled",
    "manager_set",
    "delegation_given",
    "delegation_revoked",
    "seat_given",
    "role_permissions_changed",
    "role_widened",
    "role_deleted",
]
ELIGIBILITY_KINDS: Sequence[EligibilityKind] = get_args(EligibilityKind)


@dataclass(frozen=True, slots=True)
class EligibilityChange:
    """One change, for one person or one role.

    A member who is disabled has one for each of their roles, and one without a role.
    """

    kind: EligibilityKind
    changed_at: datetime
    actor_id: str
    # The people who were responsible for the change.
    persons: Sequence[str]
    user_id: str | None = None
    role: str | None = None
    # The person whose manager it is, or the other side of a delegation or a seat.
    other_user_id: str | None = None
    # The needed permissions that the role granted until then. An older release did not note any.
    gave: Sequence[str] = ()
    # The persons behind the last giving since the asking, if there is one. Of a taking it is the one before.
    # Of a role it is the one it is held by, and of a reporting line the one that stands.
    given_by: Sequence[str] | None = None
    # The roles that grant a permission now, by needed permission.
    granting: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # People who are asked may lack a permission by it that their votes need.
    takes_permission: bool = False
    # The manager of a reporting line has given it up by it themselves.
    is_given_up: bool = False


def parse_change(stored: Mapping[str, Any]) -> EligibilityChange:
    """Parse a change that a statement about votes brings along as JSON."""
    return EligibilityChange(**{**stored, "changed_at": datetime.fromisoformat(stored["changed_at"])})


@dataclass(frozen=True, slots=True)
class ChangeAuthor:
    """The one who changes eligibility, with the people who are responsible for it."""

    actor_id: str
    persons: tuple[str, ...]


# A command on the server itself, which has no caller.
COMMAND_LINE = ChangeAuthor("cli", ("cli",))


def author_of(caller: Caller) -> ChangeAuthor:
    """Return the author of what the caller changes; a principal without persons behind it names itself."""
    subject, persons = caller.principal.subject, caller.principal.responsible
    return ChangeAuthor(subject, tuple(sorted(persons)) or (subject,))
