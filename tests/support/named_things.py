"""Roles, members, published chains and endpoints that patches name, written past every use case."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from signet.authoring.files import read_document
from signet.core.approvals.policy import parse_chain
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.control.authorship import Authorship
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.core.tenants.tenant_names import NamedKind, list_mentions
from signet.core.validation.strict_model import parse_strictly
from signet.engine.definitions.definitions import Published
from signet.store.approvals.chains import insert_chain, publish_chain
from signet.store.database import Connection, Database
from signet.store.definitions.names import find_named
from signet.store.documents.write import lock_statement, require_locked
from signet.store.integrations.endpoints import insert_endpoint
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.company import EXAMPLES, Company

ROLES = (
    "accountant",
    "accounts_receivable",
    "budget_owner",
    "controller",
    "finance_manager",
    "franchise_operations",
    "logistics_manager",
    "sales_manager",
    "warehouse",
)
ENDPOINTS = ("bank", "franchisee_portal", "supplier", "vendor_portal", "warehouse")


def supply_names(
    database: Database,
    tenant_id: UUID,
    *,
    roles: Iterable[str] = ROLES,
    members: Iterable[str] = (),
    endpoints: Iterable[str] = ENDPOINTS,
    chains: Iterable[str] = ("accounts_payable",),
) -> None:
    """Write those of the names that are not there, so that a patch that names them can be published.

    Nobody holds these roles, and these members hold none.
    """
    wanted = {"roles": roles, "members": members, "chains": chains, "endpoints": endpoints}
    with database.pipelined(tenant_id, lock_statement([], ())) as pipeline:
        connection, now = pipeline.connection, require_locked(pipeline.first_row).transaction.now
        asked = {kind: list(names) for kind, names in wanted.items()}
        known = find_named(
            connection,
            tenant_id,
            roles=asked["roles"],
            members=asked["members"],
            chains=asked["chains"],
            endpoints=asked["endpoints"],
        )
        missing = {kind: sorted({*names} - {*getattr(known, kind)}) for kind, names in wanted.items()}
        save_roles(
            connection, tenant_id, tuple(Role(role=n, permissions=()) for n in missing["roles"]), COMMAND_LINE
        )
        members_to_be = tuple(Member(user_id=n, display_name=n) for n in missing["members"])
        save_members(connection, tenant_id, members_to_be, COMMAND_LINE)
        for name in missing["endpoints"]:
            insert_endpoint(
                connection,
                tenant_id,
                name=name,
                url=f"https://{name.replace('_', '-')}.example.com",
                secret_refs=[f"supplied_{name}"],
                status="active",
                created_by="test",
                now=now,
            )
        for name in missing["chains"]:
            _publish_chain(connection, tenant_id, name, now)


def supply_mentioned(database: Database, tenant_id: UUID, patch: Mapping[str, Any]) -> None:
    """Write what the nodes of a patch name, as an author has it who publishes it."""
    mentions: dict[NamedKind, set[str]] = {kind: set() for kind in NamedKind}
    for mention in list_mentions(dict(_complete_nodes(patch))):
        mentions[mention.kind].add(mention.name)
    supply_names(
        database,
        tenant_id,
        roles=mentions[NamedKind.ROLE],
        members=mentions[NamedKind.MEMBER],
        chains=mentions[NamedKind.CHAIN],
        endpoints=mentions[NamedKind.ENDPOINT],
    )


def _complete_nodes(patch: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the nodes of a patch with what their authors left to the defaults."""
    for name, slot in patch["slots"].items():
        for node in slot["nodes"]:
            model = NODE_TYPES[node["type"]].configuration
            config, _ = parse_strictly(model, node.get("config", {}))
            if config is not None:
                complete = config.model_dump(mode="json", by_alias=True)
                yield f"{name}:{node['id']}", {"type": node["type"], "config": complete}


def _publish_chain(connection: Connection, tenant_id: UUID, name: str, now: datetime) -> None:
    """Publish the example's chain under this name."""
    document, findings = read_document(EXAMPLES / "invoice" / "chain.yaml")
    assert findings == ()
    chain, _ = parse_chain({**document, "name": name})
    assert chain is not None
    insert_chain(
        connection,
        tenant_id,
        name=name,
        version=1,
        label=chain.label,
        digest="0" * 64,
        steps=chain.to_json()["steps"],
        same_person=None,
        permission=None,
        created_by="test",
        authors=("test",),
        now=now,
    )
    publish_chain(connection, tenant_id, name, 1, Authorship(("test",), "test", ("test",)), now)


def publish_patch(company: Company, patch: Mapping[str, Any], *, replaces: str | None = None) -> Published:
    """Publish a patch in a company that has what it names; it may ask nobody."""
    supply_mentioned(company.database, company.tenant_id, patch)
    definitions, caller = company.definitions, company.caller()
    draft = definitions.create(caller, "org_patch", patch)
    return definitions.publish(caller, draft.id, replaces=replaces, accepted=("ASKS_NOBODY",))


@pytest.fixture
def named_things(company: Company) -> None:
    """Supply the company with all that the examples name."""
    supply_names(company.database, company.tenant_id)
