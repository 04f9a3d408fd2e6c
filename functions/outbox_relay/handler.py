"""The safety net, each minute: wakes somebody for whatever is due. What the schedule says is not read."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.store.wake_ups import QueueName
from signet.wiring.engine import get_relay
from signet.wiring.process import get_telemetry, prepare

prepare(get_relay)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[QueueName, int]:
    try:
        return get_relay().sweep()
    finally:
        # Lambda freezes the process with the answer.
        get_telemetry().flush()
