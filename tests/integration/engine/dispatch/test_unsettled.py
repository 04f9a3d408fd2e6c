"""The ends of claims that could not be written: one that is never written keeps nobody else waiting."""

from typing import Any

import pytest

from signet.core.errors import Defect, SignetError, Transient
from signet.engine.dispatch import unsettled
from signet.engine.dispatch.unsettled import UnsettledClaims
from signet.store.database import Connection, Database
from tests.support.database.queue_rows import OTHER_TENANT, TENANT
from tests.support.moved_clock import Moved


class Ends:
    """The ends of two claims: the first meets an error, as long as there is one."""

    def __init__(self, database: Database) -> None:
        self.clock, self.written = Moved(), list[str]()
        self.error: SignetError | None = None
        self.unsettled = UnsettledClaims(database, self.clock)

    def first(self, _: Connection) -> None:
        if self.error is not None:
            raise self.error
        self.written.append("first")

    def second(self, _: Connection) -> None:
        self.written.append("second")

    def keep_both(self, error: SignetError) -> None:
        """Let an outage keep both from being written, after which only the first meets an error."""
        self.error = Transient("DATABASE_READ_ONLY", "no writes")

        def refuse(connection: Any) -> None:
            if self.error is not None and self.error.code == "DATABASE_READ_ONLY":
                raise self.error
            self.second(connection)

        self.unsettled.end(TENANT, self.first)
        self.unsettled.end(OTHER_TENANT, refuse)
        self.error = error


@pytest.fixture(autouse=True)
def as_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled, "PUT_OFF_SECONDS", 15.0)


@pytest.fixture
def ends(worker: Database) -> Ends:
    return Ends(worker)


@pytest.mark.parametrize("code", ["DATABASE_CONTENDED", "STATEMENT_TIMED_OUT"])
def test_what_is_in_the_way_of_one_alone_keeps_no_other_waiting(ends: Ends, code: str) -> None:
    ends.keep_both(Transient(code, "in the way"))
    with pytest.raises(Transient):
        ends.unsettled.settle()
    ends.unsettled.settle()
    assert ends.written == ["second"]
    assert (ends.unsettled.owes(TENANT), ends.unsettled.owes(OTHER_TENANT)) == (True, False)
    ends.error = None
    ends.unsettled.settle()
    assert ends.written == ["second"], "it is not waited for at each look"
    ends.clock.seconds += unsettled.PUT_OFF_SECONDS
    ends.unsettled.settle()
    assert ends.written == ["second", "first"] and not ends.unsettled.owes(TENANT)


def test_an_outage_keeps_all_of_them(ends: Ends) -> None:
    ends.keep_both(Transient("DATABASE_DISK_FULL", "full"))
    for _ in range(2):
        with pytest.raises(Transient):
            ends.unsettled.settle()
    assert ends.written == []
    ends.error = None
    ends.unsettled.settle()
    assert ends.written == ["first", "second"]


def test_what_can_never_be_written_is_left_to_its_lease(ends: Ends) -> None:
    ends.keep_both(Defect("DATABASE_BROKEN", "damaged"))
    with pytest.raises(Defect):
        ends.unsettled.settle()
    ends.unsettled.settle()
    assert ends.written == ["second"] and not ends.unsettled.owes(TENANT)
