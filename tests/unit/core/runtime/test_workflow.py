"""A loaded workflow: what one of its nodes reads behind refs."""

from typing import Any

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_by, followed_fields, list_careful_nodes
from tests.support.core.small_workflows import CONTRACT, PATCH, compile_patch, make_contract

TASK = {"kind": "update", "payload": {"rating": {"type": "int"}}, "set": {"number": "n"}}
READING = {
    "id": "read",
    "type": "action",
    "config": {"action": "take", "payload": {"rating": "{entity.vendor.rating}"}},
}
POST = {"kind": "update", "set": {"posted": True}}
PLAIN = {"id": "plain", "type": "action", "config": {"action": "post"}}


def test_each_node_has_what_it_reads_itself() -> None:
    contract = make_contract(actions={"take": TASK, "post": {"kind": "update", "set": {"posted": True}}})
    edges = [{"source": "read", "target": "plain"}]
    slots = {"posting": {"nodes": [READING, PLAIN], "edges": edges}}
    workflow = Workflow(compile_patch({**PATCH, "slots": slots}, contract))
    loaded = CompiledContract(contract, "0" * 64)
    # The second time it is known.
    for _ in range(2):
        assert followed_by(workflow, loaded, workflow.nodes["usr:posting:read"]) == {("vendor", "rating")}
        assert followed_by(workflow, loaded, workflow.nodes["usr:posting:plain"]) == frozenset()
    assert followed_fields(workflow, loaded) == {("vendor", "rating")}


def test_few_nodes_are_asked_what_they_read() -> None:
    contract = make_contract(actions={"take": TASK, "post": {"kind": "update", "set": {"posted": True}}})
    rule = {"id": "rule", "type": "rule", "config": {"rules": ["limit"]}}
    edges = [{"source": "read", "target": "rule"}, {"source": "rule", "target": "plain"}]
    edges += [{"source": "rule", "target": "plain", "on": "rejected"}]
    slots = {"posting": {"nodes": [READING, rule, PLAIN], "edges": edges}}
    workflow = Workflow(compile_patch({**PATCH, "slots": slots}, contract))
    careful = list_careful_nodes(workflow, CompiledContract(contract, "0" * 64))
    assert (careful["usr:posting:read"], careful["usr:posting:rule"]) == (True, True)
    assert "usr:posting:plain" not in careful
    assert list_careful_nodes(workflow, CompiledContract(contract, "0" * 64)) is careful


CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"to": "{entity.who}"}}}


def careful_of(node: dict[str, Any], **more: Any) -> bool:
    """Return whether a node is asked what it reads, where a field is personal."""
    edges = [{"source": node["id"], "target": "out"}]
    edges += [{"source": node["id"], "target": "out", "on": outcome} for outcome in more.pop("on", ())]
    contract = make_contract(
        fields={
            **CONTRACT["fields"],
            "who": {"type": "string", "personal": True},
            "vendor": {"type": "string"},
        },
        actions={"take": {"kind": "update", "set": {"number": "{entity.who}"}}, "post": POST},
    )
    posting = {"nodes": [{**node, **more}], "edges": edges, "exit": "join"}
    workflow = Workflow(compile_patch({**PATCH, "slots": {"posting": posting}}, contract))
    return f"usr:posting:{node['id']}" in list_careful_nodes(workflow, CompiledContract(contract, "0" * 64))


def test_who_takes_a_personal_field_over_or_is_answered_about_it_is_asked() -> None:
    action = {"id": "take", "type": "action", "config": {"action": "take"}}
    rule = {"id": "rule", "type": "rule", "config": {"rules": ["limit"]}}
    assert careful_of(action)
    assert not careful_of(action, config={"action": "post"})
    assert careful_of(rule, on=["rejected"])
    assert not careful_of(CALL)
    assert careful_of(CALL, on=["error"])
    assert careful_of(CALL, config={"endpoint": "erp", "payload": {"to": "{entity.who}"}, "save_as": "said"})
    assert not careful_of(CALL, on=["error"], config={"endpoint": "erp"})
