"""The type check: every error at once, each with its place, its code and its remedy."""

import itertools

import pytest
from hypothesis import given

from signet.core.expressions import (
    ANY,
    BOOL,
    DATE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Expression,
    Scope,
    Type,
    TypeKind,
    check,
    check_condition,
    enum_of,
    expression_from_json,
    list_followed_fields,
    list_names,
    list_of,
    object_of,
    ref_to,
)
from signet.core.expressions.types import MAX_LISTED_NAMES
from tests.support.generated.expressions import QUICK, expressions, parse

COUNTRY = ref_to("country", {"name": STRING})
CUSTOMER = ref_to(
    "customer", {"credit_available": INT, "country": COUNTRY, "address": object_of({"city": STRING})}
)
FIELDS = {
    "title": STRING,
    "note": STRING,
    "grand_total": INT,
    "count": INT,
    "urgent": BOOL,
    "paid": BOOL,
    "due": DATE,
    "start": DATE,
    "signed_at": TIMESTAMP,
    "status": enum_of("draft", "submitted", "active"),
    "stage": enum_of("draft", "closed"),
    "color": enum_of("red", "green"),
    "customer": CUSTOMER,
    "payer": CUSTOMER,
    "country": COUNTRY,
    "tags": list_of(STRING),
    "numbers": list_of(INT),
    "statuses": list_of(enum_of("draft", "active")),
    "dates": list_of(DATE),
    "matrix": list_of(list_of(INT)),
    "address": object_of({"city": STRING, "country": COUNTRY}),
    "blob": ANY,
}
SCOPE = Scope(
    {
        "entity": object_of(FIELDS),
        "actor": object_of(
            {"user_id": STRING, "roles": list_of(STRING), "manager": ref_to("user", {"name": STRING})}
        ),
        "context": ANY,
    }
)


def codes(text: str) -> list[str]:
    return [error.code for error in check(parse(text), SCOPE)[1]]


GOOD = [
    "entity.grand_total > 10000 && actor.roles contains 'finance_manager'",
    "entity.title == 'x' || entity.title < entity.note",
    "entity.urgent && !entity.paid && entity.urgent == true",
    "entity.due < now && entity.due >= '2026-01-31' && entity.signed_at > '2026-01-31'",
    "entity.due < '2026-01-31T12:00:00Z' && entity.signed_at == '2026-01-31T12:00:00.000001Z'",
    "'2026-01-31' in entity.dates && entity.dates == ['2026-01-31']",
    "entity.status == 'draft' && entity.status in ['draft', null] && entity.status == entity.stage",
    "entity.status in entity.statuses && entity.statuses contains 'active' && entity.statuses == ['draft']",
    "entity.customer == 'c1' && entity.customer in ['c1', 'c2'] && entity.customer != entity.payer",
    "entity.customer == entity.title && entity.status == entity.title",
    "entity.customer.credit_available > 5 && entity.customer.address.city == 'Bonn'",
    "entity.customer.country == entity.country && entity.country.name == 'Chad'",
    "entity.title contains 'x' && entity.title contains entity.status && entity.title contains entity.blob",
    "entity.blob && context.x > 5 && vars.y.z contains 1 && entity.blob.x in context.list && context.a < now",
    "entity.address == null && null != entity.tags && null in entity.tags && entity.numbers contains 5",
    "entity.address == entity.address && entity.tags == entity.tags && entity.matrix contains [1]",
    "[] == entity.tags && [1] contains 1 && 1 in [] && ['a'] == ['b']",
    "entity.matrix contains entity.numbers",
    "1 == 1 && 'a' < 'b' && entity.urgent == (entity.count == 1) && null == null",
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_right(text: str) -> None:
    assert check_condition(parse(text), SCOPE) == ()


BAD = [
    # The text, then (code, the words it points at, suggestion) in the order found.
    ("entity.grand_totl > 5", [("UNKNOWN_FIELD", "grand_totl", "grand_total")]),
    ("entity.zzz == 1", [("UNKNOWN_FIELD", "zzz", None)]),
    ("entity.customer.credit == 1", [("UNKNOWN_FIELD", "credit", None)]),
    ("entity.address.cty.x == 1", [("UNKNOWN_FIELD", "cty", "city")]),
    ("item.x == 1", [("NAMESPACE_ABSENT", "item", None)]),
    ("payload == 1", [("NAMESPACE_ABSENT", "payload", None)]),
    ("now.year == 1", [("NO_FIELDS", "year", None)]),
    ("entity.tags.length == 1", [("NO_FIELDS", "length", None)]),
    ("entity.customer.country.name == 'x'", [("REF_TWO_HOPS", "name", None)]),
    ("entity.address.country.name == 'x'", [("REF_NOT_FOLLOWED", "name", None)]),
    ("actor.manager.name == 'x'", [("REF_NOT_FOLLOWED", "name", None)]),
    ("entity.title == 5", [("TYPES_DIFFER", "5", None)]),
    ("entity.urgent == 1", [("TYPES_DIFFER", "1", None)]),
    ("entity.title != entity.due", [("TYPES_DIFFER", "entity.due", None)]),
    ("entity.customer == entity.country", [("TYPES_DIFFER", "entity.country", None)]),
    ("entity.status == entity.customer", [("TYPES_DIFFER", "entity.customer", None)]),
    ("entity.tags == entity.numbers", [("TYPES_DIFFER", "entity.numbers", None)]),
    ("entity.tags == 'a'", [("TYPES_DIFFER", "'a'", None)]),
    ("entity.title > 5", [("TYPES_DIFFER", "5", None)]),
    ("entity.title < entity.due", [("TYPES_DIFFER", "entity.due", None)]),
    ("entity.due == entity.signed_at", [("DATE_EQUALS_TIMESTAMP", "entity.signed_at", None)]),
    ("entity.due == '2026-01-31T12:00:00Z'", [("DATE_EQUALS_TIMESTAMP", "'2026-01-31T12:00:00Z'", None)]),
    ("entity.due > '2026-02-30'", [("NOT_A_DATE", "'2026-02-30'", None)]),
    ("entity.due == 'soon'", [("NOT_A_DATE", "'soon'", None)]),
    ("entity.signed_at < '2026-01-31T12:00:00+01:00'", [("NOT_A_DATE", "'2026-01-31T12:00:00+01:00'", None)]),
    ("'2026-01-31T25:00:00Z' < now", [("NOT_A_DATE", "'2026-01-31T25:00:00Z'", None)]),
    ("entity.dates contains 'x'", [("NOT_A_DATE", "'x'", None)]),
    ("entity.dates == ['x', 5]", [("NOT_A_DATE", "'x'", None), ("TYPES_DIFFER", "entity.dates", None)]),
    ("entity.status == 'drafft'", [("NOT_ENUM_VALUE", "'drafft'", "draft")]),
    (
        "entity.status in ['active', 'zzz', 5]",
        [("NOT_ENUM_VALUE", "'zzz'", None), ("TYPES_DIFFER", "5", None)],
    ),
    ("'drft' in entity.statuses", [("NOT_ENUM_VALUE", "'drft'", "draft")]),
    ("entity.status == entity.color", [("ENUMS_DISJOINT", "entity.color", None)]),
    ("entity.color in entity.statuses", [("NEVER_A_MEMBER", "entity.color", None)]),
    ("entity.count in entity.tags", [("NEVER_A_MEMBER", "entity.count", None)]),
    ("entity.numbers contains 'x'", [("NEVER_A_MEMBER", "'x'", None)]),
    ("entity.urgent > 1", [("NOT_ORDERED", "entity.urgent", None)]),
    (
        "entity.tags < entity.address",
        [("NOT_ORDERED", "entity.tags", None), ("NOT_ORDERED", "entity.address", None)],
    ),
    ("entity.status < 'draft'", [("NOT_ORDERED", "entity.status", None)]),
    ("entity.customer >= 'a'", [("NOT_ORDERED", "entity.customer", None)]),
    ("entity.count > null", [("NULL_ORDERED", "entity.count > null", None)]),
    ("entity.count && entity.urgent", [("NOT_BOOL", "entity.count", None)]),
    ("!entity.title || null", [("NOT_BOOL", "entity.title", None), ("NOT_BOOL", "null", None)]),
    ("'a' in entity.title", [("LIST_EXPECTED", "entity.title", "contains")]),
    ("1 in entity.count", [("LIST_EXPECTED", "entity.count", None)]),
    ("1 in null", [("LIST_EXPECTED", "null", None)]),
    ("entity.count contains 1", [("CONTAINER_EXPECTED", "entity.count", None)]),
    ("entity.status contains 'd'", [("CONTAINER_EXPECTED", "entity.status", None)]),
    ("entity.title contains 5", [("TYPES_DIFFER", "5", None)]),
    ("entity.title contains null", [("TYPES_DIFFER", "null", None)]),
    (
        "entity.grand_totl > 5 && entity.tittle == 5 || entity.count == 'x'",
        [
            ("UNKNOWN_FIELD", "grand_totl", "grand_total"),
            ("UNKNOWN_FIELD", "tittle", "title"),
            ("TYPES_DIFFER", "'x'", None),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_what_is_wrong(text: str, expected: list[tuple[str, str, str | None]]) -> None:
    _, errors = check(parse(text), SCOPE)
    found = [(m.code, text[m.position : m.position + m.length], m.suggestion) for m in errors]
    assert found == expected


def test_the_sentence() -> None:
    error = check(parse("entity.grand_totl > 5"), SCOPE)[1][0]
    assert error.message == "unknown field `grand_totl` of `entity`; did you mean `grand_total`?"
    assert error.parameters == {"field": "grand_totl", "owner": "entity", "known": ""}


def test_an_alias_does_not_shift_the_place() -> None:
    scope = Scope({"context": object_of({"count": INT, "inner": object_of({})})})
    text = "vars.inner.cuont == 1 || vars.cuont == 1 || vars.a.b == 1"
    found = [text[m.position : m.position + m.length] for m in check(parse(text), scope)[1]]
    assert found == ["cuont", "cuont", "a"]
    absent = check(parse("1 == vars.x"), Scope({}))[1][0]
    assert (absent.code, absent.position, absent.length) == ("NAMESPACE_ABSENT", 5, 4)


def test_without_positions() -> None:
    stored = expression_from_json({"==": [{"name": "entity.address.zzz"}, {"name": "item.x"}]})
    assert [(m.position, m.length) for m in check(stored, SCOPE)[1]] == [(0, 0), (0, 0)]


RESULTS = [
    ("entity.grand_total", INT),
    ("entity.customer.address.city", STRING),
    ("context.x.y", ANY),
    ("entity.unknown", ANY),
    ("'x'", STRING),
    ("5", INT),
    ("null", NULL),
    ("true", BOOL),
    ("['a', 'b']", list_of(STRING)),
    ("['a', 1]", list_of(ANY)),
    ("[]", list_of(ANY)),
    ("!true", BOOL),
    ("true && true", BOOL),
    ("1 == 2", BOOL),
    ("now", TIMESTAMP),
]


@pytest.mark.parametrize(("text", "expected"), RESULTS)
def test_result_types(text: str, expected: Type) -> None:
    assert check(parse(text), SCOPE)[0] == expected


def test_a_condition_is_a_bool() -> None:
    assert [m.code for m in check_condition(parse("entity.count"), SCOPE)] == ["CONDITION_NOT_BOOL"]
    assert [m.code for m in check_condition(parse("entity.zzz"), SCOPE)] == ["UNKNOWN_FIELD"]
    assert check_condition(parse("context.x"), SCOPE) == ()


# The whole table of comparable pairs. Everything may be compared with null and any.
COMPARED = ["title", "count", "urgent", "due", "signed_at", "status", "customer", "tags", "address", "blob"]
EQUAL = {
    ("title", "status"),
    ("title", "customer"),
    *((name, name) for name in COMPARED),
    *((n, "blob") for n in COMPARED),
}
ORDERED = {(name, name) for name in ("title", "count", "due", "signed_at", "blob")} | {("due", "signed_at")}
ORDERED |= {(name, "blob") for name in ("title", "count", "due", "signed_at")}


@pytest.mark.parametrize(("a", "b"), [*itertools.product(COMPARED, COMPARED)])
def test_pairs_of_types(a: str, b: str) -> None:
    for operator in ("==", "!="):
        assert (codes(f"entity.{a} {operator} entity.{b}") == []) is bool({(a, b), (b, a)} & EQUAL)
    for operator in (">", ">=", "<", "<="):
        assert (codes(f"entity.{a} {operator} entity.{b}") == []) is bool({(a, b), (b, a)} & ORDERED)


@pytest.mark.parametrize("name", COMPARED)
def test_null_may_be_compared_with_everything(name: str) -> None:
    assert codes(f"entity.{name} == null || null != entity.{name}") == []
    assert codes(f"entity.{name} < null") == ["NULL_ORDERED"]


@QUICK
@given(expressions)
def test_the_check_never_raises(expression: Expression) -> None:
    for scope in (
        SCOPE,
        Scope({}),
        Scope({"entity": object_of({"a": INT, "ref": CUSTOMER}), "payload": NULL}),
    ):
        found, errors = check(expression, scope)
        assert isinstance(found, Type) and all(error.message for error in errors)


def test_followed_fields() -> None:
    text = "entity.customer.credit_available > 5 && entity.payer == 'x' && entity.country.name == 'y'"
    assert list_followed_fields(parse(text), SCOPE) == {("customer", "credit_available"), ("country", "name")}
    more = parse("entity.address.city == 'x' && entity.customer.zzz == 1 && context.a.b")
    assert list_followed_fields(more, SCOPE) == frozenset()


def test_a_scope_knows_its_namespaces() -> None:
    assert set(Scope({}).names) == {"now"}
    with pytest.raises(ValueError, match="not a namespace of expressions: vars"):
        Scope({"vars": ANY})


def test_types_as_text() -> None:
    assert [str(t) for t in (ANY, list_of(list_of(INT)), CUSTOMER, object_of({}))] == [
        "any",
        "list of list of int",
        "ref to customer",
        "object",
    ]
    assert str(enum_of("a", "b")) == "enum of a, b"
    assert str(enum_of(*"abcdefghi")) == "enum of a, b, c, d, e, f, g, h, …"
    assert hash(CUSTOMER) == hash(ref_to("customer", {})) and ref_to("customer", {}) != CUSTOMER
    assert CUSTOMER.kind is TypeKind.REF


def test_listed_names_are_those_that_check() -> None:
    listed = list_names(SCOPE)
    assert all(codes(f"{name} == null") == [] for name in listed)
    assert list(listed)[:3] == ["entity", "entity.title", "entity.note"]
    assert listed["entity.customer.credit_available"] == "int"
    assert listed["entity.customer.address.city"] == "string"
    assert listed["entity.customer.country"] == "ref to country"
    assert listed["now"] == "timestamp" and listed["context"] == "any"
    assert not {"entity.customer.country.name", "entity.address.country.name", "actor.manager.name"} & set(
        listed
    )


def test_listed_names_are_bounded() -> None:
    nested = object_of({})
    for _ in range(9):
        nested = object_of({"in": nested})
    assert list(list_names(Scope({"payload": nested})))[-1] == "payload.in.in.in.in"
    wide = Scope({"payload": object_of({f"f{n}": INT for n in range(MAX_LISTED_NAMES + 5)})})
    assert len(list_names(wide)) == MAX_LISTED_NAMES
