"""WF-11: one event is one row of the outbox, however often it is written; the receipt decides.

`tests/store/test_row_invariants.py` checks that event, receipt and document are of one transaction.
"""

from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest

from signet.core.runtime.idempotency_keys import event_key
from signet.engine.documents.commands import RequestTransition
from signet.ids import created_at_of, make_id
from signet.store.documents.write import WriteBatch, write_batch
from signet.store.tenants.tenants import read_now
from tests.engine.standing_company import CompanyWithWorkers
from tests.store.attack import NO_PRIVILEGE, OWNER, ROLES, attack

EVENTS: LiteralString = "SELECT id FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id"
RECEIPTS: LiteralString = "SELECT event_idempotency_key FROM workflow_outbox_receipts WHERE instance_id = %s"


def write_event(
    standing: CompanyWithWorkers, instance_id: UUID, payload: dict[str, Any], version: int = 1
) -> UUID:
    """Write the event as a new row in a transaction of its own, as a retrying writer does."""
    event_id = make_id()
    row = {
        "id": event_id,
        "created_at": created_at_of(event_id),
        "instance_id": instance_id,
        "entity_version": version,
        "definition_version": None,
        "event_type": "mutation",
        "payload": payload,
        "trace_id": None,
        "idempotency_key": f"\\x{event_key(instance_id, 'mutation', payload, version).hex()}",
    }
    company = standing.company
    with company.database.transaction(company.tenant_id) as connection:
        now, batch = read_now(connection), WriteBatch(events=[row])
        write_batch(connection, company.tenant_id, batch, now=now)
    return event_id


def test_wf_11_the_same_event_written_again_is_the_same_row(standing: CompanyWithWorkers) -> None:
    instance_id, payload = uuid4(), {"cause_id": "one", "field": "grand_total"}
    first = write_event(standing, instance_id, payload)
    for _ in range(3):
        write_event(standing, instance_id, payload)
    write_event(standing, instance_id, dict(reversed(payload.items())))  # the order of keys does not matter
    assert standing.rows(EVENTS, instance_id) == [(first,)]
    key = event_key(instance_id, "mutation", payload, 1)
    assert standing.rows(RECEIPTS, instance_id) == [(key,)]


def test_wf_11_an_equal_payload_of_another_cause_is_another_event(standing: CompanyWithWorkers) -> None:
    instance_id = uuid4()
    written = [write_event(standing, instance_id, {"cause_id": cause}) for cause in ("one", "two")]
    written.append(write_event(standing, instance_id, {"cause_id": "one"}, version=2))
    assert standing.rows(EVENTS, instance_id) == [(event_id,) for event_id in written]
    assert len(standing.rows(RECEIPTS, instance_id)) == 3


def test_wf_11_two_equal_requests_on_one_version_wake_the_workflow_twice(
    standing: CompanyWithWorkers,
) -> None:
    """Tell two requests apart by their cause alone, so that the second is not lost."""
    document = standing.create()
    company = standing.company
    for _ in range(2):
        company.documents.mutate(company.caller(), RequestTransition(document.document_id, 1, "submit"))
    events = standing.rows(
        "SELECT payload_json - 'cause_id', entity_version FROM workflow_events_outbox"
        " WHERE instance_id = %s AND event_type = 'transition_requested'",
        document.instance_id,
    )
    assert events == [({"transition": "submit"}, 1)] * 2


def test_wf_11_the_receipt_decides_also_when_the_row_is_gone(standing: CompanyWithWorkers) -> None:
    """Keep the receipt of an event whose completed row was pruned."""
    instance_id, payload = uuid4(), {"cause_id": "one"}
    write_event(standing, instance_id, payload)
    standing.run("DELETE FROM workflow_events_outbox WHERE instance_id = %s", instance_id)
    write_event(standing, instance_id, payload)
    assert standing.rows(EVENTS, instance_id) == []
    assert len(standing.rows(RECEIPTS, instance_id)) == 1


def test_wf_11_the_same_event_of_another_instance_is_another_event(standing: CompanyWithWorkers) -> None:
    payload = {"cause_id": "one"}
    for instance_id in (uuid4(), uuid4()):
        event_id = write_event(standing, instance_id, payload)
        assert standing.rows(EVENTS, instance_id) == [(event_id,)]


@pytest.mark.parametrize("role", [role for role in ROLES if role != OWNER])
@pytest.mark.parametrize(
    "attempt",
    [
        "DELETE FROM workflow_outbox_receipts",
        "TRUNCATE workflow_outbox_receipts",
        "UPDATE workflow_outbox_receipts SET event_idempotency_key = decode(repeat('00', 32), 'hex')",
    ],
)
def test_wf_11_nobody_at_work_takes_a_receipt_back(
    standing: CompanyWithWorkers, attempt: LiteralString, role: str
) -> None:
    write_event(standing, uuid4(), {"cause_id": "one"})
    assert attack(standing, role, attempt) == NO_PRIVILEGE


def test_wf_11_the_same_event_twice_in_one_batch_is_one_row(standing: CompanyWithWorkers) -> None:
    instance_id, payload = uuid4(), {"cause_id": "one"}
    rows: list[Mapping[str, Any]] = []
    for event_id in (make_id(), make_id()):
        rows.append(
            {
                "id": event_id,
                "created_at": created_at_of(event_id),
                "instance_id": instance_id,
                "entity_version": 1,
                "definition_version": None,
                "event_type": "mutation",
                "payload": payload,
                "trace_id": None,
                "idempotency_key": f"\\x{event_key(instance_id, 'mutation', payload, 1).hex()}",
            }
        )
    company = standing.company
    with company.database.transaction(company.tenant_id) as connection:
        now, batch = read_now(connection), WriteBatch(events=rows)
        write_batch(connection, company.tenant_id, batch, now=now)
    assert len(standing.rows(EVENTS, instance_id)) == 1
