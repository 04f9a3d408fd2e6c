"""Tenants whose documents wait in a slot, or run through it: the engine bench's workflow with one node."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bench.company import install_author
from bench.counting import Admin
from bench.engine.workflow import ENTITY_TYPE, make_data, read_contract_file
from signet.core.tenants.caller import Caller
from signet.engine.definitions.definitions import Definitions
from signet.engine.documents.commands import Create, Operation
from signet.engine.documents.mutate import Documents
from signet.store.database import Database

BATCH = 500
# In place of the wait it decides nothing and keeps a constant.
NO_OP = {"id": "pass", "type": "script", "config": {"set": {"is_passed": "true"}}}
# What a wait is moved to, as if its time had passed.
_MOVES = (
    "UPDATE workflow_step_executions SET resume_at = %(due)s"
    " WHERE tenant_id = %(tenant)s AND status = 'running'",
    "UPDATE workflow_events_outbox SET due_at = %(due)s WHERE tenant_id = %(tenant)s AND status = 'pending'",
)


def make_wait(duration: str) -> dict[str, Any]:
    return {"id": "wait", "type": "wait_timer", "config": {"for": duration}}


def install_waiting(database: Database, number: int, node: dict[str, Any]) -> Caller:
    """Install a tenant whose documents come to this node, and return its author."""
    caller, definitions = install_author(database, number), Definitions(database)
    definitions.create_contract(caller, read_contract_file())
    definitions.publish_contract(caller, ENTITY_TYPE, 1)
    patch = {
        "patch": "parcel_wait",
        "base": {"entity_type": ENTITY_TYPE, "envelope_version": 1},
        "slots": {"before_checking": {"nodes": [node]}},
    }
    definitions.publish(caller, definitions.create(caller, "org_patch", patch).id)
    return caller


def create_documents(database: Database, caller: Caller, numbers: Sequence[int]) -> None:
    documents = Documents(database)
    for start in range(0, len(numbers), BATCH):
        operations: list[Operation] = [
            Create(ENTITY_TYPE, make_data(number)) for number in numbers[start : start + BATCH]
        ]
        documents.mutate_many(caller, operations)


def let_come_due(admin: Admin, caller: Caller) -> None:
    """Let all waits of the tenant end at one moment, which is now."""
    (now,) = admin.execute("SELECT now()").fetchone() or (None,)
    assert isinstance(now, datetime)
    admin.execute("SET session_replication_role = replica")
    for statement in _MOVES:
        admin.execute(statement.encode(), {"due": now, "tenant": caller.principal.tenant_id})
    admin.execute("SET session_replication_role = origin")
