"""The writes and the refusals of each operation of mutate()."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from signet.core.errors import Rejected
from signet.engine.documents.commands import (
    Amend,
    Applied,
    Create,
    Delete,
    Operation,
    RequestTransition,
    RunAction,
    Update,
)
from tests.support.company import INVOICE, Company
from tests.support.database.unguarded import execute_unguarded

Admin = Connection[tuple[Any, ...]]


def do(company: Company, operation: Operation, user_id: str = "carl", *roles: str) -> Applied:
    return company.documents.mutate(company.caller(user_id, *roles), operation)


def create(company: Company, **changes: Any) -> Applied:
    return do(company, Create("invoice", {**INVOICE, **changes}))


def rejection(company: Company, operation: Operation, user_id: str = "carl", *roles: str) -> Rejected:
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.caller(user_id, *roles), operation)
    return caught.value


def row(admin: Admin, query: str, *values: Any) -> tuple[Any, ...]:
    found = admin.execute(query, values).fetchone()
    assert found is not None
    return found


def test_a_document_is_born_with_its_instance(company: Company, admin: Admin) -> None:
    applied = create(company)
    assert (applied.version, applied.status) == (1, "draft")
    document = row(
        admin, "SELECT status, version, t2, n1, creator_id FROM documents WHERE id = %s", applied.document_id
    )
    assert document == ("draft", 1, "R-1", 60000, "carl")
    instance = row(
        admin,
        "SELECT id, status, kind, entity_version, current_nodes, edit_window, definition_version"
        " FROM workflow_instances WHERE entity_id = %s",
        applied.document_id,
    )
    assert instance == (applied.instance_id, "running", "envelope", 1, ["sys:start"], "editable", 1)
    event = row(admin, "SELECT instance_id, event_type, status, trace_id FROM workflow_events_outbox")
    assert event == (applied.instance_id, "create_instance", "pending", "00-test")
    assert row(admin, "SELECT count(*) FROM workflow_outbox_receipts") == (1,)
    assert row(admin, "SELECT version, actor_id FROM document_versions") == (1, "carl")
    audit = row(admin, "SELECT seq, action, actor_id FROM audit_log WHERE subject_type = 'document'")
    assert audit == (1, "create", "carl")


def test_an_update_makes_a_version_and_tells_the_workflow(company: Company, admin: Admin) -> None:
    applied = create(company)
    updated = company.documents.mutate(
        company.caller("eve"), Update(applied.document_id, 1, {"grand_total": 70000, "cost_center": "C1"})
    )
    assert (updated.version, updated.instance_id) == (2, applied.instance_id)
    document = row(admin, "SELECT data, editor_ids, n1 FROM documents")
    assert document[0]["grand_total"] == 70000 and document[1:] == (["eve"], 70000)
    assert [v for (v,) in admin.execute("SELECT version FROM document_versions ORDER BY version")] == [1, 2]
    events = admin.execute(
        "SELECT event_type, entity_version FROM workflow_events_outbox ORDER BY id"
    ).fetchall()
    assert events == [("create_instance", 1), ("mutation", 2)]
    chain = admin.execute(
        "SELECT seq, previous_hash, hash FROM audit_log WHERE subject_type = 'document' ORDER BY seq"
    )
    (first, second) = chain.fetchall()
    assert (first[0], first[1], second[0], second[1]) == (1, None, 2, first[2])


def test_a_full_update_replaces_all_and_null_removes(company: Company, admin: Admin) -> None:
    applied = create(company, cost_center="C1")
    do(company, Update(applied.document_id, 1, {"cost_center": None}))
    assert "cost_center" not in row(admin, "SELECT data FROM documents")[0]
    do(company, Update(applied.document_id, 2, INVOICE | {"number": "R-9"}, is_full=True))
    assert row(admin, "SELECT data ->> 'number' FROM documents") == ("R-9",)


def test_a_stale_version_is_a_conflict_with_the_current_one(company: Company) -> None:
    applied = create(company)
    do(company, Update(applied.document_id, 1, {"cost_center": "C1"}))
    error = rejection(company, Update(applied.document_id, 1, {"cost_center": "C2"}))
    assert (error.code, error.details["current_version"]) == ("DOCUMENT_VERSION_CONFLICT", 2)


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"grand_total": "much"}, "/grand_total", "FIELD_TYPE"),
        ({"grand_total": -1}, "/grand_total", "FIELD_TOO_SMALL"),
        ({"number": "a\0b"}, "/number", "FIELD_TEXT_INVALID"),
        ({"number": "\ud800"}, "/number", "FIELD_TEXT_INVALID"),
        ({"tax_total": 2**53}, "/tax_total", "FIELD_NUMBER_UNSAFE"),
        ({"lines": [{}] * 501}, "/lines", "FIELD_TOO_MANY_ITEMS"),
        ({"status": "active"}, "/status", "FIELD_UNKNOWN"),
        ({"version": 7}, "/version", "FIELD_UNKNOWN"),
        ({"tenant_id": str(uuid4())}, "/tenant_id", "FIELD_UNKNOWN"),
        ({"amended_from_id": str(uuid4())}, "/amended_from_id", "FIELD_UNKNOWN"),
    ],
)
def test_bad_fields_are_named_and_nothing_is_written(
    company: Company, admin: Admin, changes: dict[str, Any], pointer: str, code: str
) -> None:
    error = rejection(company, Create("invoice", {**INVOICE, **changes}))
    assert error.code == "FIELDS_INVALID"
    assert (pointer, code) in [(field.pointer, field.code) for field in error.fields]
    assert row(admin, "SELECT count(*) FROM documents") == (0,)
    assert row(admin, "SELECT count(*) FROM audit_log WHERE subject_type = 'document'") == (0,)


def test_a_taken_key_is_a_conflict(company: Company, admin: Admin) -> None:
    first = create(company)
    error = rejection(company, Create("invoice", INVOICE))
    assert (error.code, error.fields[0].pointer) == ("KEY_TAKEN", "/number")
    # A number is free again after a change, and after the document's deletion.
    do(company, Update(first.document_id, 1, {"number": "R-2"}))
    second = create(company)
    assert rejection(company, Update(second.document_id, 1, {"number": "R-2"})).code == "KEY_TAKEN"
    do(company, Delete(first.document_id, 2))
    do(company, Update(second.document_id, 1, {"number": "R-2"}))
    assert row(admin, "SELECT count(*), min(value) FROM document_keys") == (1, "R-2")


def test_what_is_not_there(company: Company) -> None:
    assert rejection(company, Create("nothing", {})).code == "ENTITY_TYPE_UNKNOWN"
    assert rejection(company, Update(uuid4(), 1, {})).code == "DOCUMENT_NOT_FOUND"
    gone = create(company)
    do(company, Delete(gone.document_id, 1))
    assert rejection(company, Update(gone.document_id, 2, {})).code == "DOCUMENT_NOT_FOUND"


def test_permissions(company: Company) -> None:
    assert rejection(company, Create("invoice", INVOICE), "rita", "reader").code == "PERMISSION_DENIED"
    applied = company.documents.mutate(company.caller("carl", "clerk"), Create("invoice", INVOICE))
    error = rejection(company, RequestTransition(applied.document_id, 1, "cancel", "why"), "carl", "clerk")
    assert (error.code, "invoice:cancel" in error.message) == ("PERMISSION_DENIED", True)


def put_at(admin: Admin, document_id: UUID, status: str, window: str, node: str) -> None:
    """Write the status and the edit window that the engine would have written."""
    execute_unguarded(admin, "UPDATE documents SET status = %s WHERE id = %s", [status, document_id])
    admin.execute(
        "UPDATE workflow_instances SET edit_window = %s, edit_window_node = %s WHERE entity_id = %s",
        [window, node, document_id],
    )


def test_a_locked_document_says_who_holds_it(company: Company, admin: Admin) -> None:
    applied = create(company)
    put_at(admin, applied.document_id, "draft", "locked", "usr:draft_to_submitted:check")
    error = rejection(company, Update(applied.document_id, 1, {"cost_center": "C"}))
    assert error.code == "WORKFLOW_EDIT_LOCKED"
    assert error.details == {"window": "locked", "held_by": "usr:draft_to_submitted:check"}
    assert rejection(company, Delete(applied.document_id, 1)).code == "WORKFLOW_EDIT_LOCKED"


def test_an_active_document_stays_locked_after_its_workflow(company: Company, admin: Admin) -> None:
    applied = create(company)
    execute_unguarded(admin, "UPDATE documents SET status = 'active'")
    admin.execute("UPDATE workflow_instances SET status = 'completed', completed_at = now()")
    error = rejection(company, Update(applied.document_id, 1, {"cost_center": "C"}))
    assert (error.code, error.details["held_by"]) == ("WORKFLOW_EDIT_LOCKED", "status active")


@pytest.mark.parametrize("patch", [{}, {"grand_total": 60000}])
def test_an_edit_without_a_difference_makes_no_amendment(
    company: Company, admin: Admin, patch: dict[str, Any]
) -> None:
    """It would end the approvals that are asked for, and say the same again."""
    applied = create(company)
    put_at(admin, applied.document_id, "submitted", "amend_only", "sys:state:submitted")
    refused = rejection(company, Update(applied.document_id, 1, patch))
    assert (refused.code, refused.remedy) == ("REQUEST_INVALID", "Send the fields that change.")
    assert row(admin, "SELECT status, version FROM documents WHERE id = %s", applied.document_id) == (
        "submitted",
        1,
    )


def test_an_edit_while_it_is_approved_makes_an_amendment(company: Company, admin: Admin) -> None:
    applied = create(company)
    put_at(admin, applied.document_id, "submitted", "amend_only", "sys:state:submitted")
    amended = company.documents.mutate(
        company.caller("eve"), Update(applied.document_id, 1, {"grand_total": 1})
    )
    assert amended.original_id == applied.document_id and amended.document_id != applied.document_id
    assert (amended.version, amended.status) == (1, "draft")
    original = row(
        admin,
        "SELECT status, version, data ->> 'grand_total' FROM documents WHERE id = %s",
        applied.document_id,
    )
    assert original == ("amended", 2, "60000")
    new = row(
        admin,
        "SELECT amended_from_id, data ->> 'grand_total' FROM documents WHERE id = %s",
        amended.document_id,
    )
    assert new == (applied.document_id, "1")
    ended = row(
        admin,
        "SELECT status, reason, version, active_tokens FROM workflow_instances WHERE id = %s",
        applied.instance_id,
    )
    assert ended == ("cancelled", "amended", 1, [])
    step = row(
        admin, "SELECT node_id, seq, output_json -> 'diff' -> 'grand_total' FROM workflow_step_executions"
    )
    assert step == ("sys:control:amended", 1, {"before": 60000, "after": 1})
    birth = row(
        admin,
        "SELECT payload_json ->> 'birth' FROM workflow_events_outbox WHERE instance_id = %s",
        amended.instance_id,
    )
    assert birth == ("amended",)
    # The business key moved with the content; the original is final.
    assert row(admin, "SELECT document_id FROM document_keys") == (amended.document_id,)
    assert rejection(company, Update(applied.document_id, 2, {})).code == "WORKFLOW_EDIT_LOCKED"


def test_an_explicit_amendment_where_the_contract_allows_it(company: Company, admin: Admin) -> None:
    applied = create(company)
    assert rejection(company, Amend(applied.document_id, 1, {})).code == "AMENDMENT_NOT_POSSIBLE"
    execute_unguarded(admin, "UPDATE documents SET status = 'active'")
    admin.execute("UPDATE workflow_instances SET status = 'completed', completed_at = now()")
    amended = do(company, Amend(applied.document_id, 1, {"grand_total": 5}, "price"))
    assert amended.original_id == applied.document_id
    assert row(admin, "SELECT status, version FROM documents WHERE id = %s", applied.document_id) == (
        "active",
        1,
    )


def test_a_request_is_open_until_something_ends_it(company: Company, admin: Admin) -> None:
    applied = create(company)
    requested = do(company, RequestTransition(applied.document_id, 1, "submit"))
    assert requested.version == 1
    assert row(admin, "SELECT id, status, document_version FROM transition_requests") == (
        requested.request_id,
        "open",
        1,
    )
    do(company, RequestTransition(applied.document_id, 1, "cancel", "wrong"))
    do(company, Update(applied.document_id, 1, {"cost_center": "C"}))
    requests = admin.execute(
        "SELECT transition, status, outcome FROM transition_requests ORDER BY id"
    ).fetchall()
    assert requests == [
        ("submit", "superseded", "replaced by a request for cancel"),
        ("cancel", "superseded", "edited"),
    ]


def test_requests_that_cannot_be(company: Company) -> None:
    applied = create(company)
    assert rejection(company, RequestTransition(applied.document_id, 1, "fly")).code == "TRANSITION_UNKNOWN"
    assert (
        rejection(company, RequestTransition(applied.document_id, 1, "approve")).code == "TRANSITION_UNKNOWN"
    )
    error = rejection(company, RequestTransition(applied.document_id, 1, "cancel"))
    assert error.fields[0].code == "REASON_REQUIRED"


def test_a_request_after_the_end_begins_a_new_instance_there(company: Company, admin: Admin) -> None:
    applied = create(company)
    execute_unguarded(admin, "UPDATE documents SET status = 'active'")
    admin.execute("UPDATE workflow_instances SET status = 'completed', completed_at = now()")
    again = do(company, RequestTransition(applied.document_id, 1, "cancel", "void"))
    assert again.instance_id not in (None, applied.instance_id)
    begun = row(
        admin, "SELECT begin_node, edit_window FROM workflow_instances WHERE id = %s", again.instance_id
    )
    assert begun == ("sys:state:active", "locked")


def test_a_contract_action(company: Company, admin: Admin) -> None:
    applied = create(company)
    payload = {"cost_center": "C7", "owner": "olga"}
    do(company, RunAction(applied.document_id, 1, "assign_cost_center", payload))
    data = row(admin, "SELECT data, version FROM documents")
    assert (data[0]["cost_center"], data[0]["cost_center_owner"], data[1]) == ("C7", "olga", 2)
    assert (
        rejection(company, RunAction(applied.document_id, 2, "assign_cost_center", {})).code
        == "FIELDS_INVALID"
    )
    assert rejection(company, RunAction(applied.document_id, 2, "explode", {})).code == "ACTION_UNKNOWN"


def test_a_deleted_document_ends_its_workflow(company: Company, admin: Admin) -> None:
    applied = create(company)
    do(company, Delete(applied.document_id, 1, "by mistake"))
    assert row(admin, "SELECT deleted_at IS NOT NULL, version FROM documents") == (True, 2)
    assert row(admin, "SELECT status, reason FROM workflow_instances") == ("cancelled", "deleted")


def test_personal_values_stand_in_one_table_only(company: Company, admin: Admin) -> None:
    applied = create(company, vendor_contact="Erna Example")
    do(company, Update(applied.document_id, 1, {"cost_center": "C"}))
    assert row(admin, "SELECT count(*), min(value #>> '{}') FROM personal_values") == (1, "Erna Example")
    for table, column in [("documents", "data"), ("document_versions", "snapshot"), ("audit_log", "content")]:
        texts = admin.execute(f"SELECT {column}::text FROM {table}".encode()).fetchall()
        assert not [text for (text,) in texts if "Erna" in text], table


def test_many_at_once(company: Company, admin: Admin) -> None:
    operations: list[Operation] = [Create("invoice", {**INVOICE, "number": f"R-{n}"}) for n in range(50)]
    outcomes = company.documents.mutate_many(company.caller(), operations)
    assert all(isinstance(outcome, Applied) for outcome in outcomes)
    assert row(admin, "SELECT count(*) FROM documents") == (50,)
    mixed: list[Operation] = [
        Create("invoice", {**INVOICE, "number": "R-60"}),
        Create("invoice", {**INVOICE, "number": "R-1"}),
    ]
    for key in (None, "key-1"):
        outcomes = company.documents.mutate_many(company.caller(), mixed, "all", idempotency_key=key)
        assert [(o.code, o.message) for o in outcomes if isinstance(o, Rejected)] == [
            ("NOT_DONE", "not done, because number 1 was refused: another document has this number"),
            ("KEY_TAKEN", "another document has this number"),
        ]
        assert row(admin, "SELECT count(*), count(*) FILTER (WHERE value = 'R-60') FROM document_keys") == (
            50,
            0,
        )
        assert row(admin, "SELECT count(*) FROM idempotency_keys") == (0,)
    assert row(admin, "SELECT count(*) FROM documents") == (50,)
    each = company.documents.mutate_many(company.caller(), mixed, "each")
    assert [type(outcome) for outcome in each] == [Applied, Rejected]
    assert row(admin, "SELECT count(*) FROM documents") == (51,)


def test_another_tenants_document_is_not_there(company: Company) -> None:
    from tests.support.company import make_company

    other = make_company(company.database)
    other.publish("invoice")
    applied = create(company)
    assert rejection(other, Update(applied.document_id, 1, {"cost_center": "C"})).code == "DOCUMENT_NOT_FOUND"


REVEALING: dict[str, Callable[[UUID], Operation]] = {
    "update": lambda one: Update(one, 1, {"cost_center": "C"}),
    "amend": lambda one: Amend(one, 1, {"cost_center": "C"}),
    "amend what is not settled": lambda one: Amend(one, 2, {"cost_center": "C"}),
    "request": lambda one: RequestTransition(one, 1, "submit"),
    "request without a reason": lambda one: RequestTransition(one, 2, "cancel"),
    "action": lambda one: RunAction(one, 1, "record_payment", {"paid_on": "2026-01-01"}),
    "action with a wrong payload": lambda one: RunAction(one, 2, "record_payment", {}),
    "delete": lambda one: Delete(one, 1),
}


@pytest.mark.parametrize("name", REVEALING)
def test_who_may_not_learns_nothing_of_the_document(company: Company, name: str) -> None:
    document_id = create(company).document_id
    do(company, Update(document_id, 1, {"cost_center": "C"}))
    error = rejection(company, REVEALING[name](document_id), "rita", "reader")
    assert (error.code, error.details) == ("PERMISSION_DENIED", {})


@pytest.mark.parametrize(
    ("status", "transition", "remedy"),
    [
        (
            "submitted",
            "submit",
            "In submitted one can ask for: cancel."
            " An edit makes an amendment: a new document, which begins again.",
        ),
        ("active", "submit", "In active one can ask for: cancel."),
        ("cancelled", "cancel", "Nothing begins in cancelled."),
    ],
)
def test_a_transition_that_does_not_begin_there_says_what_does(
    company: Company, admin: Admin, status: str, transition: str, remedy: str
) -> None:
    applied = create(company)
    put_at(admin, applied.document_id, status, "locked", f"sys:state:{status}")
    refused = rejection(company, RequestTransition(applied.document_id, 1, transition, "why"))
    assert (refused.code, refused.remedy) == ("TRANSITION_NOT_POSSIBLE", remedy)
