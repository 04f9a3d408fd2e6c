"""Publication of automations: what one listens to stands in a table from the commit on that publishes it."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from signet.core.automations.circles import MAX_LOOKED_AT, find_circle, list_caused_signs
from signet.core.automations.signs import list_signs_of_trigger
from signet.core.errors import Rejected
from signet.core.validation.finding import Finding, make_finding
from signet.engine.cache import CompiledCache
from signet.ids import make_id
from signet.store.automations import registry as store
from signet.store.automations.registry import NewAutomation
from signet.store.database import Connection

# A change writes a start for each that listens to it. So many listen at most.
MAX_LISTENERS = 50
MAX_IN_FORCE = 2_000


def put_in_force(
    connection: Connection, tenant_id: UUID, definition: tuple[UUID, int], content: Mapping[str, Any]
) -> None:
    """Let a compiled definition listen in the place of the one before it under its name."""
    name, entity_type = content["name"], content["entity_type"] or ""
    known = store.find_automation(connection, tenant_id, name)
    if known is not None and known.entity_type != entity_type and known.definition_id is not None:
        raise Rejected(
            "AUTOMATION_NAME_TAKEN",
            f"'{name}' is an automation about '{known.entity_type or 'no document'}'",
            remedy="Give this one another name, or archive the other first.",
        )
    if (known is None or known.definition_id is None) and (
        store.count_in_force(connection, tenant_id, MAX_IN_FORCE) >= MAX_IN_FORCE
    ):
        raise _too_many(f"{MAX_IN_FORCE} automations are in force")
    automation_id = known.id if known is not None else make_id()
    signs = list_signs_of_trigger(content["trigger"])
    new = NewAutomation(automation_id, name, entity_type, *definition, signs)
    if signs and store.count_listeners(connection, tenant_id, new) >= MAX_LISTENERS:
        raise _too_many(f"{MAX_LISTENERS} automations listen to the same changes of '{entity_type}'")
    store.put_in_force(connection, tenant_id, new)


def find_circles(
    connection: Connection, tenant_id: UUID, content: Mapping[str, Any], compiled: CompiledCache
) -> Iterator[Finding]:
    """Find that an automation may start itself, also by way of others that are in force."""

    def list_started(name: str) -> list[str]:
        known = connection, tenant_id
        found = store.find_automation(*known, name)
        if found is None or found.definition_id is None or found.definition_version is None:
            return []
        workflow = compiled.read(*known, found.definition_id, found.definition_version)
        signs = list_caused_signs(workflow.content)
        listed = [store.list_listeners(*known, *one, limit=MAX_LOOKED_AT) for one in signs]
        return [name for names in listed for name in names]

    circle = find_circle(content["name"], list_started)
    if circle:
        yield make_finding("AUTOMATIONS_IN_CIRCLE", "/trigger", names=" → ".join([*circle, circle[0]]))


def put_out_of_force(connection: Connection, tenant_id: UUID, definition_id: UUID) -> None:
    """Let a definition listen to nothing more. No older one takes its place."""
    store.put_out_of_force(connection, tenant_id, definition_id)


def _too_many(sentence: str) -> Rejected:
    return Rejected("AUTOMATIONS_TOO_MANY", sentence, remedy="Archive one that is not needed any more.")
