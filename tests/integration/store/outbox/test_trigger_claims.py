"""Claims of triggers in one message: what they take, and what they say is left."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from bench.counting import count_wire
from signet.store.database import Database, PoolSettings
from signet.store.outbox.queue import EVER
from signet.store.outbox.trigger_claims import ClaimAnswer, claim_and_look, list_claimed, parse_answer
from tests.support.database.queue_rows import MINE, OTHER_TENANT, TENANT, THEIRS, ids_of, put, put_one
from tests.support.database.runtime_roles import as_role

Admin = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def single(owner_url: str) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield database
    database.close()


def ask(
    database: Database, *, at_most: int = 3, claim_id: UUID = MINE, looks_at_leases: bool = True
) -> ClaimAnswer:
    statement = claim_and_look(
        at_most=at_most, lease_seconds=60, claim_id=claim_id, since=EVER, looks_at_leases=looks_at_leases
    )
    return parse_answer(database.claim(TENANT, statement))


def test_a_claim_is_one_message_with_its_commit(single: Database, admin: Admin) -> None:
    ids = put(admin, "events", TENANT, count=2)
    answers: list[ClaimAnswer] = []
    wire = count_wire(single, lambda: answers.append(ask(single)))
    assert (wire.round_trips, wire.transactions) == (1, 1)
    (answer,) = answers
    assert set(ids_of(answer.triggers)) == set(ids)
    assert {trigger.attempts for trigger in answer.triggers} == {1}
    with single.transaction(TENANT) as connection:
        assert list_claimed(connection, TENANT, MINE) == list(answer.triggers)
        assert list_claimed(connection, TENANT, THEIRS) == []


def test_it_says_whether_more_is_due(single: Database, admin: Admin) -> None:
    assert ask(single) == ClaimAnswer([], False, False)
    put(admin, "events", TENANT, count=4)
    put(admin, "events", TENANT, "-1 hour")
    put(admin, "events", OTHER_TENANT)
    first, second, third = ask(single), ask(single), ask(single)
    assert [(len(one.triggers), one.has_more) for one in (first, second, third)] == [
        (3, True),
        (1, False),
        (0, False),
    ]


def test_a_full_claim_that_leaves_nothing_says_so(single: Database, admin: Admin) -> None:
    put(admin, "events", TENANT, count=3)
    answer = ask(single)
    assert (len(answer.triggers), answer.has_more) == (3, False)


@pytest.mark.parametrize("is_given_back", [True, False])
def test_behind_one_that_goes_alone_more_is_due(single: Database, admin: Admin, is_given_back: bool) -> None:
    alone = put_one(admin, "events", TENANT, "1 hour", attempts=0 if is_given_back else 2)
    if is_given_back:
        admin.execute(
            "UPDATE workflow_events_outbox SET given_back = 10, given_back_since = now() - interval '1 day'"
        )
    (other,) = put(admin, "events", TENANT)
    first, second = ask(single), ask(single)
    assert (ids_of(first.triggers), first.has_more) == ([alone], True)
    assert (ids_of(second.triggers), second.has_more) == ([other], False)


def test_it_says_whether_a_lease_has_run_out(single: Database, admin: Admin) -> None:
    put(admin, "events", TENANT, "-1 hour", status="processing")
    assert not ask(single).has_expired
    put(admin, "events", TENANT, "1 hour", status="processing")
    assert ask(single) == ClaimAnswer([], False, True)
    assert not ask(single, looks_at_leases=False).has_expired
    put(admin, "events", TENANT)
    answer = ask(single)
    assert (len(answer.triggers), answer.has_expired) == (1, True)


def test_what_another_one_claims_at_this_moment_is_no_more(
    single: Database, admin: Admin, owner_url: str
) -> None:
    put(admin, "events", TENANT, count=3)
    with psycopg.connect(owner_url) as other:
        other.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(TENANT)])
        other.execute("SELECT FROM workflow_events_outbox FOR UPDATE")
        assert ask(single) == ClaimAnswer([], False, False)
    assert len(ask(single).triggers) == 3


def test_within_a_shared_transaction_it_is_part_of_it(single: Database, admin: Admin) -> None:
    put(admin, "events", TENANT)
    with pytest.raises(ZeroDivisionError), single.shared_transaction(TENANT):
        assert len(ask(single).triggers) == 1
        raise ZeroDivisionError
    assert len(ask(single).triggers) == 1
