"""The requests of work to AWS have an upper end; `make cost` prints it for docs/cost.md."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from signet.core.tenants.quotas import READS, WRITES, Quota
from signet.engine.access.quotas import set_quota
from signet.store.database import Database, PoolSettings
from tests.cost.counts import read_counts, write_counts
from tests.cost.others import STEPS
from tests.simulation.counting import BATCH, Counting, RequestCount, counting, describe, of_1000
from tests.support.workflow_stage import standing_stage

DOCUMENTS = 40
PAGE = Path(__file__).resolve().parents[2] / "docs" / "cost.md"
# This is more than the count asks for.
PLENTY = 1_000_000


@pytest.fixture(scope="module")
def counted(server_url: str) -> Iterator[Counting]:
    with standing_stage(server_url) as stage:
        owner = Database(stage.standing.admin_url, PoolSettings())
        for name in (READS, WRITES):
            set_quota(owner, stage.tenant_id, Quota(name, PLENTY, 60))
        owner.close()
        with counting(stage) as made:
            yield made


@pytest.fixture(scope="module")
def alone(counted: Counting) -> RequestCount:
    return counted.one_after_another(DOCUMENTS)


@pytest.fixture(scope="module")
def together(counted: Counting, alone: RequestCount) -> RequestCount:
    return counted.all_at_once(DOCUMENTS)


def test_a_document_that_is_alone_costs_a_few_requests(alone: RequestCount) -> None:
    print(describe("one after another", alone))
    # Created, submitted, notified, and the notification noted: a message and a batch of each.
    assert alone.sends <= 4 * DOCUMENTS
    assert alone.batches <= 4 * DOCUMENTS


def test_documents_that_come_together_share_them(together: RequestCount) -> None:
    print(describe("all at once", together))
    # One send for each write of a person; the engine's work for all of them is in a few waves.
    assert together.sends <= 2 * DOCUMENTS + 10
    assert together.batches <= 2 * DOCUMENTS / BATCH + 10


def test_what_is_told_of_it_has_an_upper_end(alone: RequestCount, together: RequestCount) -> None:
    print(*write_counts(of_1000(alone), of_1000(together)), sep="\n")
    # Two lines for each request, one of them its metrics; a few lines for each wave.
    assert 0 < together.log_bytes < alone.log_bytes <= 20_000 * DOCUMENTS


def test_the_page_counts_what_is_counted_here(alone: RequestCount, together: RequestCount) -> None:
    """Times and lines are left out, which are of this machine and this day."""
    told = read_counts(PAGE.read_text(encoding="utf-8"))
    for said, found in zip(told, (of_1000(alone), of_1000(together)), strict=True):
        assert (said.api_requests, said.api_calls) == (found.api_requests, found.api_calls)
        assert said.queue_requests == pytest.approx(found.queue_requests, rel=0.1)
        assert alone.steps == STEPS * DOCUMENTS
