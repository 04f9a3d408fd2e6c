"""Quotas of a tenant: counted in the database, granted by an operator."""

from uuid import uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.quotas import QUOTAS, READS, Quota
from signet.engine.access.quotas import MAX_LEASED, RequestQuotas, require_quota, set_quota
from signet.store.database import Database, PoolSettings
from signet.store.tenants.quotas import take_quota
from tests.engine.conftest import Company

PAUSE = "workflow:pause"


@pytest.fixture
def owner(owner_url: str) -> Database:
    return Database(owner_url, PoolSettings())


def grant(owner: Database, company: Company, name: str, capacity: int, refill_seconds: int = 86_400) -> None:
    set_quota(owner, company.tenant_id, Quota(name, capacity, refill_seconds))


def take(company: Company, name: str = PAUSE) -> None:
    with company.database.transaction(company.tenant_id) as connection:
        require_quota(connection, company.tenant_id, name)


def take_at_once(company: Company, cost: int) -> bool:
    with company.database.transaction(company.tenant_id) as connection:
        return take_quota(connection, company.tenant_id, QUOTAS[PAUSE], cost).is_taken


def test_what_was_granted_can_be_had_and_no_more(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 3)
    for _ in range(3):
        take(company)
    with pytest.raises(Rejected) as raised:
        take(company)
    assert raised.value.code == "QUOTA_EXCEEDED"
    # The next one is free after a third of a day.
    assert 28_700 <= int(str(raised.value.details["retry_after_seconds"])) <= 28_801


def test_it_fills_again(owner: Database, company: Company, admin: psycopg.Connection) -> None:
    grant(owner, company, PAUSE, 2)
    assert take_at_once(company, 2)
    admin.execute("UPDATE quota_meters SET full_at = full_at - interval '12 hours'")
    take(company)
    with pytest.raises(Rejected):
        take(company)


def test_more_than_ever_fits_is_refused_and_takes_nothing(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 2)
    assert not take_at_once(company, 3)
    assert take_at_once(company, 2)


def test_each_name_and_each_tenant_has_its_own(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 1)
    take(company)
    take(company, name="workflow:resume")
    with company.database.transaction(company.tenant_id) as connection, pytest.raises(Rejected):
        require_quota(connection, company.tenant_id, PAUSE)


def test_what_is_rolled_back_has_taken_nothing(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 1)
    with pytest.raises(ZeroDivisionError), company.database.transaction(company.tenant_id) as connection:
        require_quota(connection, company.tenant_id, PAUSE)
        _ = 1 // 0
    take(company)


def test_what_moves_documents_grants_nothing(worker: Database, company: Company) -> None:
    """Refuse the worker's role. The API may do it for operators: tests/functions/test_operator_routes.py."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        set_quota(worker, company.tenant_id, Quota(PAUSE, 10, 10))


def test_a_quota_that_does_not_exist_is_refused(owner: Database, company: Company) -> None:
    with pytest.raises(Rejected) as raised:
        grant(owner, company, "workflow:everything", 10)
    assert raised.value.code == "QUOTA_UNKNOWN"


def test_requests_are_taken_ahead_and_never_more_than_granted(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    processes = [RequestQuotas(company.database, lambda: 0.0) for _ in range(2)]
    assert processes[0].take(company.tenant_id, READS).count == 99
    taken = 1
    for process in processes:
        with pytest.raises(Rejected) as raised:
            while taken <= 101:
                process.take(company.tenant_id, READS)
                taken += 1
        assert raised.value.code == "QUOTA_EXCEEDED"
    assert taken == 100


def test_who_is_refused_does_not_ask_the_database_again_before_time(
    owner: Database, company: Company, admin: psycopg.Connection
) -> None:
    grant(owner, company, READS, 1)
    moment = [0.0]
    process = RequestQuotas(company.database, lambda: moment[0])
    process.take(company.tenant_id, READS)
    for _ in range(2):
        with pytest.raises(Rejected):
            process.take(company.tenant_id, READS)
    admin.execute("UPDATE quota_meters SET full_at = now()")
    with pytest.raises(Rejected):
        process.take(company.tenant_id, READS)
    moment[0] += 86_401
    assert process.take(company.tenant_id, READS).count == 0


def test_most_requests_need_no_round_trip(company: Company, admin: psycopg.Connection) -> None:
    process = RequestQuotas(company.database, lambda: 0.0)
    process.take(company.tenant_id, READS)
    (first,) = admin.execute("SELECT full_at FROM quota_meters").fetchone() or (None,)
    for _ in range(MAX_LEASED - 1):
        process.take(company.tenant_id, READS)
    assert admin.execute("SELECT full_at FROM quota_meters").fetchone() == (first,)
    process.take(company.tenant_id, READS)
    assert admin.execute("SELECT full_at FROM quota_meters").fetchone() != (first,)


def test_another_tenants_use_is_not_seen(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 1)
    take(company)
    with company.database.transaction(uuid4()) as connection:
        assert connection.execute("SELECT count(*) FROM quota_meters").fetchone() == (0,)


def test_every_act_has_a_quota() -> None:
    assert {name for name in QUOTAS if name.startswith("workflow:")} >= {"workflow:pause", "workflow:fail"}
