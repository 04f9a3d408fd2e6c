"""The tables of docs/operating.md about repair, from the rows and the outcomes that their tests keep."""

from collections.abc import Iterator, Mapping

from tests.support.repair.acts import ACTS
from tests.support.repair.outcomes import read_outcomes
from tests.support.repair.rows import ROWS, Row


def write_ways_on() -> Iterator[str]:
    yield "| # | where it stands | what fails | where it rests | first | acts | where it ends |"
    yield "|---|---|---|---|---|---|---|"
    for number, row in ROWS.items():
        acts = ", ".join(f"`{act}`" for act in row.way_on)
        rests, ends = _say(row.rests), _say(row.ends)
        yield f"| {number} | {row.where} | {row.fails} | {rests} | {row.cause} | {acts} | {ends} |"


def write_acts() -> Iterator[str]:
    """Write where each act leads that is tried while the cause is there."""
    yield f"| # | {' | '.join(f'`{act}`' for act in ACTS)} |"
    yield f"|---{'|---' * len(ACTS)}|"
    outcomes = read_outcomes()
    for number, row in ROWS.items():
        cells = _list_cells(row, outcomes[str(number)])
        yield f"| {number} | {' | '.join(cells)} |"


def _list_cells(row: Row, outcomes: Mapping[str, str]) -> Iterator[str]:
    for act in ACTS:
        outcome = outcomes[act]
        yield "as before" if outcome == row.rests else _say(outcome)


def _say(place: str) -> str:
    """Write a code as code, and a place in words."""
    return f"`{place}`" if place.isupper() else place.replace("usr:", "").replace("; ", ": ")
