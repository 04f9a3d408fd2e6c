"""The tables of docs/cost.md that follow from its counts, the prices and the settings of the environments."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from infra.environments import DEPLOYED, ENVIRONMENTS
from tests.cost.counts import GB, Counts, price_documents, price_front, price_logs, price_moving, read_counts
from tests.cost.idle import list_idle_costs
from tests.cost.others import OTHERS
from tests.cost.prices import CALL, GB_SECOND, PRICES, QUEUE_REQUEST

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cost.md"
Tables = Callable[[Counts, Counts], Iterator[str]]


def renew(page: str) -> str:
    """Return the page with each table written again between its two comments; people write the rest."""
    alone, together = read_counts(page)
    for name, write in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        table = "\n".join(write(alone, together)) + "\n"
        before, opened, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        assert opened and closed, f"{PAGE.name} has no place for the table {name}"
        page = before + begin + table + end + after
    return page


def _dollars(amount: float) -> str:
    return f"${amount:,.4f}"


def _write_prices(alone: Counts, together: Counts) -> Iterator[str]:
    yield "| | list price | page | read |"
    yield "|---|---|---|---|"
    for price in PRICES:
        yield f"| {price.what} | {price.unit} | {price.page} | {price.read} |"


def _write_documents(alone: Counts, together: Counts) -> Iterator[str]:
    yield "| 1,000 documents | one after another | all at once |"
    yield "|---|---|---|"
    for words, of in {
        "coming in: HTTP API, `api`": price_front,
        "moving: SQS, `node_execution`, `side_effect_io`": price_moving,
        "logs and metrics, taken in": price_logs,
        "**together**": price_documents,
    }.items():
        yield f"| {words} | {_dollars(of(alone))} | {_dollars(of(together))} |"


def _write_comparison(alone: Counts, together: Counts) -> Iterator[str]:
    yield "| what moves 1,000 documents | arithmetic | |"
    yield "|---|---|---|"
    for words, counts in {"one after another": alone, "all at once": together}.items():
        yield f"| Signet, {words} | {_explain_moving(counts)} | {_dollars(price_moving(counts))} |"
    for other in OTHERS:
        yield f"| {other.name} | {other.arithmetic} | {_dollars(other.dollars)} |"


def _explain_moving(counts: Counts) -> str:
    movers = [name for name in GB if name != "api"]
    calls = sum(counts.calls_of(name) for name in movers)
    gb_seconds = sum(counts.gb_seconds_of(name) for name in movers)
    parts = [
        f"{counts.queue_requests:,} × {_short(QUEUE_REQUEST.unit)}",
        f"{calls:,} × {_short(CALL.unit)}",
        f"{gb_seconds:,.1f} GB-s × {GB_SECOND.unit}",
    ]
    return " + ".join(parts)


def _short(unit: str) -> str:
    return unit.replace(" a million", " / 1,000,000")


def _write_idle(alone: Counts, together: Counts) -> Iterator[str]:
    yield f"| a month without work | {' | '.join(DEPLOYED)} |"
    yield "|---|" + "---|" * len(DEPLOYED)
    costs = [list_idle_costs(ENVIRONMENTS[name]) for name in DEPLOYED]
    for words in costs[0]:
        yield f"| {words} | {' | '.join(f'${cost[words]:,.2f}' for cost in costs)} |"
    yield f"| **together** | {' | '.join(f'${sum(cost.values()):,.2f}' for cost in costs)} |"


TABLES: Mapping[str, Tables] = {
    "prices": _write_prices,
    "documents": _write_documents,
    "comparison": _write_comparison,
    "idle": _write_idle,
}
