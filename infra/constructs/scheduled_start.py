"""Functions that are started by the clock, which may start that one and nothing else."""

from aws_cdk import ArnFormat, Aws, Stack, aws_iam, aws_scheduler, aws_sqs
from constructs import Construct

from infra.constructs.signet_function import SignetFunction, name_function
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
        # The next start does the same work: neither Lambda nor the schedule need insist on this one.
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

    def __init__(self, scope: Construct, construct_id: str, settings: EnvironmentSettings) -> None:
        super().__init__(scope, construct_id)
        stack = Stack.of(self)
        # By its name: the relay plans sweeps itself.
        relay = stack.format_arn(
            service="lambda",
            resource="function",
            resource_name=name_function(settings, "outbox_relay"),
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        group = f"{settings.prefix}-sweeps"
        aws_scheduler.CfnScheduleGroup(self, "Group", name=group)
        self._role = _add_scheduler_role(self)
        self._role.add_to_policy(
            aws_iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[relay])
        )
        self._schedules = f"schedule/{group}/signet-sweep-*"
        self.environment = {
            "SIGNET_SWEEP_GROUP": group,
            "SIGNET_SWEEP_RELAY_ARN": relay,
            "SIGNET_SWEEP_ROLE_ARN": self._role.role_arn,
        }

    def let_plan(self, function: SignetFunction) -> None:
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
    """AWS wants `1 minute`, `5 minutes`, `1 hour`."""
    number, unit = (
        (minutes // MINUTES_PER_HOUR, "hour") if minutes % MINUTES_PER_HOUR == 0 else (minutes, "minute")
    )
    return f"rate({number} {unit}{'' if number == 1 else 's'})"
