"""Principals of requests. All rights of a request follow from its principal."""

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.core.tenants.skeleton import write_skeleton

# The subjects of steps that run as no person. A definition from before service accounts had names runs as the
# second of them, with the permissions of the tenant's role of that name.
SYSTEM_SUBJECT = "signet:system"
SERVICE_SUBJECT = "signet:service_account"
SERVICE_ROLE = "service_account"
# What the command line may do by itself: acts of an operator on instances and automations, and the care for
# what is held or kept. None of these is an act of a person.
_COMMAND_LINE_PERMISSIONS = (
    "workflow:*",
    "incident:*",
    "automation:*",
    "inbound_event:read",
    "inbound_event:replay",
)
# The tenant of an operator whose token names none. No tenant has this id.
NO_TENANT = UUID(int=0)
# Machines act as themselves: `key:<id of the key>`, and in a step `service:<id of the account>`. No person
# has such a name, or a name of the engine.
KEY_PREFIX = "key:"
SERVICE_PREFIX = "service:"
_MACHINES = (KEY_PREFIX, SERVICE_PREFIX, "signet:")
# The command line, where the database knows it by a user and an address: `cli:<user>@<address>`.
COMMAND_LINE_PREFIX = "cli:"


def describe_absence(subject: str) -> str:
    """Describe why nothing is done in the name of who asked for it."""
    who = "its owner" if subject.startswith(KEY_PREFIX) else "that person"
    return f"ACTOR_NOT_ACTIVE: {subject} asked for this, and {who} is no active member any more"


@dataclass(frozen=True, slots=True)
class KeyOfPrincipal:
    """The key that a machine sent, for people who read of its acts."""

    id: UUID
    name: str
    owner: str

    def to_json(self) -> dict[str, str]:
        return {"id": str(self.id), "name": self.name, "owner": self.owner}


@dataclass(frozen=True, slots=True)
class Principal:
    tenant_id: UUID
    subject: str
    roles: tuple[str, ...]
    # An operator of the deployment, by a role that settings name and never by a role of a tenant.
    is_operator: bool = False
    # The persons behind a key, the system or a service account; a person stands for themselves. Behind a key
    # are its maker, and every owner that it has had.
    behind: ResponsiblePersons = NOBODY
    key: KeyOfPrincipal | None = None

    @property
    def responsible(self) -> ResponsiblePersons:
        """Return the persons who are responsible for what the principal does."""
        return responsible_of(self.subject, self.behind)

    @property
    def is_key(self) -> bool:
        return self.subject.startswith(KEY_PREFIX)

    @property
    def counted_as(self) -> str:
        """Return whose share of the tenant's limits it uses: a key, that of its owner."""
        return self.key.owner if self.key is not None else self.subject

    @property
    def own_permissions(self) -> tuple[str, ...]:
        """Return the permissions that come from no role of the tenant."""
        is_command_line = self.is_operator and self.subject.startswith(COMMAND_LINE_PREFIX)
        return _COMMAND_LINE_PERMISSIONS if is_command_line else ()


def make_command_line(tenant_id: UUID, database_user: str, address: str) -> Principal:
    """Make the principal of a command on a database's address.

    User and address are what the server itself saw. Characters that would confuse a reader are replaced.
    """
    name = "".join(letter if letter.isprintable() else "?" for letter in f"{database_user}@{address}")
    return Principal(tenant_id, COMMAND_LINE_PREFIX + name, (), is_operator=True)


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """A principal that a token proves, until a moment in seconds of the epoch."""

    principal: Principal
    until: float


def is_reserved(subject: str) -> bool:
    """Return whether a name begins as those of machines do, also to the eye of a reader."""
    return write_skeleton(subject).startswith((*_MACHINES, COMMAND_LINE_PREFIX))


@lru_cache(maxsize=10_000)
def responsible_of(subject: str, behind: ResponsiblePersons) -> ResponsiblePersons:
    """Return the persons behind an actor; a person stands for themselves too, and so does a command line."""
    return behind if not subject or subject.startswith(_MACHINES) else behind | {subject}
