"""A contract's actions: the changes and outputs of each kind, for people and for workflows."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from signet.authoring.actions import ActionInput, ActionRegistry, ActionResult, NewDocument
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.documents.commands import Applied, Create, Operation, RequestTransition, RunAction, Update
from signet.engine.documents.mutate import Documents
from tests.engine.conftest import INVOICE, Company
from tests.engine.opening import caller_of_step, opened

Admin = Connection[tuple[Any, ...]]
ACTIONS: dict[str, Any] = {
    "plan": {
        "kind": "create",
        "entity_type": "project_task",
        "permission": "invoice:edit",
        "payload": {"title": {"type": "string", "required": True}, "due": {"type": "string"}},
        "set": {
            "title": "{payload.title}",
            "project": "invoices",
            "due_on": {"$expr": "payload.due"},
            "description": "{entity.number} {entity.id}",
        },
    },
    "copy": {
        "kind": "create",
        "entity_type": "invoice",
        "set": {
            "number": "{entity.number}",
            "vendor_id": "V-1",
            "invoice_date": "2026-01-01",
            "grand_total": 1,
        },
    },
    "make_nothing": {"kind": "create", "entity_type": "unheard_of", "set": {"a": 1}},
    "assign": {
        "kind": "update",
        "payload": {"center": {"type": "string", "required": True}},
        "output": {
            "cost_center": {"type": "string", "max_length": 40},
            "due_date": {"type": "date"},
        },
        "set": {"cost_center": "{payload.center}"},
    },
    "reserve": {
        "kind": "python",
        "payload": {"warehouse": {"type": "string", "required": True}},
        "output": {"reserved": {"type": "bool", "required": True}},
    },
}
WAREHOUSE = {"warehouse": "main"}


@pytest.fixture
def company(company: Company) -> Company:
    company.publish("project_task")
    company.publish("invoice", version=2, actions=ACTIONS)
    return company


def with_function(company: Company, function: Any) -> Company:
    registry = ActionRegistry()
    registry.modules = ("acme.actions",)
    registry.action("invoice", "reserve")(function)
    return replace(company, documents=Documents(company.database, registry))


def do(company: Company, operation: Operation, user_id: str = "carl", *roles: str) -> Applied:
    return company.documents.mutate(company.caller(user_id, *roles), operation)


def create(company: Company, **changes: Any) -> Applied:
    return do(company, Create("invoice", {**INVOICE, **changes}))


def refuse(company: Company, operation: Operation, user_id: str = "carl", *roles: str) -> Rejected:
    with pytest.raises(Rejected) as caught:
        do(company, operation, user_id, *roles)
    return caught.value


def rows(admin: Admin, query: str, *values: Any) -> list[tuple[Any, ...]]:
    return admin.execute(query.encode(), values).fetchall()


def count_all(admin: Admin) -> list[tuple[Any, ...]]:
    tables = ("documents", "document_versions", "document_keys", "audit_log", "workflow_events_outbox")
    return [row for table in tables for row in rows(admin, f"SELECT '{table}', count(*) FROM {table}")]


# --- create ---


def test_a_document_is_made_and_the_one_that_it_was_asked_of_stays(company: Company, admin: Admin) -> None:
    invoice = create(company)
    applied = do(company, RunAction(invoice.document_id, 1, "plan", {"title": "Ring them up"}, "late"), "eve")
    assert (applied.document_id, applied.version, applied.status) == (invoice.document_id, 1, "draft")
    assert applied.output is not None and applied.output["version"] == 1
    made = UUID(applied.output["document_id"])
    ((status, data, creator),) = rows(
        admin, "SELECT status, data, creator_id FROM documents WHERE id = %s", made
    )
    assert (status, creator) == ("backlog", "eve")
    assert data["title"] == "Ring them up"
    assert data["description"] == f"R-1 {invoice.document_id}"
    born = rows(
        admin,
        "SELECT e.event_type, e.payload_json ->> 'birth', i.current_nodes FROM workflow_instances i"
        " JOIN workflow_events_outbox e ON e.instance_id = i.id WHERE i.entity_id = %s",
        made,
    )
    assert born == [("create_instance", "created", ["sys:start"])]
    assert rows(admin, "SELECT version, editor_ids FROM documents WHERE id = %s", invoice.document_id) == [
        (1, [])
    ]
    assert rows(admin, "SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'mutation'") == [(0,)]


def test_both_audit_trails_tell_of_it(company: Company, admin: Admin) -> None:
    invoice = create(company)
    applied = do(company, RunAction(invoice.document_id, 1, "plan", {"title": "Ring"}, "late"))
    assert applied.output is not None
    made = applied.output["document_id"]
    query = (
        "SELECT content::json ->> 'action', content::json ->> 'reason',"
        " content::json -> 'changes' ->> 'title', content::json -> 'detail'"
        " FROM audit_log WHERE subject_id = %s ORDER BY seq"
    )
    assert rows(admin, query, str(invoice.document_id))[1:] == [
        (
            "action:plan",
            "late",
            None,
            {"status": "draft", "created": [{"entity_type": "project_task", "document_id": made}]},
        )
    ]
    ((action, reason, title, detail),) = rows(admin, query, made)
    assert (action, reason, "Ring" in title) == ("create", "late", True)
    assert detail == {
        "status": "backlog",
        "made_by": {"document_id": str(invoice.document_id), "action": "action:plan"},
    }


def test_the_permission_is_the_actions(company: Company) -> None:
    invoice = create(company)
    plan = RunAction(invoice.document_id, 1, "plan", {"title": "Ring"})
    assert refuse(company, Create("project_task", {}), "carl", "clerk").code in (
        "PERMISSION_DENIED",
        "FIELDS_INVALID",
    )
    task = {"title": "x", "project": "y"}
    assert refuse(company, Create("project_task", task), "carl", "clerk").code == "PERMISSION_DENIED"
    assert do(company, plan, "carl", "clerk").output is not None
    assert refuse(company, plan, "rita", "reader").code == "PERMISSION_DENIED"


def test_no_window_is_in_the_way_of_a_document_that_stays(company: Company, admin: Admin) -> None:
    invoice = create(company)
    requested = do(company, RequestTransition(invoice.document_id, 1, "submit"))
    admin.execute("UPDATE workflow_instances SET edit_window = 'locked'")
    do(company, RunAction(invoice.document_id, 1, "plan", {"title": "Ring"}))
    open_requests = rows(admin, "SELECT id FROM transition_requests WHERE status = 'open'")
    assert open_requests == [(requested.request_id,)]


@pytest.mark.parametrize(
    ("action", "payload", "code", "pointer"),
    [
        ("plan", {}, "FIELDS_INVALID", "/title"),
        ("plan", {"title": ""}, "FIELDS_INVALID", "/created/0/title"),
        ("plan", {"title": "x", "due": "soon"}, "FIELDS_INVALID", "/created/0/due_on"),
        ("copy", {}, "KEY_TAKEN", "/created/0/number"),
        ("make_nothing", {}, "ENTITY_TYPE_UNKNOWN", None),
        ("plan", {"title": "forbidden"}, "RULE_REJECTED", "/created/0/title"),
    ],
)
def test_what_cannot_be_made_refuses_the_action(
    company: Company, admin: Admin, action: str, payload: dict[str, Any], code: str, pointer: str | None
) -> None:
    no = {"kind": "reject", "message": "no", "field": "title"}
    company.add_rule("no", "before", "entity.title == 'forbidden'", no, entity_type="project_task")
    invoice = create(company)
    before = count_all(admin)
    refused = refuse(company, RunAction(invoice.document_id, 1, action, payload))
    assert refused.code == code
    assert [field.pointer for field in refused.fields] == ([pointer] if pointer else [])
    assert count_all(admin) == before
    other = Create("invoice", {**INVOICE, "number": "R-2"})
    run = RunAction(invoice.document_id, 1, action, payload)
    outcomes = company.documents.mutate_many(company.caller(), [run, other], "each")
    assert [type(outcome) for outcome in outcomes] == [Rejected, Applied]


def test_rules_change_what_is_made(company: Company, admin: Admin) -> None:
    urgent = {"kind": "set", "values": {"priority": "urgent"}}
    told = {"kind": "emit", "event_type": "planned", "payload": {"title": "{entity.title}"}}
    company.add_rule("urgent", "before", "true", urgent, entity_type="project_task", operations=["create"])
    company.add_rule("told", "after", "true", told, entity_type="project_task")
    do(company, RunAction(create(company).document_id, 1, "plan", {"title": "Ring"}))
    assert rows(admin, "SELECT data ->> 'priority' FROM documents WHERE entity_type = 'project_task'") == [
        ("urgent",)
    ]
    told_of = "SELECT payload_json ->> 'title' FROM workflow_events_outbox WHERE event_type = 'planned'"
    assert rows(admin, told_of) == [("Ring",)]


# --- update ---


def test_an_update_gives_back_what_its_output_names_as_it_is_in_the_end(company: Company) -> None:
    rename = {"kind": "set", "values": {"cost_center": "C-{entity.cost_center}"}}
    company.add_rule("prefix", "before", "entity.cost_center != null", rename, operations=["action"])
    applied = do(company, RunAction(create(company).document_id, 1, "assign", {"center": "7"}))
    assert (applied.version, applied.output) == (2, {"cost_center": "C-7", "due_date": None})
    company.publish("invoice", version=3)
    plain = create(company, number="R-2")
    payload = {"cost_center": "C", "owner": "o"}
    assert do(company, RunAction(plain.document_id, 1, "assign_cost_center", payload)).output == {}


# --- python ---


def test_a_function_changes_makes_and_gives_back(company: Company, admin: Admin) -> None:
    def reserve(given: ActionInput) -> ActionResult:
        tasks = [NewDocument("project_task", {"title": f"Task {n}", "project": "stock"}) for n in range(2)]
        changes = {"cost_center": given.payload["warehouse"], "due_date": None}
        return ActionResult(changes=changes, creates=tasks, output={"reserved": True})

    company = with_function(company, reserve)
    invoice = create(company, due_date="2026-05-01")
    applied = do(company, RunAction(invoice.document_id, 1, "reserve", WAREHOUSE))
    assert (applied.version, applied.output) == (2, {"reserved": True})
    ((data,),) = rows(admin, "SELECT data FROM documents WHERE id = %s", invoice.document_id)
    assert data["cost_center"] == "main" and "due_date" not in data and data["number"] == "R-1"
    titles = "SELECT data ->> 'title' FROM documents WHERE entity_type = 'project_task' ORDER BY 1"
    assert rows(admin, titles) == [("Task 0",), ("Task 1",)]
    events = "SELECT event_type, payload_json ->> 'action' FROM workflow_events_outbox WHERE instance_id = %s"
    assert rows(admin, f"{events} ORDER BY id", invoice.instance_id)[1:] == [("mutation", "reserve")]


def test_what_a_function_is_given(company: Company) -> None:
    seen: list[ActionInput] = []

    def reserve(given: ActionInput) -> ActionResult:
        seen.append(given)
        return ActionResult(output={"reserved": False}, changes={"lines": given.document.data["lines"]})

    company = with_function(company, reserve)
    line = {"description": "a", "quantity": 1, "unit_price": 2}
    invoice = create(company, vendor_contact="Erna", lines=[line])
    do(company, RunAction(invoice.document_id, 1, "reserve", WAREHOUSE, context={"approved": True}))
    (given,) = seen
    document = given.document
    assert (document.id, document.entity_type, document.status, document.version) == (
        invoice.document_id,
        "invoice",
        "draft",
        1,
    )
    assert document.data["vendor_contact"] == "Erna" and document.data["lines"] == (line,)
    assert (given.payload, given.context) == (WAREHOUSE, {"approved": True})
    assert (given.actor.user_id, given.actor.roles) == ("carl", ("admin",))
    assert (given.org["name"], given.org["trusted_vendors"]) == ("acme", ("V-100",))
    assert given.now.tzinfo is not None


def test_without_changes_the_document_stays_and_with_them_its_window_holds(
    company: Company, admin: Admin
) -> None:
    answers = [
        ActionResult(output={"reserved": True}),
        ActionResult({"cost_center": "C"}, (), {"reserved": True}),
    ]
    company = with_function(company, lambda given: answers.pop(0))
    invoice = create(company)
    admin.execute("UPDATE workflow_instances SET edit_window = 'locked'")
    run = RunAction(invoice.document_id, 1, "reserve", WAREHOUSE)
    assert do(company, run).version == 1
    assert refuse(company, run).code == "WORKFLOW_EDIT_LOCKED"


def test_two_documents_of_one_action_cannot_have_one_key(company: Company, admin: Admin) -> None:
    twins = [NewDocument("invoice", {**INVOICE, "number": "R-2"}) for _ in range(2)]
    company = with_function(company, lambda given: ActionResult(creates=twins, output={"reserved": True}))
    invoice = create(company)
    before = count_all(admin)
    refused = refuse(company, RunAction(invoice.document_id, 1, "reserve", WAREHOUSE))
    assert (refused.code, refused.fields[0].pointer) == ("KEY_TAKEN", "/created/1/number")
    assert count_all(admin) == before


def test_a_function_that_was_not_loaded(company: Company) -> None:
    registry = ActionRegistry()
    company = replace(company, documents=Documents(company.database, registry))
    run = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    refused = refuse(company, run)
    assert refused.code == "ACTION_NOT_LOADED" and "names no module" in refused.remedy
    registry.modules = ("acme.actions", "acme.more")
    assert "loaded: acme.actions, acme.more" in refuse(company, run).remedy
    assert "@action('invoice', 'reserve')" in refused.remedy
    assert refuse(company, run, "rita", "reader").code == "PERMISSION_DENIED"


# --- the document's own workflow ---


def test_a_step_of_the_own_workflow_needs_no_version_and_no_window(company: Company, admin: Admin) -> None:
    invoice = create(company)
    do(company, RequestTransition(invoice.document_id, 1, "submit"))
    admin.execute("UPDATE workflow_instances SET edit_window = 'locked'")
    step = caller_of_step(company, invoice.instance_id, "eve")
    with opened(company, invoice.document_id) as documents:
        for center in ("A", "B"):
            run = RunAction(invoice.document_id, None, "assign", {"center": center})
            outcome = documents.execute(step, run)
            assert isinstance(outcome, Applied) and outcome.output is not None
            assert outcome.output["cost_center"] == center
        planned = documents.execute(step, RunAction(invoice.document_id, None, "plan", {"title": "Ring"}))
        assert isinstance(planned, Applied) and planned.version == 3
    assert rows(admin, "SELECT version, editor_ids FROM documents WHERE id = %s", invoice.document_id) == [
        (3, [])
    ]
    assert rows(admin, "SELECT status FROM transition_requests") == [("open",)]
    mutations = "SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'mutation'"
    assert rows(admin, mutations) == [(0,)]
    made = rows(admin, "SELECT creator_id FROM documents WHERE entity_type = 'project_task'")
    assert made == [("eve",)]
    trail = rows(
        admin,
        "SELECT content::json ->> 'instance_id', content::json ->> 'step_id' FROM audit_log"
        " WHERE action = 'create' AND content::json -> 'detail' ->> 'made_by' IS NOT NULL",
    )
    assert trail == [(str(invoice.instance_id), str(step.step_id))]


def test_nobody_else_may_leave_the_version_out(company: Company) -> None:
    invoice = create(company)
    run = RunAction(invoice.document_id, None, "assign", {"center": "A"})
    other: list[Caller] = [company.caller(), caller_of_step(company, uuid4())]
    for caller in other:
        with opened(company, invoice.document_id) as documents:
            refused = documents.execute(caller, run)
        assert isinstance(refused, Rejected) and refused.code == "DOCUMENT_VERSION_MISSING"


def test_what_an_amendment_ends_is_ended_for_whoever_comes_next(company: Company, admin: Admin) -> None:
    invoice = create(company)
    admin.execute("UPDATE workflow_instances SET edit_window = 'amend_only'")
    with opened(company, invoice.document_id) as documents:
        amended = documents.execute(company.caller(), Update(invoice.document_id, 1, {"grand_total": 1}))
        assert isinstance(amended, Applied) and amended.original_id == invoice.document_id
        again = documents.execute(company.caller(), Update(invoice.document_id, 2, {"grand_total": 2}))
    assert isinstance(again, Rejected) and again.code == "WORKFLOW_EDIT_LOCKED"
    assert rows(admin, "SELECT version, status FROM documents WHERE id = %s", invoice.document_id) == [
        (2, "amended")
    ]
