"""The words of a server that cannot go on, told by their SQLSTATE and never by the driver's class."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.api.http.problems import make_problem
from signet.core.errors import Defect, Transient
from signet.core.tenants.tenant_file import TenantFile
from signet.store.database import Database, PoolSettings
from signet.store.sqlstates import FAILURES, Disposition, find_failure
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import Answer, WireProxy

# One state of each entry, in full.
STATES = {entry: {"08": "08006", "57P": "57P01", "58P": "58P01"}.get(entry, entry) for entry in FAILURES}
STATES = {entry: state.ljust(5, "0") for entry, state in STATES.items()}
WRITE = "SELECT set_config('signet.x', %(x)s, true)"


@pytest.fixture
def proxy(owner_url: str) -> Iterator[WireProxy]:
    parts = describe_url(owner_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture
def database(owner_url: str, proxy: WireProxy) -> Iterator[Database]:
    url = make_conninfo(owner_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
    made = Database(url, PoolSettings(size=1, wait_seconds=10))
    with made.tenantless_transaction():
        pass  # opens the connection
    yield made
    made.close()


@pytest.mark.parametrize("number", [1, 2, 3], ids=["begin", "statement", "commit"])
@pytest.mark.parametrize("entry", FAILURES)
def test_each_state_is_told_as_the_table_says(
    proxy: WireProxy, database: Database, tenant: TenantFile, entry: str, number: int
) -> None:
    failure = FAILURES[entry]
    proxy.arm(Answer(number, STATES[entry]))
    with pytest.raises((Transient, Defect)) as caught, database.transaction(tenant.tenant_id) as connection:
        connection.execute(WRITE, {"x": "y"})
    is_unknown = failure.ends_connection and number == 3
    assert caught.value.code == ("OUTCOME_UNKNOWN" if is_unknown else failure.code)
    problem = make_problem(caught.value, "r")
    if failure.disposition is Disposition.ATTEMPT:
        assert (problem.status, "retry-after" in problem.headers) == (500, False)
    elif not is_unknown:
        assert isinstance(caught.value, Transient) and "nothing was changed" in caught.value.message
        assert (problem.status, problem.headers["retry-after"]) == (503, str(failure.retry_after_seconds))
        assert caught.value.is_brief is (failure.disposition is Disposition.AT_ONCE)
    with database.transaction(tenant.tenant_id) as connection:
        connection.execute(WRITE, {"x": "y"})


def test_the_longest_entry_holds() -> None:
    assert find_failure("53100") is FAILURES["53100"] and find_failure("53001") is FAILURES["53"]
    assert find_failure("57P03") is FAILURES["57P"] and find_failure("58P02") is FAILURES["58P"]
    assert [find_failure(state) for state in ("23505", "42P01", "25P02", "57000", "", None)] == [None] * 6


@pytest.mark.parametrize(("number", "code"), [(2, "DATABASE_UNAVAILABLE"), (3, "OUTCOME_UNKNOWN")])
@pytest.mark.parametrize("state", ["XX000", "53200", "57P05", "28000"])
def test_what_ends_the_connection_is_an_outage_whatever_its_state(
    proxy: WireProxy, database: Database, tenant: TenantFile, state: str, number: int, code: str
) -> None:
    proxy.arm(Answer(number, state, is_fatal=True))
    with pytest.raises(Transient) as caught, database.transaction(tenant.tenant_id) as connection:
        connection.execute(WRITE, {"x": "y"})
    assert caught.value.code == code


def test_a_mistake_of_a_statement_stays_what_it_is(
    proxy: WireProxy, database: Database, tenant: TenantFile
) -> None:
    proxy.arm(Answer(2, "42501"))
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        database.transaction(tenant.tenant_id) as connection,
    ):
        connection.execute(WRITE, {"x": "y"})


def test_a_server_that_takes_no_writes_is_told_as_such(owner_url: str, tenant: TenantFile) -> None:
    url = make_conninfo(owner_url, options="-c default_transaction_read_only=on")
    database = Database(url, PoolSettings())
    with pytest.raises(Transient) as caught, database.transaction(tenant.tenant_id) as connection:
        connection.execute("UPDATE members SET display_name = 'x'")
    assert caught.value.code == "DATABASE_READ_ONLY"
    database.close()
