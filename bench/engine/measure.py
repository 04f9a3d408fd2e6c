"""Steps a second of the engine beside pgbench and the limit, on one durable server in one run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from statistics import median

from bench.company import durable_server
from bench.engine.processes import child_processes
from bench.engine.reference import measure_single_steps
from bench.engine.runs import ENGINES, LIMIT, Arena, BenchSide, EngineRun, Load, opened_arena
from bench.engine.workflow import DOCUMENT_BYTES, GATES, STEPS
from bench.pgbench import CLIENTS, THREADS

BACKLOG = 5_000
LOADS = (Load(1, 1, 5), Load(100, 1, 5), Load(100, 100, 3), Load(BACKLOG, 1, 3), Load(BACKLOG, 100, 3))
SINGLES = 200
TRACED = 100
SECONDS = 6.0

# The goals for a backlog; a single document is measured by its milliseconds.
FLOOR, STRETCH = 10_000, 20_000
MIN_RATIO = 0.35
MAX_STATEMENTS = 12
MAX_MILLISECONDS = 6.0
MAX_MEGABYTES = 150


def measure(loads: Sequence[Load] = LOADS, singles: int = SINGLES, seconds: float = SECONDS) -> Iterator[str]:
    with durable_server() as url:
        yield from measure_server(url, loads, singles, seconds)


def measure_server(url: str, loads: Sequence[Load], singles: int, seconds: float) -> Iterator[str]:
    yield f"each document: {STEPS} steps, {GATES} of them gates; {DOCUMENT_BYTES:,} bytes; durable settings"
    sides = (LIMIT, *ENGINES)
    most = max(load.waiting for load in loads)
    with opened_arena(url, max(load.tenants for load in loads)) as arena:
        # A new server makes the files of its log, which it later uses again. So the first run is not counted.
        _run_in_turn(arena, Load(most, 1, 1), (LIMIT,))
        for load in loads:
            yield f"{load.waiting:,} waiting, {_count(load.tenants, 'tenant')}"
            yield from _describe_load(load, _run_in_turn(arena, load, sides))
        yield f"one document after another, an idle system: its {STEPS} steps at p50"
        yield from (f"  {_time_singles(arena, side, singles)}" for side in (LIMIT, ENGINES[0]))
        yield _describe_wire(arena)
        arena.create(most)
        single = measure_single_steps(url, arena.admin, seconds)
        yield f"pgbench, one step a transaction, {CLIENTS} clients, {THREADS} threads: {single:,.0f} steps/s"


def _run_in_turn(arena: Arena, load: Load, sides: Sequence[BenchSide]) -> dict[BenchSide, list[EngineRun]]:
    """Run all sides once in each repetition, so that a busy machine hurts all of them alike."""
    runs: dict[BenchSide, list[EngineRun]] = {side: [] for side in sides}
    with ExitStack() as leaving:
        children = {
            side: leaving.enter_context(child_processes(side.module, arena.url, side.processes))
            for side in sides
        }
        for _ in range(load.repetitions):
            for side in sides:
                runs[side].append(arena.run(load, children[side], side.task))
    return runs


def _describe_load(load: Load, runs: dict[BenchSide, list[EngineRun]]) -> Iterator[str]:
    limits = runs.pop(LIMIT)
    yield f"  {_describe_runs(LIMIT, limits)}"
    floor = f" (floor {FLOOR:,}, stretch {STRETCH:,})" if load.waiting == BACKLOG else ""
    least = f" (at least {MIN_RATIO})" if load.waiting == BACKLOG else ""
    for side, own in runs.items():
        ratio = median(
            run.steps_per_second / limit.steps_per_second for run, limit in zip(own, limits, strict=True)
        )
        yield (
            f"  {_describe_runs(side, own, floor)}"
            f"   {ratio:.2f} of the limit{least}"
            f"   {max(run.memory for run in own) / 1e6:.0f} MB (at most {MAX_MEGABYTES})"
        )


def _describe_runs(side: BenchSide, runs: Sequence[EngineRun], floor: str = "") -> str:
    def middle(figure: Callable[[EngineRun], float]) -> float:
        return median(map(figure, runs))

    return (
        f"{side.name}, {_count(side.processes, 'process')}".ljust(19)
        + f" {middle(lambda run: run.steps_per_second):7,.0f} steps/s{floor}"
        + f"   {middle(lambda run: run.documents_per_second):5,.0f} documents/s with their creation"
        + f"   {middle(lambda run: run.wal_per_step):5,.0f} bytes of WAL a step"
    )


def _time_singles(arena: Arena, side: BenchSide, singles: int) -> str:
    with child_processes(side.module, arena.url, 1) as (child,):
        taken = median(arena.time_single(child, side.task) for _ in range(singles))
    goal = "" if side is LIMIT else f" (at most {MAX_MILLISECONDS:g})"
    return f"{side.name:6} {taken:5.2f} ms{goal}"


def _describe_wire(arena: Arena) -> str:
    traced = arena.trace(TRACED)
    ratio = traced["statements"] / max(traced["rounds"], 1)
    return (
        f"{TRACED} documents, one worker: {_count(traced['waves'], 'wave')}, {traced['rounds']} rounds, "
        f"{ratio:.1f} statements a round (at most {MAX_STATEMENTS}), {traced['round_trips']} round trips, "
        f"{traced['transactions']} transactions ({traced['transactions'] / TRACED / STEPS:.4f} a step)"
    )


def _count(number: int, word: str) -> str:
    ending = "" if number == 1 else "es" if word.endswith("s") else "s"
    return f"{number:,} {word}{ending}"
