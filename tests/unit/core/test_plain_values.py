"""Calls that may run in another process: what they take and give is the same after a copy."""

import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import compile_body
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.control.authorship import Authorship, make_control
from signet.core.diagrams.diff import describe_differences
from signet.core.diagrams.mermaid import draw_diff
from signet.core.errors import Defect
from signet.core.explain.definition import explain_in_text
from signet.core.repair.publication_impact import RestingPlace, StoredDefinition, find_obstacles
from signet.core.runtime.position import TokenState
from signet.core.simulation import WorldScript, simulate_artifact
from signet.core.validation.strict_model import Strict, parse_strictly
from tests.support.core.valid_workflow import CONTRACT, PATCH, SETTINGS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AUTHORS = Authorship(["ada"], "ben", None)
CONTROL = make_control(AUTHORS, AUTHORS, {})
DOCUMENT = {"grand_total": 900, "vendor": "acme"}
AUTOMATION = {
    "automation": "nightly",
    "trigger": {"on": "manual"},
    "nodes": [{"id": "note", "type": "script", "config": {"set": {"a": "1"}}}],
}


def copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def call_elsewhere(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call as another process would: with copies, and with a copy of the answer."""
    function, arguments, named = copied((function, arguments, named))
    return copied(function(*arguments, **named))


def read(model: type[Strict], document: dict[str, Any]) -> Any:
    found, mistakes = parse_strictly(model, document)
    assert found is not None, mistakes
    return found


def read_contract() -> Contract:
    contract, mistakes = parse_contract(CONTRACT)
    assert contract is not None, mistakes
    return contract


def compiled(patch: Patch | None = None) -> Artifact:
    artifact = compile_body(patch, read_contract(), SETTINGS).artifact
    assert artifact is not None
    return artifact


BROKEN_SLOTS = {"nowhere": {"nodes": [{"id": "a", "type": "condition"}]}}
BROKEN_PATCH = read(Patch, {**PATCH, "slots": BROKEN_SLOTS})


@pytest.mark.parametrize(
    "body",
    [None, read(Patch, PATCH), BROKEN_PATCH, read(Automation, AUTOMATION)],
    ids=["bare", "patch", "broken", "automation"],
)
def test_to_compile(body: Patch | Automation | None) -> None:
    here = compile_body(body, read_contract(), SETTINGS)
    there = call_elsewhere(compile_body, body, read_contract(), SETTINGS)
    assert there == here
    assert (here.artifact is None) is (body is BROKEN_PATCH)


def test_nothing_is_compiled_without_its_contract() -> None:
    with pytest.raises(Defect) as caught:
        compile_body(read(Patch, PATCH), None, SETTINGS)
    assert caught.value.code == "CONTRACT_ABSENT"


def test_an_artifact_is_sent_as_its_text() -> None:
    """The content of a large one is not copied value by value."""
    artifact = compiled(read(Patch, PATCH))
    assert copied(artifact) == artifact
    assert len(pickle.dumps(artifact)) < len(artifact.text) + 300


def test_to_explain() -> None:
    artifact = compiled(read(Patch, PATCH))
    here = explain_in_text(artifact, read_contract(), CONTROL, {}, is_draft=True, is_read=False)
    there = call_elsewhere(
        explain_in_text, artifact, read_contract(), CONTROL, {}, is_draft=True, is_read=False
    )
    assert there == here and "draft" in here


def test_to_compare() -> None:
    before, after = compiled().content, compiled(read(Patch, PATCH)).content
    differences = describe_differences(before, after)
    assert call_elsewhere(describe_differences, before, after) == differences
    assert differences["counts"]["added"] > 0
    assert call_elsewhere(draw_diff, before, after) == draw_diff(before, after)


def test_to_simulate() -> None:
    script = WorldScript(requests=["submit"], approvals={"*": "approved"})
    given = (compiled(read(Patch, PATCH)), DOCUMENT, script, NOW, 100)
    assert call_elsewhere(simulate_artifact, *given) == simulate_artifact(*given)


def test_answers_that_no_receiver_could_give_are_told_instead() -> None:
    ask = {"id": "ask", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "said"}}
    patch = read(Patch, {**PATCH, "slots": {"checks": {"nodes": [ask]}}})
    script = WorldScript(outputs={"erp": {"status": 1}})
    (mistake,) = call_elsewhere(simulate_artifact, compiled(patch), DOCUMENT, script, NOW, 100)
    assert mistake.code == "ANSWER_SHAPE"


def test_to_foresee() -> None:
    old = StoredDefinition("1", "p", 1, NOW, compiled(read(Patch, PATCH)), read_contract())
    new = StoredDefinition("2", "p", 2, NOW, compiled(), read_contract())
    (node, *_) = [node for node in old.artifact.content["nodes"] if node.startswith("usr:")]
    places = [RestingPlace(node, TokenState.WAITING), RestingPlace("sys:state:draft", TokenState.WAITING)]
    here = find_obstacles(old, new, places, wants_two_people=True)
    assert call_elsewhere(find_obstacles, old, new, places, wants_two_people=True) == here
    assert "NODE_GONE" in {obstacle.code for obstacle in here[0]}
