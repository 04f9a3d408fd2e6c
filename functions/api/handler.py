"""The API's Lambda: one API Gateway HTTP API event (payload format 2.0) in, one answer out."""

from typing import Any

from signet.wiring.api import get_application, load_everything
from signet.wiring.process import flushing, prepare

prepare(get_application, load_everything)


@flushing()
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return get_application()(event, context)
