"""The messages between functions: the queues of wake-ups, and the bus of integration events."""

from aws_cdk import Duration, aws_events
from constructs import Construct

from infra.constructs.signet_stack import SignetStack
from infra.constructs.work_queue import WorkQueue, add_dead_letter_queue
from infra.findings import explain
from infra.settings import EnvironmentSettings

# The time that one worker may take for its batch.
NODE_EXECUTION_SECONDS = 60
SIDE_EFFECT_SECONDS = 120


class MessagingStack(SignetStack):
    def __init__(self, scope: Construct, settings: EnvironmentSettings) -> None:
        super().__init__(scope, "messaging", settings)
        self.events = self._add_queue("Events", "events", NODE_EXECUTION_SECONDS)
        self.effects = self._add_queue("Effects", "effects", SIDE_EFFECT_SECONDS)
        # A schedule leaves the starts here that failed.
        self.missed = add_dead_letter_queue(self, "Missed", f"{settings.prefix}-missed")
        explain(self.missed, "SQS3", "It is a dead-letter queue itself, of the schedules.")
        self.bus = aws_events.EventBus(self, "Bus", event_bus_name=settings.prefix)
        if settings.archive_days:
            self.bus.archive(
                "Archive",
                archive_name=settings.prefix,
                event_pattern=aws_events.EventPattern(account=[self.account]),
                retention=Duration.days(settings.archive_days),
            )

    def _add_queue(self, construct_id: str, name: str, worker_seconds: int) -> WorkQueue:
        return WorkQueue(
            self,
            construct_id,
            name=f"{self.settings.prefix}-{name}",
            worker_seconds=worker_seconds,
            max_receive_count=self.settings.max_receive_count,
        )
