"""Pins of an approval: their values, their authors and their hash."""

from signet.core.approvals.pins import (
    Pins,
    hash_likeness,
    hash_pins,
    inherit_pins,
    list_changed_variables,
    list_pinned_persons,
    point_refs,
    read_as_approved,
    read_pinned,
)
from signet.core.approvals.unpinned_reads import list_pointed_behind
from signet.core.contracts.compiled_contract import CompiledContract
from tests.support.core.small_workflows import CONTRACT, make_contract

PINS: Pins = {
    "vendor": {
        "document_id": "1",
        "version": 3,
        "values": {"iban": "DE-GOOD"},
        "responsible": ["ann", "ben"],
    },
    "buyer": {"document_id": "2", "version": 1, "values": {"limit": 5}},
    "agent": {"document_id": "3", "version": None, "values": {}, "responsible": []},
}
DATA = {"vendor": "1", "buyer": "2", "agent": "3"}


def test_values_are_read_by_ref() -> None:
    assert read_pinned(PINS) == {"vendor": {"iban": "DE-GOOD"}, "buyer": {"limit": 5}}


def test_what_was_approved_goes_before_what_is_there_now() -> None:
    current = {"vendor": {"iban": "DE-EVIL", "city": "Bonn"}, "carrier": {"name": "Ada"}}
    assert read_as_approved(PINS, DATA, current) == {
        "vendor": {"iban": "DE-GOOD", "city": "Bonn"},
        "buyer": {"limit": 5},
        "carrier": {"name": "Ada"},
    }


def test_a_document_that_was_not_there_stays_away() -> None:
    assert "agent" not in read_as_approved(PINS, DATA, {"agent": {"iban": "DE-EVIL"}})


def test_a_ref_that_leads_elsewhere_is_read_as_it_is() -> None:
    current = {"agent": {"iban": "DE-OTHER"}}
    assert read_as_approved(PINS, {**DATA, "agent": "4"}, current)["agent"] == {"iban": "DE-OTHER"}


def test_everybody_who_changed_a_pinned_field_is_named() -> None:
    assert list_pinned_persons(PINS) == {"ann", "ben"}
    assert list_pinned_persons({}) == frozenset()


def test_the_hash_is_of_the_content_in_any_order() -> None:
    assert hash_pins(PINS) == hash_pins(dict(reversed(list(PINS.items()))))
    assert hash_pins(PINS) != hash_pins({**PINS, "vendor": {**PINS["vendor"], "values": {"iban": "DE-EVIL"}}})


def test_the_hash_holds_the_variables() -> None:
    assert hash_pins(PINS, {}) == hash_pins(PINS), "a request without any has the hash of before"
    assert len({hash_pins(PINS), hash_pins(PINS, {"sum": 1}), hash_pins(PINS, {"sum": 2})}) == 3


def test_a_copy_under_another_number_is_alike() -> None:
    data = {"number": "R-1", "amount": 7}
    assert hash_likeness("bill", data, ("number",)) == hash_likeness(
        "bill", {**data, "number": "R-2"}, ("number",)
    )
    assert hash_likeness("bill", data, ("number",)) != hash_likeness(
        "bill", {**data, "amount": 8}, ("number",)
    )
    assert hash_likeness("bill", data, ()) is None, "nothing tells one from another"


def test_a_variable_changes_by_its_value_and_not_by_its_place() -> None:
    pinned = {"sum": 400, "list": [1, {"a": None}]}
    assert not list_changed_variables(pinned, ("sum", "list"), {**pinned, "more": 1})
    assert list_changed_variables(pinned, (), {**pinned, "sum": 40_000}) == {"sum"}
    assert list_changed_variables({"sum": None}, (), {}) == {"sum"}


def test_a_request_of_an_older_release_has_shown_no_variable() -> None:
    assert list_changed_variables(None, ("sum", "other"), {"sum": 1, "more": 1}) == {"sum"}
    assert not list_changed_variables(None, (), {"sum": 1})


def test_a_new_document_takes_the_pins_of_the_documents_that_it_names() -> None:
    ref = {"type": "ref", "entity_type": "vendor", "reads": {"iban": {"type": "string"}}}
    fields = {
        "payee": ref,
        "other": ref,
        "note": {"type": "string"},
        "buyer": {**ref, "entity_type": "buyer"},
    }
    contract = CompiledContract(make_contract(fields={**CONTRACT["fields"], **fields}), "0" * 64)
    pin = {"entity_type": "vendor", "document_id": "1", "version": 3}
    pins: Pins = {
        "vendor": {**pin, "values": {"iban": "DE-GOOD"}, "responsible": ["ann"], "approval": "9"},
        "carrier": {**pin, "values": {"city": "Bonn"}, "responsible": ["ben"]},
    }
    joined = {**pin, "values": {"iban": "DE-GOOD", "city": "Bonn"}, "responsible": ["ann", "ben"]}
    data = {"payee": "1", "other": "2", "note": "1", "buyer": "1"}
    assert inherit_pins(pins, "0", contract, data) == {
        "payee": {**joined, "approval": "9", "inherited_from": "0"}
    }
    assert inherit_pins({}, "0", contract, data) == {}


def with_refs(*names: str) -> CompiledContract:
    ref = {"type": "ref", "entity_type": "vendor", "reads": {"iban": {"type": "string"}}}
    fields = {**CONTRACT["fields"], **dict.fromkeys(names, ref)}
    return CompiledContract(make_contract(fields=fields), "0" * 64)


def pinned(version: int | None = 3, **values: str) -> dict[str, object]:
    about = {"document_id": "1", "entity_type": "vendor", "version": version, "responsible": ["ann"]}
    return {**about, "values": values}


def test_a_ref_that_a_step_points_to_a_pinned_document_has_its_pin() -> None:
    contract = with_refs("vendor", "target")
    pins = {"vendor": pinned(iban="DE-GOOD")}
    pointed = point_refs(pins, contract, {"vendor": "1"}, {"vendor": "1", "target": "1"})
    assert pointed["target"] == {**pinned(iban="DE-GOOD"), "pointed_behind_gate": True}
    assert pointed["vendor"] == pins["vendor"]


def test_a_ref_that_a_step_points_elsewhere_holds_nothing() -> None:
    contract = with_refs("vendor", "target")
    pins = {"target": {**pinned(iban="DE-GOOD"), "inherited_from": "0"}}
    pointed = point_refs(pins, contract, {"target": "1"}, {"target": "2"})
    held = pointed["target"]
    assert (held["document_id"], held["values"], held["inherited_from"]) == ("2", {}, "0")
    assert list_pointed_behind(pointed, {"target": "2"}, [("target", "iban"), ("vendor", "iban")]) == {
        ("target", "iban")
    }
    assert list_pointed_behind(pointed, {"target": "1"}, [("target", "iban")]) == frozenset()
    assert read_as_approved(pointed, {"target": "2"}, {"target": {"iban": "NOW"}})["target"] == {
        "iban": "NOW"
    }


def test_a_ref_that_a_step_points_to_a_document_that_was_not_there_leads_nowhere() -> None:
    contract = with_refs("vendor", "target")
    pins = {"vendor": pinned(version=None)}
    pointed = point_refs(pins, contract, {"vendor": "1"}, {"vendor": "1", "target": "1"})
    assert read_as_approved(pointed, {"target": "1"}, {"target": {"iban": "NOW"}}) == {}


def test_a_ref_that_a_step_empties_has_no_pin() -> None:
    contract = with_refs("vendor")
    assert point_refs({"vendor": pinned()}, contract, {"vendor": "1"}, {}) == {}
    assert point_refs({"vendor": pinned()}, contract, {"vendor": "1"}, {"vendor": "1"}) == {
        "vendor": pinned()
    }
