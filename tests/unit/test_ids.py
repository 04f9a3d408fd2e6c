"""UUIDv7: form, order, time."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest

from signet.core.errors import Rejected
from signet.ids import created_at_of, has_created_at, make_id, parse_id


def test_form_and_time() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    identifier = make_id()
    assert (identifier.version, identifier.variant) == (7, RFC_4122)
    # Ids borrow at most a little from the future when thousands are made in one millisecond.
    assert before <= created_at_of(identifier) <= datetime.now(UTC) + timedelta(seconds=1)


def test_every_id_is_greater_than_the_one_before() -> None:
    made = [make_id() for _ in range(20_000)]
    assert made == sorted(made) and len(set(made)) == len(made)


def test_the_clock_may_step_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_id()
    monkeypatch.setattr("signet.ids.time.time_ns", lambda: 0)
    assert make_id() > first


def test_threads_never_share_an_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: make_id(), range(4_000)))
    assert len(set(made)) == len(made)


def test_a_child_process_draws_its_own_random_bits() -> None:
    make_id()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, make_id().bytes)
        os._exit(0)
    os.waitpid(child, 0)
    random_bits = 0x3FFF_FFFF_FFFF_FFFF
    of_child = UUID(bytes=os.read(read, 16)).int & random_bits
    assert of_child not in {make_id().int & random_bits for _ in range(1_000)}
    os.close(read)
    os.close(write)


def test_an_id_is_as_uuid_makes_it() -> None:
    made = make_id()
    for same in (UUID(str(made)), parse_id(str(made))):
        assert (made, made.is_safe, hash(made)) == (same, same.is_safe, hash(same))


@pytest.mark.parametrize(
    "identifier", ["ffffffff-ffff-7fff-bfff-ffffffffffff", "ffffffff-ffff-4fff-bfff-ffffffffffff"]
)
def test_an_id_that_names_no_moment_is_refused(identifier: str) -> None:
    assert not has_created_at(UUID(identifier))
    with pytest.raises(Rejected) as refused:
        created_at_of(UUID(identifier))
    assert refused.value.code == "ID_WITHOUT_TIME"
