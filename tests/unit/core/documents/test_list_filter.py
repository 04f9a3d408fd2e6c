"""Filters and orders of lists: their columns, and the words of a refusal."""

from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.documents.list_filter import Sort, Term, parse_filter, parse_sort, place_fields
from signet.core.errors import Rejected
from signet.core.validation.strict_model import parse_strictly


def make_contract(**fields: dict[str, Any]) -> Contract:
    document = {
        "contract": "parcel",
        "fields": {
            "code": {"type": "string", "indexed": True},
            "kind": {"type": "enum", "values": ["box", "letter"], "indexed": True},
            "weight": {"type": "int", "indexed": True},
            "price": {"type": "decimal", "scale": 2, "indexed": True},
            "fragile": {"type": "bool", "indexed": True},
            "sent_on": {"type": "date", "indexed": True},
            "seen_at": {"type": "timestamp", "indexed": True},
            "sender": {"type": "ref", "entity_type": "person", "reads": {"name": {"type": "string"}}},
            "note": {"type": "string"},
            "tags": {"type": "list", "of": {"type": "string"}},
            **fields,
        },
        "states": {"new": {"edit": "editable", "initial": True}, "sent": {"edit": "locked", "final": True}},
    }
    contract, findings = parse_strictly(Contract, document)
    assert contract is not None, findings
    return contract


PARCEL = make_contract()
DAY = datetime(2026, 3, 1, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("entity.code == 'a'", [Term("code", "==", "a")]),
        ("'a' <= entity.code", [Term("code", ">=", "a")]),
        ("entity.kind in ['box']", [Term("kind", "in", ("box",))]),
        ("['box'] contains entity.kind", [Term("kind", "in", ("box",))]),
        ("entity.fragile == true", [Term("fragile", "==", 1)]),
        (
            "entity.weight > -1 && (entity.price < 5 && entity.code == 'a')",
            [Term("weight", ">", -1), Term("price", "<", 5), Term("code", "==", "a")],
        ),
        ("entity.weight == null", [Term("weight", "null")]),
        ("null != entity.weight", [Term("weight", "not null")]),
        ("entity.status == 'sent'", [Term("status", "==", "sent")]),
        ("entity.sent_on == '2026-03-01'", [Term("sent_on", "==", DAY)]),
        ("entity.sent_on < '2026-03-01'", [Term("sent_on", "<", DAY)]),
        ("entity.seen_at < '2026-03-01T12:00:00Z'", [Term("seen_at", "<", NOON)]),
        # A day sorts before each of its moments.
        ("entity.sent_on < '2026-03-01T12:00:00Z'", [Term("sent_on", "<=", NOON)]),
        ("entity.sent_on >= '2026-03-01T12:00:00Z'", [Term("sent_on", ">", NOON)]),
        ("entity.seen_at <= '2026-03-01'", [Term("seen_at", "<", DAY)]),
        ("entity.created_at > '2026-03-01'", [Term("created_at", ">=", DAY)]),
    ],
)
def test_a_filter_is_its_terms(text: str, terms: list[Term]) -> None:
    assert parse_filter(text, PARCEL) == tuple(terms)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("entity.weight >", "FILTER_INVALID", "missing"),
        ("entity.weight > 'a'", "FILTER_INVALID", "type"),
        ("entity.wieght > 1", "FILTER_INVALID", "weight"),
        ("entity.fragile", "FILTER_INVALID", "`entity.fragile`"),
        ("entity.weight > 1 || entity.price > 1", "FILTER_INVALID", "||"),
        ("entity.weight != 1", "FILTER_INVALID", "!="),
        ("entity.code contains 'a'", "FILTER_INVALID", "contains"),
        ("'a' contains entity.code", "FILTER_INVALID", "contains"),
        ("entity.code == entity.note", "FILTER_INVALID", "entity.note"),
        ("1 == 1", "FILTER_INVALID", "1 == 1"),
        ("entity.kind in ['box', null]", "FILTER_INVALID", "null"),
        ("entity.note == 'a'", "FIELD_NOT_INDEXED", "entity.note"),
        ("'a' in entity.tags", "FIELD_NOT_INDEXED", "entity.tags"),
        ("entity.sender.name == 'a'", "FIELD_NOT_INDEXED", "entity.sender.name"),
    ],
)
def test_what_no_index_answers_is_refused(text: str, code: str, said: str) -> None:
    with pytest.raises(Rejected) as refused:
        parse_filter(text, PARCEL)
    assert refused.value.code == code
    assert said in refused.value.message
    assert refused.value.remedy
    assert (refused.value.fields[0].within, refused.value.fields[0].name) == ("query", "filter")


def test_a_list_is_sorted_by_what_is_indexed() -> None:
    assert parse_sort("-created_at", PARCEL) == Sort("created_at", "time", is_descending=True)
    assert parse_sort("weight", PARCEL) == Sort("weight", "number", is_descending=False)
    assert parse_sort("-kind", PARCEL) == Sort("kind", "text", is_descending=True)
    with pytest.raises(Rejected, match="note") as refused:
        parse_sort("note", PARCEL)
    assert "created_at, code" in refused.value.remedy
    with pytest.raises(Rejected):
        parse_sort("status", PARCEL)


def test_each_version_of_a_contract_keeps_fields_in_columns_of_its_own() -> None:
    earlier = make_contract(alpha={"type": "string", "indexed": True})
    assert place_fields(["code", "status", "created_at"], PARCEL, PARCEL) == {
        "code": "t1",
        "status": "status",
        "created_at": "created_at",
    }
    assert place_fields(["code"], earlier, PARCEL) == {"code": "t2"}
    assert place_fields(["weight"], make_contract(weight={"type": "int"}), PARCEL) is None
    # With another scale the same digits are other amounts.
    other_scale = make_contract(price={"type": "decimal", "scale": 3, "indexed": True})
    assert place_fields(["price"], other_scale, PARCEL) is None
    other_type = make_contract(code={"type": "enum", "values": ["a"], "indexed": True})
    assert place_fields(["code"], other_type, PARCEL) is None
