"""A queue of wake-ups, with a dead-letter queue for those that no worker could take."""

from aws_cdk import Duration, aws_sqs
from constructs import Construct

# A message that nobody looks at for that long is of no use.
_DEAD_DAYS = 14
# The database knows what is due, so an old wake-up says nothing that the next sweep does not.
_KEPT_DAYS = 1
# AWS's own advice for queues that a function reads.
VISIBILITY_PER_TIMEOUT = 6


class WorkQueue(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        worker_seconds: int,
        max_receive_count: int,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead = add_dead_letter_queue(self, "Dead", f"{name}-dead")
        self.queue = aws_sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            encryption=aws_sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=Duration.seconds(VISIBILITY_PER_TIMEOUT * worker_seconds),
            retention_period=Duration.days(_KEPT_DAYS),
            dead_letter_queue=aws_sqs.DeadLetterQueue(queue=self.dead, max_receive_count=max_receive_count),
        )


def add_dead_letter_queue(scope: Construct, construct_id: str, name: str) -> aws_sqs.Queue:
    return aws_sqs.Queue(
        scope,
        construct_id,
        queue_name=name,
        encryption=aws_sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(_DEAD_DAYS),
    )
