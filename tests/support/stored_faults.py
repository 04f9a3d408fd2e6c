"""A fault for each invariant: what a superuser does to the rows so that it is violated."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import LiteralString

ANOTHER: LiteralString = "jsonb_build_object('id', gen_random_uuid(), 'created_at', now())"

FAULTS: Mapping[str, tuple[LiteralString, ...]] = MappingProxyType(
    {
        "document_is_its_last_version": ("UPDATE documents SET status = 'forged'",),
        "versions_have_no_gap": ("DELETE FROM document_versions WHERE version = 1",),
        "snapshots_fit_their_hash": ("UPDATE document_versions SET snapshot = snapshot || ' '",),
        "versions_are_audited": ("DELETE FROM audit_log WHERE subject_type = 'document'",),
        "keys_are_of_documents": (
            "INSERT INTO document_keys (tenant_id, entity_type, field, value, document_id)"
            " SELECT tenant_id, entity_type, 'number', 'stray', gen_random_uuid() FROM documents LIMIT 1",
        ),
        "erased_values_are_gone": (
            "ALTER TABLE personal_values DROP CONSTRAINT personal_values_check",
            "INSERT INTO personal_values (tenant_id, id, document_id, field, salt, created_at, erased_at)"
            " SELECT tenant_id, gen_random_uuid(), id, 'contact', '\\x00', now(), now() FROM documents",
        ),
        "live_instances_have_a_document": ("UPDATE documents SET deleted_at = now()",),
        "one_live_instance_of_a_document": (
            "DROP INDEX workflow_instances_live",
            f"INSERT INTO workflow_instances SELECT (jsonb_populate_record(i, {ANOTHER})).*"
            " FROM workflow_instances i WHERE i.status = 'running'",
        ),
        "instances_follow_their_document": ("UPDATE workflow_instances SET entity_version = 99",),
        "definitions_fit_their_hash": (
            "UPDATE workflow_definitions SET compiled_json = compiled_json || ' '"
            " WHERE compiled_json IS NOT NULL",
        ),
        "instances_run_what_was_published": ("UPDATE workflow_definitions SET status = 'draft'",),
        "ended_instances_have_no_token": (
            "UPDATE workflow_instances SET status = 'cancelled', completed_at = now()"
            " WHERE status = 'running'",
        ),
        "live_instances_have_a_token": (
            "UPDATE workflow_instances SET active_tokens = '[]' WHERE status = 'running'",
        ),
        "open_steps_have_a_token": (
            "UPDATE workflow_step_executions SET token_id = 'stray' WHERE status = 'running'",
        ),
        "waiting_tokens_have_a_step": ("DELETE FROM workflow_step_executions WHERE status = 'running'",),
        "ready_tokens_are_woken": (
            "DELETE FROM workflow_events_outbox",
            "UPDATE workflow_instances SET updated_at = now() - interval '1 day',"
            ' active_tokens = \'[{"id": "t", "node": "n", "state": "ready"}]\'',
        ),
        "held_tokens_have_an_incident": ("DELETE FROM incidents",),
        "incidents_are_of_held_tokens": (
            "UPDATE incidents SET token_id = 'stray' WHERE token_id IS NOT NULL",
        ),
        "incidents_are_of_paused_instances": (
            "UPDATE incidents SET token_id = NULL, node_id = NULL",
            "UPDATE workflow_instances SET status = 'running' WHERE status = 'paused'",
        ),
        "pauses_have_a_cause": (
            "UPDATE workflow_instances SET status = 'paused' WHERE status = 'running'",
            "DELETE FROM incidents",
        ),
        "steps_are_written_once": (
            f"INSERT INTO workflow_step_executions SELECT (jsonb_populate_record(s, {ANOTHER})).*"
            " FROM workflow_step_executions s",
        ),
        "steps_have_their_receipt": ("DELETE FROM workflow_step_receipts",),
        "receipts_have_their_step": (
            "UPDATE workflow_step_receipts SET step_execution_id = gen_random_uuid()",
        ),
        "steps_have_their_instance": ("DELETE FROM workflow_instances",),
        "versions_of_instances_count_their_steps": ("UPDATE workflow_instances SET version = version + 1",),
        "approvals_wait_for_people": (
            "UPDATE workflow_instances SET updated_at = now() - interval '1 day'",
            "UPDATE approval_seats SET status = 'closed' WHERE status = 'open'",
            "DELETE FROM workflow_events_outbox",
        ),
        "calls_wait_for_an_answer": (
            "UPDATE workflow_instances SET updated_at = now() - interval '1 day'",
            "DELETE FROM workflow_side_effects_outbox",
            "DELETE FROM workflow_events_outbox",
        ),
        "triggers_are_not_left_claimed": (
            "UPDATE workflow_events_outbox SET status = 'processing', claim_id = gen_random_uuid(),"
            " lease_until = now() - interval '1 day'",
        ),
        "triggers_are_not_left_undone": (
            "UPDATE workflow_events_outbox SET status = 'pending', due_at = now() - interval '1 day'",
        ),
        "dead_triggers_have_an_incident": (
            "UPDATE workflow_events_outbox SET status = 'dead_letter'",
            "DELETE FROM incidents",
        ),
        "queues_keep_to_their_attempts": ("UPDATE workflow_events_outbox SET attempts = max_attempts + 1",),
        "triggers_have_their_receipt": (
            "DELETE FROM workflow_outbox_receipts WHERE source_table = 'events'",
        ),
        "triggers_are_written_once": (
            f"INSERT INTO workflow_events_outbox SELECT (jsonb_populate_record(q, {ANOTHER})).*"
            " FROM workflow_events_outbox q",
        ),
        "effects_are_not_left_claimed": (
            "UPDATE workflow_side_effects_outbox SET status = 'processing', claim_id = gen_random_uuid(),"
            " lease_until = now() - interval '1 day'",
        ),
        "effects_are_not_left_undone": (
            "UPDATE workflow_side_effects_outbox SET status = 'pending', due_at = now() - interval '1 day'",
        ),
        "effects_have_their_step": (
            "UPDATE workflow_side_effects_outbox SET step_execution_id = gen_random_uuid()",
        ),
        "withdrawn_effects_are_not_sent": (
            "UPDATE workflow_side_effects_outbox SET withdrawn_at = now(), status = 'pending'",
        ),
        "ended_steps_send_nothing": (
            "UPDATE workflow_side_effects_outbox SET status = 'pending'",
            "UPDATE workflow_step_executions SET status = 'cancelled', end_seq = seq",
        ),
        "steps_send_once": (
            "UPDATE workflow_side_effects_outbox SET status = 'completed', claim_id = NULL",
            f"INSERT INTO workflow_side_effects_outbox SELECT (jsonb_populate_record(e, {ANOTHER})).*"
            " FROM workflow_side_effects_outbox e",
        ),
        "endpoints_hold_only_while_off": (
            "UPDATE workflow_side_effects_outbox SET status = 'pending', held_at = now()",
            "UPDATE endpoints SET status = 'active', updated_at = now() - interval '1 day'",
        ),
        "open_approvals_have_a_step": ("DELETE FROM workflow_step_executions WHERE status = 'running'",),
        "approvals_pin_what_was_there": ("UPDATE approval_requests SET snapshot_hash = repeat('0', 64)",),
        "policies_fit_their_hash": ("UPDATE approval_requests SET policy = policy || ' '",),
        "decided_seats_have_a_decision": ("UPDATE approval_decisions SET decided_by = 'eve'",),
        "decisions_have_a_seat": ("DELETE FROM approval_seats",),
        "decisions_are_about_what_was_asked": (
            "UPDATE approval_decisions SET definition_hash = repeat('0', 64)",
        ),
        "decisions_are_audited": ("UPDATE approval_decisions SET audit_id = NULL",),
        "approved_requests_have_votes": ("UPDATE approval_decisions SET decision = 'abstained'",),
        "used_approvals_passed_a_gate": (
            "DELETE FROM workflow_step_executions WHERE node_type = 'lifecycle_gate'",
        ),
        "passed_gates_used_their_approvals": ("UPDATE approval_requests SET applied = false",),
        "open_requests_have_a_workflow": (
            "UPDATE transition_requests"
            " SET document_id = gen_random_uuid(), status = 'open', ended_at = NULL",
        ),
        "requests_are_taken_up": (
            "DELETE FROM workflow_events_outbox",
            "UPDATE workflow_instances SET request_id = gen_random_uuid()",
            "UPDATE transition_requests SET created_at = now() - interval '1 day'",
        ),
        "one_amendment_of_an_original": (
            "DROP INDEX amendments_by_original",
            "INSERT INTO amendments (tenant_id, document_id, original_id, original_version, original_status,"
            " opened_at) SELECT tenant_id, gen_random_uuid(), id, 1, 'active', now() FROM documents,"
            " generate_series(1, 2)",
        ),
        "settled_amendments_replace_their_original": (
            "INSERT INTO amendments (tenant_id, document_id, original_id, original_version, original_status,"
            " opened_at, closed_at, closing) SELECT tenant_id, gen_random_uuid(), id, 1, 'active', now(),"
            " now(), 'settled' FROM documents",
        ),
        "amended_documents_have_their_amendment": ("UPDATE documents SET status = 'amended'",),
        "repetition_keys_have_an_outcome": (
            "INSERT INTO idempotency_keys (tenant_id, key, request_hash)"
            " SELECT tenant_id, 'a key', repeat('0', 64) FROM tenants",
        ),
        "chains_have_no_gap": ("DELETE FROM audit_log WHERE seq = 1",),
        "seals_count_their_rows": (
            "INSERT INTO audit_seals (tenant_id, sequence, epoch, from_xid, to_xid, row_count, merkle_root,"
            " seal, created_at) SELECT tenant_id, 1, 0, '0', '1', 99, repeat('0', 64), repeat('0', 64), now()"
            " FROM tenants",
        ),
        "responsible_sets_are_there": ("DELETE FROM responsible_sets",),
    }
)
