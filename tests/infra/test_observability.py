"""Alarms that can be acted on, and two dashboards that are kept apart."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra.environments import DEPLOYED, ENVIRONMENTS
from signet.store.outbox.given_back import STRANDED_AFTER_SECONDS
from tests.cost.counts import GB
from tests.cost.idle import ALARM_METRICS, DASHBOARDS
from tests.support.cloud.templates import FUNCTIONS, Assembly

ROOT = Path(__file__).resolve().parents[2]
Synthesize = Callable[[str], Assembly]
# The anchors of headings, as GitHub and others make them.
SECTIONS = {
    heading.lower().replace(" ", "-")
    for heading in re.findall(r"^## (.+)$", (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8"), re.M)
}


def alarms_of(assembly: Assembly) -> Mapping[str, Mapping[str, Any]]:
    return {
        one["Properties"]["AlarmName"].removeprefix(f"signet-{assembly.environment}-"): one["Properties"]
        for one in assembly.all("AWS::CloudWatch::Alarm")
    }


def dashboards_of(assembly: Assembly) -> Mapping[str, str]:
    return {
        one["Properties"]["DashboardName"]: json.dumps(one["Properties"]["DashboardBody"])
        for one in assembly.all("AWS::CloudWatch::Dashboard")
    }


@pytest.mark.parametrize("environment", DEPLOYED)
def test_every_alarm_has_a_section_of_the_runbook_and_every_section_an_alarm(
    synthesize: Synthesize, environment: str
) -> None:
    alarms = alarms_of(synthesize(environment))
    named = {
        name: alarm["AlarmDescription"].rpartition("docs/runbook.md#")[2] for name, alarm in alarms.items()
    }
    assert {name: section for name, section in named.items() if section not in SECTIONS} == {}
    assert set(named.values()) == SECTIONS


def test_what_may_go_wrong_has_an_alarm(synthesize: Synthesize) -> None:
    alarms = alarms_of(synthesize("prod")).keys()
    assert alarms >= {"engine-dead-letters", "late-triggers", "janitor-silent", "outbox-relay-silent"}
    # The janitor itself succeeds even when its tasks fail.
    assert "housekeeping-failures" in alarms
    assert alarms >= {
        f"{queue}-{what}" for queue in ("events", "effects") for what in ("set-aside", "waiting")
    }
    assert alarms >= {f"{api}-{what}" for api in ("api", "machines") for what in ("server-errors", "latency")}
    assert alarms >= {f"database-{what}" for what in ("capacity", "cpu", "connections", "deadlocks")}
    for name in FUNCTIONS:
        dashed = name.replace("_", "-")
        watched = {f"{dashed}-{what}" for what in ("errors", "throttles", "slow")}
        assert watched <= alarms or name == "migrator"


def test_a_dead_letter_of_the_engine_wakes_somebody_and_one_of_an_effect_waits(
    synthesize: Synthesize,
) -> None:
    alarms = alarms_of(synthesize("prod"))
    assert alarms["engine-dead-letters"]["Threshold"] == 1
    assert "EffectDeadLetters" not in json.dumps(alarms)
    boards = dashboards_of(synthesize("prod"))
    assert boards.keys() == {"signet-prod-engine", "signet-prod-effects"}
    assert "EffectDeadLetters" in boards["signet-prod-effects"]
    assert "EffectDeadLetters" not in boards["signet-prod-engine"]


def test_an_approval_without_its_proof_wakes_somebody_at_once(synthesize: Synthesize) -> None:
    alarms = alarms_of(synthesize("prod"))
    unproven = alarms["approvals-unproven"]
    assert (unproven["Threshold"], unproven["EvaluationPeriods"]) == (1, 1)
    assert unproven["MetricName"] == "ApprovalsUnproven"
    # A few of these are a tenant's own matter.
    assert {alarms[name]["Threshold"] for name in ("votes-lapsed", "paused-for-people")} == {10}


def test_incidents_that_nobody_acknowledged_ring(synthesize: Synthesize) -> None:
    unattended = alarms_of(synthesize("prod"))["incidents-unattended"]
    assert (unattended["MetricName"], unattended["Statistic"]) == ("IncidentsUnattended", "Maximum")
    assert (unattended["Threshold"], unattended["EvaluationPeriods"]) == (10, 2)


def test_what_is_given_back_for_a_quarter_of_an_hour_rings(synthesize: Synthesize) -> None:
    """Ring before the first of them is held, and not for an outage of ten minutes."""
    given_back = alarms_of(synthesize("prod"))["given-back"]
    assert (given_back["MetricName"], given_back["Statistic"]) == ("GivenBack", "Sum")
    assert given_back["Threshold"] == 1
    seconds = given_back["Period"] * given_back["EvaluationPeriods"]
    assert 600 < seconds <= STRANDED_AFTER_SECONDS
    dimensions = {one["Name"]: one["Value"] for one in given_back["Dimensions"]}
    assert dimensions == {"service": "signet-node-execution", "queue": "events"}


def test_own_metrics_are_those_that_are_written(synthesize: Synthesize) -> None:
    written = (ROOT / "shared" / "signet" / "telemetry" / "metrics.py").read_text(encoding="utf-8")
    assembly = synthesize("prod")
    asked: set[str] = set()
    services: set[str] = set()
    for alarm in alarms_of(assembly).values():
        for metric in (
            alarm,
            *(one["MetricStat"]["Metric"] for one in alarm.get("Metrics", []) if "MetricStat" in one),
        ):
            if metric.get("Namespace") == "Signet/prod":
                asked.add(metric["MetricName"])
                services |= {one["Value"] for one in metric["Dimensions"] if one["Name"] == "service"}
    for body in dashboards_of(assembly).values():
        asked |= set(re.findall(r"Signet/prod[\\\"]+,[\\\"]+(\w+)", body))
        asked |= set(re.findall(r"MetricName=[\\\"]+(\w+)", body))
    assert asked >= {"DeadLetters", "TriggerWait", "EffectDeadLetters", "Steps"}
    assert {name for name in asked if f'"{name}"' not in written} == set()
    assert services == {"signet-node-execution", "signet-janitor", "signet-outbox-relay"}


def test_silence_is_an_alarm_where_the_clock_should_be_heard(synthesize: Synthesize) -> None:
    for name in DEPLOYED:
        alarm = alarms_of(synthesize(name))["janitor-silent"]
        assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("LessThanThreshold", "breaching")
        assert alarm["Period"] >= 3 * 60 * ENVIRONMENTS[name].sweep_minutes


def test_a_slow_function_is_told_before_it_is_ended(synthesize: Synthesize) -> None:
    assembly = synthesize("prod")
    alarms = alarms_of(assembly)
    for name in FUNCTIONS.keys() - {"migrator"}:
        threshold = alarms[f"{name.replace('_', '-')}-slow"]["Threshold"]
        assert 0 < threshold < assembly.function(name)["Timeout"] * 1_000


def test_alarms_go_to_an_encrypted_topic(synthesize: Synthesize) -> None:
    full = synthesize("everything")
    (topic,) = full.all("AWS::SNS::Topic")
    (key,) = full.all("AWS::KMS::Key")
    assert "KmsMasterKeyId" in topic["Properties"]
    assert key["Properties"]["EnableKeyRotation"] is True
    assert full.properties("AWS::SNS::Subscription")["Endpoint"] == "oncall@mail.example"
    assert all(len(alarm["AlarmActions"]) == 1 for alarm in alarms_of(full).values())
    assert all("AlarmActions" not in alarm for alarm in alarms_of(synthesize("dev")).values())


def test_what_is_paid_for_says_whose_it_is(synthesize: Synthesize) -> None:
    for kind in ("AWS::RDS::DBCluster", "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::Logs::LogGroup"):
        for one in synthesize("prod").all(kind):
            # CDK's own function, which closes a security group once, can have none.
            if one["Properties"].get("Handler") == "__entrypoint__.handler":
                continue
            tags = {tag["Key"]: tag["Value"] for tag in one["Properties"].get("Tags", [])}
            assert tags.items() >= {("system", "signet"), ("environment", "prod")}


@pytest.mark.parametrize("environment", DEPLOYED)
def test_the_page_on_cost_prices_what_is_deployed(synthesize: Synthesize, environment: str) -> None:
    assembly = synthesize(environment)
    watched = [
        sum("MetricStat" in metric for metric in alarm.get("Metrics", [])) or 1
        for alarm in alarms_of(assembly).values()
    ]
    assert sum(watched) == ALARM_METRICS
    assert len(dashboards_of(assembly)) == DASHBOARDS
    for name, gigabytes in GB.items():
        assert assembly.function(name)["MemorySize"] == gigabytes * 1_024
