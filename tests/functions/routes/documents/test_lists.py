"""Lists of documents: the meaning of filters, the order, and pages that neither repeat nor omit."""

from itertools import product
from typing import Any

import psycopg
import pytest

from signet.api.http import cursors
from signet.api.http.cursors import write_cursor
from signet.authoring.files import read_document
from signet.core.expressions import compile_expression, parse_expression
from signet.core.expressions.errors import ExpressionError
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import EXAMPLES, INVOICE, Company, make_company
from tests.support.database.unguarded import execute_unguarded
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]


def find(client: Client, **query: Any) -> ClientAnswer:
    return client.get("/v1/documents", query={"entity_type": "invoice", **query})


def numbers_of(answered: ClientAnswer) -> list[str]:
    assert answered.status == 200, answered.text
    return [item["data"]["number"] for item in answered.body["items"]]


def make(client: Client, number: str, **data: Any) -> str:
    made = client.post(
        "/v1/documents", {"entity_type": "invoice", "data": {**INVOICE, "number": number, **data}}
    )
    assert made.status == 201, made.text
    return str(made.body["document_id"])


@pytest.fixture
def invoices(client: Client) -> Client:
    rows: list[tuple[str, int, str | None, str | None]] = [
        ("R-1", 100, "2026-05-01", "C-1"),
        ("R-2", 300, None, "C-2"),
        ("R-10", 200, "2026-04-01", None),
        ("r-3", 200, "2026-05-01", "Ä"),
        ("R-4", 0, None, "C-1"),
    ]
    for number, total, due, center in rows:
        make(client, number, grand_total=total, due_date=due, cost_center=center)
    return client


def test_the_newest_come_first(invoices: Client) -> None:
    assert numbers_of(find(invoices)) == ["R-4", "r-3", "R-10", "R-2", "R-1"]
    assert numbers_of(find(invoices, sort="created_at")) == ["R-1", "R-2", "R-10", "r-3", "R-4"]


def test_a_list_shows_documents_as_one_is_shown(client: Client) -> None:
    document_id = make(client, "R-1", vendor_contact="Erna Example")
    (item,) = find(client).body["items"]
    shown = client.get(f"/v1/documents/{document_id}").body
    line = {name: shown.pop(name) for name in ("amendment_open", "amended_by", "current_id")}
    assert [shown.pop(name) for name in ("unfinished", "references", "failed_calls")] == [[], [], []]
    assert item == shown and line == {"amendment_open": None, "amended_by": None, "current_id": document_id}
    assert item["data"]["vendor_contact"] == "Erna Example"


FILTERS = [
    "entity.number == 'R-1'",
    "'R-1' == entity.number",
    "entity.number >= 'R-1' && entity.number < 'R-3'",
    "entity.number in ['R-1', 'r-3', 'x']",
    "['R-1', 'r-3'] contains entity.number",
    "entity.number in []",
    "entity.grand_total > 100",
    "entity.grand_total >= 200 && entity.grand_total <= 300 && entity.status == 'draft'",
    "200 < entity.grand_total",
    "200 >= entity.grand_total",
    "entity.grand_total in [0, 300]",
    "entity.due_date == '2026-05-01'",
    "entity.due_date < '2026-05-01'",
    "entity.due_date < '2026-05-01T00:00:00Z'",
    "entity.due_date <= '2026-05-01T00:00:00Z'",
    "entity.due_date > '2026-05-01T00:00:00Z'",
    "entity.due_date >= '2026-04-30T23:59:59Z'",
    "entity.due_date in ['2026-05-01']",
    "entity.due_date == null",
    "entity.due_date != null",
    "entity.cost_center >= 'C-1'",
    "entity.cost_center > 'C-1'",
    "entity.cost_center <= 'C-1'",
    "entity.cost_center == null && entity.grand_total == 200",
    "entity.status == 'submitted'",
    "entity.status in ['draft', 'active']",
    "entity.created_at > '2020-01-01'",
    "entity.created_at <= '2020-01-01'",
    "entity.created_at >= '2020-01-01T00:00:00Z'",
]


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter_finds_what_the_expression_holds_for(invoices: Client, text: str) -> None:
    expression = parse_expression(text)
    assert not isinstance(expression, ExpressionError)
    holds = compile_expression(expression).value
    expected = []
    for item in find(invoices).body["items"]:
        moments = {"created_at": item["created_at"].replace("+00:00", "Z")}
        if holds({"entity": {**item["data"], **moments, "status": item["status"]}}):
            expected.append(item["data"]["number"])
    assert numbers_of(find(invoices, filter=text)) == expected


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("grand_total", ["R-4", "R-1", "R-10", "r-3", "R-2"]),
        ("-grand_total", ["R-2", "r-3", "R-10", "R-1", "R-4"]),
        ("due_date", ["R-10", "R-1", "r-3", "R-2", "R-4"]),
        ("-due_date", ["r-3", "R-1", "R-10", "R-4", "R-2"]),
        ("number", ["R-1", "R-10", "R-2", "R-4", "r-3"]),
        ("-cost_center", ["r-3", "R-2", "R-4", "R-1", "R-10"]),
        ("cost_center", ["R-1", "R-4", "R-2", "r-3", "R-10"]),
    ],
)
def test_a_list_is_sorted_and_paged(invoices: Client, sort: str, expected: list[str]) -> None:
    assert numbers_of(find(invoices, sort=sort)) == expected
    for limit in (1, 2, 3):
        assert list_by_pages(invoices, limit, sort=sort) == expected


def list_by_pages(client: Client, limit: int, **query: Any) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = find(client, limit=limit, **query, **cursor)
        found += numbers_of(page)
        assert len(page.body["items"]) <= limit
        if page.body["next_cursor"] is None:
            return found
        cursor = {"cursor": page.body["next_cursor"]}


def test_a_filter_on_what_is_sorted_by_leaves_out_what_has_no_value(invoices: Client) -> None:
    text = "entity.due_date >= '2026-01-01'"
    assert list_by_pages(invoices, 1, sort="due_date", filter=text) == ["R-10", "R-1", "r-3"]
    assert list_by_pages(invoices, 1, sort="due_date", filter="entity.due_date == null") == ["R-2", "R-4"]


def test_a_status_is_a_filter_of_its_own(invoices: Client, admin: Admin) -> None:
    execute_unguarded(admin, "UPDATE documents SET status = 'submitted' WHERE t2 IN ('R-1', 'R-2')")
    assert numbers_of(find(invoices, status="submitted")) == ["R-2", "R-1"]
    assert numbers_of(find(invoices, status="submitted", filter="entity.grand_total > 100")) == ["R-2"]
    # A status that the newest contract no longer has is accepted, too.
    assert numbers_of(find(invoices, status="archived")) == []


def test_what_is_deleted_is_in_no_list(invoices: Client) -> None:
    (item,) = find(invoices, filter="entity.number == 'R-1'").body["items"]
    invoices.delete(f"/v1/documents/{item['id']}", if_match='"1"')
    assert numbers_of(find(invoices, sort="number")) == ["R-10", "R-2", "R-4", "r-3"]


def test_documents_of_an_older_contract_are_found_by_its_columns(invoices: Client, company: Company) -> None:
    """Add an indexed field that sorts first by name, which moves the others to other columns."""
    publish_next(company, batch={"type": "string", "indexed": True, "max_length": 10}, vendor_id={})
    make(invoices, "R-5", grand_total=250, batch="b", cost_center="C-0")
    make(invoices, "R-6", grand_total=150, batch="a", cost_center="C-3")
    assert numbers_of(find(invoices, filter="entity.cost_center == 'C-1'")) == ["R-4", "R-1"]
    assert numbers_of(find(invoices, filter="entity.cost_center >= 'C-2'", sort="cost_center")) == [
        "R-2",
        "R-6",
        "r-3",
    ]
    for limit, sort in product((1, 2, 7), ("cost_center", "-cost_center")):
        expected = ["R-5", "R-1", "R-4", "R-2", "R-6", "r-3"]
        pages = list_by_pages(invoices, limit, sort=sort)
        assert [one for one in pages if one != "R-10"] == (
            expected if sort == "cost_center" else ["r-3", "R-6", "R-2", "R-4", "R-1", "R-5"]
        )
        assert pages[-1] == "R-10"
    # Older documents have no value in it.
    assert numbers_of(find(invoices, filter="entity.batch >= 'a'")) == ["R-6", "R-5"]
    assert list_by_pages(invoices, 2, sort="batch") == ["R-6", "R-5", "R-1", "R-2", "R-10", "r-3", "R-4"]


def publish_next(company: Company, **fields: dict[str, Any]) -> None:
    """Publish version 2 of the contract, with these fields changed."""
    document, _ = read_document(EXAMPLES / "invoice" / "contract.yaml")
    own = document["fields"]
    for name, changes in fields.items():
        own[name] = {**own.get(name, {}), **changes}
    own["vendor_id"]["indexed"] = False
    company.publish("invoice", version=2, fields=own)


REFUSED = [
    ("entity.grand_total >", "FILTER_INVALID"),
    ("entity.grand_total > 'much'", "FILTER_INVALID"),
    ("entity.grandtotal > 5", "FILTER_INVALID"),
    ("actor.user_id == 'carl'", "FILTER_INVALID"),
    ("entity.status == 'sold'", "FILTER_INVALID"),
    ("entity.due_date > 'soon'", "FILTER_INVALID"),
    ("entity.number == 'R-1' || entity.number == 'R-2'", "FILTER_INVALID"),
    ("!(entity.number == 'R-1')", "FILTER_INVALID"),
    ("entity.number contains 'R'", "FILTER_INVALID"),
    ("entity.number != 'R-1'", "FILTER_INVALID"),
    ("entity.number == entity.vendor_id", "FILTER_INVALID"),
    ("entity.number in ['R-1', null]", "FILTER_INVALID"),
    ("1 == 1", "FILTER_INVALID"),
    ("true", "FILTER_INVALID"),
    ("entity.tax_total > 5", "FIELD_NOT_INDEXED"),
    ("entity.updated_at > '2026-01-01'", "FIELD_NOT_INDEXED"),
    ("entity.creator == 'carl'", "FIELD_NOT_INDEXED"),
    ("entity.number == '\x00'", "FILTER_INVALID"),
    ("entity.number == 'a'; DROP TABLE documents", "FILTER_INVALID"),
    (" ", "FILTER_INVALID"),
    ("x" * 501, "REQUEST_MALFORMED"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_no_index_answers_is_refused(client: Client, text: str, code: str) -> None:
    refused = find(client, filter=text)
    assert (refused.status, refused.code) == (400, code)
    assert refused.places[0] == "query filter"
    assert code == "REQUEST_MALFORMED" or refused.body["remedy"]


def test_what_is_not_indexed_is_named_with_what_is(client: Client) -> None:
    refused = find(client, filter="entity.tax_total > 5")
    assert "entity.tax_total" in refused.body["detail"]
    assert "cost_center" in refused.body["remedy"]


@pytest.mark.parametrize(("sort", "code"), [("tax_total", "FIELD_NOT_INDEXED"), ("a b", "REQUEST_MALFORMED")])
def test_what_cannot_be_sorted_by_is_refused(client: Client, sort: str, code: str) -> None:
    refused = find(client, sort=sort)
    assert (refused.status, refused.code) == (400, code)
    assert refused.places[0] == "query sort"


def test_a_type_wants_a_permission_and_a_contract(client: Client) -> None:
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    assert (find(clerk).status, find(clerk).code) == (403, "PERMISSION_DENIED")
    assert find(Client(client.application, client.tenant_id, "rita", ("reader",))).status == 200
    ghost = client.get("/v1/documents", query={"entity_type": "ghost"})
    assert (ghost.status, ghost.code) == (404, "ENTITY_TYPE_UNKNOWN")
    assert client.get("/v1/documents").places[0] == "query entity_type"


def test_another_tenants_documents_are_in_no_list(invoices: Client, database: Database) -> None:
    other = make_company(database)
    other.publish("invoice")
    assert numbers_of(find(Client(wire(database), other.tenant_id))) == []


def test_a_cursor_is_of_the_list_that_gave_it(invoices: Client) -> None:
    cursor = find(invoices, limit=1).body["next_cursor"]
    for query in ({"sort": "number"}, {"status": "draft"}, {"filter": "entity.grand_total > 5"}):
        assert find(invoices, cursor=cursor, **query).code == "CURSOR_INVALID"
    assert find(invoices, cursor="nonsense").code == "CURSOR_INVALID"
    assert find(invoices, limit=201).places[0] == "query limit"


@pytest.mark.parametrize("value", ["x", "9" * 30, "9" * 5_000, "\x00", "\ud800", 5, True, [], None])
@pytest.mark.parametrize("sort", ["grand_total", "due_date", "number", "created_at"])
def test_a_cursor_that_was_made_up_breaks_nothing(invoices: Client, sort: str, value: Any) -> None:
    filters = {"entity_type": "invoice", "status": None, "filter": None, "sort": sort}
    for place in ((value, "2026-01-01", "x"), (value, "2026-01-01T00:00:00Z", str(invoices.tenant_id))):
        try:
            cursor = write_cursor(place, filters)
        except TypeError:
            continue  # half of a surrogate pair is no JSON
        assert find(invoices, sort=sort, cursor=cursor).status in (200, 400)


def test_a_page_of_large_documents_is_short(invoices: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursors, "MAX_PAGE_BYTES", 1_000)
    page = find(invoices, sort="number")
    assert 1 <= len(page.body["items"]) < 5
    assert list_by_pages(invoices, 5, sort="number") == ["R-1", "R-10", "R-2", "R-4", "r-3"]
    monkeypatch.setattr(cursors, "MAX_PAGE_BYTES", 1)
    assert list_by_pages(invoices, 5, sort="number") == ["R-1", "R-10", "R-2", "R-4", "r-3"]


def test_a_page_may_end_at_the_longest_text(client: Client, company: Company) -> None:
    publish_next(company, cost_center={"max_length": 500})
    for number in range(3):
        make(client, f"R-{number}", cost_center="\U0001f600" * 499 + str(number))
    assert list_by_pages(client, 1, sort="cost_center") == ["R-0", "R-1", "R-2"]
