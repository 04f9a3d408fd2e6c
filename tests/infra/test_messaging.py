"""Queues, their workers, the clock and the bus."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from infra.environments import DEPLOYED, ENVIRONMENTS
from tests.support.cloud.templates import FUNCTIONS, Assembly

Synthesize = Callable[[str], Assembly]
WORKERS = {"node_execution": "events", "side_effect_io": "effects"}


def queues_of(assembly: Assembly) -> Mapping[str, Mapping[str, Any]]:
    return {
        one["Properties"]["QueueName"].removeprefix(f"signet-{assembly.environment}-"): one["Properties"]
        for one in assembly.all("AWS::SQS::Queue")
    }


def test_every_queue_is_encrypted_and_spoken_to_by_tls_only(synthesize: Synthesize) -> None:
    assembly = synthesize("dev")
    queues = queues_of(assembly)
    assert queues.keys() == {"events", "events-dead", "effects", "effects-dead", "missed"}
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())
    policies = assembly.all("AWS::SQS::QueuePolicy")
    assert len(policies) == len(queues)
    for policy in policies:
        (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
        assert statement["Effect"] == "Deny"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_has_time_enough_before_its_message_comes_again(synthesize: Synthesize, name: str) -> None:
    assembly = synthesize("dev")
    queue = queues_of(assembly)[WORKERS[name]]
    assert queue["VisibilityTimeout"] >= 6 * assembly.function(name)["Timeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == ENVIRONMENTS["dev"].max_receive_count


@pytest.mark.parametrize("environment", DEPLOYED)
def test_workers_are_as_many_as_is_set_and_answer_for_each_message(
    synthesize: Synthesize, environment: str
) -> None:
    settings, assembly = ENVIRONMENTS[environment], synthesize(environment)
    concurrency = {
        one["Properties"]["FunctionName"]["Ref"]: one["Properties"]["ScalingConfig"]["MaximumConcurrency"]
        for one in assembly.all("AWS::Lambda::EventSourceMapping")
    }
    assert concurrency == {
        FUNCTIONS["node_execution"]: settings.events_concurrency,
        FUNCTIONS["side_effect_io"]: settings.effects_concurrency,
    }
    for one in assembly.all("AWS::Lambda::EventSourceMapping"):
        assert one["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert one["Properties"]["BatchSize"] == settings.batch_size
    for name, reserved in settings.reserved_concurrency.items():
        # Otherwise the queue's own workers would be throttled, which counts as a receive.
        assert reserved >= concurrency.get(FUNCTIONS[name], 0)


@pytest.mark.parametrize(("environment", "rate"), [("dev", "rate(1 hour)"), ("prod", "rate(1 minute)")])
def test_the_clock_starts_relay_and_janitor(synthesize: Synthesize, environment: str, rate: str) -> None:
    assembly = synthesize(environment)
    schedules = [one["Properties"] for one in assembly.all("AWS::Scheduler::Schedule")]
    targets = {one["Target"]["Arn"]["Fn::GetAtt"][0] for one in schedules}
    assert targets == {FUNCTIONS["outbox_relay"], FUNCTIONS["janitor"]}
    assert {one["ScheduleExpression"] for one in schedules} == {rate}
    assert all("DeadLetterConfig" in one["Target"] for one in schedules)
    assert {one["Target"]["RetryPolicy"]["MaximumRetryAttempts"] for one in schedules} == {1}


def test_a_schedule_may_start_its_own_function_only(synthesize: Synthesize) -> None:
    assembly = synthesize("dev")
    roles = set()
    for one in assembly.all("AWS::Scheduler::Schedule"):
        target = one["Properties"]["Target"]
        role = target["RoleArn"]["Fn::GetAtt"][0]
        roles.add(role)
        start, leave = assembly.statements_of_role("app", role)
        assert (start["Action"], start["Resource"]) == ("lambda:InvokeFunction", target["Arn"])
        assert (leave["Action"], leave["Resource"]) == ("sqs:SendMessage", target["DeadLetterConfig"]["Arn"])
    assert len(roles) == 2


def test_where_the_relay_comes_seldom_functions_name_the_moments(synthesize: Synthesize) -> None:
    """Delayed messages would not do: one waits for 15 minutes at most."""
    dev = synthesize("dev")
    group = dev.properties("AWS::Scheduler::ScheduleGroup")["Name"]
    for name in FUNCTIONS.keys() - {"migrator", "outbox_relay"}:
        variables = dev.variables_of(name)
        assert variables["SIGNET_SWEEP_GROUP"] == group
        assert variables["SIGNET_SWEEP_RELAY_ARN"] == {"Fn::GetAtt": ["OutboxRelayFunction", "Arn"]}
        (place,) = dev.allowed(name, "scheduler:CreateSchedule")
        assert f":schedule/{group}/signet-sweep-*" in place
        role = variables["SIGNET_SWEEP_ROLE_ARN"]
        assert dev.allowed(name, "iam:PassRole") == [json.dumps(role)]
        (start,) = dev.statements_of_role("app", role["Fn::GetAtt"][0])
        assert (start["Action"], start["Resource"]) == (
            "lambda:InvokeFunction",
            variables["SIGNET_SWEEP_RELAY_ARN"],
        )
    assert "SIGNET_SWEEP_GROUP" not in dev.variables_of("outbox_relay"), "it only looks for what is due"
    assert dev.allowed("outbox_relay", "scheduler:CreateSchedule") == []
    prod = synthesize("prod")
    assert prod.all("AWS::Scheduler::ScheduleGroup") == []
    assert "SIGNET_SWEEP_GROUP" not in prod.variables_of("api")
    assert prod.allowed("api", "iam:PassRole") == []


def test_production_keeps_what_it_told_others(synthesize: Synthesize) -> None:
    archive = synthesize("prod").properties("AWS::Events::Archive")
    assert archive["RetentionDays"] == ENVIRONMENTS["prod"].archive_days
    assert "Bus" in json.dumps(archive["SourceArn"])
    assert synthesize("dev").all("AWS::Events::Archive") == []
