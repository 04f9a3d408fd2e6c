"""Waits of requests: a person, a tenant and all together have so many, and what is given back is free."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from signet.core.tenants.principal import Principal
from signet.core.tenants.request_limits import RequestLimits
from signet.engine.access.waits import RequestWaits
from signet.store.database import Database, PoolSettings
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role

PLACES = 8
PERSON, TENANT = 2, 4


@pytest.fixture
def waits(company: Company) -> RequestWaits:
    return RequestWaits(company.database, RequestLimits(max_waits=PLACES))


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def person(company: Company, subject: str) -> Principal:
    return Principal(company.tenant_id, subject, ("clerk",))


def take(held: ExitStack, waits: RequestWaits, who: Principal) -> bool:
    return held.enter_context(waits.holding_place(who, 10.0))


def count(admin: psycopg.Connection) -> object:
    (row,) = admin.execute("SELECT count(*) FROM request_waits").fetchall()
    return row[0]


def test_a_person_has_a_quarter(waits: RequestWaits, company: Company, held: ExitStack) -> None:
    carl, fiona = person(company, "carl"), person(company, "fiona")
    assert [take(held, waits, carl) for _ in range(66)] == [True] * PERSON + [False] * (66 - PERSON)
    assert take(held, waits, fiona)


def test_a_key_counts_by_itself(waits: RequestWaits, company: Company, held: ExitStack) -> None:
    key = person(company, "key:0190")
    assert [take(held, waits, key) for _ in range(3)] == [True, True, False]


def test_a_tenant_has_half(waits: RequestWaits, company: Company, held: ExitStack) -> None:
    people = [person(company, name) for name in ("carl", "fiona", "mona", "otto")]
    taken = [take(held, waits, who) for who in people for _ in range(PERSON)]
    assert taken == [True] * TENANT + [False] * (2 * 4 - TENANT)


def test_all_tenants_together_have_so_many(
    waits: RequestWaits, database: Database, company: Company, held: ExitStack
) -> None:
    tenants = [company, make_company(database), make_company(database)]
    taken = [
        take(held, waits, person(tenant, name))
        for tenant in tenants
        for name in ("carl", "fiona")
        for _ in range(PERSON)
    ]
    assert taken == [True] * PLACES + [False] * TENANT


def test_a_place_that_is_given_back_is_free(
    waits: RequestWaits, company: Company, admin: psycopg.Connection
) -> None:
    for _ in range(PERSON + 1):
        with waits.holding_place(person(company, "carl"), 10.0) as has_place:
            assert has_place
    assert count(admin) == 0


def test_a_place_is_given_back_when_waiting_fails(
    waits: RequestWaits, company: Company, admin: psycopg.Connection
) -> None:
    with pytest.raises(ZeroDivisionError), waits.holding_place(person(company, "carl"), 10.0):
        _ = 1 // 0
    assert count(admin) == 0


def test_an_outage_of_the_counting_hides_no_answer(company: Company) -> None:
    gone = Database("postgresql://signet@127.0.0.1:1/nothing", PoolSettings(wait_seconds=1))
    waits = RequestWaits(gone, RequestLimits(max_waits=PLACES))
    with waits.holding_place(person(company, "carl"), 10.0) as has_place:
        assert not has_place
    gone.close()


def test_the_place_of_a_process_that_is_gone_expires(
    waits: RequestWaits, company: Company, held: ExitStack, admin: psycopg.Connection
) -> None:
    carl = person(company, "carl")
    for _ in range(PERSON):
        take(held, waits, carl)
    assert not take(held, waits, carl)
    admin.execute("UPDATE request_waits SET expires_at = now()")
    assert take(held, waits, carl)
    # What has expired is deleted with the next one.
    assert count(admin) == 1


def test_none_may_wait_where_there_are_no_places(company: Company, held: ExitStack) -> None:
    waits = RequestWaits(company.database, RequestLimits(max_waits=0))
    assert not take(held, waits, person(company, "carl"))


def test_a_small_deployment_lets_one_wait(company: Company, held: ExitStack) -> None:
    waits = RequestWaits(company.database, RequestLimits(max_waits=1))
    carl, fiona = person(company, "carl"), person(company, "fiona")
    assert [take(held, waits, who) for who in (carl, carl, fiona)] == [True, False, False]


def test_who_waits_is_not_named(
    waits: RequestWaits, company: Company, held: ExitStack, admin: psycopg.Connection
) -> None:
    take(held, waits, person(company, "carl"))
    (row,) = admin.execute("SELECT waiter FROM request_waits").fetchall()
    assert "carl" not in str(row[0])


@pytest.mark.parametrize("role", ["signet_worker", "signet_janitor"])
def test_others_than_the_api_count_no_waits(owner_url: str, company: Company, role: str) -> None:
    other = Database(as_role(owner_url, role), PoolSettings())
    waits = RequestWaits(other, RequestLimits(max_waits=PLACES))
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        waits.holding_place(person(company, "carl"), 1.0),
    ):
        pass
    other.close()
