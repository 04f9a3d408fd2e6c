"""The tenant's own things that a definition names: one that names what is nowhere is not published."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from signet.core.approvals.policy import Stage, list_approvers
from signet.core.contracts.contract import Contract
from signet.core.previews.compile_report import ArtifactNames
from signet.core.tenants.tenant_names import (
    Mention,
    NamedKind,
    TenantNames,
    check_mentions,
    list_calendars_of_stage,
    list_people,
)
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import point
from signet.store.database import Connection
from signet.store.definitions.names import find_named


def check_names(connection: Connection, tenant_id: UUID, names: ArtifactNames) -> tuple[Finding, ...]:
    """Find what a compiled definition names and the tenant does not have."""
    # Beside those of contracts there are no actions yet that a document's workflow could run.
    known: TenantNames = {} if names.kind == "automation" else {NamedKind.ACTION: frozenset()}
    return _check(connection, tenant_id, names.mentions, known, names.entity_type)


def check_contract_names(connection: Connection, tenant_id: UUID, contract: Contract) -> tuple[Finding, ...]:
    required = {
        name: slot.requires.role for name, slot in contract.slots.items() if slot.requires is not None
    }
    mentions = [
        Mention(NamedKind.ROLE, role, point(("slots", name, "requires", "role")))
        for name, role in required.items()
        if role is not None
    ]
    if contract.on_incident is not None:
        mentions.append(Mention(NamedKind.ROLE, contract.on_incident.role, point(("on_incident", "role"))))
    return _check(connection, tenant_id, mentions, {})


def check_chain_names(connection: Connection, tenant_id: UUID, steps: Sequence[Stage]) -> tuple[Finding, ...]:
    mentions = [
        mention
        for approver, pointer in list_approvers(steps)
        for mention in list_people(approver.model_dump(mode="json"), pointer)
    ]
    for number, step in enumerate(steps):
        mentions += list_calendars_of_stage(step.to_json(), point(("steps", number)))
    return _check(connection, tenant_id, mentions, {})


def _check(
    connection: Connection,
    tenant_id: UUID,
    mentions: Iterable[Mention],
    known: TenantNames,
    entity_type: str | None = None,
) -> tuple[Finding, ...]:
    mentions = list(mentions)
    if not mentions:
        return ()
    names: dict[NamedKind, Collection[str]] = {
        kind: {mention.name for mention in mentions if mention.kind is kind} for kind in NamedKind
    }
    found = find_named(
        connection,
        tenant_id,
        roles=names[NamedKind.ROLE],
        members=names[NamedKind.MEMBER],
        chains=names[NamedKind.CHAIN],
        endpoints=names[NamedKind.ENDPOINT],
        rules=names[NamedKind.RULE],
        calendars=names[NamedKind.CALENDAR],
        entity_type=entity_type,
    )
    known = {
        **known,
        NamedKind.ROLE: frozenset(found.roles),
        NamedKind.MEMBER: frozenset(found.members),
        NamedKind.CHAIN: frozenset(found.chains),
        NamedKind.ENDPOINT: frozenset(found.endpoints),
        NamedKind.RULE: frozenset(found.rules),
        NamedKind.CALENDAR: frozenset(found.calendars),
    }
    return tuple(check_mentions(mentions, known))
