"""Changes as automations see them: the signs that they show, and the rows that start what listens."""

from collections.abc import Mapping, Sequence
from typing import Any

from signet.core.automations.chain import parse_chain, write_chain
from signet.core.automations.firings import make_change_payload
from signet.core.automations.signs import list_signs_of_change, list_signs_of_creation
from signet.core.runtime.projection import Actor
from signet.core.tenants.caller import Caller
from signet.engine.documents.added_change import StoredVersion
from signet.engine.documents.change import DocumentChange
from signet.ids import created_at_of, make_id


def list_signs(change: DocumentChange, version: StoredVersion) -> list[str] | None:
    """List what a change shows. What changes nothing shows nothing, also where it writes a version."""
    before, after = change.before, change.after
    if before is None:
        return list_signs_of_creation()
    names = before.data.keys() | version.data.keys() if before.data != version.data else ()
    changed = sorted(name for name in names if before.data.get(name) != version.data.get(name))
    if not changed and before.status == after.status and not after.is_deleted:
        return None
    return list_signs_of_change(change.note.action, (before.status, after.status), changed)


def make_firing_row(change: DocumentChange, signs: Sequence[str]) -> dict[str, Any]:
    """Make the row of a change that automations may listen to. It holds no value of the document."""
    principal, identifier = change.caller.principal, make_id()
    actor = Actor(principal.subject, tuple(principal.roles), principal.behind).to_json()
    entity_type, version = change.contract.contract.contract, change.after.version
    document = str(change.document_id), entity_type, version
    chain = parse_chain(change.caller.chain)
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "entity_type": entity_type,
        "signs": signs,
        "entity_version": version,
        "payload": make_change_payload(actor, document, change.note.action, chain),
        "trace_id": change.caller.trace_id,
    }


def add_chain(payload: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    """Let an event say which automations have acted before what caused it; a person begins a new chain."""
    return {**payload, "chain": write_chain(parse_chain(caller.chain))} if caller.chain else payload
