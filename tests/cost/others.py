"""The same workflow on Step Functions Standard and as a Lambda durable function: the price to move it.

Counted twice: with the few steps of a drawing by hand, and with one for each of Signet's steps.
"""

from dataclasses import dataclass

from tests.cost.prices import CALL, OPERATION, RETAINED, TRANSITION, WRITTEN

STEPS = 13
# The states are the wait for the person, the policy, the action, the notice, the two gates and the script.
DRAWN = 7
# The states that call a function: all but the wait and the script, which is an expression.
TASKS = 5
# A callback ends the first replay.
REPLAYS = 2
# The size of the rows of the 13 steps in the database.
STEP_BYTES = 5_452
KEPT_MONTHS = 14 / 30


@dataclass(frozen=True)
class Other:
    name: str
    arithmetic: str
    # The price of 1,000 documents.
    dollars: float


def step_functions(transitions: int) -> Other:
    return Other(
        f"Step Functions Standard, {transitions} transitions",
        f"{transitions},000 × $0.025 / 1,000 + {TASKS},000 × $0.20 / 1,000,000",
        TRANSITION.of(transitions * 1_000) + CALL.of(TASKS * 1_000),
    )


def durable_function(operations: int) -> Other:
    written = STEP_BYTES * 1_000
    return Other(
        f"durable function, {operations} operations",
        f"{operations},000 × $8.00 / 1,000,000 + {written / 1e9:.4f} GB × ($0.25 + 14 / 30 × $0.15)"
        f" + {REPLAYS},000 × $0.20 / 1,000,000",
        OPERATION.of(operations * 1_000)
        + WRITTEN.of(written)
        + RETAINED.of(written * KEPT_MONTHS)
        + CALL.of(REPLAYS * 1_000),
    )


OTHERS = [*map(step_functions, (DRAWN, STEPS)), *map(durable_function, (DRAWN, STEPS))]
