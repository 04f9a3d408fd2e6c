"""Processes for heavy calls: bounded in number, time and memory; one that ends is started again."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from signet.core.errors import Defect, Rejected, SignetError, Transient
from signet.engine.telemetry import Silent
from signet.wiring.heavy_processes import HeavyProcesses
from tests.support import held_calls
from tests.support.held_calls import double, make_gate


class Counted(Silent):
    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def heavy_call_ended(self, outcome: str, seconds: float) -> None:
        self.outcomes.append(outcome)


@contextmanager
def running(count: int = 1, **settings: Any) -> Iterator[tuple[HeavyProcesses, Counted]]:
    counted = Counted()
    # As long as a busy machine takes to start a process.
    processes = HeavyProcesses(count, counted, **{"call_seconds": 120.0, **settings})
    try:
        yield processes, counted
    finally:
        processes.stop()


def fail(processes: HeavyProcesses, function: Any, *arguments: Any) -> SignetError:
    with pytest.raises(SignetError) as caught:
        processes.call(function, *arguments)
    return caught.value


def test_a_call_runs_in_another_process_which_stays() -> None:
    with running() as (processes, counted):
        assert processes.call(double, 4) == 8 and processes.call(double, 4, times=3) == 12
        child = processes.call(os.getpid)
        assert child != os.getpid() and processes.call(os.getpid) == child
        assert counted.outcomes == ["done"] * 4


def test_the_process_has_nothing_of_the_servers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNET_DATABASE_URL", "postgresql://secret")
    with running() as (processes, _):
        assert not [name for name in processes.call(held_calls.read_environment) if "SIGNET" in name]


def test_a_refusal_comes_back_as_it_was() -> None:
    with running() as (processes, counted):
        error = fail(processes, held_calls.refuse, "BODY_TOO_LARGE")
        assert isinstance(error, Rejected)
        assert (error.code, error.remedy, dict(error.details)) == (
            "BODY_TOO_LARGE",
            "none",
            {"retry_after_seconds": 3},
        )
        assert counted.outcomes == ["refused"]


def test_an_error_that_nobody_foresaw_is_a_defect() -> None:
    with running() as (processes, _):
        error = fail(processes, held_calls.break_down)
        assert isinstance(error, Defect) and (error.code, error.message) == (
            "HEAVY_CALL_FAILED",
            "ValueError: broken",
        )
        assert processes.call(double, 1) == 2


@pytest.mark.parametrize("function", [held_calls.end_process, held_calls.answer_unsent])
def test_a_process_that_ends_is_told_and_the_next_call_works(function: Any) -> None:
    with running() as (processes, counted):
        before = processes.call(os.getpid)
        error = fail(processes, function)
        assert isinstance(error, Transient) and error.code == "HEAVY_CALL_ENDED"
        assert processes.call(os.getpid) != before
        assert counted.outcomes[1] == "HEAVY_CALL_ENDED"


def test_a_process_that_was_killed_between_two_calls_is_not_noticed() -> None:
    with running() as (processes, _):
        child = processes.call(os.getpid)
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert processes.call(double, 3) == 6


def test_a_call_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    gate = make_gate(tmp_path)
    with running(call_seconds=0.0) as (processes, _):
        error = fail(processes, gate.hold(double), 1)
        assert isinstance(error, Transient) and error.code == "HEAVY_CALL_TIMED_OUT"
        assert error.details["retry_after_seconds"] == 1


def test_a_call_that_wants_too_much_memory_is_refused() -> None:
    with running() as (processes, _):
        error = fail(processes, held_calls.fill_memory, 2**31)
        assert isinstance(error, Rejected) and error.code == "HEAVY_CALL_TOO_LARGE"
        assert processes.call(double, 3) == 6


def test_a_call_is_refused_where_all_processes_are_busy(tmp_path: Path) -> None:
    gate = make_gate(tmp_path)
    with running(wait_seconds=0.0) as (processes, _), ThreadPoolExecutor() as threads:
        held: Future[int] = threads.submit(processes.call, gate.hold(double), 4)
        with gate.holding():
            error = fail(processes, double, 1)
            assert isinstance(error, Transient) and error.code == "HEAVY_CALLS_BUSY"
        assert held.result() == 8
        assert processes.call(double, 1) == 2


def test_another_process_answers_while_one_is_held(tmp_path: Path) -> None:
    gate = make_gate(tmp_path)
    with running(2) as (processes, _), ThreadPoolExecutor() as threads:
        held: Future[int] = threads.submit(processes.call, gate.hold(double), 4)
        with gate.holding():
            assert processes.call(double, 1) == 2 and not held.done()
        assert held.result() == 8


def test_a_call_under_way_ends_with_the_server(tmp_path: Path) -> None:
    gate = make_gate(tmp_path)
    with running() as (processes, _), ThreadPoolExecutor() as threads:
        held: Future[int] = threads.submit(processes.call, gate.hold(double), 4)
        with gate.holding():
            processes.stop()
            error = held.exception()
            assert isinstance(error, Transient) and error.code == "HEAVY_CALL_ENDED"
        assert fail(processes, double, 1).code == "HEAVY_CALL_ENDED"
