"""Quotas of a tenant: counted in the database, granted by an operator."""

from collections.abc import Sequence
from uuid import uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.quotas import QUOTAS, READS, Quota, bucket_of_tenant
from signet.core.tenants.request_limits import RequestLimits
from signet.engine.access.quotas import LEASE_SECONDS, MAX_LEASED, RequestQuotas, require_quota, set_quota
from signet.store.database import Database, PoolSettings
from signet.store.tenants.quotas import take_quota
from tests.support.company import Company

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
        return take_quota(connection, company.tenant_id, bucket_of_tenant(QUOTAS[PAUSE]), cost).is_taken


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
    """Refuse the worker's role. The API may do it for operators: routes/tenants/test_operator.py."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        set_quota(worker, company.tenant_id, Quota(PAUSE, 10, 10))


def test_a_quota_that_does_not_exist_is_refused(owner: Database, company: Company) -> None:
    with pytest.raises(Rejected) as raised:
        grant(owner, company, "workflow:everything", 10)
    assert raised.value.code == "QUOTA_UNKNOWN"


def use_up(process: RequestQuotas, company: Company, subject: str) -> int:
    """Take requests until one is refused; return how many there were."""
    taken = 0
    with pytest.raises(Rejected) as raised:
        while taken < 10_000:
            process.take(company.tenant_id, subject, READS)
            taken += 1
    assert raised.value.code == "QUOTA_EXCEEDED"
    return taken


def find_limit(process: RequestQuotas, company: Company, subject: str) -> Rejected:
    with pytest.raises(Rejected) as raised:
        process.take(company.tenant_id, subject, READS)
    return raised.value


def test_a_person_takes_their_share_and_leaves_the_rest(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    process = RequestQuotas(company.database, lambda: 0.0)
    assert use_up(process, company, "carl") == 50
    refused = find_limit(process, company, "carl")
    assert refused.details["limit_of"] == "person"
    assert "your share" in refused.message
    # A key is as a person.
    assert use_up(process, company, f"key:{uuid4()}") == 50
    last = find_limit(process, company, "fiona")
    assert last.details["limit_of"] == "tenant"
    assert "the tenant" in last.message


def test_what_is_refused_to_a_person_takes_nothing_of_the_tenants(
    owner: Database, company: Company, admin: psycopg.Connection
) -> None:
    grant(owner, company, READS, 100)
    process = RequestQuotas(company.database, lambda: 0.0)
    use_up(process, company, "carl")
    before = admin.execute("SELECT full_at FROM quota_meters WHERE name = %s", (READS,)).fetchone()
    other = RequestQuotas(company.database, lambda: 0.0)
    for _ in range(3):
        find_limit(other, company, "carl")
    after = admin.execute("SELECT full_at FROM quota_meters WHERE name = %s", (READS,)).fetchone()
    assert before == after


def test_the_share_is_a_setting(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    process = RequestQuotas(company.database, lambda: 0.0, limits=RequestLimits(person_percent=10))
    assert use_up(process, company, "carl") == 10
    assert use_up(process, company, "fiona") == 10


def test_a_share_is_never_nothing(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 1)
    assert use_up(RequestQuotas(company.database, lambda: 0.0), company, "carl") == 1


def test_a_person_is_told_when_their_share_has_room_again(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    process = RequestQuotas(company.database, lambda: 0.0)
    use_up(process, company, "carl")
    # One of fifty a day.
    seconds = int(str(find_limit(process, company, "carl").details["retry_after_seconds"]))
    assert 1_700 <= seconds <= 1_729


def test_the_meter_of_a_person_does_not_tell_their_name(company: Company, admin: psycopg.Connection) -> None:
    RequestQuotas(company.database, lambda: 0.0).take(company.tenant_id, "carl", READS)
    names = sorted(str(row[0]) for row in admin.execute("SELECT name FROM quota_meters"))
    assert [name.partition("/")[0] for name in names] == [READS, READS]
    assert not any("carl" in name for name in names)


def test_requests_are_taken_ahead_and_never_more_than_granted(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    alone = RequestLimits(person_percent=100)
    processes = [RequestQuotas(company.database, lambda: 0.0, limits=alone) for _ in range(2)]
    # What the first has taken ahead, it uses.
    assert sum(use_up(process, company, "carl") for process in processes) == 100


def test_who_is_refused_does_not_ask_the_database_again_before_time(
    owner: Database, company: Company, admin: psycopg.Connection
) -> None:
    grant(owner, company, READS, 1)
    moment = [0.0]
    process = RequestQuotas(company.database, lambda: moment[0])
    assert use_up(process, company, "carl") == 1
    admin.execute("UPDATE quota_meters SET full_at = now()")
    find_limit(process, company, "carl")
    moment[0] += 86_401
    assert [left.count for left in process.take(company.tenant_id, "carl", READS)] == [0, 0]


def read_meters(admin: psycopg.Connection) -> Sequence[object]:
    return admin.execute("SELECT name, full_at FROM quota_meters ORDER BY name").fetchall()


def test_most_requests_of_a_loop_need_no_round_trip(company: Company, admin: psycopg.Connection) -> None:
    process = RequestQuotas(company.database, lambda: 0.0)
    trips, before = 0, read_meters(admin)
    for _ in range(10 * MAX_LEASED):
        process.take(company.tenant_id, "carl", READS)
        trips, before = trips + (before != read_meters(admin)), read_meters(admin)
    # 1, 2, 4, 8, 16, and then as many as there may be.
    assert trips == 5 + -(-(10 * MAX_LEASED - 31) // MAX_LEASED)


def test_a_process_that_seldom_sees_a_person_takes_one_at_a_time(owner: Database, company: Company) -> None:
    grant(owner, company, READS, 100)
    moment = [0.0]
    processes = [RequestQuotas(company.database, lambda: moment[0]) for _ in range(5)]
    taken = 0
    for _ in range(10):
        for process in processes:
            process.take(company.tenant_id, "carl", READS)
            taken += 1
        moment[0] += LEASE_SECONDS
    # Their leases have ended ten times over, and nothing was lost.
    assert taken == 50
    assert find_limit(processes[0], company, "carl").details["limit_of"] == "person"


def test_another_tenants_use_is_not_seen(owner: Database, company: Company) -> None:
    grant(owner, company, PAUSE, 1)
    take(company)
    with company.database.transaction(uuid4()) as connection:
        assert connection.execute("SELECT count(*) FROM quota_meters").fetchone() == (0,)


def test_every_act_has_a_quota() -> None:
    assert {name for name in QUOTAS if name.startswith("workflow:")} >= {"workflow:pause", "workflow:fail"}
