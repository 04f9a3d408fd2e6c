"""Messages of the queues: they name a tenant with work, and the database says which work."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, Json, ValidationError

from signet.engine.dispatch.consumer import QueueConsumer

# A claim in progress may take so long; so the call ends by itself, and not by Lambda's clock.
EVENTS_RESERVE_MS, EFFECTS_RESERVE_MS = 15_000, 60_000


class WakeUpMessage(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tenant: UUID
    kind: Literal["events", "effects"]


class WakeUpRecord(SqsRecordModel):
    body: Json[WakeUpMessage]


def work_on(
    event: Mapping[str, Any], context: LambdaContext, consumer: QueueConsumer, reserve_ms: int
) -> PartialItemFailureResponse:
    """Run the consumer for all tenants of the batch in turn; then answer for each message by itself.

    An unreadable message comes again until it is a dead letter, and takes no other along.
    """
    tenants = [wake_up.tenant for record in event.get("Records", []) if (wake_up := _read(record))]
    run = consumer.run(tenants, lambda: context.get_remaining_time_in_millis() < reserve_ms)

    def answer(record: WakeUpRecord) -> None:
        if (error := run.failed.get(record.body.tenant)) is not None:
            raise error

    processor = BatchProcessor(EventType.SQS, model=WakeUpRecord, raise_on_entire_batch_failure=False)
    return process_partial_response(dict(event), answer, processor, context)


def _read(record: Mapping[str, Any]) -> WakeUpMessage | None:
    try:
        return WakeUpMessage.model_validate_json(record["body"])
    except (KeyError, TypeError, ValidationError):
        return None
