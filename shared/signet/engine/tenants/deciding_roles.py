"""The deciding roles of a tenant, found in its published policies whenever they are asked for.

Nothing is stored, so that no publication has to keep a list up to date.
"""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from signet.core.approvals.deciding_roles import (
    NamedPolicy,
    list_roles_of_approval,
    list_roles_of_contract,
)
from signet.store.approvals.deciding_roles import PolicyRow, read_policies
from signet.store.database import Connection

# A role is shown with at most so many policies that name it.
MAX_SHOWN_POLICIES = 20


def read_deciding_roles(connection: Connection, tenant_id: UUID) -> Mapping[str, Sequence[NamedPolicy]]:
    """Return the policies that name each deciding role."""
    named: dict[str, list[NamedPolicy]] = {}
    for row in read_policies(connection, tenant_id):
        policy = NamedPolicy(row.kind, row.name, row.version, row.entity_type)
        for role in dict.fromkeys(_list_roles(row)):
            policies = named.setdefault(role, [])
            if len(policies) < MAX_SHOWN_POLICIES:
                policies.append(policy)
    return named


def _list_roles(row: PolicyRow) -> Iterator[str]:
    if row.kind == "contract":
        yield from list_roles_of_contract(row.body)
        return
    for config in row.body:
        yield from list_roles_of_approval(config)
