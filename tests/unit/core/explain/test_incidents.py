"""Incidents of an instance in words, with the commands of the acts that the server accepts."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.definition import explain, write_explanation
from signet.core.explain.incidents import ExplainedIncident
from signet.core.explain.instance import explain_instance
from signet.core.explain.instance_record import AcceptedAct, IncidentRecord, PermittedRole
from tests.support.core.instance_records import (
    CONTRACT,
    FINANCE,
    NOW,
    WORKFLOW,
    record,
    step,
    tell,
    token,
)
from tests.support.core.small_workflows import PATCH, compile_patch, compile_slot, make_contract

TENANT = UUID(int=9)
ACTS = (
    AcceptedAct("retry", "workflow:retry"),
    AcceptedAct("go_to", "workflow:go_to", ("sys:state:draft", "sys:state:submitted")),
    AcceptedAct("cancel_token", "workflow:cancel_token"),
)
HELD = IncidentRecord(
    id=UUID(int=5),
    code="APPROVAL_NOBODY_FOUND",
    kind="configuration",
    message="APPROVAL_NOBODY_FOUND: the role has no member",
    token="T/5.0",
    node=FINANCE,
    endpoint=None,
    attempts=1,
    opened_at=NOW,
    acknowledged_by=None,
    assignee=None,
    acts=ACTS,
)


def explained(*incidents: IncidentRecord) -> Sequence[ExplainedIncident]:
    found = record(tokens=[token(FINANCE)], incidents=incidents, tenant_id=TENANT)
    return explain_instance(WORKFLOW, CONTRACT, found).incidents


def test_it_says_what_is_held_and_what_removes_the_cause() -> None:
    (one,) = explained(HELD)
    assert one.text.startswith('APPROVAL_NOBODY_FOUND (configuration) holds the approval "Finance" since ')
    assert one.text.endswith(": the role has no member.")
    assert one.remedy.startswith("Give it people who may decide")
    assert (one.since, one.attempts, one.token) == (NOW, 1, "T/5.0")


def test_what_an_action_read_in_vain_wants_another_definition() -> None:
    invalid = replace(HELD, code="FIELDS_INVALID", kind="business", node="usr:posting:post")
    read = {"payload": {"reference": None}, "variables": {"context.paid.body.reference": None}}
    post = step("usr:posting:post", "action", input_json=read, output_json={"outcome": "error"}, error="x")
    of_document = replace(post, input_json={"payload": {}, "variables": {"entity.number": None}})
    for failed, is_said in ((post, True), (of_document, False), (replace(post, error=None), False)):
        found = record(incidents=[invalid], tenant_id=TENANT, steps=[failed])
        (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
        assert ("Publish a definition that reads what is there" in one.remedy) is is_said


def test_it_says_who_knows_of_it_and_how_often_it_came() -> None:
    known = replace(HELD, attempts=3, acknowledged_by="olga", assignee="otto", endpoint="bank")
    (one,) = explained(known)
    assert "(endpoint bank)" in one.text
    assert ", held 3 times there, acknowledged by olga, looked after by otto: " in one.text


def test_each_act_is_a_command_and_a_request() -> None:
    (one,) = explained(HELD)
    retry, go_to, cancel_token = one.acts
    seen = f'{UUID(int=1)} --tenant {TENANT} --actor YOU --version 2 --reason "…"'
    assert retry.command == f"signet instance retry {seen}"
    assert retry.request == f'POST /v1/instances/{UUID(int=1)}/retry  If-Match: "2"  {{"reason": "…"}}'
    assert shlex.split(go_to.command)[2:5] == ["go-to", str(UUID(int=1)), "sys:state:draft"]
    assert (
        go_to.text.endswith("; also to sys:state:submitted") and '"node": "sys:state:draft"' in go_to.request
    )
    assert shlex.split(cancel_token.command)[2:5] == ["cancel-token", str(UUID(int=1)), "T/5.0"]


def test_a_call_that_saves_its_answer_is_skipped_with_one() -> None:
    node = "usr:approvals:call"
    for saved, wants in (({"save_as": "answer"}, True), ({}, False)):
        call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", **saved}}
        skip = replace(HELD, node=node, acts=[AcceptedAct("skip", "workflow:skip")])
        found = record(tokens=[token(node)], incidents=[skip], tenant_id=TENANT)
        (one,) = explain_instance(compile_slot("approvals", nodes=[call]), CONTRACT, found).incidents
        assert ("--payload" in one.acts[0].command) is wants
        assert ('"payload": {"status": 200, "body": null}' in one.acts[0].request) is wants


def test_an_answer_by_hand_shows_what_later_nodes_read() -> None:
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
    read = {"a": "context.bank.body.iban", "b": "context.bank.body", "c": "context.bank.status"}
    script = {"id": "keep", "type": "script", "config": {"set": read}}
    condition = "context.bank.body.person.name != 'x'"
    edges = [
        {"source": "call", "target": "keep", "condition": condition, "priority": 1},
        {"source": "call", "target": "out"},
        {"source": "keep", "target": "out"},
    ]
    workflow = compile_slot("approvals", nodes=[call, script], edges=edges, exit="join")
    skip = replace(HELD, node="usr:approvals:call", acts=[AcceptedAct("skip", "workflow:skip")])
    found = record(tokens=[token("usr:approvals:call")], incidents=[skip], tenant_id=TENANT)
    (one,) = explain_instance(workflow, CONTRACT, found).incidents
    body = '{"iban": "…", "person": {"name": "…"}}'
    assert f'"payload": {{"status": 200, "body": {body}}}' in one.acts[0].request


@pytest.mark.parametrize(("each", "payload"), [({}, "{}"), ({"for_each": "entity.lines"}, "[{}]")])
def test_an_action_that_saves_is_skipped_with_an_answer(each: dict[str, str], payload: str) -> None:
    node = "usr:approvals:run"
    run = {"id": "run", "type": "action", "config": {"action": "store.set", "save_as": "made", **each}}
    skip = replace(HELD, node=node, acts=[AcceptedAct("skip", "workflow:skip")])
    found = record(tokens=[token(node, "ready")], incidents=[skip], tenant_id=TENANT)
    (one,) = explain_instance(compile_slot("approvals", nodes=[run]), CONTRACT, found).incidents
    assert f'"payload": {payload}' in one.acts[0].request


def test_a_pause_by_a_person_is_lifted_without_a_reason() -> None:
    (one,) = explained(replace(HELD, acts=[AcceptedAct("resume", "workflow:resume")]))
    seen = f"{UUID(int=1)} --tenant {TENANT} --actor YOU --version 2"
    assert one.acts[0].command == f"signet instance resume {seen}"
    assert one.acts[0].request == f'POST /v1/instances/{UUID(int=1)}/resume  If-Match: "2"'


def test_one_of_the_whole_names_no_node() -> None:
    whole = replace(HELD, token=None, node=None, code="SOMETHING_ELSE", message="no", acts=ACTS[:1])
    (one,) = explained(whole)
    assert "holds all of it" in one.text and one.remedy == "Set up what the message names, then retry."


def test_it_comes_before_all_else() -> None:
    lines = tell(record(tokens=[token(FINANCE)], incidents=[HELD], tenant_id=TENANT)).splitlines()
    assert lines.index("What holds it, and what brings it on") < lines.index("Where it is")
    assert "What holds it, and what brings it on" not in tell(record(tokens=[token(FINANCE)]))


def test_a_definition_says_which_role_is_told() -> None:
    contract = make_contract(on_incident={"role": "accountant"})
    said = " ".join(" ".join(write_explanation(explain(compile_patch(PATCH, contract), contract))).split())
    assert "The person who asked is told, and so is every holder of the role accountant." in said
    plain = " ".join(write_explanation(explain(compile_patch(PATCH), CONTRACT)))
    assert "is told, and so" not in " ".join(plain.split())


def test_a_node_that_is_gone_keeps_its_id() -> None:
    (one,) = explained(replace(HELD, node="usr:old:ask", acts=()))
    assert " holds usr:old:ask since " in one.text


def test_acts_on_the_document_name_it_and_its_version() -> None:
    acts = tuple(AcceptedAct(name, f"workflow:{name}") for name in ("restart", "correct"))
    found = record(tokens=[token(FINANCE)], incidents=[replace(HELD, acts=acts)], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert found.document is not None
    about = f"/v1/documents/{found.instance.entity_id}"
    for act in one.acts:
        assert f'POST {about}/{act.name}  If-Match: "{found.document.version}"' in act.request
    assert "--patch" in one.acts[1].command


@pytest.mark.parametrize("then", [("restart", "leave"), ("leave",), ()])
def test_an_end_says_what_follows_where_nobody_can_ask(then: tuple[str, ...]) -> None:
    held = replace(HELD, acts=(AcceptedAct("cancel", "workflow:cancel", then=then),))
    found = record(tokens=[token(FINANCE)], incidents=[held], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    command = one.acts[0].command
    assert f"--then {then[0]}" in command if then else "--then" not in command


def test_to_go_on_behind_a_gate_says_what_is_left_undone() -> None:
    """It begins nothing again there: what the slot has not done stays undone."""
    ahead = WorkflowReading(WORKFLOW.content).exit_of("posting")
    behind = replace(HELD, node="usr:posting:post", acts=(AcceptedAct("go_to", "workflow:go_to", (ahead,)),))
    before = replace(HELD, acts=(AcceptedAct("go_to", "workflow:go_to", ("sys:state:submitted",)),))
    found = record(tokens=[token(FINANCE)], incidents=[behind, before], tenant_id=TENANT)
    first, second = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert "stays undone" in first.acts[0].text and "earlier node" not in first.acts[0].text
    assert "begins again at an earlier node" in second.acts[0].text


CORRECTED = replace(
    HELD, code="FIELDS_INVALID", kind="business", acts=(AcceptedAct("correct", "workflow:correct"),)
)


@pytest.mark.parametrize(
    ("pointer", "patch"),
    [
        ("/grand_total", '{"grand_total": 0}'),
        ("/due/0", '{"due": "2026-01-31"}'),
        ("/created/0/number", '{"number": "…"}'),
        ("", '{"number": "…"}'),
    ],
)
def test_a_correction_shows_the_field_at_fault(pointer: str, patch: str) -> None:
    fault = {"evidence": {"fields": [{"pointer": pointer, "message": "is wrong"}]}}
    failed = step(FINANCE, "action", status="failed", output_json=fault)
    found = record(tokens=[token(FINANCE)], steps=[failed], incidents=[CORRECTED], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert shlex.split(one.acts[0].command)[-2:] == ["--patch", patch]
    assert f'"patch": {patch}' in one.acts[0].request
    (bare,) = explain_instance(WORKFLOW, None, found).incidents
    assert '"patch": {}' in bare.acts[0].request


def test_an_amount_says_its_units() -> None:
    fault = {"evidence": {"fields": [{"pointer": "/grand_total", "message": "is wrong"}]}}
    failed = step(FINANCE, "action", status="failed", output_json=fault)
    found = record(tokens=[token(FINANCE)], steps=[failed], incidents=[CORRECTED], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert one.acts[0].text.endswith("; grand_total is in units of 1/100: 1 is written 100")


@pytest.mark.parametrize(
    ("permitted", "sentence"),
    [
        ([], "No role has the permission yet."),
        ([PermittedRole("payer", (), 0)], "The permission is in: payer (nobody)."),
        (
            [PermittedRole("admin", ("ada",), 1), PermittedRole("payer", ("bea", "carl"), 5)],
            "The permission is in: admin (ada) and payer (bea, carl and 3 more).",
        ),
    ],
)
def test_who_has_the_permission_that_was_denied(permitted: list[PermittedRole], sentence: str) -> None:
    denied = replace(HELD, code="PERMISSION_DENIED", permitted=permitted)
    found = record(tokens=[token(FINANCE)], incidents=[denied], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert one.remedy.endswith(f" {sentence}")


@pytest.mark.parametrize(
    ("code", "status", "is_said"),
    [
        ("FIELDS_INVALID", "submitted", True),
        ("RULE_REJECTED", "submitted", True),
        ("EFFECT_DEAD", "submitted", False),
        ("FIELDS_INVALID", "draft", False),
        ("FIELDS_INVALID", "gone", False),
    ],
)
def test_what_is_locked_is_corrected(code: str, status: str, is_said: bool) -> None:
    found = record(tokens=[token(FINANCE)], incidents=[replace(CORRECTED, code=code)], tenant_id=TENANT)
    assert found.document is not None
    placed = replace(found, document=replace(found.document, status=status))
    (one,) = explain_instance(WORKFLOW, CONTRACT, placed).incidents
    assert one.remedy.startswith("The document is locked: correct ") is is_said
    refused = replace(placed, incidents=[replace(CORRECTED, acts=())])
    (other,) = explain_instance(WORKFLOW, CONTRACT, refused).incidents
    assert "locked: correct" not in other.remedy


def test_a_correction_without_a_workflow_tries_nothing_again() -> None:
    found = record(status="cancelled", reason="no", incidents=[CORRECTED], tenant_id=TENANT)
    (one,) = explain_instance(WORKFLOW, CONTRACT, found).incidents
    assert one.acts[0].text.endswith("restart it then, for it has no workflow")
