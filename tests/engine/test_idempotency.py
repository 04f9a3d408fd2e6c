"""Requests with the same key happen once, even if both come at the same time."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.documents.commands import Applied, Create, Operation, Update
from signet.engine.documents.idempotency import apply_once, hash_request
from signet.store.documents.idempotency_keys import keep_outcome, take_key
from tests.concurrency.steps import LetGo, Second
from tests.engine.conftest import INVOICE
from tests.engine.standing_company import CompanyWithWorkers, standing_company


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


def new_invoice() -> Create:
    return Create("invoice", {**INVOICE, "number": f"R-{uuid4()}"})


def send(
    standing: CompanyWithWorkers, operation: Operation, key: str, caller: Caller | None = None
) -> Applied:
    company = standing.company
    return company.documents.mutate(caller or company.caller(), operation, idempotency_key=key)


def count(standing: CompanyWithWorkers, key: str) -> int:
    (found,) = standing.row("SELECT count(*) FROM idempotency_keys WHERE key = %s", key)
    return int(found)


def test_a_repetition_gets_the_first_outcome_whatever_has_happened_since(
    standing: CompanyWithWorkers,
) -> None:
    key = f"key-{uuid4()}"
    document_id = standing.create().document_id
    update = Update(document_id, 1, {"cost_center": "C"})
    first = send(standing, update, key)
    send(standing, Update(document_id, 2, {"cost_center": "D"}), f"key-{uuid4()}")
    assert send(standing, update, key) == first
    assert first.version == 2 and first.instance_id is not None
    assert standing.row("SELECT version FROM documents WHERE id = %s", document_id) == (3,)


def test_another_request_under_the_key_is_refused(standing: CompanyWithWorkers) -> None:
    key, wanted = f"key-{uuid4()}", new_invoice()
    send(standing, wanted, key)
    company = standing.company
    others = [(new_invoice(), company.caller()), (wanted, company.caller("eve"))]
    for operation, caller in others:
        with pytest.raises(Rejected) as caught:
            send(standing, operation, key, caller)
        assert caught.value.code == "IDEMPOTENCY_KEY_REUSED"
    with pytest.raises(Rejected):
        company.documents.mutate_many(company.caller(), [wanted], "each", idempotency_key=key)


def test_what_each_item_came_to_is_kept(standing: CompanyWithWorkers) -> None:
    key, company = f"key-{uuid4()}", standing.company
    batch: list[Operation] = [new_invoice(), Update(standing.create().document_id, 7, {})]
    runs = [
        company.documents.mutate_many(company.caller(), batch, "each", idempotency_key=key) for _ in range(2)
    ]
    (first, again) = runs
    assert first[0] == again[0] and isinstance(first[0], Applied)
    rejected = [run[1] for run in runs]
    assert isinstance(rejected[0], Rejected) and rejected[0].code == "DOCUMENT_VERSION_CONFLICT"
    assert isinstance(rejected[1], Rejected) and vars(rejected[0]) == vars(rejected[1])


def test_what_was_rejected_keeps_no_key(standing: CompanyWithWorkers) -> None:
    key, company = f"key-{uuid4()}", standing.company
    batch: list[Operation] = [new_invoice(), Update(standing.create().document_id, 7, {})]
    for mode in ("all", "each"):
        wanted = batch if mode == "all" else batch[1:]
        outcomes = company.documents.mutate_many(
            company.caller(), wanted, "all" if mode == "all" else "each", idempotency_key=key
        )
        assert all(isinstance(outcome, Rejected) for outcome in outcomes)
        assert count(standing, key) == 0


def test_without_a_key_nothing_is_kept(standing: CompanyWithWorkers) -> None:
    before = standing.row("SELECT count(*) FROM idempotency_keys")
    standing.create()
    assert standing.row("SELECT count(*) FROM idempotency_keys") == before


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
def test_two_at_the_same_time(standing: CompanyWithWorkers, commits: bool) -> None:
    """Let the second wait for the first: it gets the first's outcome, or does the work itself."""
    key, company, wanted = f"key-{uuid4()}", standing.company, new_invoice()
    caller = company.caller()
    request_hash = hash_request(caller, [wanted], "all")
    first: list[object] = []
    try:
        with company.database.transaction(company.tenant_id) as connection:
            first += apply_once(
                connection,
                company.tenant_id,
                key,
                request_hash,
                lambda: company.documents.apply(connection, caller, [wanted]),
            )
            other = Second(lambda: [send(standing, wanted, key)])
            standing.wait_until_blocked()
            if not commits:
                raise LetGo
    except LetGo:
        pass
    outcome = other.result()
    assert isinstance(outcome, Applied)
    assert (outcome == first[0]) is commits
    assert standing.row("SELECT count(*) FROM documents WHERE t2 = %s", wanted.data["number"]) == (1,)


def test_a_key_belongs_to_its_tenant(standing: CompanyWithWorkers) -> None:
    key, company = f"key-{uuid4()}", standing.company
    with company.database.transaction(company.tenant_id) as connection:
        assert take_key(connection, company.tenant_id, key, "0" * 64).outcome is None
        keep_outcome(connection, company.tenant_id, key, ["mine"])
    with company.database.transaction(uuid4()) as connection:
        query = "SELECT count(*) FROM idempotency_keys WHERE key = %s"
        assert connection.execute(query, [key]).fetchone() == (0,)
