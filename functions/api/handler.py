"""The API's Lambda: one API Gateway HTTP API event (payload format 2.0) in, one answer out."""

from typing import Any

from signet.wiring.api import get_application, load_everything
from signet.wiring.process import get_telemetry, prepare

prepare(get_application, load_everything)


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    try:
        return get_application()(event, context)
    finally:
        # Lambda freezes the process with the answer.
        get_telemetry().flush()
