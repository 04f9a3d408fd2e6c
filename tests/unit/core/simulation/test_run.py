"""The simulator tells what would happen: plain cases, one for each thing that people ask of it."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from signet.core.compiler.compiler import compile_automation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.reader import parse_contract
from signet.core.errors import Defect
from signet.core.runtime.decisions import DecisionInput, decide
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.simulation.run import MAX_STEPS
from signet.core.tenants.permissions import grants
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.valid_workflow import CONTRACT, SETTINGS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DOCUMENT = {"grand_total": 900, "vendor": "acme"}
TELL = {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "On {entity.vendor}"}


def load(contract: dict[str, Any], **slots: Any) -> Workflow:
    read, mistakes = parse_contract(contract)
    assert read is not None, mistakes
    patch = None
    if slots:
        base = {"entity_type": read.contract, "envelope_version": read.version}
        patch, mistakes = parse_strictly(Patch, {"patch": "p", "base": base, "slots": slots})
        assert patch is not None, mistakes
    artifact = compile_effective(make_envelope(read), patch, SETTINGS).artifact
    assert artifact is not None
    return Workflow(artifact)


def chain(
    *nodes: tuple[str, str, dict[str, Any]], edges: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    following = [{"source": one, "target": other} for (one, _, _), (other, _, _) in pairwise(nodes)]
    described = [{"id": name, "type": node_type, "config": config} for name, node_type, config in nodes]
    return {"nodes": described, "edges": [*following, *(edges or [])], "exit": "join"}


def approval(name: str = "ask", **config: Any) -> tuple[str, str, dict[str, Any]]:
    return (name, "approval", {"approvers": [{"by": "role", "role": "cfo"}], **config})


def run(slot: dict[str, Any], document: dict[str, Any] | None = None, **script: Any) -> Simulation:
    """Simulate the document up to the approval's gate and through it."""
    script.setdefault("requests", ["submit"])
    return simulate(load(CONTRACT, approval=slot), document or DOCUMENT, WorldScript(**script), NOW)


def waits(simulation: Simulation) -> list[str]:
    return [f"{waiting.node}: {waiting.shown}" for waiting in simulation.waiting]


def path(simulation: Simulation) -> list[str]:
    nodes = [one.step.node for one in simulation.steps]
    return [node.rsplit(":", 1)[-1] for node in nodes if node.startswith("usr:")]


def test_the_bare_envelope_and_what_it_waits_for() -> None:
    waiting = simulate(load(CONTRACT), DOCUMENT, WorldScript(), NOW)
    assert (waiting.status, waiting.document_status) == ("running", "draft")
    assert waits(waiting) == ["sys:state:draft: a request in state 'draft'"]
    done = simulate(load(CONTRACT), DOCUMENT, WorldScript(requests=["submit"]), NOW)
    assert (done.status, done.document_status, done.reason) == ("completed", "active", None)
    refused = simulate(load(CONTRACT), DOCUMENT, WorldScript(requests=["fly"]), NOW)
    assert refused.refused == ["fly"] and refused.status == "running"


def test_an_approval_is_asked_for_and_answered() -> None:
    slot = chain(approval(quorum="any", approvers=[
        {"by": "role", "role": "cfo"}, {"by": "user", "user": "ann"}, {"by": "manager"},
        {"by": "expression", "expression": "entity.vendor", "who": "cfo"}]))  # fmt: skip
    waiting = run(slot)
    asked = [(asked.node, asked.people) for asked in waiting.asked]
    assert asked == [("usr:approval:ask", "any of role cfo, ann, manager of simulated, acme as cfo")]
    assert waiting.status == "running" and waits(waiting)[0].startswith("usr:approval:ask: approval by any")
    assert run(slot, approvals={"ask": "approved"}).document_status == "active"
    rejected = run(slot, approvals={"*": "rejected"})
    assert rejected.document_status == "draft"
    assert rejected.projection.tokens()[0].id.startswith("T/b")
    assert run(slot, approvals={"usr:approval:ask": "nonsense"}).status == "running"
    chained = run(chain(("ask", "approval", {"chain": "standard"})))
    assert [asked.people for asked in chained.asked] == ["chain standard"]


def test_an_approval_expires_only_when_it_may() -> None:
    expiring = chain(approval(expire_after="P2D"))
    late = run(expiring)
    assert late.document_status == "draft"
    assert "2026-01-03" in str([step.evidence for step in late.steps if step.outcome == "expired"])
    assert run(expiring, approvals={"*": "expired"}).document_status == "draft"
    assert run(chain(approval()), approvals={"*": "expired"}).status == "running"


def test_timers_let_the_clock_run() -> None:
    slot = chain(("hour", "wait_timer", {"for": "PT1H"}), ("stamp", "script", {"set": {"late": "now"}}))
    assert run(slot).projection.context["late"] == "2026-01-01T01:00:00.000000Z"
    contract = deepcopy(CONTRACT)
    contract["fields"]["due"] = {"type": "date"}
    until = load(contract, approval=chain(("till", "wait_timer", {"until": "entity.due"})))
    for due in ("2026-03-01", "2025-01-01", None):
        done = simulate(until, {**DOCUMENT, "due": due}, WorldScript(requests=["submit"]), NOW)
        told = [s.shown for s in done.steps if s.outcome == "elapsed"] or str(done.projection.reason)[:20]
        assert told == ("TIMER_WITHOUT_MOMENT" if due is None else [f"until {due}T00:00:00+00:00"])


def test_an_event_arrives_or_its_time_runs_out() -> None:
    slot = chain(
        ("paid", "wait_event", {"key": "paid-{entity.vendor}", "timeout": "P1D", "save_as": "payment"}),
        edges=[{"source": "paid", "target": "out", "on": "timeout"}],
    )
    assert run(slot, events={"paid-acme": {"sum": 5}}).projection.context == {"payment": {"sum": 5}}
    assert [step.outcome for step in run(slot).steps if step.step.node == "usr:approval:paid"] == ["timeout"]
    forever = chain(("paid", "wait_event", {"key": "paid"}))
    assert waits(run(forever)) == ["usr:approval:paid: event 'paid'"]
    assert run(forever, events={"paid": 1}).projection.context == {}


def test_a_webhook_is_delivered_or_takes_its_error_edge() -> None:
    call = ("call", "webhook_out", {"endpoint": "erp", "payload": {"of": "{entity.vendor}"}})
    handled = chain(call, ("thanks", "notification", TELL), edges=[
        {"source": "call", "target": "sorry", "on": "error"}])  # fmt: skip
    handled["nodes"].append({"id": "sorry", "type": "notification", "config": {**TELL, "await": True}})
    assert path(run(handled)) == ["call", "thanks"]
    assert path(run(handled, effects={"call": "error"})) == ["call", "sorry"]
    assert path(run(handled, effects={"call": "lost"})) == ["call"]
    failed = run(chain(call), effects={"call": "error"})
    assert (failed.status, failed.document_status) == ("paused", "submitted")
    shown = [step.shown for step in run(handled, effects={"call": "error"}).steps if step.shown]
    assert "delivery to 'erp' of {'of': 'acme'}" in shown and "delivery of 'On acme'" in shown


def test_a_webhooks_response_is_read_by_conditions_after_it() -> None:
    slot = chain(("call", "webhook_out", {"endpoint": "bureau", "save_as": "score"}), edges=[
        {"source": "call", "target": "tell", "condition": "context.score.body.points > 5"},
        {"source": "call", "target": "out"}])  # fmt: skip
    slot["nodes"].append({"id": "tell", "type": "notification", "config": TELL})
    answer = {"status": 201, "body": {"points": 9}}
    good = run(slot, outputs={"bureau": answer})
    assert path(good) == ["call", "tell"]
    assert good.projection.context == {"score": {**answer, "duration_ms": 0.0}}
    assert path(run(slot)) == ["call"]
    event = ("call", "webhook_out", {"event": "a.b", "save_as": "taken"})
    assert run(chain(event)).projection.context["taken"]["body"] is None


def test_a_script_is_read_by_conditions_after_it() -> None:
    slot = chain(
        ("rate", "script", {"set": {"is_high": "entity.grand_total > 500"}}),
        edges=[
            {"source": "rate", "target": "ask", "condition": "context.is_high == true"},
            {"source": "rate", "target": "out"},
        ],
    )
    slot["nodes"].append({"id": "ask", "type": "approval", "config": approval()[2]})
    assert path(run(slot, approvals={"*": "approved"})) == ["rate", "ask"]
    assert path(run(slot, {"grand_total": 5})) == ["rate"]


def test_a_rule_answers_without_changing_anything() -> None:
    slot = chain(("known", "rule", {"rules": ["known_vendor", "solvent"]}))
    assert run(slot).document_status == "active"
    assert run(slot, rules={"solvent": False}).document_status == "draft"
    with pytest.raises(Defect, match="nobody can answer"):
        workflow = load(CONTRACT, approval=slot)
        decide(workflow, Token("T", "usr:approval:known", TokenState.READY, 1), DecisionInput({}))


def test_actions_change_the_document_under_their_policy() -> None:
    post = ("post", "action", {"action": "post", "payload": {"at": "2026-01-01"}})
    workflow = load(CONTRACT, checks=chain(post))
    done = simulate(workflow, DOCUMENT, WorldScript(requests=["submit"]), NOW)
    assert done.document["posted"] is True
    assert done.projection.entity_version == 4  # one each for the action and two gates
    may_approve = WorldScript(requests=["submit"], permissions=["invoice:approve"])
    denied = simulate(workflow, DOCUMENT, may_approve, NOW)
    assert denied.status == "paused" and "posted" not in denied.document
    system = ("post", "action", {**post[2], "run_as": "system"})
    workflow = load(CONTRACT, checks=chain(system))
    may_submit = WorldScript(requests=["submit"], permissions=["invoice:submit"])
    allowed = simulate(workflow, DOCUMENT, may_submit, NOW)
    assert allowed.status == "completed"


def test_a_permission_may_have_a_condition() -> None:
    contract = deepcopy(CONTRACT)
    contract["conditions"] = {
        "invoice:spawn": "entity.grand_total < 500",
        "invoice:submit": "actor.user_id != 'eve'",
    }
    workflow = load(contract, posting=chain(("task", "action", {"action": "spawn"})))
    script = WorldScript(requests=["submit"])
    assert simulate(workflow, {"grand_total": 5}, script, NOW).status == "completed"
    assert simulate(workflow, {"grand_total": 900}, script, NOW).status == "paused"
    eve = WorldScript(requests=["submit"], actor={"user_id": "eve", "roles": []})
    refused = simulate(workflow, {"grand_total": 5}, eve, NOW)
    assert (refused.status, refused.document_status) == ("running", "draft")


@pytest.mark.parametrize("held", ["invoice:post", "invoice:*", "*:post", "*:*"])
def test_permissions_with_a_star(held: str) -> None:
    assert grants(["other:post", held], "invoice:post")
    assert not grants([held], "order:edit") or held == "*:*"


def test_for_each_runs_once_for_each_item_and_saves_a_list() -> None:
    contract = deepcopy(CONTRACT)
    contract["actions"]["spawn"] = {"kind": "python", "output": {"id": {"type": "string"}}}
    config = {"action": "spawn", "for_each": "entity.lines", "save_as": "tasks", "max_items": 2}
    workflow = load(contract, posting=chain(("task", "action", config)))
    lines = [{"sku": "a"}, {"sku": "b"}]
    script = WorldScript(requests=["submit"], outputs={"spawn": {"id": "t"}})
    done = simulate(workflow, {**DOCUMENT, "lines": lines}, script, NOW)
    assert done.projection.context == {"tasks": [{"id": "t"}, {"id": "t"}]}
    tokens = [step.step.token for step in done.steps if step.step.node == "usr:posting:task"]
    assert tokens == ["T", "T/usr:posting:task#0", "T/usr:posting:task#1"]
    assert simulate(workflow, DOCUMENT, script, NOW).projection.context == {"tasks": []}
    kept = {"action": "spawn", "save_as": "task"}
    once = simulate(load(contract, posting=chain(("task", "action", kept))), DOCUMENT, script, NOW)
    assert once.projection.context == {"task": {"id": "t"}}


def test_a_gate_that_cannot_pass() -> None:
    contract = deepcopy(CONTRACT)
    contract["transitions"]["submit"]["condition"] = "entity.grand_total > 10"
    contract["transitions"]["approve"]["condition"] = "entity.grand_total > 100"
    workflow = load(contract)
    refused = simulate(workflow, {"grand_total": 5}, WorldScript(requests=["submit"]), NOW)
    assert (refused.status, refused.document_status) == ("running", "draft")
    assert waits(refused) == ["sys:state:draft: a request in state 'draft'"]
    paused = simulate(workflow, {"grand_total": 50}, WorldScript(requests=["submit"]), NOW)
    assert (paused.status, paused.document_status) == ("paused", "submitted")
    assert paused.reason == "the condition 'entity.grand_total > 100' does not hold"
    submitted = WorldScript(requests=["submit"])
    assert simulate(workflow, {"grand_total": 500}, submitted, NOW).status == "completed"


def make_block(mode: str) -> dict[str, Any]:
    nodes = [
        {"id": "fork", "type": "parallel_split"},
        {"id": "left", "type": "approval", "config": approval()[2]},
        {"id": "right", "type": "wait_event", "config": {"key": "right"}},
        {"id": "met", "type": "parallel_join", "config": {"mode": mode}},
    ]
    ends = [("fork", "left"), ("fork", "right"), ("left", "met"), ("right", "met")]
    edges = [{"source": source, "target": target} for source, target in ends]
    return {"nodes": nodes, "edges": edges, "accepts": {"approval_can_be_lost": ["met"] * (mode == "any")}}


def test_cancelling_from_within_a_block_withdraws_what_waits() -> None:
    cancelled = run(make_block("all"), requests=["submit", "cancel"])
    assert (cancelled.status, cancelled.document_status) == ("completed", "cancelled")
    ends = {s.step.node: s.step.status for s in cancelled.steps if s.step.node.startswith("usr:")}
    assert ends["usr:approval:left"] == ends["usr:approval:right"] == "cancelled"


def test_all_and_any() -> None:
    assert waits(run(make_block("all"), approvals={"*": "approved"})) == ["usr:approval:right: event 'right'"]
    assert run(make_block("all"), approvals={"*": "approved"}, events={"right": 1}).status == "completed"
    assert run(make_block("all"), approvals={"*": "rejected"}).document_status == "draft"
    assert run(make_block("any"), approvals={"*": "approved"}).status == "completed"
    survives = run(make_block("any"), approvals={"*": "rejected"})
    assert waits(survives) == ["usr:approval:right: event 'right'"]
    assert (
        run(make_block("any"), approvals={"*": "rejected"}, events={"right": 1}).document_status == "active"
    )


def test_an_empty_branch_arrives_at_once() -> None:
    for mode, status in [("all", "running"), ("any", "completed")]:
        slot = make_block(mode)
        slot["nodes"] = [node for node in slot["nodes"] if node["id"] != "right"]
        slot["edges"] = [e for e in slot["edges"] if "right" not in (e["source"], e["target"])]
        slot["edges"].append({"source": "fork", "target": "met"})
        assert run(slot).status == status
        assert run(slot, approvals={"*": "approved"}).document_status == "active"


def test_a_rejection_with_an_edge_of_its_own_still_rejects_its_block() -> None:
    slot = make_block("all")
    slot["nodes"].append({"id": "tell", "type": "notification", "config": TELL})
    slot["edges"] += [
        {"source": "left", "target": "tell", "on": "rejected"},
        {"source": "tell", "target": "met"},
    ]
    rejected = run(slot, approvals={"*": "rejected"})
    assert "tell" in path(rejected) and rejected.document_status == "draft"


def test_a_rejection_after_the_gate_is_forgotten_in_the_state() -> None:
    contract = deepcopy(CONTRACT)
    contract["states"]["active"] = {"edit": "locked"}
    contract["states"]["archived"] = {"edit": "locked", "final": True}
    contract["amendment"]["from"] = []
    contract["transitions"]["archive"] = {"from": ["active"], "to": "archived", "kind": "requested"}
    slot = chain(approval(), edges=[{"source": "ask", "target": "out", "on": "rejected"}])
    workflow = load(contract, posting=slot)
    script = WorldScript(requests=["submit", "archive"], approvals={"*": "rejected"})
    assert simulate(workflow, DOCUMENT, script, NOW).document_status == "archived"


def test_a_rejection_where_the_gate_has_no_way_back_does_not_compile() -> None:
    contract = deepcopy(CONTRACT)
    del contract["transitions"]["approve"]["rejected_to"]
    read, _ = parse_contract(contract)
    assert read is not None
    for edges, found in [
        ([], ("REJECTION_UNHANDLED", "usr:approval:ask")),
        ([{"source": "ask", "target": "out", "on": "rejected", "id": "no"}],
         ("REJECTION_NOT_TAKEN", "usr:approval:edge:no")),
    ]:  # fmt: skip
        base = {"entity_type": "invoice", "envelope_version": 3}
        slots = {"approval": chain(approval(), edges=edges)}
        patch, _ = parse_strictly(Patch, {"patch": "p", "base": base, "slots": slots})
        findings = compile_effective(make_envelope(read), patch).findings
        assert [(finding.code, finding.place) for finding in findings] == [found]


def test_an_amendment_begins_at_its_own_state() -> None:
    done = simulate(load(CONTRACT), DOCUMENT, WorldScript(birth="amended", requests=["submit"]), NOW)
    nodes = [step.step.node for step in done.steps]
    assert nodes[:3] == ["sys:start", "sys:state:amended", "sys:gate:submit:amended"]
    assert done.document_status == "active"


def test_a_settled_document_is_taken_up_again() -> None:
    contract = deepcopy(CONTRACT)
    contract["transitions"]["cancel"]["from"].append("active")
    workflow = load(contract)
    again = simulate(workflow, DOCUMENT, WorldScript(requests=["cancel"]), NOW, node="sys:state:active")
    assert (again.status, again.document_status) == ("completed", "cancelled")
    assert [step.step.node for step in again.steps][:2] == ["sys:state:active", "sys:gate:cancel"]
    idle = simulate(workflow, DOCUMENT, WorldScript(), NOW, node="sys:state:active")
    assert (idle.status, idle.document_status) == ("completed", "active")


def test_after_a_pause_nothing_else_runs() -> None:
    workflow = load(CONTRACT, approval=make_block("all"))
    token = Token("T", "sys:gate:approve", TokenState.READY, 1)
    with pytest.raises(Defect, match="acts, it does not only decide"):
        decide(workflow, Token("T", "usr:approval:left", TokenState.READY, 1), DecisionInput({}))
    assert decide(workflow, token, DecisionInput({})).outcome == "passed"


def test_a_simulation_has_an_end() -> None:
    nodes = [
        (f"n{i}", "action", {"action": "spawn", "for_each": "entity.lines", "max_items": 1000})
        for i in range(11)
    ]
    workflow = load(CONTRACT, posting=chain(*nodes))
    lines = [{"sku": "a"}] * 1000
    endless = simulate(workflow, {**DOCUMENT, "lines": lines}, WorldScript(requests=["submit"]), NOW)
    assert endless.reason == f"stopped after {MAX_STEPS} steps" and endless.status == "running"


def test_an_automation_has_no_document_status() -> None:
    document = {"automation": "tell", "trigger": {"on": "manual"}, **chain(("tell", "notification", TELL))}
    automation, mistakes = parse_strictly(Automation, document)
    assert automation is not None, mistakes
    compilation = compile_automation(automation)
    assert compilation.artifact is not None, compilation.findings
    done = simulate(Workflow(compilation.artifact), {"vendor": "acme"}, WorldScript(), NOW)
    assert (done.status, done.document_status) == ("completed", "")


def test_the_strictest_window_of_several_nodes() -> None:
    workflow = load(CONTRACT)
    assert workflow.strictest_window([]) is None
    found = workflow.strictest_window(
        ["sys:state:draft", "sys:state:active", "sys:end", "sys:state:submitted"]
    )
    assert found == ("locked", "sys:end")


def test_the_clock_stops_at_the_end_of_the_calendar() -> None:
    document = {
        "automation": "late",
        "trigger": {"on": "manual"},
        "nodes": [{"id": "wait", "type": "wait_timer", "config": {"for": "P2D"}}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    artifact = compile_automation(automation).artifact
    assert artifact is not None
    end = datetime.max.replace(tzinfo=UTC)
    simulation = simulate(Workflow(artifact), {}, WorldScript(), end - timedelta(days=1))
    assert simulation.status == "completed"
    (waited,) = [step.step for step in simulation.steps if step.step.node == "usr:main:wait"]
    assert waited.status == "completed"
