"""The retries that authors declare: kept with an effect, read again, and bounded by the compiler."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.compiler.node_configurations import (
    MAX_ATTEMPTS,
    NotificationConfiguration,
    RetryConfiguration,
    WebhookOutConfiguration,
)
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.vocabulary import Vocabulary
from signet.core.integrations.retry_plan import NO_PLAN, RetryPlan, describe_plan, parse_plan
from tests.support.core.valid_workflow import PATCH, break_patch, node

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
ALL = {"attempts": 5, "every": "PT1M", "until": "PT1H"}
CALL = {"endpoint": "erp", "retry": ALL, "timeout": "P1D"}


def test_a_plan_is_kept_and_read_again() -> None:
    kept = describe_plan({"retry": ALL})
    assert parse_plan({"payload": {}, **kept}) == RetryPlan(5, 60, 3_600)
    bare = describe_plan({"retry": {"attempts": 3, "every": None, "until": None}})
    assert parse_plan(bare) == RetryPlan(3)
    assert describe_plan({"endpoint": "erp"}) == describe_plan({"retry": None}) == {}
    odd: list[Any] = [None, [], {}, {"retry": 3}]
    assert [parse_plan(payload) for payload in odd] == [NO_PLAN] * 4


def test_the_next_attempt() -> None:
    assert (NO_PLAN.delay_seconds(7.0), RetryPlan(5, 60).delay_seconds(7.0)) == (7.0, 60.0)
    plan = RetryPlan(until_seconds=3_600)
    late = BEGAN + timedelta(minutes=59)
    assert not NO_PLAN.is_over(BEGAN, late, 1e9)
    assert not plan.is_over(BEGAN, late, 60.0)
    assert plan.is_over(BEGAN, late, 61.0)


@pytest.mark.parametrize(
    "config",
    [
        {"retry": {"attempts": 0}},
        {"retry": {"attempts": MAX_ATTEMPTS + 1}},
        {"retry": {"every": "P91D"}},
        {"retry": {"until": "P91D"}},
        {"retry": {"every": "PT2H", "until": "PT1H"}},
        {"retry": {"every": "soon"}},
        {"retry": {"times": 3}},
        {"timeout": "PT0S"},
    ],
)
def test_a_plan_without_sense_is_a_finding(config: Any) -> None:
    (finding,) = break_patch(lambda patch: node(patch, "credit")["config"].update(config))
    assert (finding.code, finding.place) == ("NODE_CONFIG_INVALID", "usr:approval:credit")


def test_only_what_waits_can_be_late() -> None:
    (finding,) = break_patch(lambda patch: node(patch, "told")["config"].update(timeout="PT1H"))
    assert finding.code == "NODE_CONFIG_INVALID" and "'await'" in str(finding)
    waiting = {"timeout": "PT1H", "await": True}
    assert break_patch(lambda patch: node(patch, "told")["config"].update(waiting)) == ()


def test_what_declares_nothing_keeps_its_bytes() -> None:
    call = WebhookOutConfiguration.model_validate({"endpoint": "erp"})
    told = NotificationConfiguration.model_validate(node(PATCH, "told")["config"], strict=False)
    for described in (call.model_dump(mode="json"), told.model_dump(mode="json", by_alias=True)):
        assert not {"retry", "timeout"} & described.keys()


def test_it_is_said_in_english() -> None:
    config = WebhookOutConfiguration.model_validate(CALL).model_dump(mode="json", by_alias=True)
    text = " ".join(describe_step("webhook_out", config, Vocabulary("invoice")))
    assert "It is tried up to 5 times, PT1M apart, for PT1H at the most." in text
    assert "Without an answer within P1D it has failed, and is not sent." in text
    config["retry"] = {"attempts": 1, "every": None, "until": None}
    text = " ".join(describe_step("webhook_out", config, Vocabulary("invoice")))
    assert "It is tried up to 1 time." in text


@pytest.mark.parametrize(
    "declared", [{}, {"every": "PT1H"}, {"until": "PT1H"}, {"every": "PT1H", "until": "PT1H"}]
)
def test_either_duration_may_be_left_out(declared: dict[str, Any]) -> None:
    kept = RetryConfiguration.model_validate(declared)
    assert (kept.every, kept.until) == (declared.get("every"), declared.get("until"))
