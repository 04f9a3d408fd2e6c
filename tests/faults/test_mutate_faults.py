"""A broken connection, or a killed process, at the Nth message: all rows of a mutation exist, or none.

The caller gets success, or a Transient that tells whether it is known that nothing happened. Repeating with
the same idempotency key ends with everything done once. Every N with SIGNET_TEST_CAMPAIGN; else some, and all
near the commit.
"""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from signet.core.errors import Transient
from signet.engine.documents.commands import (
    Applied,
    Create,
    Delete,
    Operation,
    Outcome,
    RequestTransition,
    Update,
)
from signet.engine.documents.mutate import Documents
from signet.store.database import Database, PoolSettings
from tests.databases import describe_url
from tests.engine.callers import make_caller, mutate_from_process, processes
from tests.engine.conftest import INVOICE
from tests.engine.standing_company import CompanyWithWorkers, standing_company
from tests.faults.cutting import choose, near_the_end, wait_for_the_server
from tests.faults.wire_proxy import FROM_CLIENT, FROM_SERVER, Cut, WireProxy

JOIN_SECONDS = 30
FOOTPRINT = """
WITH document AS (
    SELECT id, version, status, deleted_at FROM documents
    WHERE id = ANY (%(ids)s) OR amended_from_id = ANY (%(ids)s)
), instance AS (SELECT id, status FROM workflow_instances WHERE entity_id IN (SELECT id FROM document))
SELECT
    (SELECT array_agg(concat_ws(' ', version, status, deleted_at IS NULL)
                      ORDER BY version, status, deleted_at) FROM document),
    (SELECT count(*) FROM document_versions WHERE document_id IN (SELECT id FROM document)),
    (SELECT count(*) FROM audit_log WHERE subject_id IN (SELECT id::text FROM document)),
    (SELECT count(*) FROM transition_requests WHERE document_id IN (SELECT id FROM document)),
    (SELECT array_agg(status ORDER BY status) FROM instance),
    (SELECT count(*) FROM workflow_step_executions WHERE instance_id IN (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_step_receipts WHERE instance_id IN (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_events_outbox WHERE instance_id IN (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_outbox_receipts WHERE instance_id IN (SELECT id FROM instance)),
    (SELECT count(*) FROM document_keys WHERE document_id IN (SELECT id FROM document)),
    (SELECT count(*) FROM personal_values WHERE document_id IN (SELECT id FROM document)),
    (SELECT count(*) FROM idempotency_keys WHERE key = %(key)s)
"""
Footprint = tuple[Any, ...]
Make = Callable[[CompanyWithWorkers], list[Operation]]


class FaultCase:
    """One mutation on documents of its own, and its rows in the database."""

    def __init__(self, standing: CompanyWithWorkers, make: Make, *, is_keyed: bool = True) -> None:
        self._standing = standing
        self._is_keyed = is_keyed
        self.operations = make(standing)
        self.ids = [operation.id for operation in self.operations]
        self.key = f"key-{uuid4()}"

    def footprint(self) -> Footprint:
        query = self._standing.admin.execute(FOOTPRINT, {"ids": self.ids, "key": self.key})
        (found,) = query.fetchall()
        return found

    def run(self, documents: Documents) -> list[Outcome]:
        caller = make_caller(self._standing.company.tenant_id, "carl")
        key = self.key if self._is_keyed else None
        return documents.mutate_many(caller, self.operations, idempotency_key=key)

    def finish(self) -> list[Outcome]:
        return self.run(self._standing.company.documents)


def new_invoice() -> Create:
    data = {**INVOICE, "number": f"R-{uuid4()}", "vendor_contact": "Erna Example"}
    return Create("invoice", data, id=uuid4())


def changed(standing: CompanyWithWorkers) -> Update:
    patch = {"number": f"R-{uuid4()}", "vendor_contact": "Otto Example"}
    return Update(standing.create().document_id, 1, patch)


def amended(standing: CompanyWithWorkers) -> list[Operation]:
    document_id = standing.create().document_id
    standing.put_at(document_id, "submitted", "amend_only")
    return [Update(document_id, 1, {"grand_total": 5, "vendor_contact": "Otto Example"})]


CASES: dict[str, Make] = {
    "create": lambda standing: [new_invoice()],
    "update": lambda standing: [changed(standing)],
    "amend": amended,
    "request": lambda standing: [RequestTransition(standing.create().document_id, 1, "submit")],
    "delete": lambda standing: [Delete(standing.create().document_id, 1)],
    "batch": lambda standing: [
        new_invoice(),
        changed(standing),
        Delete(standing.create().document_id, 1),
    ],
}


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture(scope="module")
def proxy(standing: CompanyWithWorkers) -> Iterator[WireProxy]:
    parts = describe_url(standing.admin_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture(scope="module")
def proxied_url(standing: CompanyWithWorkers, proxy: WireProxy) -> str:
    return make_conninfo(standing.api_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")


@pytest.fixture(scope="module")
def database(proxied_url: str) -> Iterator[Database]:
    made = Database(proxied_url, PoolSettings(size=1, wait_seconds=10))
    yield made
    made.close()


def measure(
    standing: CompanyWithWorkers, make: Make, *, is_keyed: bool = True
) -> tuple[Footprint, Footprint]:
    """Return the footprint before and after, without a fault."""
    case = FaultCase(standing, make, is_keyed=is_keyed)
    before = case.footprint()
    case.finish()
    return before, case.footprint()


def check_repetition(case: FaultCase, done: Footprint) -> None:
    first = case.finish()
    assert all(isinstance(outcome, Applied) for outcome in first)
    assert case.footprint() == done
    assert case.finish() == first and case.footprint() == done


@pytest.mark.parametrize("is_keyed", [True, False], ids=["key", "no key"])
@pytest.mark.parametrize("is_delivered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
@pytest.mark.parametrize("name", CASES)
def test_a_broken_connection_leaves_all_or_nothing(
    standing: CompanyWithWorkers,
    proxy: WireProxy,
    database: Database,
    name: str,
    direction: str,
    is_delivered: bool,
    is_keyed: bool,
) -> None:
    proxy.arm(None)
    make, documents = CASES[name], Documents(database)
    before, done = measure(standing, make, is_keyed=is_keyed)
    FaultCase(standing, make).run(documents)  # fills the caches before the count
    proxy.arm(None)
    FaultCase(standing, make, is_keyed=is_keyed).run(documents)
    total, said = proxy.seen(direction), set[str]()
    for number in [*choose(total), *near_the_end(total)]:
        case = FaultCase(standing, make, is_keyed=is_keyed)
        came = cut_at(proxy, database, Cut(direction, number, is_delivered), case, documents)
        wait_for_the_server(standing, proxy)
        said.add(came)
        after, where = case.footprint(), f"{name} {direction} {number} of {total}: {came}"
        allowed = {"done": [done], "DATABASE_UNAVAILABLE": [before], "OUTCOME_UNKNOWN": [before, done]}
        assert after in allowed[came], where
        if is_keyed:
            check_repetition(case, done)
        if number > total and proxy.cut_backend == 0 and "OUTCOME_UNKNOWN" in said:
            assert came == "done"
            break
    else:
        pytest.fail(f"no pass was clean, or no commit was cut: {said} of {total}")


def cut_at(proxy: WireProxy, database: Database, cut: Cut, case: FaultCase, documents: Documents) -> str:
    """Return the caller's answer: "done", or the code of the error."""
    proxy.arm(None)
    with database.tenantless_transaction():
        pass  # opens the connection first
    proxy.arm(cut)
    try:
        case.run(documents)
    except Transient as error:
        return error.code
    return "done"


@pytest.mark.parametrize("is_delivered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
@pytest.mark.parametrize("name", ["update", "batch"])
def test_a_killed_process_leaves_all_or_nothing(
    standing: CompanyWithWorkers,
    proxy: WireProxy,
    proxied_url: str,
    name: str,
    direction: str,
    is_delivered: bool,
) -> None:
    before, done = measure(standing, CASES[name])

    def run(case: FaultCase, cut: Callable[[Any], None]) -> None:
        arguments = (proxied_url, standing.company.tenant_id, case.operations, case.key)
        process = processes().Process(target=mutate_from_process, args=arguments, daemon=True)
        cut(process)
        process.start()
        process.join(JOIN_SECONDS)
        assert process.exitcode is not None

    case = FaultCase(standing, CASES[name])
    run(case, lambda process: proxy.arm(None))
    assert case.footprint() == done
    total, seen = proxy.seen(direction), set[bool]()
    # A process killed before each message it sends, even before the commit's, may never finish.
    wanted = {False, True} if is_delivered else {False}
    chosen = choose(total)
    for index, number in enumerate([*chosen, *near_the_end(total)]):
        if index >= len(chosen) and wanted <= seen:
            break
        case, cut = FaultCase(standing, CASES[name]), Cut(direction, number, is_delivered)
        run(case, lambda process, cut=cut: proxy.arm(cut, process.kill))  # type: ignore[misc]
        wait_for_the_server(standing, proxy)
        after = case.footprint()
        assert after in (before, done), f"{name} {direction} {number} of {total}"
        if proxy.cut_backend != 0:
            seen.add(after == done)
        check_repetition(case, done)
    assert wanted <= seen
