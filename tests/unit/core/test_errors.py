"""The taxonomy, its codes, and the one map to HTTP."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from signet.api.http.problems import MAX_FIELD_ERRORS, RETRY_AFTER_SECONDS, STATUSES, make_problem
from signet.core.errors import (
    CODES,
    REMEDIES,
    Defect,
    ErrorKind,
    Failed,
    FieldError,
    Rejected,
    SignetError,
    Superseded,
    Transient,
)

ROOT = Path(__file__).resolve().parents[3]
REJECTING = {"Rejected", "GatewayFailed"}


def find_rejections(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in REJECTING
            and node.args
        ):
            code = node.args[0]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value


def test_every_rejection_in_the_source_has_a_home() -> None:
    sources = [path for folder in ("shared", "functions") for path in (ROOT / folder).rglob("*.py")]
    used = {code for path in sources for code in find_rejections(path.read_text(encoding="utf-8"))}
    assert "TOKEN_MISSING" in used
    assert used - CODES.keys() == set()


def test_codes_are_upper_snake() -> None:
    assert [code for code in CODES if not code.replace("_", "").isalnum() or code != code.upper()] == []


def test_every_kind_has_a_status() -> None:
    assert STATUSES.keys() == set(ErrorKind)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Rejected("WORKFLOW_EDIT_LOCKED", "m"), ErrorKind.LOCKED),
        (Rejected("NOBODY_GAVE_IT_A_HOME", "m"), ErrorKind.INVALID),
        (Superseded("ANY", "m"), ErrorKind.SUPERSEDED),
        (Transient("DATABASE_UNAVAILABLE", "m"), ErrorKind.UNAVAILABLE),
        (Failed("ANY", "m"), ErrorKind.FAILED),
        (Defect("ANY", "m"), ErrorKind.DEFECT),
        # A code of Rejected in another class does not make that error the caller's fault.
        (Transient("TOKEN_EXPIRED", "m"), ErrorKind.UNAVAILABLE),
    ],
)
def test_kind(error: SignetError, kind: ErrorKind) -> None:
    assert error.kind is kind


def test_an_error_reads_as_its_message_and_keeps_its_parts() -> None:
    field = FieldError("/amount", "NEGATIVE", "must not be negative")
    error = Rejected("REQUEST_INVALID", "It is wrong.", remedy="Right it.", fields=(field,), details={"a": 1})
    assert str(error) == "It is wrong."
    assert (error.code, error.remedy, error.fields, error.details) == (
        "REQUEST_INVALID",
        "Right it.",
        (field,),
        {"a": 1},
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.remedy, copy.fields, copy.details) == (
        error.code,
        error.remedy,
        error.fields,
        error.details,
    )


def test_the_problem_of_a_rejection() -> None:
    error = Rejected(
        "WORKFLOW_EDIT_LOCKED",
        "The document is locked.",
        remedy="Ask for an amendment.",
        fields=(FieldError("/amount", "LOCKED", "may not change"),),
        details={"secret": "never sent"},
    )
    problem = make_problem(error, "r-1")
    assert problem.status == 423
    assert problem.headers == {"content-type": "application/problem+json"}
    assert problem.document == {
        "type": "urn:signet:problem:workflow-edit-locked",
        "title": "Workflow edit locked",
        "status": 423,
        "detail": "The document is locked.",
        "instance": "urn:signet:request:r-1",
        "code": "WORKFLOW_EDIT_LOCKED",
        "remedy": "Ask for an amendment.",
        "errors": [{"pointer": "/amount", "code": "LOCKED", "detail": "may not change"}],
    }


def test_a_problem_says_nothing_that_it_does_not_know() -> None:
    document = make_problem(Rejected("ROUTE_NOT_FOUND", "Nothing here."), "r-1").document
    assert "remedy" not in document
    assert "errors" not in document


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("password=hunter2"), "INTERNAL_ERROR"),
        (
            Defect("HASH_DIFFERS", "password=hunter2", remedy="hunter2", details={"x": "hunter2"}),
            "HASH_DIFFERS",
        ),
    ],
)
def test_what_broke_on_our_side_is_not_told(error: Exception, code: str) -> None:
    problem = make_problem(error, "r-1")
    assert (problem.status, problem.document["code"]) == (500, code)
    assert "hunter2" not in repr(problem)


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (Rejected("TOKEN_MISSING", "m"), "www-authenticate", "Bearer"),
        (Rejected("TOKEN_EXPIRED", "m"), "www-authenticate", 'Bearer error="invalid_token"'),
        (Rejected("METHOD_NOT_ALLOWED", "m", details={"allow": "GET, POST"}), "allow", "GET, POST"),
        (Transient("DATABASE_UNAVAILABLE", "m"), "retry-after", str(RETRY_AFTER_SECONDS)),
        (Transient("BUSY", "m", details={"retry_after_seconds": 30}), "retry-after", "30"),
    ],
)
def test_headers(error: SignetError, name: str, value: str) -> None:
    assert make_problem(error, "r-1").headers[name] == value


def test_a_thousand_mistakes_are_told_up_to_the_limit() -> None:
    fields = tuple(FieldError(f"/{n}", "WRONG", "is wrong") for n in range(1_000))
    errors = make_problem(Rejected("REQUEST_INVALID", "m", fields=fields), "r-1").document["errors"]
    assert isinstance(errors, list)
    assert len(errors) == MAX_FIELD_ERRORS


def test_refusals_of_authority_have_a_next_step_everywhere() -> None:
    assert REMEDIES.keys() <= CODES.keys()
    for code, remedy in REMEDIES.items():
        assert Rejected(code, "m").remedy == remedy
        assert Rejected(code, "m", remedy="Wait.").remedy == "Wait."
    assert Rejected("TOKEN_MISSING", "m").remedy == ""
