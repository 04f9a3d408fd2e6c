"""The compiler's output for single nodes and edges, and for the readers of its answers."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.compiler.compiler import Compilation, compile_automation
from signet.core.compiler.patch import Automation
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Defect
from signet.core.runtime.decisions import conclude
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_fields
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.valid_workflow import CONTRACT, PATCH, compile_patch, edge, node, read_envelope


def automate(**more: Any) -> Compilation:
    nodes = [{"id": "wait", "type": "wait_timer", "config": {"for": "PT1H"}}]
    document = {"automation": "auto", "trigger": {"on": "manual"}, "nodes": nodes, **more}
    automation, mistakes = parse_strictly(Automation, document)
    assert automation is not None, mistakes
    return compile_automation(automation)


def test_a_trigger_has_a_condition_over_its_payload() -> None:
    payload = {"sum": {"type": "int"}}
    condition = {"on": "event", "key": "paid", "condition": "payload.sum > 5"}
    compiled = automate(payload=payload, trigger=condition).artifact
    assert compiled is not None
    assert compiled.content["trigger_condition"]["text"] == "payload.sum > 5"
    wrong = automate(payload=payload, trigger={**condition, "condition": "payload.total > 5"})
    assert [(f.code, f.place) for f in wrong.findings] == [("EXPRESSION_INVALID", "/trigger/condition")]


def test_an_automation_without_a_contract_has_no_actions_of_one() -> None:
    own = {"id": "wait", "type": "action", "config": {"action": "post"}}
    assert [finding.code for finding in automate(nodes=[own]).findings] == ["ACTION_UNKNOWN"]
    store = automate(nodes=[{**own, "config": {"action": "store.set"}}]).artifact
    assert store is not None
    assert store.content["nodes"]["sys:policy:usr:main:wait"]["config"]["permission"] == "store:set"


def test_an_actions_template_is_checked_where_it_is_used() -> None:
    contract = deepcopy(CONTRACT)
    contract["actions"]["post"]["set"]["vendor"] = {"$expr": "payload.who"}
    compilation = compile_patch(PATCH, read_envelope(contract))
    found = [(finding.code, finding.place) for finding in compilation.findings]
    assert found == [("TEMPLATE_INVALID", "/actions/post/set/vendor/$expr")]


def call_outside(**config: Any) -> Compilation:
    return automate(nodes=[{"id": "call", "type": "webhook_out", "config": config}])


def test_a_call_without_an_event_is_compiled_as_it_was_before_there_were_any() -> None:
    compiled = call_outside(endpoint="erp").artifact
    assert compiled is not None
    config = compiled.content["nodes"]["usr:main:call"]["config"]
    assert config == {"endpoint": "erp", "payload": {}, "run_as": "actor", "save_as": None}


@pytest.mark.parametrize(
    "config",
    [{}, {"endpoint": "erp", "event": "a.b"}, {"event": "A.b"}, {"event": "a..b"}, {"event": "a" * 129}],
)
def test_a_call_has_one_receiver(config: dict[str, Any]) -> None:
    assert call_outside(event="com.example.checked").artifact is not None
    assert call_outside(**config).artifact is None


@pytest.mark.parametrize(
    ("name", "is_known"), [("status", True), ("body.reference", True), ("duration_ms", True), ("ref", False)]
)
def test_what_a_call_saves_is_its_whole_answer(name: str, is_known: bool) -> None:
    patch = deepcopy(PATCH)
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "bank", "save_as": "paid"}}
    script = {"id": "keep", "type": "script", "config": {"set": {"kept": f"context.paid.{name}"}}}
    patch["slots"]["posting"] = {"nodes": [call, script], "edges": [{"source": "call", "target": "keep"}]}
    found = compile_patch(patch).findings
    assert [finding.code for finding in found] == ([] if is_known else ["EXPRESSION_INVALID"])
    if not is_known:
        assert "`context.paid`, which has `status`, `body`, `duration_ms`" in found[0].sentence


@pytest.mark.parametrize(("name", "is_known"), [("document_id", True), ("version", True), ("id", False)])
def test_what_an_action_that_makes_a_document_saves(name: str, is_known: bool) -> None:
    patch = deepcopy(PATCH)
    node(patch, "task")["config"]["save_as"] = "made"
    script = {"id": "keep", "type": "script", "config": {"set": {"kept": f"context.made.{name}"}}}
    patch["slots"]["posting"]["nodes"].append(script)
    patch["slots"]["posting"]["edges"] = [{"source": "task", "target": "keep"}]
    codes = [finding.code for finding in compile_patch(patch).findings]
    assert codes == ([] if is_known else ["EXPRESSION_INVALID"])


def test_a_workflow_knows_which_refs_it_follows() -> None:
    contract = deepcopy(CONTRACT)
    for name in ("customer", "payer", "shipper", "unread"):
        reads = {"limit": {"type": "int"}}
        contract["fields"][name] = {"type": "ref", "entity_type": name, "reads": reads}
    patch, loaded = deepcopy(PATCH), CompiledContract(read_envelope(contract).contract, "0" * 64)
    assert followed_fields(read_workflow(patch, contract), loaded) == frozenset()
    edge(patch, "fast")["condition"] = "entity.grand_total <= entity.customer.limit"
    node(patch, "told")["config"]["text"] = "{entity.shipper.limit} {entity.unread}"
    script = {"id": "keep", "type": "script", "config": {"set": {"kept": "entity.payer.limit"}}}
    patch["slots"]["posting"]["nodes"].append(script)
    patch["slots"]["posting"]["edges"] = [{"source": "task", "target": "keep"}]
    workflow = read_workflow(patch, contract)
    followed = frozenset({(ref, "limit") for ref in ("customer", "payer", "shipper")})
    assert followed_fields(workflow, loaded) == followed_fields(workflow, loaded) == followed


def read_workflow(patch: dict[str, Any], contract: dict[str, Any]) -> Workflow:
    compilation = compile_patch(patch, read_envelope(contract))
    assert compilation.artifact is not None, compilation.findings
    return Workflow(compilation.artifact)


def test_labels_are_kept() -> None:
    patch = deepcopy(PATCH)
    edge(patch, "fast")["label"] = "small"
    node(patch, "told")["label"] = "Tell them"
    artifact = compile_patch(patch).artifact
    assert artifact is not None
    assert artifact.content["edges"]["usr:approval:edge:fast"]["label"] == "small"
    assert Workflow(artifact).nodes["usr:approval:told"].label == "Tell them"


def test_a_variable_of_two_types_is_of_any() -> None:
    nodes = [
        {"id": "a", "type": "script", "config": {"set": {"x": "5"}}},
        {"id": "b", "type": "script", "config": {"set": {"x": "'five'"}}},
        {"id": "c", "type": "condition"},
    ]
    edges = [
        {"source": "a", "target": "b"},
        {"source": "b", "target": "c"},
        {"source": "c", "target": "out", "condition": "context.x > 4 && context.x == 'five'", "id": "five"},
        {"source": "c", "target": "out"},
    ]
    assert automate(nodes=nodes, edges=edges).artifact is not None
    only_text = [edges[0] | {"source": "b", "target": "c"}, *edges[2:]]
    assert automate(nodes=nodes[1:], edges=only_text).artifact is None


def test_conditions_that_leave_gaps_or_overlap_are_warned_about() -> None:
    patch = deepcopy(PATCH)
    more = {"source": "amount", "target": "told", "id": "large", "condition": "entity.grand_total > 10000"}
    patch["slots"]["approval"]["edges"].append(more)
    compilation = compile_patch(patch)
    assert compilation.artifact is not None
    assert [finding.code for finding in compilation.findings] == ["CONDITIONS_LEAVE_GAP"]
    assert compilation.findings[0].parameters == {"variable": "entity.grand_total", "example": 501}
    patch["slots"]["approval"]["edges"][-1]["condition"] = "entity.grand_total > 100"
    assert [finding.code for finding in compile_patch(patch).findings] == ["CONDITIONS_OVERLAP"]


@pytest.mark.parametrize(("limit", "codes"), [(999, ["LIST_MAY_BE_TOO_LONG"]), (1000, [])])
def test_a_list_that_may_be_longer_than_its_node_takes_is_a_warning(limit: int, codes: list[str]) -> None:
    patch = deepcopy(PATCH)
    node(patch, "task")["config"].update(for_each="entity.lines", max_items=limit)
    compilation = compile_patch(patch)
    assert compilation.artifact is not None
    assert [finding.code for finding in compilation.findings] == codes


def test_a_finding_as_json() -> None:
    patch = deepcopy(PATCH)
    node(patch, "stamp")["config"]["action"] = "pots"
    (finding,) = compile_patch(patch).findings
    assert finding.to_json() == {
        "code": "ACTION_UNKNOWN",
        "severity": "error",
        "place": "usr:checks:stamp",
        "sentence": "'usr:checks:stamp' runs the action 'pots', which the contract does not have.",
        "remedy": "Use one of: post, spawn.",
        "parameters": {"action": "pots", "allowed": "post, spawn"},
    }


def test_a_decision_as_a_steps_output() -> None:
    artifact = compile_patch(PATCH).artifact
    assert artifact is not None
    workflow = Workflow(artifact)
    amount = workflow.nodes["usr:approval:amount"]
    decision = conclude(workflow, amount, "done", {"entity": {"grand_total": 5}}, variables={"x": 1})
    chosen = tuple(edge.id for edge in decision.edges)
    step = Step(1, 1, amount.id, "T", "completed", 1, 1, chosen, decision.variables)
    step.outcome, step.evidence = decision.outcome, decision.evidence
    output = step.to_output()
    assert output["chosen_edge_ids"] == ["usr:approval:edge:fast"]
    assert output["evidence"]["conditions"][0]["edge"] == "usr:approval:edge:fast"
    assert output["variables"] == {"x": 1}
    read = Step(1, 1, amount.id, "T", "completed", 1, 1)
    read.parse_output(output)
    assert read == step
    with pytest.raises(Defect, match="does not say which edges it fired"):
        read.parse_output({"outcome": "done"})


def test_a_choice_without_a_default_is_a_defect_at_runtime() -> None:
    artifact = compile_patch(PATCH).artifact
    assert artifact is not None
    artifact.content["edges"]["usr:approval:edge:slow"]["condition"] = artifact.content["edges"][
        "usr:approval:edge:fast"
    ]["condition"]
    workflow = Workflow(artifact)
    with pytest.raises(Defect, match="not even a default"):
        workflow.choose(workflow.nodes["usr:approval:amount"], "done", {"entity": {"grand_total": 900}})


@pytest.mark.parametrize(
    ("config", "code", "place"),
    [
        ({}, "NODE_CONFIG_INVALID", "usr:main:event"),
        ({"key": "k", "any_of": ["k", "l"]}, "NODE_CONFIG_INVALID", "usr:main:event"),
        ({"any_of": ["k"]}, "NODE_CONFIG_INVALID", "usr:main:event"),
        ({"any_of": ["k"] * 11}, "NODE_CONFIG_INVALID", "usr:main:event"),
        ({"any_of": ["k", "{entity.unknown.name}"]}, None, ""),
        ({"any_of": ["k", "{nowhere.name}"]}, "TEMPLATE_INVALID", "usr:main:event/any_of/1"),
        ({"key": "k", "schema": {"pattern": "a"}}, "EVENT_SCHEMA_INVALID", "usr:main:event/schema/pattern"),
        ({"key": "k", "schema": {"type": "object"}}, None, ""),
        ({"key": "k", "condition": "event.sum > 1"}, None, ""),
        ({"key": "k", "condition": "event.sum + "}, "EXPRESSION_INVALID", "usr:main:event/condition"),
        ({"key": "k", "condition": "now"}, "EXPRESSION_WRONG_TYPE", "usr:main:event/condition"),
    ],
)
def test_a_wait_for_an_event_is_checked(config: Any, code: str | None, place: str) -> None:
    nodes = [{"id": "event", "type": "wait_event", "config": config}]
    findings = automate(nodes=nodes, edges=[]).findings
    assert [finding.code for finding in findings] == ([] if code is None else [code])
    assert all(place in finding.place for finding in findings)


@pytest.mark.parametrize("has_timeout", [False, True])
def test_an_outcome_that_never_comes_is_found(has_timeout: bool) -> None:
    config = {"key": "k", "timeout": "PT1H"} if has_timeout else {"key": "k"}
    nodes = [{"id": "event", "type": "wait_event", "config": config}]
    edges = [{"source": "event", "target": "out"}, {"source": "event", "target": "out", "on": "timeout"}]
    codes = [finding.code for finding in automate(nodes=nodes, edges=edges).findings]
    assert codes == ([] if has_timeout else ["OUTCOME_NEVER_COMES"])
