"""Each index with a query that needs it: the store's own if there is one, else the query it was made for."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signet.store.instances.lists import NEVER
from signet.store.outbox.measures import COUNTED_AT_MOST
from signet.store.outbox.queue import EFFECTS, EVENTS, EVER, Queue, fill
from tests.integration.store.plans.approvals import approval_probes
from tests.integration.store.plans.document_lists import list_probes_of_documents
from tests.integration.store.plans.probes import (
    API,
    KEY,
    LARGE,
    NUMBER,
    PAGE,
    ROW,
    Probe,
    plain,
    statements_of,
)

QUEUE, ACTS, MEASURES, DOCUMENTS, INSTANCES, PERSONAL, RECORDS, DESIGNING, OPERATIONS = map(
    statements_of,
    (
        "outbox/queue",
        "outbox/effect_acts",
        "outbox/measures",
        "documents/write",
        "instances/write",
        "documents/personal_values",
        "instances/record",
        "definitions/designer",
        "operations/overview",
    ),
)
LISTS, READING, LIFE = map(statements_of, ("instances/lists", "instances/read", "documents/timeline"))
STARTS = statements_of("automations/starts")
# The values of a list of instances without filters.
LISTED: Mapping[str, Any] = {
    "statuses": ["running", "paused", "completed", "failed", "cancelled"],
    **dict.fromkeys(("workflow", "definition_id", "entity_type", "node")),
    "before": ROW,
    "started_before": NEVER,
    "updated_before": NEVER,
    "limit": 50,
}


def list_probes() -> Iterator[Probe]:
    yield from document_probes()
    yield from instance_probes()
    yield from step_probes()
    yield from approval_probes()
    for queue in (EVENTS, EFFECTS):
        yield from queue_probes(queue)
        # dead letters in an operator's list
        dead = {"before": UUID(int=2**128 - 1), "limit": 50, "queue": ""}
        yield Probe(f"{queue.table}_dead", OPERATIONS["list_dead_letters"], dead, API)
    yield Probe(f"{EFFECTS.table}_dead", OPERATIONS["find_dead_effects"], {"ids": [ROW]}, API)
    yield from effect_act_probes()
    usage = {"limit": COUNTED_AT_MOST, "since_seconds": 3_600, "since": EVER}
    for index in ("workflow_instances_by_status", "workflow_step_executions_pkey"):
        yield Probe(index, OPERATIONS["read_usage"], usage, API)
    # "what happened to this instance", newest first
    history = "workflow_event"
    yield Probe(f"{history}_by_subject", RECORDS["list_turns"], {"id": ROW, "limit": 20}, API)
    after = {"id": ROW, "after_at": datetime(1, 1, 1, tzinfo=UTC), "after": UUID(int=0), "limit": 50}
    yield Probe(f"{history}_by_subject", READING["list_history"], after, API)
    # the single line that a link in a list leads to
    yield plain(f"{history}_pkey", history, "created_at = %(created_at)s AND id = %(id)s", id=ROW)


def effect_act_probes() -> Iterator[Probe]:
    """Yield what operators do to effects, and what ended without a delivery, to be pruned."""
    effects, events = EFFECTS.table, EVENTS.table
    listed = {"instance_id": ROW, "before": UUID(int=2**128 - 1), "limit": 50}
    yield Probe(f"{effects}_by_instance", ACTS["list_effects"], listed, API)
    for name in ("find_effect", "lock_effect", "try_effect_now", "withdraw_effect"):
        yield Probe(f"{effects}_pkey", ACTS[name], {"id": ROW, "reason": "why"}, API)
    changed = {"ids": [ROW], "reason": "why", "errors": ["why"], "claim_id": ROW, "delay_seconds": 1.0}
    for name in ("hold_effects", "let_effects_go", "list_withdrawn"):
        yield Probe(f"{effects}_pkey", ACTS[name], changed)
    for queue in (EVENTS, EFFECTS):
        yield Probe(f"{queue.table}_dead", fill(ACTS["discard_dead"], queue), changed, API)
    yield Probe(f"{effects}_held", ACTS["free_held"], {"endpoint": "erp", "at_most": 500}, API)
    for table, statuses in ((events, "'discarded'"), (effects, "'withdrawn', 'discarded'")):
        old = f"status IN ({statuses}) AND completed_at < now()"
        yield plain(f"{table}_dropped", table, old, f"ORDER BY completed_at {PAGE}")


def document_probes() -> Iterator[Probe]:
    yield Probe("documents_pkey", PERSONAL["lock_document"], {"tenant_id": LARGE, "document_id": ROW}, API)
    yield from list_probes_of_documents()
    # the rows that purge_documents() finds
    yield plain(
        "documents_deleted",
        "documents",
        "deleted_at < %(before)s AND purged_at IS NULL",
        f"ORDER BY deleted_at {PAGE}",
        API,
        before=NEVER,
    )
    # "what became of this document": its amendment, and the foreign key
    yield plain("documents_by_amended_from", "documents", "amended_from_id = %(id)s", role=API, id=ROW)

    requests = "transition_requests"
    ended = json.dumps([{"id": str(ROW), "status": "performed", "outcome": None}])
    values = {"tenant_id": LARGE, "rows": ended, "now": "now"}
    yield Probe(f"{requests}_pkey", DOCUMENTS["end_requests"], values)
    # the join of lock_and_read_documents()
    yield plain(f"{requests}_open", requests, "document_id = %(id)s AND status = 'open'", id=ROW)
    # "who asked for what", newest first
    yield plain(
        f"{requests}_by_document",
        requests,
        "document_id = %(id)s",
        f"ORDER BY created_at DESC {PAGE}",
        API,
        id=ROW,
    )


def instance_probes() -> Iterator[Probe]:
    table, of_document = "workflow_instances", "entity_type = 'invoice' AND entity_id = %(id)s"
    yield from written_instance_probes(table)
    for name in ("read_instance", "lock_instances", "find_entity", "read_beginning"):
        yield Probe(f"{table}_pkey", INSTANCES[name], {"id": ROW, "ids": [ROW]})
    # the join of lock_and_read_documents()
    live = f"{of_document} AND kind = 'envelope' AND status IN ('running', 'paused')"
    yield plain(f"{table}_live", table, live, id=ROW)
    # counts of documents at each node, up to a limit
    counted = {"entity_type": "invoice", "at_most": 1000, "examples": 3, "limit": 200}
    yield Probe(f"{table}_live", DESIGNING["count_documents_at_nodes"], counted, API)
    named = {**counted, "entity_type": "", "name": "royalty"}
    yield Probe(f"{table}_by_definition", DESIGNING["count_automations_at_nodes"], named, API)
    # every run of a document, newest first
    yield plain(f"{table}_by_entity", table, of_document, f"ORDER BY id DESC {PAGE}", API, id=ROW)
    of_row = {"document_id": ROW, "entity_type": "invoice"}
    yield Probe(f"{table}_by_entity", LIFE["find_newest_instance"], of_row, API)
    page = {**of_row, "before": "infinity", "before_id": UUID(int=2**128 - 1), "limit": 50}
    for index in (
        f"{table}_by_entity",
        "workflow_step_executions_by_instance",
        "workflow_event_by_subject",
        "transition_requests_by_document",
        "approval_requests_by_document",
    ):
        yield Probe(index, LIFE["list_timeline"], page, API)
    # "is one running already?"
    overlap = "overlap_key = %(key)s AND status IN ('running', 'paused')"
    yield plain(f"{table}_overlap", table, overlap, key=f"k{NUMBER}")
    # how many of an automation are open
    opened = {"automation_id": str(ROW), "key": f"{ROW}/", "limit": 100, "tenant_limit": 100}
    yield Probe(f"{table}_open_automations", STARTS["count_open"], opened)
    yield Probe(
        f"{table}_by_status",
        INSTANCES["list_stuck"],
        {"idle_seconds": 60, "gap_seconds": 900, "limit": 50, "after_at": None, "after_id": None},
    )
    yield from instance_list_probes(table)
    for name in ("find_instance", "read_compiled_of_instance"):
        yield Probe(f"{table}_pkey", READING[name], {"id": ROW}, API)
    # the instances that a move to a newer definition reads, and the foreign key
    yield plain(
        f"{table}_by_definition",
        table,
        "definition_id = %(id)s AND status IN ('running', 'paused') AND id > %(after)s",
        f"ORDER BY id {PAGE}",
        id=UUID(int=7),
        after=ROW,
    )
    # deadlines that passed
    due = "status = 'running' AND timeout_at <= now()"
    yield plain(f"{table}_by_timeout", table, due, f"ORDER BY timeout_at {PAGE}", id=ROW)


def written_instance_probes(table: str) -> Iterator[Probe]:
    cancelled = json.dumps(
        [
            {
                "id": str(ROW),
                "reason": "amended",
                "entity_version": 2,
                "step_id": str(ROW),
                "step_created_at": "now",
                "node_id": "a",
                "idempotency_key": f"\\x{KEY.hex()}",
                "output": {},
            }
        ]
    )
    values = {"tenant_id": LARGE, "rows": cancelled, "now": "now", "actor_id": "carl", "trace_id": None}
    yield Probe(f"{table}_pkey", DOCUMENTS["cancel_instances"], values, API)
    begun = json.dumps(
        [{"id": str(ROW), "entity_id": str(ROW), "entity_type": "invoice", "birth": "reentered"}]
    )
    yield Probe(f"{table}_by_entity", DOCUMENTS["insert_instances"], {"rows": begun, "now": "now"}, API)


def instance_list_probes(table: str) -> Iterator[Probe]:
    """Yield each list alone and with every other filter."""
    for more in ({}, {"statuses": ["running"]}, {"node": "a"}, {"updated_before": datetime.now(UTC)}):
        values = {**LISTED, "subject_id": str(ROW), **more}
        yield Probe(f"{table}_by_status", LISTS["list_by_status"], values, API)
        yield Probe(f"{table}_by_subject", LISTS["list_by_subject"], values, API)
        for which in ({"workflow": "w7"}, {"definition_id": UUID(int=7)}, {"entity_type": "invoice"}):
            found = {**values, **which}
            yield Probe(f"{table}_by_definition", LISTS["list_by_definition"], found, API)


def step_probes() -> Iterator[Probe]:
    table, receipts = "workflow_step_executions", "workflow_step_receipts"
    # a step that an effect or an approval refers to
    yield plain(f"{table}_pkey", table, "created_at = %(created_at)s AND id = %(id)s FOR UPDATE", id=ROW)
    yield Probe(f"{table}_by_instance", INSTANCES["read_steps"], {"id": ROW, "limit": 1000}, API)
    for name in ("read_last_seq", "read_pause"):
        yield Probe(f"{table}_by_instance", INSTANCES[name], {"id": ROW}, API)
    yield Probe(f"{table}_by_instance", RECORDS["read_steps"], {"id": ROW, "after": 3}, API)
    for name in ("list_visits", "count_taken_edges", "list_steps"):
        values = {"id": ROW, "after": 3, "limit": 50}
        yield Probe(f"{table}_by_instance", READING[name], values, API)
    yield Probe(f"{table}_open", INSTANCES["read_open_steps"], {"id": ROW})
    yield Probe(f"{table}_open", READING["list_waits"], {"id": ROW}, API)
    # the instances that an event from outside wakes
    waiting = "status = 'running' AND waiting_for_event_key = %(key)s"
    yield plain(f"{table}_waiting", table, waiting, key=f"k{NUMBER + 1}")
    # the safety net under timers
    due = "status = 'running' AND resume_at <= now()"
    yield plain(f"{table}_by_resume", table, due, f"ORDER BY resume_at {PAGE}")
    # approvals of one version of a document
    yield plain(f"{table}_by_snapshot", table, "snapshot_version_id = %(id)s", id=UUID(int=NUMBER + 3))
    # what is open on behalf of one person
    mine = "actor_user_id = %(user)s AND status = 'running' AND id > %(id)s"
    yield plain(f"{table}_by_actor", table, mine, f"ORDER BY id {PAGE}", API, user="u0", id=UUID(int=1))
    # "which of these steps are done already?"
    done = "instance_id = %(id)s AND idempotency_key = %(key)s"
    yield plain(f"{receipts}_pkey", receipts, done, id=ROW, key=KEY)
    receipts = "workflow_outbox_receipts"
    sent = "instance_id = %(id)s AND source_table = 'events' AND event_idempotency_key = %(key)s"
    yield plain(f"{receipts}_pkey", receipts, sent, id=ROW, key=KEY)


def queue_probes(queue: Queue[Any]) -> Iterator[Probe]:
    by_key = {
        "ids": [ROW],
        "claim_id": ROW,
        "errors": ["why"],
        "delays": [1.0],
        "finals": [False],
        "delay_seconds": 1.0,
    }
    depth = {"limit": COUNTED_AT_MOST, "since": EVER}
    pace = {"limit": COUNTED_AT_MOST, "since_seconds": 3_600, "since": EVER}
    used: list[tuple[str, str, Mapping[str, Any]]] = [
        ("leased", "release_expired", {"at_most": 100, "error": "why", "since": EVER}),
        ("pkey", "release_expired", {"at_most": 100, "error": "why", "since": EVER}),
        *(("pkey", name, by_key) for name in ("relock", "complete", "release", "fail", "dead_letter")),
        ("dead", "list_dead", {"after": ROW, "limit": 50}),
        *((index, "read_pace", pace) for index in ("done", "leased")),
        *((index, "depth_of", depth) for index in ("due", "leased", "dead")),
    ]
    for index, name, values in used:
        yield Probe(
            f"{queue.table}_{index}", fill((QUEUE | MEASURES)[name], queue), {"tenant_id": LARGE, **values}
        )
    if queue is EVENTS:
        yield Probe(f"{queue.table}_by_instance", RECORDS["list_triggers"], {"id": ROW, "limit": 50}, API)
        yield Probe(f"{queue.table}_dead", INSTANCES["find_dead_triggers"], {"ids": [ROW]}, API)
    # as find_due_early() reads them, for all tenants
    wakes_at = "CASE WHEN status IN ('pending', 'failed') THEN due_at ELSE lease_until END"
    yield plain(
        f"{queue.table}_by_time",
        queue.table,
        f"{wakes_at} <= now()",
        f"ORDER BY {wakes_at}, tenant_id {PAGE}",
    )
    # triggers and effects of an instance, newest first
    yield plain(
        f"{queue.table}_by_instance",
        queue.table,
        "instance_id = %(id)s",
        f"ORDER BY id DESC {PAGE}",
        API,
        id=ROW,
    )
    if queue is EFFECTS:
        # the state of a step's effect
        yield plain(f"{queue.table}_by_step", queue.table, "step_execution_id = %(id)s", id=ROW)
        yield Probe(f"{queue.table}_by_step", RECORDS["list_effects"], {"id": ROW, "limit": 20}, API)
