"""Housekeeping, by the clock: what is due, as far as the time goes. What the schedule says is not read."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.wiring.housekeeping import get_housekeeping
from signet.wiring.process import flushing, prepare

# A task that was begun with so much left has the time to come to an end of its own.
RESERVE_SECONDS = 30.0

prepare(get_housekeeping)


@flushing()
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    seconds = context.get_remaining_time_in_millis() / 1_000 - RESERVE_SECONDS
    ran = get_housekeeping().run(seconds)
    # What failed is told, and is due again by its row: no other call is wanted for it.
    return {"runs": len(ran), "failed": sorted({one.task for one in ran if one.outcome == "failed"})}
