"""The differences of two compiled workflows, slot by slot, and their text for a reviewer."""

import copy
import json
from typing import Any

import pytest

from signet.core.canonical_json import canonical_bytes
from signet.core.diagrams.diff import Diff, Mark, SlotDiff, WindowChange, diff_artifacts
from signet.core.diagrams.diff_text import write_diff
from tests.support.core.golden_files import assert_golden
from tests.support.core.small_workflows import (
    AUTOMATION,
    CONTRACT,
    PATCH,
    change_node,
    compile_automatic,
    compile_patch,
    make_contract,
)

BARE = compile_patch(None).content
FILLED = compile_patch(PATCH).content


def diff_patches(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Diff:
    return diff_artifacts(compile_patch(before).content, compile_patch(after).content)


def find_slot(diff: Diff, name: str) -> SlotDiff:
    return next(slot for slot in diff.slots if slot.slot == name)


def test_the_same_workflow_has_no_differences() -> None:
    diff = diff_artifacts(FILLED, json.loads(canonical_bytes(FILLED)))
    assert diff.is_empty
    assert write_diff(diff)[-1] == "The two are the same."
    assert diff.count() == {"added": 0, "removed": 0, "modified": 0}


def test_a_patch_against_its_bare_envelope() -> None:
    diff = diff_artifacts(BARE, FILLED)
    assert [slot.slot for slot in diff.slots] == ["approvals", "posting"]
    assert all(slot.is_filled and not slot.is_emptied for slot in diff.slots)
    assert {change.pointer for change in diff.changes} == {"/kind", "/name", "/actions/post"}
    replaced = [edge for edge in find_slot(diff, "approvals").edges if edge.mark is Mark.REMOVED]
    assert [edge.id for edge in replaced] == ["sys:edge:state:submitted>gate:approve#automatic"]
    assert_golden("diff.txt", "\n".join(write_diff(diff)) + "\n")
    assert_golden("diff.json", json.dumps(diff.to_json(), indent=1, sort_keys=True) + "\n")


def test_a_patch_taken_back() -> None:
    diff = diff_patches(PATCH, None)
    assert [slot.is_emptied for slot in diff.slots] == [True, True]
    text = "\n".join(write_diff(diff))
    assert "slot approvals: emptied" in text
    assert "+ state submitted → gate approve, automatic: directly again" in text


def test_a_slot_that_was_not_filled_takes_the_window_of_its_state() -> None:
    nodes = [{"id": "look", "type": "script", "config": {"set": {"x": "1"}}}]
    patch = {**PATCH, "slots": {"checks": {"nodes": nodes, "edit": "locked"}}}
    window = find_slot(diff_patches(None, patch), "checks").window
    assert window == WindowChange("editable", "locked")
    assert window.is_stricter
    assert window.to_json() == {"before": "editable", "after": "locked", "stricter": True}
    assert find_slot(diff_patches(None, patch), "checks").to_json()["edit_window"] == window.to_json()
    assert "  ~ edit window stricter: editable → locked (nobody can edit)" in write_diff(
        diff_patches(None, patch)
    )
    back = find_slot(diff_patches(patch, None), "checks").window
    assert back == WindowChange("locked", "editable")
    assert any("looser" in line for line in write_diff(diff_patches(patch, None)))


def test_only_the_window_of_a_slot_may_differ() -> None:
    stricter = copy.deepcopy(PATCH)
    stricter["slots"]["approvals"]["edit"] = "locked"
    diff = diff_patches(PATCH, stricter)
    assert [(slot.slot, slot.nodes, slot.edges) for slot in diff.slots] == [("approvals", (), ())]
    assert "slot approvals: changed" in write_diff(diff)


def test_changed_configuration_names_the_smallest_value() -> None:
    approvers = [{"by": "role", "role": "clerk"}, {"by": "user", "user": "bo"}]
    diff = diff_patches(PATCH, change_node("approvals", "finance", config={"approvers": approvers}))
    [node] = find_slot(diff, "approvals").nodes
    assert node.mark is Mark.MODIFIED
    assert {change.pointer for change in node.changes} == {
        "/config/approvers/0/role",
        "/config/approvers/1",
        "/config/escalate",
        "/config/expire_after",
    }
    assert node.to_json()["changes"][0] == {
        "pointer": "/config/approvers/0/role",
        "before": "finance_manager",
        "after": "clerk",
    }
    assert node.to_json()["changes"][1] == {
        "pointer": "/config/approvers/1",
        "after": {"by": "user", "user": "bo"},
    }
    text = "\n".join(write_diff(diff))
    assert "~ approval 'finance' \"Finance\"\n" in text
    assert '~ /config/approvers/0/role: "finance_manager" → "clerk"' in text
    assert "~ /config/approvers/1: (not there) → " in text


def test_a_changed_condition_is_a_modified_edge() -> None:
    other = copy.deepcopy(PATCH)
    other["slots"]["approvals"]["edges"][1]["condition"] = "entity.grand_total > 2000000"
    diff = diff_patches(PATCH, other)
    [edge] = find_slot(diff, "approvals").edges
    assert [(c.pointer, c.before, c.after) for c in edge.changes] == [
        ("/condition", "entity.grand_total > 1000000", "entity.grand_total > 2000000")
    ]
    text = "\n".join(write_diff(diff))
    assert '~ /condition: "entity.grand_total > 1000000" → "entity.grand_total > 2000000"' in text


def test_one_and_true_are_not_the_same() -> None:
    def tidy(value: object) -> dict[str, Any]:
        config = {"endpoint": "erp", "payload": {"n": value}}
        return {
            **PATCH,
            "slots": {"posting": {"nodes": [{"id": "s", "type": "webhook_out", "config": config}]}},
        }

    [node] = find_slot(diff_patches(tidy(1), tidy(True)), "posting").nodes
    assert [(change.before, change.after) for change in node.changes] == [(1, True)]


def test_a_changed_envelope_is_shouted() -> None:
    states = {**CONTRACT["states"], "submitted": {"edit": "locked", "label": "Submitted"}}
    other = make_contract(states=states)
    diff = diff_artifacts(BARE, compile_patch(None, other).content)
    envelope = find_slot(diff, "envelope")
    changed = {node.id: [change.pointer for change in node.changes] for node in envelope.nodes}
    assert changed["sys:state:submitted"] == ["/edit_window"]
    assert "/contract/hash" in {change.pointer for change in diff.changes}
    text = "\n".join(write_diff(diff))
    assert "envelope: CHANGED" in text
    assert '~ /edit_window: "amend_only" → "locked"' in text


def test_two_that_have_nothing_in_common() -> None:
    other = compile_automatic(AUTOMATION).content
    for before, after in [(FILLED, other), (other, FILLED)]:
        diff = diff_artifacts(before, after)
        assert find_slot(diff, "main").window is None
        assert write_diff(diff)
    assert "envelope" not in "\n".join(write_diff(diff_artifacts(other, _rename(other))))


def _rename(content: Any) -> dict[str, Any]:
    return {**content, "name": "another"}


@pytest.mark.parametrize("label", ["a\nb", "\x1b[31mred", "‮evil", "x" * 5_000])
def test_a_label_cannot_leave_its_line(label: str) -> None:
    label = label[:200]
    text = "\n".join(write_diff(diff_patches(PATCH, change_node("approvals", "finance", label=label))))
    assert all(c.isprintable() or c == "\n" for c in text)
    assert len(text.splitlines()) == len(text.split("\n"))
