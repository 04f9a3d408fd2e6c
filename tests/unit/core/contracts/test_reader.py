"""A contract with one thing broken is caught, with the right code, at the right place."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signet.authoring.files import read_document
from signet.core.contracts.reader import RESERVED_CONTRACTS, parse_contract
from signet.core.validation.finding import Severity
from signet.core.validation.messages import TEXTS
from signet.core.validation.messages.weaker_terms import WEAKENING
from tests.support.core.broken_contracts import BROKEN, REMOVE, VALID, change

EXAMPLES = sorted((Path(__file__).resolve().parents[4] / "examples").glob("*/contract.yaml"))


def found_in(document: Any) -> set[tuple[str, str]]:
    return {(finding.code, finding.place) for finding in parse_contract(document)[1]}


def test_the_valid_contract_is_read_as_written() -> None:
    contract, findings = parse_contract(VALID)
    assert findings == ()
    assert contract is not None
    assert contract.initial_state == "draft"
    written = contract.to_json()
    assert written["transitions"]["submit"]["from"] == ["draft"]
    again, findings = parse_contract(written)
    assert (again and again.to_json(), findings) == (written, ())


@pytest.mark.parametrize(
    ("pointer", "value", "code", "place"), BROKEN, ids=[f"{code} {place}" for _, _, code, place in BROKEN]
)
def test_one_thing_broken_is_caught(pointer: str, value: Any, code: str, place: str) -> None:
    contract, findings = parse_contract(change(VALID, pointer, value))
    assert (code, place) in {(finding.code, finding.place) for finding in findings}
    assert (contract is None) == any(finding.severity is Severity.ERROR for finding in findings)


def test_every_code_of_contracts_is_caught_by_a_test_of_this_file() -> None:
    own = {
        code for code in TEXTS if code.startswith(("STATE_", "SETTLED_", "INITIAL_", "FINAL_", "AMENDMENT_"))
    }
    own |= {code for code in TEXTS if code.startswith(("FIELD_", "AUTOMATIC_", "INTERRUPT_", "SLOT_FROM_"))}
    own -= WEAKENING.keys()  # they compare two contracts
    assert own - {code for _, _, code, _ in BROKEN} == {
        "FIELD_INDEX_TOO_MANY",
        "FIELD_TOO_DEEP",
        "STATE_NEVER_ENDS",
    }


def test_a_warning_does_not_hold_the_contract_up() -> None:
    contract, findings = parse_contract(change(VALID, "/conditions/invoice:fly", "true"))
    assert contract is not None
    assert [(finding.code, finding.severity) for finding in findings] == [
        ("CONDITION_NEVER_ASKED", Severity.WARNING)
    ]


def test_all_mistakes_are_reported_at_once() -> None:
    broken = VALID
    for pointer, value, _, _ in BROKEN:
        if pointer in (
            "/slots/loss/from",
            "/states/cancelled/edit",
            "/deletable_in/0",
            "/fields/total/unique",
        ):
            broken = change(broken, pointer, value)
    assert {
        ("SLOT_FROM_UNKNOWN", "/slots/loss/from"),
        ("FINAL_NOT_LOCKED", "/states/cancelled/edit"),
        ("STATE_UNKNOWN", "/deletable_in/0"),
        ("FIELD_UNIQUE_TYPE", "/fields/total/unique"),
    } <= found_in(broken)
    shapes = change(change(VALID, "/states/draft/edit", "open"), "/fields/total/scale", 10)
    assert found_in(shapes) == {
        ("FIELD_INVALID", "/states/draft/edit"),
        ("FIELD_INVALID", "/fields/total/scale"),
    }


def test_a_finding_says_what_and_what_to_do() -> None:
    [finding] = parse_contract(change(VALID, "/slots/loss/from", "draft"))[1]
    assert finding.sentence == "The slot 'loss' begins at 'draft', but its transition does not."
    assert finding.remedy == "Set 'from' to one of: submitted, active."


def test_who_may_not_decide_on_what_nobody_asks_for_is_told_what_there_is() -> None:
    for name in ("aprove", "approve"):
        [finding] = parse_contract(change(VALID, "/separation_of_duties/deciding/0", name))[1]
        assert name in finding.sentence
        assert finding.remedy.endswith(": submit, cancel, renew, write_off.")


def test_a_circle_of_automatic_states_is_named() -> None:
    circle = change(VALID, "/transitions/approve/to", "checked")
    circle = change(circle, "/states/checked", {"edit": "locked"})
    back = {"from": ["checked"], "to": "submitted", "kind": "automatic", "rejected_to": "active"}
    findings = parse_contract(change(circle, "/transitions/recheck", back))[1]
    assert [(f.code, f.place, f.parameters.get("path")) for f in findings] == [
        ("RETURN_NEVER_WAITS", "/states/submitted", "submitted → checked → submitted")
    ]


def test_states_that_only_lead_to_each_other_never_end() -> None:
    trap = change(VALID, "/states/trap", {"edit": "locked"})
    trap = change(trap, "/states/cage", {"edit": "locked"})
    trap = change(trap, "/transitions/catch", {"from": ["draft", "cage"], "to": "trap", "kind": "requested"})
    trap = change(trap, "/transitions/move", {"from": ["trap"], "to": "cage", "kind": "requested"})
    assert found_in(trap) == {("STATE_NEVER_ENDS", "/states/trap"), ("STATE_NEVER_ENDS", "/states/cage")}


def test_a_long_circle_is_named_by_its_shortest_way() -> None:
    names = ["a", "b", "c", "d"]
    contract = {
        "contract": "x",
        "fields": {},
        "states": {name: {"edit": "locked", "initial": name == "a"} for name in names}
        | {"end": {"edit": "locked", "final": True}},
        "transitions": {
            "ab": {"from": ["a"], "to": "b", "kind": "automatic", "rejected_to": "c"},
            "bd": {"from": ["b"], "to": "d", "kind": "automatic"},
            "cd": {"from": ["c"], "to": "d", "kind": "automatic"},
            "da": {"from": ["d"], "to": "a", "kind": "automatic", "rejected_to": "end"},
        },
    }
    findings = parse_contract(contract)[1]
    assert [(finding.code, finding.place) for finding in findings] == [
        ("RETURN_NEVER_WAITS", "/states/a"),
        ("RETURN_NEVER_WAITS", "/states/c"),
    ]


def test_fast_columns_are_counted_by_kind() -> None:
    for kind, limit in (("int", 4), ("bool", 4), ("date", 2), ("enum", 3)):
        field = {"type": kind, "indexed": True} | ({"values": ["a"]} if kind == "enum" else {})
        broken = VALID
        for number in range(limit):
            broken = change(broken, f"/fields/f{number}", field)
        assert parse_contract(broken)[1] == ()
        assert found_in(change(broken, "/fields/one_more", field)) == {("FIELD_INDEX_TOO_MANY", "/fields")}


def test_fields_nest_to_a_limit() -> None:
    def nest(depth: int) -> dict[str, Any]:
        return {"type": "object", "fields": {"f": nest(depth - 1)}} if depth > 1 else {"type": "int"}

    assert parse_contract(change(VALID, "/fields/deep", nest(5)))[1] == ()
    place = "/fields/deep" + "/fields/f" * 4
    assert found_in(change(VALID, "/fields/deep", nest(6))) == {("FIELD_TOO_DEEP", place)}
    assert found_in(change(VALID, "/fields/deep", nest(200)))


def test_a_contract_of_one_settled_state_is_enough() -> None:
    state = {"edit": "editable", "initial": True, "settled": True}
    contract, findings = parse_contract({"contract": "note", "fields": {}, "states": {"here": state}})
    assert contract is not None and findings == ()


def test_slots_without_transitions_and_actions_without_fields_say_none() -> None:
    state = {"edit": "editable", "initial": True, "settled": True}
    broken = {
        "contract": "note",
        "fields": {},
        "states": {"here": state},
        "slots": {"s": {"transition": "t"}},
        "actions": {"a": {"kind": "update", "set": {"f": 1}}},
    }
    assert [finding.remedy for finding in parse_contract(broken)[1]] == ["Use one of: (none)."] * 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.parent.name))
def test_examples_read_without_findings(path: Path) -> None:
    document, findings = read_document(path)
    assert findings == ()
    contract, findings = parse_contract(document)
    assert findings == ()
    assert contract is not None and contract.contract == path.parent.name


def test_there_are_examples() -> None:
    names = "credit_note delivery invoice onboarding_case project_task purchase_order sales_order".split()
    assert {path.parent.name for path in EXAMPLES} >= set(names)


def test_the_invoice_has_the_slots_of_the_source() -> None:
    path = next(path for path in EXAMPLES if path.parent.name == "invoice")
    contract, _ = parse_contract(read_document(path)[0])
    assert contract is not None
    places = {
        name: (slot.transition, slot.position, slot.from_state) for name, slot in contract.slots.items()
    }
    assert places == {
        "draft_to_submitted": ("submit", "before", None),
        "submitted_to_approved": ("approve", "before", None),
        "approved_to_active": ("approve", "after", None),
        "amendment_cycle": ("submit", "before", "amended"),
    }
    assert contract.slots["submitted_to_approved"].stable


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)
_names = st.sampled_from(
    "draft submitted active cancelled amended submit approve cancel number total fields from to before after "
    "requested automatic interrupting editable locked string list object type personal ~ / \ud800 \0".split(
        " "
    )
)


def _list_pointers(document: Any, path: str = "") -> list[str]:
    inner = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    return [
        pointer
        for key, value in inner
        for pointer in (f"{path}/{key}", *_list_pointers(value, f"{path}/{key}"))
    ]


@given(_json)
def test_reading_never_raises(document: Any) -> None:
    contract, findings = parse_contract(document)
    assert contract is not None or findings


@settings(max_examples=300)
@given(st.data())
def test_reading_a_mutated_contract_never_raises(data: st.DataObject) -> None:
    document = VALID
    for _ in range(data.draw(st.integers(1, 4))):
        pointer = data.draw(st.sampled_from(_list_pointers(document)))
        if data.draw(st.booleans()):
            pointer = f"{pointer.rpartition('/')[0]}/{data.draw(st.sampled_from(['x', 'amended', 'edit']))}"
        value = data.draw(
            _names | _scalars | st.sampled_from([REMOVE, [], {}, VALID["states"], VALID["fields"]])
        )
        try:
            document = change(document, pointer, value)
        except (KeyError, ValueError, IndexError):
            continue  # A list has no such entry, or a mapping nothing to remove.
    contract, findings = parse_contract(document)
    assert contract is not None or findings
    for finding in findings:
        assert finding.to_json()["place"] == finding.place


def test_no_contract_is_called_like_a_permission_of_signets_own() -> None:
    """A permission for documents of such a type would permit more than to edit documents."""
    sources = (Path(__file__).parents[4] / "shared" / "signet" / "engine").rglob("*.py")
    named = re.compile(r'^[A-Z_, ]+ = ("[a-z_]+:[a-z_]+".*)$', re.MULTILINE)
    found = [text for path in sources for text in named.findall(path.read_text(encoding="utf-8"))]
    entities = {entity for text in found for entity in re.findall(r'"([a-z_]+):', text)} - {"api", "sys"}
    assert {"contract", "definition", "workflow", "approval"} <= entities <= RESERVED_CONTRACTS
