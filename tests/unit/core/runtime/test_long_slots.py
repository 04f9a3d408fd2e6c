"""A slot with as many nodes in a row as a definition may have: all that is worked out of it is worked out."""

from functools import cached_property

import pytest

from signet.core.approvals.unasked_content import list_made_behind, list_open_states
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.envelope import state_node
from signet.core.compiler.patch import MAX_NODES
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.approval_control import asks_alike
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_fields, list_careful_nodes
from tests.support.core.small_workflows import PATCH, compile_patch, make_contract

LAZY = sorted(name for name, value in vars(Workflow).items() if isinstance(value, cached_property))
CONTRACT = CompiledContract(make_contract(), "0" * 64)


def compile_row(size: int) -> Artifact:
    """Compile a slot of scripts in a row; each reads what the one before it has set."""
    scripts = [
        {
            "id": f"s{n}",
            "type": "script",
            "config": {"set": {f"v{n}": f"context.v{n - 1}" if n else "entity.grand_total"}},
        }
        for n in range(size)
    ]
    edges = [{"source": f"s{n}", "target": f"s{n + 1}"} for n in range(size - 1)]
    return compile_patch({**PATCH, "slots": {"checks": {"nodes": scripts, "edges": edges}}})


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    around = len(compile_row(1).content["nodes"]) - 1
    made = compile_row(MAX_NODES - around)
    assert len(made.content["nodes"]) == MAX_NODES
    return made


@pytest.mark.parametrize("name", LAZY)
def test_each_lazy_property_takes_a_long_slot(artifact: Artifact, name: str) -> None:
    workflow = Workflow(artifact)
    getattr(workflow, name)
    assert name in vars(workflow)


def test_each_node_of_a_long_slot_is_looked_at(artifact: Artifact) -> None:
    workflow = Workflow(artifact)
    assert workflow.guarded_gates == frozenset()
    ahead = workflow.look_ahead(CONTRACT, state_node("draft"))
    assert (ahead.may_ask, ahead.may_settle_unasked) == (False, True)
    assert "draft" in list_open_states(workflow, CONTRACT)
    assert list_made_behind(workflow, CONTRACT.contract) == []
    assert {workflow.return_state_of(name) for name in workflow.nodes if name.startswith("usr:")} == {
        state_node("draft")
    }


def test_what_is_read_in_a_long_slot_is_found(artifact: Artifact) -> None:
    workflow = Workflow(artifact)
    assert workflow.fields_of_variables["v0"] == {"grand_total", "creator"}
    assert len(list_careful_nodes(workflow, CONTRACT)) > 1
    assert followed_fields(workflow, CONTRACT) == frozenset()
    assert asks_alike(workflow, CONTRACT.contract, Workflow(artifact), CONTRACT.contract)
