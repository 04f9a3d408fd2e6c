"""A loaded workflow: what one of its nodes reads behind refs."""

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_by, followed_fields, list_careful_nodes
from tests.support.core.small_workflows import PATCH, compile_patch, make_contract

TASK = {"kind": "update", "payload": {"rating": {"type": "int"}}, "set": {"number": "n"}}
READING = {
    "id": "read",
    "type": "action",
    "config": {"action": "take", "payload": {"rating": "{entity.vendor.rating}"}},
}
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
