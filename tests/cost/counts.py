"""The counts of 1,000 documents: as a table of the page, and back."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from tests.cost.prices import API_REQUEST, CALL, GB_SECOND, LOG_BYTE, QUEUE_REQUEST

GB = {"api": 1.0, "node_execution": 1.0, "side_effect_io": 0.5}
# AWS writes these lines: API Gateway for a request, and Lambda for a call.
ACCESS_LINE_BYTES = 300
PLATFORM_LINES_BYTES = 400


@dataclass(frozen=True)
class Counts:
    api_requests: int
    api_calls: int
    api_milliseconds: int
    node_execution_calls: int
    node_execution_milliseconds: int
    side_effect_io_calls: int
    side_effect_io_milliseconds: int
    sends: int
    receives: int
    deletes: int
    log_bytes: int

    def calls_of(self, function: str) -> int:
        return int(getattr(self, f"{function}_calls"))

    def gb_seconds_of(self, function: str) -> float:
        return float(getattr(self, f"{function}_milliseconds")) / 1_000 * GB[function]

    @property
    def queue_requests(self) -> int:
        return self.sends + self.receives + self.deletes

    @property
    def all_log_bytes(self) -> int:
        calls = sum(self.calls_of(name) for name in GB)
        return self.log_bytes + ACCESS_LINE_BYTES * self.api_requests + PLATFORM_LINES_BYTES * calls


NAMES = {
    "api_requests": "requests to the HTTP API",
    "api_calls": "calls of `api`",
    "api_milliseconds": "milliseconds of `api`",
    "node_execution_calls": "calls of `node_execution`",
    "node_execution_milliseconds": "milliseconds of `node_execution`",
    "side_effect_io_calls": "calls of `side_effect_io`",
    "side_effect_io_milliseconds": "milliseconds of `side_effect_io`",
    "sends": "SQS: sends",
    "receives": "SQS: receives",
    "deletes": "SQS: deletes",
    "log_bytes": "bytes of logs and metrics that telemetry prints",
}


def write_counts(alone: Counts, together: Counts) -> Iterator[str]:
    yield "| of 1,000 documents | one after another | all at once |"
    yield "|---|---|---|"
    for field in fields(Counts):
        figures = (getattr(alone, field.name), getattr(together, field.name))
        yield f"| {NAMES[field.name]} | {figures[0]:,} | {figures[1]:,} |"


def read_counts(page: str) -> tuple[Counts, Counts]:
    found: list[dict[str, int]] = [{}, {}]
    by_words = {words: name for name, words in NAMES.items()}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0] in by_words:
            for into, cell in zip(found, cells[1:], strict=True):
                into[by_words[cells[0]]] = int(cell.replace(",", ""))
    return Counts(**found[0]), Counts(**found[1])


def price_front(counts: Counts) -> float:
    """Return the price of the calls by people and machines, which does not depend on the workflow's mover."""
    return (
        API_REQUEST.of(counts.api_requests)
        + CALL.of(counts.api_calls)
        + GB_SECOND.of(counts.gb_seconds_of("api"))
    )


def price_moving(counts: Counts) -> float:
    """Return the price of taking documents through their workflows."""
    movers = ("node_execution", "side_effect_io")
    return QUEUE_REQUEST.of(counts.queue_requests) + sum(
        CALL.of(counts.calls_of(name)) + GB_SECOND.of(counts.gb_seconds_of(name)) for name in movers
    )


def price_logs(counts: Counts) -> float:
    return LOG_BYTE.of(counts.all_log_bytes)


def price_documents(counts: Counts) -> float:
    return price_front(counts) + price_moving(counts) + price_logs(counts)
