"""The time from a request to an idle system to the first step of its workflow: printed, not judged."""

import statistics
import time
from functools import partial

import pytest

from tests.e2e.test_use_case_a import make_invoice
from tests.support.cloud.people import await_that
from tests.support.cloud.stacks import Deployed

ROUNDS = 15
# Long enough that no worker is still looking for work.
IDLE_SECONDS = 0.3


@pytest.mark.usefixtures("invoices")
def test_idle_to_first_step(deployed: Deployed) -> None:
    carl = deployed.as_person("carl")
    seconds = []
    for _ in range(ROUNDS):
        time.sleep(IDLE_SECONDS)
        began = time.monotonic()
        document_id = make_invoice(carl, total=40_000).rpartition("/")[2]
        await_that(partial(has_step, deployed, document_id), "a first step")
        seconds.append(time.monotonic() - began)
    warm = sorted(seconds[1:])
    print(
        f"\nIdle to first step, API -> queue -> node_execution: p50 {statistics.median(warm) * 1_000:.0f} ms,"
        f" slowest {warm[-1] * 1_000:.0f} ms, the very first {seconds[0] * 1_000:.0f} ms"
    )


def has_step(deployed: Deployed, document_id: str) -> bool:
    query = (
        "SELECT 1 FROM workflow_step_executions s JOIN workflow_instances i ON i.id = s.instance_id"
        " WHERE i.entity_id = %s LIMIT 1"
    )
    return bool(deployed.read(query, document_id))
