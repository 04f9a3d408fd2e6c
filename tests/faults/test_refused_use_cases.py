"""A server that refuses the Nth statement of a use case of the API, until no statement is left.

The caller is told the code of the state and never more, and nothing of the request is stored. Each route is
tried at each statement, with a state of the table by turns; with SIGNET_TEST_CAMPAIGN with each of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from signet.api.openapi.build import describe_all
from signet.store.database import Database, PoolSettings
from signet.store.sqlstates import FAILURES, find_failure
from tests.faults.refused_work import WORKED
from tests.isolation.matrix import Operation, list_operations
from tests.isolation.victim import UNCOUNTED, Victim, standing_victim
from tests.support.api_application import wire
from tests.support.database.attacks import tenant_tables
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import FROM_CLIENT, Cut, WireProxy
from tests.support.http_client import Client, ClientAnswer
from tests.support.injected_faults import FATAL, STATES, codes_of, find_openers, refuse, watching_openers
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.stored_violations import list_violations

MOST_STATEMENTS = 80
# The short form tries each of the first statements, and every third one after them.
NUMBERS = range(1, MOST_STATEMENTS) if IS_CAMPAIGN else (*range(1, 7), *range(7, MOST_STATEMENTS, 3))
# What only reads comes first, and what takes things away comes last.
_ORDER = ("GET", "PUT", "PATCH", "POST", "DELETE")
OPERATIONS = sorted(list_operations(describe_all()[0]), key=lambda one: _ORDER.index(one.method))


class Refusals:
    """The victim's application behind a proxy that refuses statements."""

    def __init__(self, victim: Victim, proxy: WireProxy, database: Database) -> None:
        self.victim, self.proxy, self._database = victim, proxy, database
        self._application = wire(database)

    def call(self, operation: Operation) -> ClientAnswer:
        whose = self.victim.operator if operation.is_for_operators else self.victim.admin
        client = Client(self._application, whose.tenant_id, whose.subject, whose.roles)
        return operation.call(client, self.victim.things)

    def digest(self) -> tuple[Any, ...]:
        """Return the digest of all rows of the victim, by one query."""
        tables = [name for name in tenant_tables(self.victim.standing) if name not in UNCOUNTED]
        each = sql.SQL("(SELECT (count(*), sum(hashtextextended(t::text, 0)))::text FROM {} t)")
        query = sql.SQL("SELECT {}").format(
            sql.SQL(", ").join(each.format(sql.Identifier(name)) for name in tables)
        )
        return tuple(self.victim.standing.admin.execute(query).fetchall())

    def connect(self) -> None:
        self.proxy.arm(None)
        with self._database.tenantless_transaction():
            pass


@pytest.fixture(scope="module")
def refusals(server_url: str) -> Iterator[Refusals]:
    with standing_victim(server_url, []) as victim:
        parts = describe_url(victim.standing.admin_url)
        with WireProxy(parts["host"], int(parts["port"])) as proxy:
            url = make_conninfo(victim.standing.api_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
            database = Database(url, PoolSettings(size=1, wait_seconds=5))
            before = set(list_violations(victim.standing.admin_url, victim.tenant_id))
            yield Refusals(victim, proxy, database)
            database.close()
            # What the test wrote by hand into every table violates some from the beginning.
            after = list_violations(victim.standing.admin_url, victim.tenant_id)
            assert set(after) <= before


def states_of(place: int, number: int) -> Sequence[str]:
    """Return the states for a statement: all of them, or one that is another for the next statement."""
    return STATES if IS_CAMPAIGN else (STATES[(place + 7 * number) % len(STATES)],)


def check_refusal(answer: ClientAnswer, state: str, where: str) -> None:
    if answer.status == 200 and "items" in answer.body:
        # Each of many things has an answer of its own.
        codes = {item["problem"]["code"] for item in answer.body["items"]}
        assert codes and codes <= codes_of(state), f"{where}: {answer.text}"
        return
    assert answer.status in (500, 503), f"{where}: {answer.status} {answer.text}"
    assert answer.code in codes_of(state), f"{where}: {answer.text}"
    assert ("retry-after" in answer.headers) == (answer.status == 503), where


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_a_refused_statement_leaves_nothing_behind(refusals: Refusals, operation: Operation) -> None:
    place, refused = OPERATIONS.index(operation), 0
    before = refusals.digest()
    for number in NUMBERS:
        for state in states_of(place, number):
            refusals.connect()
            refusals.proxy.arm(refuse(number, state))
            answer = refusals.call(operation)
            where = f"{operation.name} at {number} with {state}"
            if refusals.proxy.answered == 0:
                assert refused > 0, f"{where}: it asks the database nothing: {answer.text}"
                assert answer.status < 500, f"{where}: {answer.text}"
                return
            refused += 1
            if answer.status < 500 and state in FATAL:
                # What had not begun was begun again, on another connection.
                before = refusals.digest()
                continue
            check_refusal(answer, state, where)
        if operation.method != "GET":
            assert refusals.digest() == before, f"{operation.name} at {number}"
    pytest.fail(f"{operation.name} has no end")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_a_cut_connection_is_told_as_such(refusals: Refusals, operation: Operation) -> None:
    place = OPERATIONS.index(operation)
    numbers = range(1, MOST_STATEMENTS) if IS_CAMPAIGN else (1 + place % 5,)
    for number in numbers:
        for is_delivered in (False, True) if IS_CAMPAIGN else (place % 2 == 0,):
            refusals.connect()
            refusals.proxy.arm(Cut(FROM_CLIENT, number, is_delivered))
            answer = refusals.call(operation)
            where = f"{operation.name} cut at {number}"
            if answer.status >= 500:
                assert answer.code in ("DATABASE_UNAVAILABLE", "OUTCOME_UNKNOWN"), f"{where}: {answer.text}"
                assert answer.status == 503 and "retry-after" in answer.headers, where
            if refusals.proxy.cut_backend == 0:
                return


def test_each_state_of_the_table_is_tried() -> None:
    tried = {state[:length] for state in STATES for length in range(2, 6)}
    assert set(FAILURES) <= tried
    assert all(find_failure(state) is not None for state in STATES)


def test_each_module_that_opens_a_transaction_is_tried(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new module opens its transactions for a route, or has its line in `refused_work.py`."""
    with standing_victim(server_url, []) as victim, watching_openers(monkeypatch) as seen:
        for operation in OPERATIONS:
            whose = victim.operator if operation.is_for_operators else victim.admin
            operation.call(whose, victim.things)
    assert sorted(find_openers() - seen) == sorted(WORKED)
