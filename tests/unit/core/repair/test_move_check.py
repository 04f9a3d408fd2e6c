"""Moves to a newer definition: each reason against one, and the tokens of the instances that can be moved."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import pytest

from signet.core.compiler.artifact import make_artifact
from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.patch import Automation
from signet.core.repair.move_check import MAX_NAMED, Definition, MoveInput, Obstacle, Report, assess
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.tokens import root_of
from signet.core.runtime.workflow import Workflow
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.valid_workflow import (
    CONTRACT,
    PATCH,
    SETTINGS,
    add_edge,
    add_node,
    compile_patch,
    edge,
    node,
    read_envelope,
    slot,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Change = Callable[[dict[str, Any]], object]
READY, WAITING = TokenState.READY, TokenState.WAITING
PARTED, JOINED = TokenState.PARTED, TokenState.JOINED
APPROVAL = "usr:approval:"


def define(workflow: Workflow, number: int = 1, **changes: Any) -> Definition:
    """Make a definition; a higher number is a later one."""
    name = workflow.content["name"]
    found = Definition(str(number), name, number, NOW + timedelta(days=number), workflow)
    return replace(found, **changes)


def load(change: Change = lambda patch: None, contract: dict[str, Any] = CONTRACT) -> Workflow:
    patch = deepcopy(PATCH)
    patch["base"]["envelope_version"] = contract["version"]
    change(patch)
    compilation = compile_patch(patch, read_envelope(contract))
    assert compilation.artifact is not None, compilation.findings
    return Workflow(compilation.artifact)


def at(node_id: str, state: TokenState = READY, **more: Any) -> Token:
    return Token("T", node_id, state, 1, **more)


def ask(new: Workflow, *tokens: Token, old: Workflow | None = None, **standing: Any) -> Report:
    return assess(define(old or load()), define(new, 2), MoveInput(tokens, **standing))


def codes(report: Report) -> list[str]:
    on_tokens = [obstacle for assessment in report.assessments for obstacle in assessment.obstacles]
    return [obstacle.code for obstacle in (*report.obstacles, *on_tokens)]


# --- a token ---


def drop(*ids: str) -> Change:
    """Remove nodes of the approval, with their edges; `told` remains."""

    def change(patch: dict[str, Any]) -> None:
        region = slot(patch)
        region["nodes"] = [one for one in region["nodes"] if one["id"] not in ids]
        region["edges"] = [
            one for one in region["edges"] if one["source"] not in ids and one["target"] not in ids
        ]

    return change


def without_block(patch: dict[str, Any]) -> None:
    drop("fork", "finance", "credit", "both")(patch)
    slot(patch)["edges"].append({"id": "slow", "source": "amount", "target": "told"})
    del slot(patch)["accepts"]


def turn_into_event(patch: dict[str, Any]) -> None:
    node(patch, "told").update(type="script", config={"set": {"x": "1"}})


def ask_elsewhere(patch: dict[str, Any]) -> None:
    node(patch, "credit")["config"]["endpoint"] = "other"


def third_branch(patch: dict[str, Any]) -> None:
    add_node(patch, "risk", "webhook_out", endpoint="risk")
    add_edge(patch, "fork", "risk", id="third")
    add_edge(patch, "risk", "both", id="thirdly")


def any_of_them(patch: dict[str, Any]) -> None:
    node(patch, "both")["config"]["mode"] = "any"


def other_head(patch: dict[str, Any]) -> None:
    edge(patch, "check")["id"] = "check_anew"


def act_for_the_system(patch: dict[str, Any]) -> None:
    node(patch, "stamp")["config"]["run_as"] = "system"


def pay_later(patch: dict[str, Any]) -> None:
    node(patch, "stamp")["config"]["payload"]["at"] = "2026-02-02"


def more_beforehand(patch: dict[str, Any]) -> None:
    add_node(patch, "first", "script", set={"x": "1"})
    edge(patch, "slow")["target"] = "first"
    add_edge(patch, "first", "fork", id="on")


FINANCE, CREDIT, TOLD = f"{APPROVAL}finance", f"{APPROVAL}credit", f"{APPROVAL}told"
FORK, BOTH, AMOUNT = f"{APPROVAL}fork", f"{APPROVAL}both", f"{APPROVAL}amount"
STAMP, DRAFT = "usr:checks:stamp", "sys:state:draft"


@pytest.mark.parametrize(
    ("change", "token", "code"),
    [
        (without_block, at(FINANCE, WAITING), "NODE_GONE"),
        (without_block, at(FORK), "NODE_GONE"),
        (turn_into_event, at(TOLD), "NODE_TYPE_CHANGED"),
        (ask_elsewhere, at(CREDIT, WAITING), "WAIT_CHANGED"),
        (ask_elsewhere, at(FINANCE, WAITING), "APPROVAL_OPEN"),
        # A gate waits where votes have lapsed: people are asked again.
        (ask_elsewhere, at("sys:gate:approve", WAITING), "APPROVAL_OPEN"),
        (third_branch, at(FORK, PARTED), "BLOCK_CHANGED"),
        (any_of_them, at(FORK, PARTED), "BLOCK_CHANGED"),
        (other_head, at(FORK, PARTED), "BLOCK_CHANGED"),
        (any_of_them, at(BOTH, JOINED), "BLOCK_CHANGED"),
        (third_branch, at(BOTH, JOINED), "BLOCK_CHANGED"),
        (other_head, at(CREDIT), "BLOCK_CHANGED"),
        (act_for_the_system, at(STAMP), "POLICY_CHANGED"),
    ],
)
def test_a_token_that_cannot_go_on_is_blocked(change: Change, token: Token, code: str) -> None:
    report = ask(load(change), token)
    assert codes(report) == [code] and not report.is_safe
    (assessment,) = report.assessments
    assert not assessment.is_safe and assessment.token is token
    said = report.to_json()
    assert (said["verdict"], said["tokens"][0]["verdict"]) == ("blocked", "blocked")
    (obstacle,) = said["tokens"][0]["obstacles"]
    assert obstacle.keys() == {"code", "sentence", "remedy"} and obstacle["code"] == code


@pytest.mark.parametrize(
    ("change", "token"),
    [
        (without_block, at(DRAFT, WAITING)),
        (without_block, at(TOLD)),
        (ask_elsewhere, at(CREDIT)),
        (ask_elsewhere, at(FORK, PARTED)),
        (any_of_them, at(BOTH)),
        (any_of_them, at(AMOUNT)),
        (third_branch, at(FORK)),
        (pay_later, at(STAMP)),
        (lambda patch: None, at(FINANCE, WAITING)),
        (lambda patch: None, at(FORK, PARTED)),
        (lambda patch: None, at(BOTH, JOINED)),
    ],
)
def test_a_token_goes_on_where_nothing_that_it_depends_on_has_changed(change: Change, token: Token) -> None:
    report = ask(load(change), token)
    assert report.is_safe and codes(report) == []
    assert report.to_json()["tokens"][0] == {
        "token": "T",
        "node": token.node,
        "state": token.state.value,
        "verdict": "safe",
        "obstacles": [],
        "passes_by": [],
    }


def test_one_blocked_token_blocks_the_instance() -> None:
    tokens = (at(FORK, PARTED), replace(at(CREDIT), id="T/5.1", split=FORK, parent="T"))
    report = ask(load(drop_credit), *tokens)
    assert [assessment.is_safe for assessment in report.assessments] == [True, False]
    assert not report.is_safe


def drop_credit(patch: dict[str, Any]) -> None:
    """Replace the credit call by another call on the same branch."""
    drop("credit")(patch)
    add_node(patch, "bureau", "webhook_out", endpoint="bureau")
    add_edge(patch, "fork", "bureau", id="check")
    add_edge(patch, "bureau", "both", id="checked")
    del slot(patch)["accepts"]


def test_a_state_that_waits_must_wait_there_too() -> None:
    contract = deepcopy(CONTRACT)
    contract["transitions"]["approve"]["kind"] = "requested"
    by_hand, by_itself = load(contract=contract), load()
    submitted = at("sys:state:submitted", WAITING)
    assert codes(ask(by_itself, submitted, old=by_hand)) == ["STATE_GOES_ON"]
    assert codes(ask(by_hand, submitted, old=by_hand)) == []
    assert codes(ask(by_itself, at("sys:state:submitted"), old=by_hand)) == []


def test_a_slot_of_another_transition_is_another_way() -> None:
    contract = deepcopy(CONTRACT)
    contract["slots"]["checks"] = {"transition": "approve"}
    contract["slots"]["approval"] = {"transition": "submit", "from": "draft"}

    def keep_checks(patch: dict[str, Any]) -> None:
        del patch["slots"]["approval"]

    report = ask(load(keep_checks, contract), at("usr:checks:known"), old=load(keep_checks))
    assert codes(report) == ["WAY_CHANGED"]


def test_what_is_done_is_not_done_again() -> None:
    def swap(patch: dict[str, Any]) -> None:
        """Put the stamp first and the rule after it."""
        slot(patch, "checks")["edges"] = [
            {"source": "in", "target": "stamp"},
            {"source": "stamp", "target": "known"},
        ]

    swapped = load(swap)
    done = [("T", "usr:checks:known"), ("T", "sys:start")]
    assert codes(ask(swapped, at(STAMP), done=done)) == ["DONE_AHEAD"]
    assert codes(ask(load(), at(STAMP), done=done)) == []
    # Steps of a branch or an item of the same token count, but none before it was sent back.
    assert codes(ask(swapped, at(STAMP), done=[("T/5.0", "usr:checks:known")])) == ["DONE_AHEAD"]
    assert codes(ask(swapped, at(STAMP), done=[("T/b7", "usr:checks:known")])) == []
    sent_back = replace(at(STAMP), id="T/b7/9.1")
    assert codes(ask(swapped, sent_back, done=[("T/b7", "usr:checks:known")])) == ["DONE_AHEAD"]
    assert codes(ask(swapped, sent_back, done=done)) == []


@pytest.mark.parametrize(
    ("token_id", "root"),
    [
        ("T", "T"),
        ("T/5.0", "T"),
        ("T/5.0/9.1", "T"),
        ("T/b7", "T/b7"),
        ("T/b7/9.1", "T/b7"),
        ("T/usr:a:b#3", "T"),
    ],
)
def test_the_root_of_a_token(token_id: str, root: str) -> None:
    assert root_of(token_id) == root


def test_what_was_added_behind_a_token_is_named() -> None:
    (assessment,) = ask(load(more_beforehand), at(FINANCE)).assessments
    assert assessment.is_safe and assessment.passes_by == (f"{APPROVAL}first",)
    (assessment,) = ask(load(more_beforehand), at(AMOUNT)).assessments
    assert assessment.passes_by == ()
    # Steps before the state are another token's.
    (assessment,) = ask(load(), at("sys:state:submitted"), old=load(drop_checks)).assessments
    assert assessment.passes_by == ()


def drop_checks(patch: dict[str, Any]) -> None:
    del patch["slots"]["checks"]


def test_no_more_is_named_than_people_read() -> None:
    def much_beforehand(patch: dict[str, Any]) -> None:
        before = "slow"
        for index in range(MAX_NAMED + 5):
            add_node(patch, f"s{index:02}", "script", set={"x": "1"})
            edge(patch, before)["target"] = f"s{index:02}"
            before = f"on{index}"
            add_edge(patch, f"s{index:02}", "fork", id=before)

    (assessment,) = ask(load(much_beforehand), at(FINANCE)).assessments
    assert len(assessment.passes_by) == MAX_NAMED


# --- the instance ---


def test_only_a_newer_definition_is_moved_to() -> None:
    old, new = load(), load(without_block)
    for number in (1, 2):
        report = assess(define(old, 2), define(new, number), MoveInput([at(DRAFT, WAITING)]))
        assert codes(report) == ["DEFINITION_NOT_NEWER"] and not report.is_safe
        assert all(assessment.is_safe for assessment in report.assessments)


def test_reads_that_no_approval_has_pinned_hold_it_back() -> None:
    names = [f"vendor.f{number:02}" for number in range(MAX_NAMED + 1)]
    report = assess(define(load()), define(load(), 2), MoveInput([], unpinned_reads=names))
    assert codes(report) == ["READS_UNPINNED"] and not report.is_safe
    assert names[MAX_NAMED - 1] in report.obstacles[0].sentence
    assert names[MAX_NAMED] not in report.obstacles[0].sentence


def test_a_definition_of_something_else_is_not_moved_to() -> None:
    other = load(contract=deepcopy(CONTRACT) | {"version": 3})
    content = {**other.content, "entity_type": "order"}
    report = assess(define(load()), define(Workflow(make_artifact(content)), 2), MoveInput([]))
    assert codes(report) == ["WORKFLOW_OF_ANOTHER"]
    automation = load_automation("helper")
    assert codes(assess(define(automation), define(load(), 2), MoveInput([]))) == ["WORKFLOW_OF_ANOTHER"]
    other_automation = load_automation("other")
    report = assess(define(automation), define(other_automation, 2), MoveInput([]))
    assert codes(report) == ["WORKFLOW_OF_ANOTHER"]


def test_a_definition_is_named_in_the_step_with_what_it_hashes_to() -> None:
    workflow = load()
    said = {"id": "7", "name": "standard", "version": 7, "hash": workflow.hash}
    assert define(workflow, 7).to_json() == said
    contract = read_envelope().contract
    assert define(workflow, 7, contract=contract).to_json() == {**said, "contract_version": 3}


@lru_cache
def load_automation(name: str) -> Workflow:
    body = {
        "automation": name,
        "trigger": {"on": "manual"},
        "nodes": [{"id": "say", "type": "notification", "config": {
            "channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "hello"}}],
    }  # fmt: skip
    automation, mistakes = parse_strictly(Automation, body)
    assert automation is not None, mistakes
    artifact = compile_automation(automation, None, SETTINGS).artifact
    assert artifact is not None
    return Workflow(artifact)


def test_an_automation_has_one_way() -> None:
    workflow = load_automation("helper")
    (say,) = [node_id for node_id in workflow.nodes if node_id.startswith("usr:")]
    assert assess(define(workflow), define(workflow, 2), MoveInput([at(say)])).is_safe


def test_the_target_is_of_the_current_compiler() -> None:
    content = {**load().content, "compiler_version": "0"}
    assert codes(ask(Workflow(make_artifact(content)), at(DRAFT, WAITING))) == ["COMPILER_STALE"]


@pytest.mark.parametrize(
    ("standing", "code"),
    [
        ({"seen_version": 3, "document_version": 4}, "EDIT_NOT_TAKEN"),
        ({"agrees_with_steps": False}, "ROW_LAGS"),
        ({"unused_approvals": [FINANCE]}, "APPROVAL_UNUSED"),
    ],
)
def test_what_is_not_settled_is_settled_first(standing: dict[str, Any], code: str) -> None:
    report = ask(load(more_beforehand), at(TOLD), **standing)
    assert codes(report) == [code] and not report.is_safe
    (obstacle,) = report.to_json()["obstacles"]
    assert obstacle == Obstacle(**obstacle).to_json()


def test_the_same_workflow_again_takes_what_was_approved_under_it() -> None:
    assert ask(load(), at(TOLD), unused_approvals=[FINANCE]).is_safe
