"""A function that is started by the clock. It may start that one function, and nothing else."""

from aws_cdk import Stack, aws_iam, aws_scheduler, aws_sqs
from constructs import Construct

from infra.constructs.signet_function import SignetFunction

_MAX_AGE_SECONDS = 60
_MAX_ATTEMPTS = 1
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
        role = aws_iam.Role(
            self,
            "Role",
            assumed_by=aws_iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )
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


def _rate(minutes: int) -> str:
    """AWS wants `1 minute`, `5 minutes`, `1 hour`."""
    number, unit = (
        (minutes // MINUTES_PER_HOUR, "hour") if minutes % MINUTES_PER_HOUR == 0 else (minutes, "minute")
    )
    return f"rate({number} {unit}{'' if number == 1 else 's'})"
