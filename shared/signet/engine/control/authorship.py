"""Authors and publishers of a workflow, of its contract and of the chains that it asks."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import Seat
from signet.core.compiler.artifact import Artifact
from signet.core.control.authorship import Authorship, ControlAuthors, list_seated_authors, make_control
from signet.store.approvals.decisions import read_represented_people
from signet.store.control.authorship import (
    find_contract_authorship,
    find_definition_authorship,
    find_hashed_authorship,
    list_chain_authorships,
    list_changed_alone,
    list_movers,
)
from signet.store.database import Connection


def read_control_of_artifact(
    connection: Connection,
    tenant_id: UUID,
    definition_id: UUID,
    artifact: Artifact,
    instance_id: UUID | None = None,
) -> ControlAuthors:
    """Read who made a compiled workflow, and who moved the instance to it if it is one's.

    The chains are those that new requests take.
    """
    content = artifact.content
    chains = dict.fromkeys(_list_chains(content))
    return make_control(
        find_definition_authorship(connection, tenant_id, definition_id),
        _find_contract(connection, tenant_id, content),
        list_chain_authorships(connection, tenant_id, chains),
        list_movers(connection, tenant_id, instance_id) if instance_id is not None else (),
        list_changed_alone(connection, tenant_id, content["entity_type"], artifact.hash),
    )


def read_control_of_request(
    connection: Connection,
    tenant_id: UUID,
    *,
    entity_type: str,
    contract_version: int,
    definition_hash: str,
    instance_id: UUID,
    chains: Mapping[str, int | None],
) -> ControlAuthors:
    """Read who made what a request for approval is pinned to, and who moved its instance there."""
    return make_control(
        find_hashed_authorship(connection, tenant_id, entity_type, definition_hash, instance_id),
        find_contract_authorship(connection, tenant_id, entity_type, contract_version),
        list_chain_authorships(connection, tenant_id, chains),
        list_movers(connection, tenant_id, instance_id),
        list_changed_alone(connection, tenant_id, entity_type, definition_hash),
    )


def _find_contract(connection: Connection, tenant_id: UUID, content: Mapping[str, Any]) -> Authorship | None:
    contract = content.get("contract")
    if contract is None:
        return None
    return find_contract_authorship(connection, tenant_id, content["entity_type"], contract["version"])


def _list_chains(content: Mapping[str, Any]) -> list[str]:
    """List the chains that the approvals of a workflow name."""
    nodes = content["nodes"].values()
    return sorted({node["config"]["chain"] for node in nodes if node["config"].get("chain") is not None})


def list_seated_alone(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    seats: Sequence[Seat],
    control: ControlAuthors,
) -> list[str]:
    """List the people who changed the control alone and may fill a seat, have filled one, or stand in."""
    seated = set()
    for author in control.list_alone():
        people = read_represented_people(connection, tenant_id, author, entity_type)
        if any(
            author in (seat.decided_by, seat.on_behalf_of)
            or any(seat.belongs_to(person, roles) for person, roles in people.items())
            for seat in seats
        ):
            seated.add(author)
    return list_seated_authors(control, seated)
