"""Failures of an author's function: the action fails with a reason, and nothing of it is written."""

import gc
from collections.abc import Callable, Mapping
from enum import IntEnum, StrEnum
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from signet.authoring.actions import (
    MAX_CREATED_DOCUMENTS,
    MAX_OUTPUT_BYTES,
    ActionInput,
    ActionResult,
    NewDocument,
)
from signet.core.errors import Failed, Rejected
from signet.engine.documents.commands import Applied, Create, Operation, RunAction
from tests.integration.engine.documents.test_actions import WAREHOUSE, count_all, create, rows, with_function
from tests.support.company import INVOICE, Company

Admin = Connection[tuple[Any, ...]]
RESERVED = {"reserved": True}
TASK = NewDocument("project_task", {"title": "x", "project": "y"})


@pytest.fixture
def company(company: Company) -> Company:
    company.publish("project_task")
    reserve = {
        "kind": "python",
        "payload": {"warehouse": {"type": "string", "required": True}},
        "output": {
            "reserved": {"type": "bool", "required": True},
            "note": {"type": "string", "max_length": 100_000},
            "count": {"type": "int"},
        },
    }
    company.publish("invoice", version=2, actions={"reserve": reserve})
    return company


class Kind(StrEnum):
    MAIN = "main"


class Count(IntEnum):
    TWO = 2


class Untellable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Unreadable(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("unreadable")


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def throw(error: BaseException) -> Any:
    raise error


async def wait(given: ActionInput) -> ActionResult:
    return ActionResult()


ANYTHING: Any = object()
FAILURES: dict[str, tuple[Callable[[ActionInput], Any], str]] = {
    "an exception": (lambda given: given.payload["nothing"], "raised KeyError: 'nothing'"),
    "an exit": (lambda given: throw(SystemExit(3)), "raised SystemExit: 3"),
    "endless recursion": (lambda given: (lambda f: f(f))(lambda f: f(f)), "raised RecursionError"),
    "an exception without a text": (lambda given: throw(Untellable()), "raised Untellable"),
    "what no database keeps": (lambda given: throw(ValueError("a\0\ud800b")), r"ValueError: a\u0000\ud800b"),
    "a change of its input": (lambda given: setattr(given, "now", 1), "raised FrozenInstanceError"),
    "nothing": (lambda given: None, "returned a NoneType, not an ActionResult"),
    "a mapping": (lambda given: {"changes": {}}, "returned a dict, not an ActionResult"),
    "changes that are no object": (
        lambda given: ActionResult(ANYTHING, (), RESERVED),
        "has a object as 'changes'",
    ),
    "an unknown field": (lambda given: ActionResult({"status": "active"}, (), RESERVED), "/changes/status"),
    "a wrong type": (lambda given: ActionResult({"grand_total": 1.5}, (), RESERVED), "/changes/grand_total"),
    "a required field taken away": (
        lambda given: ActionResult({"number": None}, (), RESERVED),
        "/changes/number",
    ),
    "a circle": (lambda given: ActionResult(circle(), (), RESERVED), "nested deeper than"),
    "no output": (lambda given: ActionResult(), "/output/reserved is required"),
    "an unknown output": (lambda given: ActionResult(output={**RESERVED, "x": 1}), "/output/x"),
    "an output that is no object": (lambda given: ActionResult(output=ANYTHING), "has a object as 'output'"),
    "an output that cannot be read": (lambda given: ActionResult(output=Unreadable()), "raised RuntimeError"),
    "too large an output": (
        lambda given: ActionResult(output={**RESERVED, "note": "x" * MAX_OUTPUT_BYTES}),
        f"at most {MAX_OUTPUT_BYTES}",
    ),
    "too many documents": (
        lambda given: ActionResult(creates=[TASK] * (MAX_CREATED_DOCUMENTS + 1), output=RESERVED),
        f"makes {MAX_CREATED_DOCUMENTS + 1} documents, at most {MAX_CREATED_DOCUMENTS}",
    ),
    "documents that are none": (
        lambda given: ActionResult(creates=[ANYTHING], output=RESERVED),
        "has a object in 'creates', not a NewDocument",
    ),
    "a document of no type": (
        lambda given: ActionResult(creates=[NewDocument(ANYTHING, {})], output=RESERVED),
        "not a NewDocument",
    ),
    "a document without data": (
        lambda given: ActionResult(creates=[NewDocument("project_task", ANYTHING)], output=RESERVED),
        "has a object as 'creates/0/data'",
    ),
    "a generator of documents": (
        lambda given: ActionResult(creates=(new for new in [TASK]), output=RESERVED),  # type: ignore[arg-type]
        "has a generator in 'creates', not a list",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_names_the_function_and_the_reason(company: Company, admin: Admin, name: str) -> None:
    function, reason = FAILURES[name]
    company = with_function(company, function)
    run: Operation = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    before = count_all(admin)
    with pytest.raises(Failed) as caught:
        company.documents.mutate(company.caller(), run)
    failed = caught.value
    assert failed.code == "ACTION_FAILED"
    assert f"{__name__}.<lambda>" in failed.message and reason in failed.message
    assert failed.details["action"] == "reserve"
    assert len(failed.message) < 800 and failed.message.isprintable()
    assert count_all(admin) == before
    other = Create("invoice", {**INVOICE, "number": "R-2"})
    outcomes = company.documents.mutate_many(company.caller(), [run, other], "each")
    assert [type(outcome) for outcome in outcomes] == [Failed, Applied]
    outcomes = company.documents.mutate_many(company.caller(), [other, run])
    assert [outcome.code for outcome in outcomes if not isinstance(outcome, Applied)] == [
        "NOT_DONE",
        "ACTION_FAILED",
    ]


def test_a_function_that_would_be_waited_for(company: Company) -> None:
    company = with_function(company, wait)
    run = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    with pytest.warns(RuntimeWarning, match="never awaited"):
        with pytest.raises(Failed, match=r"wait returned a coroutine, not an ActionResult"):
            company.documents.mutate(company.caller(), run)
        gc.collect()


def test_mistakes_have_their_places(company: Company) -> None:
    wrong = ActionResult({"grand_total": -1, "lines": [{}]}, (), RESERVED)
    company = with_function(company, lambda given: wrong)
    with pytest.raises(Failed) as caught:
        company.documents.mutate(
            company.caller(), RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
        )
    places = [(field.pointer, field.code) for field in caught.value.fields]
    assert ("/changes/grand_total", "FIELD_TOO_SMALL") in places
    assert ("/changes/lines/0/quantity", "FIELD_REQUIRED") in places


def test_no_personal_value_is_in_the_reason(company: Company) -> None:
    company = with_function(company, lambda given: throw(ValueError(f"{given.document.data}")))
    invoice = create(company, vendor_contact="Erna Example")
    with pytest.raises(Failed) as caught:
        company.documents.mutate(company.caller(), RunAction(invoice.document_id, 1, "reserve", WAREHOUSE))
    assert "Erna" not in caught.value.message and "'vendor_contact': '(personal)'" in caught.value.message


def test_members_of_enums_are_the_values_that_they_stand_for(company: Company, admin: Admin) -> None:
    answer: Mapping[str, Any] = {**RESERVED, "note": Kind.MAIN, "count": Count.TWO}
    company = with_function(company, lambda given: ActionResult({"cost_center": Kind.MAIN}, (), answer))
    run = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    applied = company.documents.mutate(company.caller(), run)
    assert applied.output == {"reserved": True, "note": "main", "count": 2}
    assert {type(value) for value in applied.output.values()} == {bool, str, int}
    assert rows(admin, "SELECT data ->> 'cost_center' FROM documents") == [("main",)]


def test_a_repetition_gets_the_output_again_and_calls_nothing(company: Company) -> None:
    calls: list[ActionInput] = []

    def reserve(given: ActionInput) -> ActionResult:
        calls.append(given)
        return ActionResult(creates=[TASK], output={"reserved": True, "count": len(calls)})

    company = with_function(company, reserve)
    run: Operation = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    key = f"key-{uuid4()}"
    first, again = (company.documents.mutate(company.caller(), run, idempotency_key=key) for _ in range(2))
    assert first == again and first.output == {"reserved": True, "count": 1}
    assert len(calls) == 1


def test_a_failure_is_repeated_as_a_failure(company: Company) -> None:
    company = with_function(company, lambda given: ActionResult())
    run: Operation = RunAction(create(company).document_id, 1, "reserve", WAREHOUSE)
    batch: list[Operation] = [run, Create("invoice", {**INVOICE, "number": "R-2"})]
    key = f"key-{uuid4()}"
    runs = [
        company.documents.mutate_many(company.caller(), batch, "each", idempotency_key=key) for _ in range(2)
    ]
    failures = [outcomes[0] for outcomes in runs]
    assert isinstance(failures[0], Failed) and isinstance(failures[1], Failed)
    assert vars(failures[0]) == vars(failures[1])
    assert not any(isinstance(failure, Rejected) for failure in failures)
