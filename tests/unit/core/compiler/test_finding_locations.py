"""Places of findings: the compiler's names as pointers into the author's document."""

from typing import Any

import pytest

from signet.core.compiler.finding_locations import FindingLocations
from signet.core.compiler.patch import Automation, Patch
from signet.core.validation.finding import make_finding
from signet.core.validation.strict_model import parse_strictly

BODY: dict[str, Any] = {
    "nodes": [
        {"id": "pick", "type": "condition"},
        {"id": "usr:way:pay", "type": "action"},
        {"id": "odd", "type": "nothing"},
    ],
    "edges": [
        {"source": "pick", "target": "usr:way:pay"},
        {"source": "in", "target": "pick"},
        {"source": "odd", "target": "out", "id": "named"},
        {"source": "usr:way:pay", "target": "out", "on": "error"},
    ],
}


def read(model: Any, document: Any) -> Any:
    found, findings = parse_strictly(model, document)
    assert found is not None, findings
    return found


PATCH = read(
    Patch, {"patch": "p", "base": {"entity_type": "e", "envelope_version": 1}, "slots": {"way": BODY}}
)
AUTOMATION = read(
    Automation, {"automation": "a", "trigger": {"on": "manual"}, "nodes": [{"id": "wait", "type": "rule"}]}
)


@pytest.mark.parametrize(
    ("place", "pointer"),
    [
        ("/base/envelope_version", "/base/envelope_version"),
        ("/", ""),
        ("way", "/slots/way"),
        ("sys:slot:way:out", "/slots/way"),
        ("usr:way:pick", "/slots/way/nodes/0"),
        ("pick", "/slots/way/nodes/0"),
        ("sys:policy:usr:way:pay", "/slots/way/nodes/1"),
        ("usr:way:pay/payload/amount", "/slots/way/nodes/1/config/payload/amount"),
        ("usr:way:edge:pick>pay#done", "/slots/way/edges/0"),
        ("in → pick", "/slots/way/edges/1"),
        ("usr:way:edge:named", "/slots/way/edges/2"),
        ("usr:way:edge:pay>out#error", "/slots/way/edges/3"),
        ("sys:gate:submit", ""),
    ],
)
def test_a_place_in_a_patch(place: str, pointer: str) -> None:
    assert FindingLocations(PATCH).point(make_finding("NODE_ID_TWICE", place)) == pointer


@pytest.mark.parametrize(("inside", "pointer"), [("/", ""), ("/for", "/for")])
def test_a_configuration_is_wrong_at_its_own_pointer(inside: str, pointer: str) -> None:
    finding = make_finding("NODE_CONFIG_INVALID", "usr:way:pay", pointer=inside, problem="p")
    expected = f"/slots/way/nodes/1/config{pointer}" if pointer else "/slots/way/nodes/1"
    assert FindingLocations(PATCH).point(finding) == expected


def test_an_automation_has_no_slots() -> None:
    places = FindingLocations(AUTOMATION)
    assert places.point(make_finding("NODE_ID_TWICE", "usr:main:wait")) == "/nodes/0"
    assert places.point(make_finding("SLOT_EMPTY_ENTRY", "main")) == ""
