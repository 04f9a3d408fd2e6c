"""The janitor's Lambda: due housekeeping tasks, as far as the time goes. It ignores its event."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.wiring.housekeeping import get_housekeeping
from signet.wiring.process import flushing, prepare

# A task that begins with so much time left can end by itself.
RESERVE_SECONDS = 30.0

prepare(get_housekeeping)


@flushing()
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    seconds = context.get_remaining_time_in_millis() / 1_000 - RESERVE_SECONDS
    ran = get_housekeeping().run(seconds)
    # A failed task is due again by its row, so no other call is needed for it.
    return {"runs": len(ran), "failed": sorted({run.task for run in ran if run.outcome == "failed"})}
