"""Two requests want the last place to wait in: the lock lets one of them have it, also of two tenants."""

import threading
from collections.abc import Iterator

import pytest

from signet.core.tenants.principal import Principal
from signet.core.tenants.request_limits import RequestLimits, share_waits
from signet.engine.access.waits import RequestWaits
from signet.ids import make_id
from signet.store.tenants.waits import begin_wait
from tests.support.company import make_company
from tests.support.shared_company import WAIT_SECONDS, CompanyWithWorkers, standing_company


@pytest.fixture
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.mark.parametrize("same_tenant", [True, False])
def test_the_second_waits_for_the_first_and_finds_no_place(
    standing: CompanyWithWorkers, *, same_tenant: bool
) -> None:
    company, limits = standing.company, RequestLimits(max_waits=1)
    other = company if same_tenant else make_company(company.database)
    came: list[bool] = []

    def take() -> None:
        waits = RequestWaits(other.database, limits)
        with waits.holding_place(Principal(other.tenant_id, "fiona", ()), 10.0) as has_place:
            came.append(has_place)

    thread = threading.Thread(target=take, daemon=True)
    with company.database.transaction(company.tenant_id) as connection:
        shares = share_waits(limits.max_waits)
        assert begin_wait(connection, company.tenant_id, make_id(), "carl", 10.0, shares) is not None
        thread.start()
        standing.wait_until_blocked()
        assert came == []
    thread.join(WAIT_SECONDS)
    assert came == [False]
