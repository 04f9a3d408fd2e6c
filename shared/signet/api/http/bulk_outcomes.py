"""Outcomes of a request about many things: one shape, in which a refusal is a problem document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import WithJsonSchema

from signet.api.http.call import Call
from signet.api.http.problems import Names, Places, make_problem, place_error
from signet.core.errors import SignetError

T = TypeVar("T")
# `openapi/schema_names.py` makes a reference of it.
ShownProblem = Annotated[Mapping[str, object], WithJsonSchema({"x-schema": "Problem"})]


@dataclass(frozen=True, slots=True)
class BulkOutcome(Generic[T]):
    """The outcome of one thing: its result, or the problem. `possible` is the outcome of a dry run."""

    # The place in the request, from 0.
    index: int
    # Null where nothing was made that has one.
    id: UUID | None
    status: Literal["done", "possible", "rejected"]
    result: T | None
    problem: ShownProblem | None


@dataclass(frozen=True, slots=True)
class BulkOutcomes(Generic[T]):
    """Outcomes with their counts. `done` counts what is possible, too."""

    done: int
    rejected: int
    items: Sequence[BulkOutcome[T]]


def show_outcomes(items: Iterable[BulkOutcome[T]]) -> BulkOutcomes[T]:
    listed = list(items)
    rejected = sum(item.status == "rejected" for item in listed)
    return BulkOutcomes(len(listed) - rejected, rejected, listed)


def show_outcome(
    call: Call,
    index: int,
    identifier: UUID | None,
    outcome: T | SignetError,
    *,
    places: Places | None = None,
    names: Names | None = None,
    prefix: str = "",
    is_dry_run: bool = False,
) -> BulkOutcome[T]:
    """Show one outcome; `prefix` leads to the thing in the request."""
    if not isinstance(outcome, SignetError):
        return BulkOutcome(index, identifier, "possible" if is_dry_run else "done", outcome, None)
    place_error(outcome, places or {}, names or {}, prefix)
    problem = make_problem(outcome, call.request_id).document
    return BulkOutcome(index, identifier, "rejected", None, problem)
