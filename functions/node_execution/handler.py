"""The engine's Lambda: wake-ups from the queue in, waves of the named tenants out."""

from typing import Any

from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.wake_up_records import EVENTS_RESERVE_MS, work_on
from signet.wiring.engine import get_consumer
from signet.wiring.process import flushing, prepare

prepare(get_consumer)


@flushing()
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return work_on(event, context, get_consumer(), EVENTS_RESERVE_MS)
