"""Functions that are started by a clock, whose role may start that one and nothing else."""

from aws_cdk import Aws, Stack, aws_iam, aws_scheduler, aws_sqs
from constructs import Construct

from infra.constructs.signet_function import SignetFunction
from infra.findings import explain
from infra.settings import EnvironmentSettings

_MAX_AGE_SECONDS = 60
_MAX_ATTEMPTS = 1
_SCHEDULER = "scheduler.amazonaws.com"
MINUTES_PER_HOUR = 60


class ScheduledStart(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        started: SignetFunction,
        minutes: int,
        missed: aws_sqs.IQueue,
    ) -> None:
        super().__init__(scope, construct_id)
        # The next start does the same work, so neither Lambda nor the schedule repeats this one.
        started.function.configure_async_invoke(retry_attempts=0)
        role = _add_scheduler_role(self)
        allowed = [
            aws_iam.PolicyStatement(
                actions=["lambda:InvokeFunction"], resources=[started.function.function_arn]
            ),
            aws_iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[missed.queue_arn]),
        ]
        policy = aws_iam.Policy(self, "Policy", roles=[role], statements=allowed)
        schedule = aws_scheduler.CfnSchedule(
            self,
            "Schedule",
            name=started.full_name,
            schedule_expression=_rate(minutes),
            flexible_time_window=aws_scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=aws_scheduler.CfnSchedule.TargetProperty(
                arn=started.function.function_arn,
                role_arn=role.role_arn,
                input="{}",
                dead_letter_config=aws_scheduler.CfnSchedule.DeadLetterConfigProperty(arn=missed.queue_arn),
                retry_policy=aws_scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=_MAX_AGE_SECONDS, maximum_retry_attempts=_MAX_ATTEMPTS
                ),
            ),
        )
        schedule.node.add_dependency(policy)


class PlannedSweeps(Construct):
    """Starts of the relay at moments that the functions name, because something is due then."""

    def __init__(
        self, scope: Construct, construct_id: str, settings: EnvironmentSettings, relay: SignetFunction
    ) -> None:
        super().__init__(scope, construct_id)
        relay_arn = relay.function.function_arn
        group = f"{settings.prefix}-sweeps"
        aws_scheduler.CfnScheduleGroup(self, "Group", name=group)
        self._role = _add_scheduler_role(self)
        self._role.add_to_policy(
            aws_iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[relay_arn])
        )
        self._schedules = f"schedule/{group}/signet-sweep-*"
        self._environment = {
            "SIGNET_SWEEP_GROUP": group,
            "SIGNET_SWEEP_RELAY_ARN": relay_arn,
            "SIGNET_SWEEP_ROLE_ARN": self._role.role_arn,
        }

    def let_plan(self, function: SignetFunction) -> None:
        for name, value in self._environment.items():
            function.function.add_environment(name, value)
        stack = Stack.of(self)
        place = f"arn:{Aws.PARTITION}:scheduler:{stack.region}:{Aws.ACCOUNT_ID}:{self._schedules}"
        function.allow(["scheduler:CreateSchedule"], [place])
        to_scheduler = {"StringEquals": {"iam:PassedToService": _SCHEDULER}}
        function.allow(["iam:PassRole"], [self._role.role_arn], to_scheduler)
        shown = f"arn:<AWS::Partition>:scheduler:{stack.region}:<AWS::AccountId>:{self._schedules}"
        explain(
            function.role,
            f"IAM5[Resource::{shown}]",
            "A schedule is named after its minute; there are none in this group but these.",
        )


def _add_scheduler_role(scope: Construct) -> aws_iam.Role:
    of_this_account = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
    return aws_iam.Role(
        scope, "Role", assumed_by=aws_iam.ServicePrincipal(_SCHEDULER, conditions=of_this_account)
    )


def _rate(minutes: int) -> str:
    """Return the rate as AWS writes it: `1 minute`, `5 minutes`, `1 hour`."""
    number, unit = (
        (minutes // MINUTES_PER_HOUR, "hour") if minutes % MINUTES_PER_HOUR == 0 else (minutes, "minute")
    )
    return f"rate({number} {unit}{'' if number == 1 else 's'})"
