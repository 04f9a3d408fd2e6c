"""What work asks of AWS has an upper end; `make cost` prints what it is, for docs/cost.md."""

from collections.abc import Iterator

import pytest

from signet.core.quotas import READS, WRITES, Quota
from signet.engine.quotas import set_quota
from signet.store.database import Database, PoolSettings
from tests.engine.waves.stage import standing_stage
from tests.simulation.counting import BATCH, Counting, counting, describe

DOCUMENTS = 40
# More than the counting asks for.
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


def test_a_document_that_is_alone_costs_a_few_requests(counted: Counting) -> None:
    count = counted.one_after_another(DOCUMENTS)
    print(*describe("one after another", count), sep="\n")
    # Born, submitted, told, and told that it was told: a message and a batch of each.
    assert count.sends <= 4 * DOCUMENTS
    assert count.batches <= 4 * DOCUMENTS


def test_documents_that_come_together_share_them(counted: Counting) -> None:
    count = counted.all_at_once(DOCUMENTS)
    print(*describe("all at once", count), sep="\n")
    # A send for each write of a person; what the engine does for all of them is in a few waves.
    assert count.sends <= 2 * DOCUMENTS + 10
    assert count.batches <= 2 * DOCUMENTS / BATCH + 10
