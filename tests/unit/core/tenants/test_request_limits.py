"""Shares of waits: nobody has all of them, and where there are any, everybody may have one."""

import pytest

from signet.core.tenants.quotas import QUOTAS, READS, bucket_of_person, bucket_of_tenant
from signet.core.tenants.request_limits import WaitLimits, share_waits


@pytest.mark.parametrize(
    ("in_all", "person", "tenant"),
    [(0, 0, 0), (1, 1, 1), (2, 1, 1), (4, 1, 2), (10, 2, 5), (16, 4, 8), (50, 12, 25)],
)
def test_a_person_has_a_quarter_and_a_tenant_half(in_all: int, person: int, tenant: int) -> None:
    assert share_waits(in_all) == WaitLimits(person, tenant, in_all)


def test_each_person_has_a_bucket_beside_the_tenants() -> None:
    quota = QUOTAS[READS]
    carl, fiona = (bucket_of_person(quota, name, 50) for name in ("carl", "fiona"))
    assert (carl.limit_of, carl.default_capacity) == ("person", quota.capacity // 2)
    assert len({carl.meter, fiona.meter, bucket_of_tenant(quota).meter}) == 3
    assert bucket_of_person(quota, "carl", 50) == carl
    assert bucket_of_tenant(quota).default_capacity == quota.capacity
    # The key of a table has at most a hundred characters, and a name of a person may have more.
    assert len(bucket_of_person(quota, "\ud800" * 500, 50).meter) < 100
