"""People who are asked again: the step of the approval, and where nobody was asked."""

from dataclasses import replace

from signet.core.runtime.execution import Blocked, InstanceExecution
from signet.core.runtime.operator_actions import check_ask_again, list_acts
from signet.core.runtime.position import TokenState
from signet.core.runtime.projection import start_projection
from tests.unit.core.runtime.test_execution import approval, load
from tests.unit.core.runtime.test_operator_actions import OLGA, begin, check_sum, go_on, statuses


def test_people_are_asked_again_by_a_step_of_its_own() -> None:
    execution = begin(load({"approval": {"nodes": [approval("a")]}}), "sys:slot:approval:in")
    (token,) = execution.projection.tokens()
    assert check_ask_again(execution, token) is None
    execution.ask_again(token, "anna is away", OLGA)
    (again,) = execution.projection.tokens()
    assert (again.node, again.state, again.id) == (
        token.node,
        TokenState.READY,
        f"T/r{execution.projection.version}",
    )
    assert statuses(execution, "usr:approval:a") == ["cancelled"]
    go_on(execution)
    assert statuses(execution, "usr:approval:a") == ["cancelled", "running"]
    check_sum(execution, "sys:slot:approval:in")


def test_the_acts_on_an_approval_name_a_correction_where_one_is_possible() -> None:
    workflow = load({"approval": {"nodes": [approval("a")]}})
    execution = begin(workflow, "sys:slot:approval:in")
    (token,) = execution.projection.tokens()
    acts, shut = (
        list_acts(
            execution,
            token,
            "submitted",
            is_paused_by_person=False,
            is_behind=False,
            is_correctable=is_correctable,
        )
        for is_correctable in (True, False)
    )
    assert acts[0] == "ask_again" and [act for act in acts if act not in shut] == ["correct"]


def test_who_was_not_asked_is_not_asked_again() -> None:
    workflow = load({"approval": {"nodes": [approval("a")]}})
    execution = InstanceExecution(workflow, start_projection("usr:approval:a", 1))
    (token,) = execution.projection.tokens()
    early = check_ask_again(execution, token)
    assert early is not None and early.code == "INSTANCE_TOKEN_ASKS_NOBODY"
    # One that cannot ask is held: the cause may be gone.
    execution.hold(token.id, Blocked("nobody is there"))
    (held,) = execution.projection.tokens()
    assert check_ask_again(execution, held) is None
    elsewhere = check_ask_again(execution, replace(token, node="sys:state:draft"))
    assert elsewhere is not None and "of type state" in elsewhere.message
