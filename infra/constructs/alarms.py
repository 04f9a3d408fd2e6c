"""Alarms, each with a section of the runbook to read."""

from dataclasses import dataclass

from aws_cdk import aws_cloudwatch, aws_cloudwatch_actions, aws_iam, aws_kms, aws_sns
from aws_cdk.aws_sns_subscriptions import EmailSubscription
from constructs import Construct

from infra.settings import EnvironmentSettings

_NOTHING_IS_FINE = aws_cloudwatch.TreatMissingData.NOT_BREACHING
_NOTHING_IS_WRONG = aws_cloudwatch.TreatMissingData.BREACHING


@dataclass(frozen=True)
class Trouble:
    """A condition that raises an alarm, and the `section` of the runbook about it."""

    name: str
    section: str
    words: str
    threshold: float
    # The number of periods of the metric, one after another.
    periods: int = 1
    is_less: bool = False
    is_silence: bool = False


class Alarms(Construct):
    def __init__(self, scope: Construct, construct_id: str, settings: EnvironmentSettings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self.topic = self._add_topic() if settings.has_alarm_topic else None
        self.made: list[aws_cloudwatch.Alarm] = []

    def add(self, trouble: Trouble, metric: aws_cloudwatch.IMetric) -> None:
        comparison = aws_cloudwatch.ComparisonOperator
        alarm = aws_cloudwatch.Alarm(
            self,
            "".join(word.title() for word in trouble.name.split("-")),
            alarm_name=f"{self._settings.prefix}-{trouble.name}",
            alarm_description=f"{trouble.words} {self._settings.runbook}#{trouble.section}",
            metric=metric,
            threshold=trouble.threshold,
            evaluation_periods=trouble.periods,
            comparison_operator=(
                comparison.LESS_THAN_THRESHOLD
                if trouble.is_less
                else comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
            ),
            treat_missing_data=_NOTHING_IS_WRONG if trouble.is_silence else _NOTHING_IS_FINE,
        )
        if self.topic is not None:
            action = aws_cloudwatch_actions.SnsAction(self.topic)
            alarm.add_alarm_action(action)
            alarm.add_ok_action(action)
        self.made.append(alarm)

    def _add_topic(self) -> aws_sns.Topic:
        """Make the topic with a key of its own, because CloudWatch may not use the key that SNS brings."""
        key = aws_kms.Key(
            self,
            "Key",
            alias=f"{self._settings.prefix}-alarms",
            description="Of the alarms on their way",
            enable_key_rotation=True,
        )
        cloudwatch = aws_iam.ServicePrincipal("cloudwatch.amazonaws.com")
        key.add_to_resource_policy(
            aws_iam.PolicyStatement(
                principals=[cloudwatch], actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"]
            )
        )
        topic = aws_sns.Topic(
            self, "Topic", topic_name=f"{self._settings.prefix}-alarms", master_key=key, enforce_ssl=True
        )
        topic.grant_publish(cloudwatch)
        for address in self._settings.alarm_emails:
            topic.add_subscription(EmailSubscription(address))
        return topic
