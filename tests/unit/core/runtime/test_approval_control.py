"""Changes of a definition that change the approvals that are asked, and others that do not."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.repair.move_check import MoveInput, assess
from signet.core.runtime.approval_control import asks_alike
from tests.support.core.valid_workflow import CONTRACT, add_edge, add_node, edge, node, read_envelope
from tests.unit.core.repair.test_move_check import Change, ask, at, codes, define, load

SKIP = {"from": ["submitted"], "to": "active", "kind": "interrupting"}


def compare(change: Change = lambda patch: None, change_contract: Change = lambda contract: None) -> bool:
    contract = deepcopy(CONTRACT)
    change_contract(contract)
    old, new = read_envelope().contract, read_envelope(contract).contract
    return asks_alike(load(), old, load(change, contract), new)


def ask_others(patch: dict[str, Any]) -> None:
    node(patch, "finance")["config"]["approvers"] = [{"by": "role", "role": "clerk"}]


def ask_less_often(patch: dict[str, Any]) -> None:
    edge(patch, "fast")["condition"] = "entity.grand_total <= 500000"


def let_a_branch_win(patch: dict[str, Any]) -> None:
    node(patch, "both")["config"]["mode"] = "any"


def label(patch: dict[str, Any]) -> None:
    node(patch, "finance")["label"] = "Finance"


def tell_of_the_posting(patch: dict[str, Any]) -> None:
    told = {"channel": "email", "to": [{"by": "manager"}], "text": "Posted"}
    patch["slots"]["posting"]["nodes"].append({"id": "posted", "type": "notification", "config": told})
    patch["slots"]["posting"]["edges"] = [{"source": "task", "target": "posted"}]


def ask_twice(patch: dict[str, Any]) -> None:
    asking = {"approvers": [{"by": "role", "role": "cfo"}]}
    patch["slots"]["checks"]["nodes"].append({"id": "again", "type": "approval", "config": asking})
    patch["slots"]["checks"]["edges"].append({"source": "stamp", "target": "again"})


def note_beside(patch: dict[str, Any]) -> None:
    """Add a step to the slot: what happens beside a question may decide whether it is asked."""
    add_node(patch, "note", "script", set={"x": "1"})
    add_edge(patch, "told", "note")


@pytest.mark.parametrize("change", [ask_others, ask_less_often, let_a_branch_win, ask_twice, note_beside])
def test_another_question_or_another_way_to_it_is_another_control(change: Change) -> None:
    assert not compare(change)


@pytest.mark.parametrize("change", [lambda patch: None, label, tell_of_the_posting])
def test_what_is_said_and_done_elsewhere_is_not(change: Change) -> None:
    assert compare(change)


@pytest.mark.parametrize(
    "changes",
    [
        {"separation_of_duties": {"may_decide": ["creator"]}},
        {"conditions": {"invoice:approve": "entity.grand_total < 9"}},
        {"transitions": {**CONTRACT["transitions"], "skip": SKIP}},
        {"slots": {**CONTRACT["slots"], "approval": {"transition": "approve", "requires": {"approvals": 1}}}},
    ],
    ids=["separation of duties", "condition", "transition", "required approvals"],
)
def test_a_contract_that_lets_others_decide_is_another_control(changes: dict[str, Any]) -> None:
    contract = {**CONTRACT, **changes}
    workflow = load()
    assert not asks_alike(workflow, read_envelope().contract, workflow, read_envelope(contract).contract)


def test_a_contract_with_another_label_is_not() -> None:
    labelled = deepcopy(CONTRACT)
    labelled["transitions"]["submit"]["label"] = "Hand in"
    labelled["slots"]["approval"]["label"] = "Four eyes"
    workflow = load()
    assert asks_alike(workflow, read_envelope().contract, workflow, read_envelope(labelled).contract)


def test_where_two_people_are_wanted_nobody_moves_an_instance_to_other_approvals() -> None:
    draft = at("sys:state:draft")
    report = ask(load(ask_others), draft, wants_two_people=True)
    assert (codes(report), report.changes_approvals) == (["APPROVALS_CHANGED"], True)
    assert report.to_json()["changes_approvals"] is True
    assert "A new request then begins" in report.obstacles[0].remedy
    free = ask(load(ask_others), draft)
    assert (codes(free), free.changes_approvals) == ([], True)
    alike = ask(load(tell_of_the_posting), draft, wants_two_people=True)
    assert (codes(alike), alike.changes_approvals) == ([], False)


AGAIN, AMENDED = "A new request then begins under the newest", "an edit then makes an amendment"


@pytest.mark.parametrize(
    ("status", "window", "words"),
    [
        ("draft", "editable", AGAIN),
        ("submitted", "amend_only", AMENDED),
        ("submitted", "locked", "so that nothing follows where it is cancelled"),
        ("gone", "locked", AGAIN),
        (None, "locked", AGAIN),
    ],
)
def test_the_way_that_is_left_is_told_for_the_state(status: str | None, window: str, words: str) -> None:
    """A cancelled workflow leads to no newer definition where no request begins in the state."""
    document = deepcopy(CONTRACT)
    document["states"]["submitted"]["edit"] = window
    contract = read_envelope(document).contract
    position = MoveInput([at("sys:state:draft")], document_status=status, wants_two_people=True)
    report = assess(
        define(load(), contract=contract), define(load(ask_others), 2, contract=contract), position
    )
    (remedy,) = [each.remedy for each in report.obstacles if each.code == "APPROVALS_CHANGED"]
    assert words in remedy
