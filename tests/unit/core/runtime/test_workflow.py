"""A loaded workflow: what one of its nodes reads behind refs."""

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_by, followed_fields
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
