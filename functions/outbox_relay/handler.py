"""The relay's Lambda, by the clock: wake-ups for everything due. It ignores its event."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.store.wake_ups import QueueName
from signet.wiring.engine import get_relay
from signet.wiring.process import flushing, prepare

prepare(get_relay)


@flushing()
def handler(event: dict[str, Any], context: LambdaContext) -> dict[QueueName, int]:
    return get_relay().sweep()
