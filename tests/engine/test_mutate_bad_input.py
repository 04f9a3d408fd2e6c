"""Bad input: each is a coded rejection that names its place, and the database is untouched."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signet.authoring.files import read_document
from signet.core.errors import Rejected
from signet.core.validation.text import MAX_REASON_CHARACTERS
from signet.engine.documents.command_checks import MAX_DATA_BYTES
from signet.engine.documents.commands import (
    Amend,
    Applied,
    Create,
    Delete,
    Operation,
    RequestTransition,
    RunAction,
    Update,
)
from tests.engine.conftest import EXAMPLES, INVOICE, make_company
from tests.engine.standing_company import IS_CAMPAIGN, CompanyWithWorkers, standing_company

TABLES = (
    "documents",
    "document_versions",
    "document_keys",
    "personal_values",
    "transition_requests",
    "workflow_instances",
    "workflow_events_outbox",
    "workflow_outbox_receipts",
    "audit_log",
    "rule_executions",
    "idempotency_keys",
)
NOBODY = UUID(int=1)


# JSON may hold these, though the types of the operations forbid them.
NO_OBJECT: list[Any] = [[1], None, "x", []]


def nest(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        made.company.publish("invoice", version=2, fields=more_fields())
        yield made


def more_fields() -> dict[str, Any]:
    """Return the example's fields, and some whose texts together are more than a document may hold."""
    fields: dict[str, Any] = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    notes = {f"note_{n}": {"type": "string", "max_length": 100_000} for n in range(12)}
    part = {"type": "object", "fields": {"city": {"type": "string"}}}
    return fields | notes | {"address": part, "is_paid": {"type": "bool"}}


@pytest.fixture(scope="module")
def document_id(standing: CompanyWithWorkers) -> UUID:
    return standing.create().document_id


def state(standing: CompanyWithWorkers) -> list[tuple[str, int]]:
    counts = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in TABLES)
    versions = "SELECT 'versions', sum(version)::bigint FROM documents"
    found = standing.admin.execute(f"{counts} UNION ALL {versions} ORDER BY 1".encode()).fetchall()
    return [(name, count) for name, count in found]


def refuse(standing: CompanyWithWorkers, operation: Operation, **options: Any) -> Rejected:
    """Return the rejection, after checking that it fits into JSON and that nothing was written."""
    before = state(standing)
    with pytest.raises(Rejected) as caught:
        standing.company.documents.mutate(standing.company.caller(), operation, **options)
    assert state(standing) == before
    error = caught.value
    said = [error.message, error.remedy, *[text for f in error.fields for text in (f.pointer, f.message)]]
    assert len(json.dumps(said, ensure_ascii=False).encode()) < 20_000
    return error


FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "10,000 list items": ({"lines": [{}] * 10_000}, "/lines", "FIELD_TOO_MANY_ITEMS"),
    "NUL": ({"number": "a\0b"}, "/number", "FIELD_TEXT_INVALID"),
    "NUL far inside": (
        {"lines": [{"description": "a\0", "quantity": 1, "unit_price": 1}]},
        "/lines/0/description",
        "FIELD_TEXT_INVALID",
    ),
    "lone surrogate": ({"number": "\udfff"}, "/number", "FIELD_TEXT_INVALID"),
    "lone surrogate in a key": ({"\ud800": 1}, "/?", "FIELD_UNKNOWN"),
    "NUL in a key": ({"a\0": 1}, "/a\0", "FIELD_UNKNOWN"),
    "a key like a pointer": ({"a/b~c": 1}, "/a~1b~0c", "FIELD_UNKNOWN"),
    "2^53": ({"grand_total": 2**53}, "/grand_total", "FIELD_NUMBER_UNSAFE"),
    "-2^53": ({"tax_total": -(2**53)}, "/tax_total", "FIELD_NUMBER_UNSAFE"),
    "5,000 digits": ({"grand_total": 10**5_000}, "/grand_total", "FIELD_NUMBER_UNSAFE"),
    "a float": ({"grand_total": 1.5}, "/grand_total", "FIELD_TYPE"),
    "a whole float": ({"grand_total": 1.0}, "/grand_total", "FIELD_TYPE"),
    "NaN": ({"grand_total": float("nan")}, "/grand_total", "FIELD_TYPE"),
    "infinity": ({"grand_total": float("inf")}, "/grand_total", "FIELD_TYPE"),
    "a bool as a number": ({"grand_total": True}, "/grand_total", "FIELD_TYPE"),
    "a number as a bool": ({"is_paid": 1}, "/is_paid", "FIELD_TYPE"),
    "an object as a text": ({"number": {}}, "/number", "FIELD_TYPE"),
    "a text as an object": ({"address": "x"}, "/address", "FIELD_TYPE"),
    "no such day": ({"invoice_date": "2026-02-30"}, "/invoice_date", "FIELD_TYPE"),
    "a reference instead of a value": (
        {"vendor_contact": {"$personal": str(NOBODY), "commitment": "x"}},
        "/vendor_contact",
        "FIELD_TYPE",
    ),
    **{
        f"mass assignment of {name}": ({name: value}, f"/{name}", "FIELD_UNKNOWN")
        for name, value in {
            "status": "active",
            "version": 7,
            "tenant_id": str(NOBODY),
            "amended_from_id": str(NOBODY),
            "id": str(NOBODY),
            "creator_id": "eve",
            "editor_ids": [],
            "deleted_at": None,
            "contract_version": 1,
            "t1": "x",
        }.items()
    },
}


@pytest.mark.parametrize("name", FIELDS)
def test_bad_fields(standing: CompanyWithWorkers, document_id: UUID, name: str) -> None:
    changes, pointer, code = FIELDS[name]
    operations: list[Operation] = [
        Create("invoice", {**INVOICE, **changes}),
        Update(document_id, 1, {**INVOICE, **changes}, is_full=True),
    ]
    if None not in changes.values():  # a merge patch with None removes a field that is not there
        operations.append(Update(document_id, 1, changes))
    for operation in operations:
        error = refuse(standing, operation)
        assert error.code == "FIELDS_INVALID"
        assert (pointer, code) in [(field.pointer, field.code) for field in error.fields]


OPERATIONS: dict[str, tuple[Any, str, str]] = {
    "patch too deep": (lambda one: Update(one, 1, nest(100_000)), "REQUEST_INVALID", ""),
    "patch deep in a known object": (
        lambda one: Update(one, 1, {"address": nest(50)}),
        "REQUEST_INVALID",
        "",
    ),
    "full update too deep": (
        lambda one: Update(one, 1, nest(100_000), is_full=True),
        "FIELDS_INVALID",
        "/number",
    ),
    "a list as data": (lambda one: Create("invoice", NO_OBJECT[0]), "FIELDS_INVALID", ""),
    "nothing as a patch": (lambda one: Update(one, 1, NO_OBJECT[1]), "FIELDS_INVALID", ""),
    "a text as a full update": (lambda one: Update(one, 1, NO_OBJECT[2], is_full=True), "FIELDS_INVALID", ""),
    "a list as a payload": (
        lambda one: RunAction(one, 1, "assign_cost_center", NO_OBJECT[3]),
        "FIELDS_INVALID",
        "",
    ),
    "unknown payload": (
        lambda one: RunAction(
            one, 1, "assign_cost_center", {"cost_center": "C", "owner": "o", "status": "active"}
        ),
        "FIELDS_INVALID",
        "/status",
    ),
    "long reason of a request": (
        lambda one: RequestTransition(one, 1, "cancel", "x" * 5_000),
        "FIELDS_INVALID",
        "/reason",
    ),
    "long reason of a delete": (lambda one: Delete(one, 1, "x" * 5_000), "FIELDS_INVALID", "/reason"),
    "NUL in a reason": (
        lambda one: RequestTransition(one, 1, "cancel", "a\0"),
        "FIELDS_INVALID",
        "/reason",
    ),
    "lone surrogate in a reason": (
        lambda one: Update(one, 1, {}, reason="\ud800"),
        "FIELDS_INVALID",
        "/reason",
    ),
    "blank reason": (lambda one: RequestTransition(one, 1, "cancel", " \t"), "FIELDS_INVALID", "/reason"),
    "huge transition": (lambda one: RequestTransition(one, 1, "x" * 1_000_000), "TRANSITION_UNKNOWN", ""),
    "strange transition": (lambda one: RequestTransition(one, 1, "a\0\ud800"), "TRANSITION_UNKNOWN", ""),
    "automatic transition": (lambda one: RequestTransition(one, 1, "approve"), "TRANSITION_UNKNOWN", ""),
    "huge action": (lambda one: RunAction(one, 1, "x" * 1_000_000, {}), "ACTION_UNKNOWN", ""),
    "strange action": (lambda one: RunAction(one, 1, "__class__", {}), "ACTION_UNKNOWN", ""),
    "NUL in an entity type": (lambda one: Create("a\0", {}), "ENTITY_TYPE_UNKNOWN", ""),
    "surrogate in an entity type": (lambda one: Create("\ud800", {}), "ENTITY_TYPE_UNKNOWN", ""),
    "huge entity type": (lambda one: Create("x" * 1_000_000, {}), "ENTITY_TYPE_UNKNOWN", ""),
    "a version that never was": (lambda one: Update(one, 10**30, {}), "DOCUMENT_VERSION_CONFLICT", ""),
    "a negative version": (lambda one: Delete(one, -1), "DOCUMENT_VERSION_CONFLICT", ""),
    "no such document": (lambda one: Update(NOBODY, 1, {}), "DOCUMENT_NOT_FOUND", ""),
    "an id that is taken": (lambda one: Create("invoice", INVOICE, id=one), "DOCUMENT_EXISTS", ""),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_bad_operations(standing: CompanyWithWorkers, document_id: UUID, name: str) -> None:
    make, code, pointer = OPERATIONS[name]
    error = refuse(standing, make(document_id))
    assert error.code == code
    assert code != "FIELDS_INVALID" or pointer in [field.pointer for field in error.fields]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\0", "\ud800"])
def test_bad_idempotency_keys(standing: CompanyWithWorkers, document_id: UUID, key: str) -> None:
    error = refuse(standing, Update(document_id, 1, {"cost_center": "C"}), idempotency_key=key)
    assert error.code == "REQUEST_INVALID"


def test_a_rejection_leaves_the_key_free(standing: CompanyWithWorkers) -> None:
    key, data = f"key-{uuid4()}", {**INVOICE, "number": f"R-{uuid4()}"}
    error = refuse(standing, Create("invoice", {**data, "grand_total": -1}), idempotency_key=key)
    assert error.code == "FIELDS_INVALID"
    documents, caller = standing.company.documents, standing.company.caller()
    applied = documents.mutate(caller, Create("invoice", data), idempotency_key=key)
    assert documents.mutate(caller, Create("invoice", data), idempotency_key=key) == applied


def test_two_megabytes(standing: CompanyWithWorkers, document_id: UUID) -> None:
    """Keep each field within its own limit: only the document is too large."""
    wide = {f"note_{n}": "x" * 100_000 for n in range(11)}
    assert sum(len(text) for text in wide.values()) > MAX_DATA_BYTES
    two_megabytes = {f"note_{n}": "ä" * 100_000 for n in range(10)}
    for patch in (wide, two_megabytes):
        for operation in (Create("invoice", {**INVOICE, **patch}), Update(document_id, 1, patch)):
            error = refuse(standing, operation)
            assert (error.code, str(MAX_DATA_BYTES) in error.message) == ("DOCUMENT_TOO_LARGE", True)


def test_a_document_grown_too_large_holds_up_only_itself(standing: CompanyWithWorkers) -> None:
    large = {f"note_{n}": "x" * 100_000 for n in range(11)}
    outcomes = standing.company.documents.mutate_many(
        standing.company.caller(),
        [
            Create("invoice", {**INVOICE, "number": f"R-{uuid4()}", **large}),
            Create("invoice", {**INVOICE, "number": f"R-{uuid4()}"}),
        ],
        "each",
    )
    assert [type(outcome) for outcome in outcomes] == [Rejected, Applied]


def test_the_longest_reason_is_kept(standing: CompanyWithWorkers) -> None:
    document_id = standing.create().document_id
    reason = "😀" * MAX_REASON_CHARACTERS
    standing.company.documents.mutate(
        standing.company.caller(), RequestTransition(document_id, 1, "cancel", reason)
    )
    kept = standing.row("SELECT reason FROM transition_requests WHERE document_id = %s", document_id)
    assert kept == (reason,)


def test_another_tenants_ids_are_not_there_in_any_operation(
    standing: CompanyWithWorkers, document_id: UUID
) -> None:
    other = make_company(standing.company.database)
    other.publish("invoice")
    operations: list[Operation] = [
        Update(document_id, 1, {"cost_center": "C"}),
        Update(document_id, 1, INVOICE, is_full=True),
        RequestTransition(document_id, 1, "submit"),
        RunAction(document_id, 1, "assign_cost_center", {"cost_center": "C", "owner": "o"}),
        Delete(document_id, 1),
        Amend(document_id, 1, {}),
    ]
    before = state(standing)
    for operation in operations:
        with pytest.raises(Rejected) as caught:
            other.documents.mutate(other.caller(), operation)
        assert caught.value.code == "DOCUMENT_NOT_FOUND"
    assert state(standing) == before
    # In the other tenant the same id names another document.
    applied = other.documents.mutate(other.caller(), Create("invoice", INVOICE, id=document_id))
    assert applied.document_id == document_id
    assert standing.row("SELECT count(*) FROM documents WHERE id = %s", document_id) == (2,)


def test_a_lost_key_leaves_the_document_with_the_key_that_it_has(standing: CompanyWithWorkers) -> None:
    """Swap keys in a batch in which each operation stands alone: a rejected one keeps its key."""
    taken, mine, wish = (f"R-{uuid4()}" for _ in range(3))
    standing.create(number=taken)
    one, two = standing.create(number=mine).document_id, standing.create(number=wish).document_id
    outcomes = standing.company.documents.mutate_many(
        standing.company.caller(),
        [Update(one, 1, {"number": taken}), Update(two, 1, {"number": mine})],
        "each",
    )
    assert [getattr(outcome, "code", None) for outcome in outcomes] == ["KEY_TAKEN", "KEY_TAKEN"]
    holders = dict(
        standing.rows("SELECT value, document_id FROM document_keys WHERE value = ANY (%s)", [mine, wish])
    )
    assert holders == {mine: one, wish: two}


# --- random JSON ---

TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\0", "\ud800", "a" * 300, "{payload.x}"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([*INVOICE, "lines", "vendor_contact", "address", "due_date", "is_paid", "owner"])
GOOD = st.sampled_from(list[Any](["2026-01-31", "EUR", 0, 1, True, None, {"city": None}, [], "C-1"]))
OBJECTS = st.dictionaries(NAMES | TEXTS, GOOD | JSON, max_size=6)
CONTENT = OBJECTS | JSON


@settings(
    max_examples=1_000 if IS_CAMPAIGN else 150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(content=CONTENT, is_whole=st.booleans(), reason=st.none() | TEXTS, name=TEXTS)
def test_any_json_is_applied_or_rejected(
    standing: CompanyWithWorkers, content: Any, is_whole: bool, reason: str | None, name: str
) -> None:
    document_id, number = standing.create().document_id, f"R-{uuid4()}"
    whole = {**INVOICE, "number": number, **content} if is_whole and isinstance(content, dict) else content
    operations: list[Operation] = [
        Create("invoice", whole, reason=reason),
        Create(name, content),
        Update(document_id, 1, content, reason=reason),
        Update(document_id, 1, whole, is_full=True),
        RunAction(document_id, 1, "assign_cost_center", content, reason),
        RunAction(document_id, 1, name, content),
        RequestTransition(document_id, 1, name, reason),
        RequestTransition(document_id, 1, "cancel", reason),
        Amend(document_id, 1, content),
    ]
    for number_of_key, operation in enumerate(operations):
        outcomes = standing.company.documents.mutate_many(
            standing.company.caller(), [operation], idempotency_key=f"{document_id}-{number_of_key}"
        )
        assert all(isinstance(outcome, Applied | Rejected) for outcome in outcomes)
        for outcome in outcomes:
            assert isinstance(outcome, Applied) or outcome.message.encode()
