"""The code and kind of an incident, and the event that closes it."""

import pytest

from signet.core.incidents.incident import Closing, IncidentKind, code_of, kind_of, name_closing
from signet.core.runtime.hold_change import HoldChange
from signet.core.runtime.position import Hold, Token, TokenState, find_code
from signet.core.runtime.projection import CONTROL, Step

HELD = Token("T/5.0", "usr:a:call", TokenState.FAILED, 1, hold=Hold(7, "EFFECT_DEAD: refused"))


@pytest.mark.parametrize(
    ("reason", "evidence", "node_type", "code"),
    [
        ("EFFECT_DEAD: refused", {}, "webhook_out", "EFFECT_DEAD"),
        ("WORKFLOW_VERSION_DRIFT", {}, None, "WORKFLOW_VERSION_DRIFT"),
        ("the rule says no", {"code": "RULE_REJECTED"}, "lifecycle_gate", "RULE_REJECTED"),
        ("the condition does not hold", {"code": 3}, "lifecycle_gate", "GATE_HELD"),
        ("something else", {}, "action", "STEP_FAILED"),
        ("ValueError: bad", {}, None, "ENGINE_FAILED"),
        ("IBAN: is wrong", {}, "action", "STEP_FAILED"),
    ],
)
def test_a_code_is_named_or_follows_from_the_node(
    reason: str, evidence: dict[str, object], node_type: str | None, code: str
) -> None:
    assert code_of(find_code(reason, evidence), node_type) == code


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("EFFECT_DEAD", IncidentKind.OUTSIDE),
        ("ACTION_NOT_LOADED", IncidentKind.CONFIGURATION),
        ("ENGINE_FAILED", IncidentKind.DEFECT),
        ("FIELDS_INVALID", IncidentKind.BUSINESS),
    ],
)
def test_a_kind_says_on_which_side_the_cause_is(code: str, kind: IncidentKind) -> None:
    assert kind_of(code) is kind


def control(name: str, **data: object) -> Step:
    return Step(9, 9, f"{CONTROL}{name}", "", "completed", 1, 1, data=data, outcome=name)


def ended(token: str, outcome: str, **evidence: object) -> Step:
    return Step(8, 9, "usr:a:other", token, "completed", 1, 1, outcome=outcome, evidence=evidence)


@pytest.mark.parametrize(
    ("step", "closing"),
    [
        (control("retried"), Closing.RETRIED),
        (control("resumed"), Closing.RESUMED),
        (control("renewed", token="T/5.0"), Closing.RETRIED),
        (control("failed"), Closing.ENDED),
        (control("sent_to", node="sys:state:draft"), Closing.WITHDRAWN),
        (control("edited"), Closing.WITHDRAWN),
        (control("token_cancelled", token="T/5.0"), Closing.REJECTED),
        (control("token_cancelled", token="T/5.1"), Closing.WITHDRAWN),
        (ended("T/5.0", "delivered", advanced_by="olga"), Closing.ADVANCED),
        (ended("T/5.0", "expired"), Closing.WENT_ON),
        (ended("T/5.1", "approved"), Closing.OVERTAKEN),
        (ended("T/5.1", "rejected"), Closing.WITHDRAWN),
    ],
)
def test_a_closing_is_named_by_the_step_that_let_it_go(step: Step, closing: Closing) -> None:
    assert name_closing(HoldChange(HELD, step, is_new=False)) is closing


def test_the_pause_of_the_whole_closes_with_a_control() -> None:
    assert name_closing(HoldChange(None, control("retried"), is_new=False)) is Closing.RETRIED
