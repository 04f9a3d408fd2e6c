"""The table of docs/outages.md: each SQLSTATE that tells of an outage, with its answer and what follows."""

from collections.abc import Iterator

from signet.api.http.problems import make_problem
from signet.store.sqlstates import FAILURES


def write_sqlstates() -> Iterator[str]:
    yield "| SQLSTATE | code | what happened | status | `Retry-After` | what was claimed is |"
    yield "|---|---|---|---|---|---|"
    for entry, failure in FAILURES.items():
        state = f"`{entry}`" if len(entry) == 5 else f"`{entry}…`"
        problem = make_problem(failure.make_error(), "r")
        seconds = problem.headers.get("retry-after", "")
        answer = f"{problem.status} | {seconds} | {failure.disposition}"
        yield f"| {state} | `{failure.code}` | {failure.sentence} | {answer} |"
