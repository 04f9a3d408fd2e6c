"""Faults in the code that makes a row of the outbox count once (WF-11)."""

from tests.mutants.mutation import Mutation

WF_11 = "tests/scenarios/invariants/test_wf_11_an_outbox_row_counts_once.py::test_wf_11_"
WF_11_EFFECTS = "tests/integration/engine/integrations/test_effects_count_once.py::test_wf_11_"
EFFECTS = "tests/integration/engine/integrations/test_effects.py::test_"
STORE = "tests/integration/store/"
OUTBOXES = "migrations/0007_create_outboxes.sql"
CLAIMS = "migrations/0075_ask_less_of_each_row.sql"
# It holds the function that writes events, as it is now.
EDITS = "migrations/0085_ask_less_of_each_edit.sql"
KEYS = "shared/signet/core/runtime/idempotency_keys.py"
EVENT_KEY = "return _digest(str(instance_id), event_type, content_hash(payload), str(entity_version))"

OUTBOX = (
    Mutation(
        "a claim takes what another holds of the same moment",
        11,
        CLAIMS,
        "\n      AND array_position(ids, q.id) IS NOT NULL\n    RETURNING q.*;\nEND\n$$;\n\n"
        "CREATE OR REPLACE FUNCTION claim_effects",
        "\n    RETURNING q.*;\nEND\n$$;\n\nCREATE OR REPLACE FUNCTION claim_effects",
        (f"{STORE}outbox/test_queue.py::test_of_rows_of_one_moment_a_claim_takes_those_that_it_chose",),
    ),
    Mutation(
        "a status of a trigger goes where it likes",
        11,
        CLAIMS,
        "WHEN (NEW.status <> OLD.status AND (OLD.status <> 'pending' OR NEW.status <> 'processing')",
        "WHEN (NEW.status = OLD.status AND (OLD.status <> 'pending' OR NEW.status <> 'processing')",
        (f"{STORE}catalogue/test_invariants.py::test_every_illegal_change_of_status_is_refused",),
    ),
    Mutation(
        "an event is written without regard to its receipt",
        11,
        EDITS,
        "    JOIN receipt ON receipt.instance_id = event.instance_id"
        " AND receipt.event_idempotency_key = event.idempotency_key;\n",
        ";\n",
        (
            f"{WF_11}the_same_event_written_again_is_the_same_row",
            f"{WF_11}the_receipt_decides_also_when_the_row_is_gone",
        ),
    ),
    Mutation(
        "a repeated event is an error",
        11,
        EDITS,
        """\
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
""",
        "        RETURNING instance_id, event_idempotency_key\n",
        (f"{WF_11}the_same_event_written_again_is_the_same_row",),
    ),
    Mutation(
        "an event does not say its cause",
        11,
        "shared/signet/store/outbox/queue.py",
        'payload = {**content, "cause_id": str(identifier)}',
        "payload = {**content}",
        (f"{WF_11}two_equal_requests_on_one_version_wake_the_workflow_twice",),
    ),
    Mutation(
        "an event's key leaves out its payload",
        11,
        KEYS,
        EVENT_KEY,
        "return _digest(str(instance_id), event_type, str(entity_version))",
        (
            f"{WF_11}an_equal_payload_of_another_cause_is_another_event",
            f"{WF_11}two_equal_requests_on_one_version_wake_the_workflow_twice",
        ),
    ),
    Mutation(
        "an event's key leaves out the document's version",
        11,
        KEYS,
        EVENT_KEY,
        "return _digest(str(instance_id), event_type, content_hash(payload))",
        (f"{WF_11}an_equal_payload_of_another_cause_is_another_event",),
    ),
    Mutation(
        "an event's key knows the order of the payload's keys",
        11,
        KEYS,
        EVENT_KEY,
        "return _digest(str(instance_id), event_type, str(payload), str(entity_version))",
        (f"{WF_11}the_same_event_written_again_is_the_same_row",),
    ),
    Mutation(
        "an effect is written without regard to its receipt",
        11,
        "migrations/0010_add_responsible_persons.sql",
        """\
        FROM effect JOIN receipt ON receipt.instance_id = effect.instance_id
                                AND receipt.event_idempotency_key = effect.idempotency_key;
""",
        "        FROM effect;\n",
        (f"{WF_11_EFFECTS}the_same_effect_written_again_is_the_same_row",),
    ),
    Mutation(
        "an effect's key leaves out its step",
        11,
        KEYS,
        "return _digest(str(step_execution_id), effect_type, content_hash(payload))",
        "return _digest(effect_type, content_hash(payload))",
        (f"{WF_11_EFFECTS}the_same_content_of_another_step_is_another_effect",),
    ),
    Mutation(
        "a receipt of one outbox counts for the other",
        11,
        OUTBOXES,
        "PRIMARY KEY (tenant_id, instance_id, source_table, event_idempotency_key)",
        "PRIMARY KEY (tenant_id, instance_id, event_idempotency_key)",
        (f"{WF_11_EFFECTS}one_key_in_both_outboxes_counts_once_in_each",),
    ),
    Mutation(
        "a worker may take receipts back",
        11,
        OUTBOXES,
        "GRANT SELECT, INSERT ON workflow_outbox_receipts",
        "GRANT SELECT, INSERT, DELETE ON workflow_outbox_receipts",
        (f"{WF_11}nobody_at_work_takes_a_receipt_back",),
    ),
    Mutation(
        "what refuses one message lets the endpoint rest",
        11,
        "shared/signet/outbound/connector.py",
        "self.is_final or self.refuses_message)",
        "self.is_final)",
        (f"{EFFECTS}what_refuses_a_message_lets_no_endpoint_rest",),
    ),
    Mutation(
        "a receiver with too much to do is called on",
        11,
        "shared/signet/outbound/connector.py",
        "frozenset({408, 425, 429})",
        "frozenset({408, 425})",
        (f"{EFFECTS}what_says_how_the_receiver_is_lets_it_rest",),
    ),
    Mutation(
        "one message that is refused after a rest makes it longer for all",
        11,
        "shared/signet/engine/integrations/effects.py",
        "delivery.is_delivered or (delivery.refuses_message and endpoint.failures >= FAILURES_TO_REST)",
        "delivery.is_delivered",
        (f"{EFFECTS}what_refuses_a_message_ends_a_rest_and_no_count",),
    ),
)
