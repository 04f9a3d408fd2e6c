"""An edit behind approvals that asks nobody again is a finding at publication."""

from copy import deepcopy
from typing import Any

from signet.core.compiler.compiler import compile_effective
from tests.support.core.valid_workflow import CONTRACT, SETTINGS, compile_patch, read_envelope
from tests.unit.core.compiler.test_free_ways import ASK, QUICK, SCRIPT

CODE = "EDITABLE_BEHIND_APPROVAL"


def found(active: dict[str, Any], asked: bool = True, **transitions: Any) -> list[str]:
    document = deepcopy(CONTRACT)
    document["states"]["active"] = {**document["states"]["active"], **active}
    document["transitions"] |= transitions
    base = {"entity_type": "invoice", "envelope_version": 3}
    slots = {"approval" if asked else "checks": ASK if asked else SCRIPT}
    compilation = compile_patch({"patch": "own", "base": base, "slots": slots}, read_envelope(document))
    assert compilation.artifact is not None, compilation.findings
    return [each.place for each in compilation.findings if each.code == CODE]


def test_a_status_behind_approvals_alone_that_people_may_edit_is_named() -> None:
    assert found({"edit": "editable"}) == ["sys:state:active"]


def test_an_approval_for_some_documents_alone_counts_too() -> None:
    """The condition before it lets small amounts pass. What was approved is edited all the same."""
    large = {"source": "size", "target": "look", "condition": "entity.grand_total > 1000"}
    edges = [large, {"source": "size", "target": "out"}, {"source": "look", "target": "out"}]
    some = {"nodes": [{"id": "size", "type": "condition"}, *ASK["nodes"]], "edges": edges, "exit": "join"}
    document = {**deepcopy(CONTRACT), "amendment": None}
    document["states"]["submitted"] = {"edit": "editable"}
    base = {"entity_type": "invoice", "envelope_version": 3}
    patch = {"patch": "own", "base": base, "slots": {"checks": some, "approval": ASK}}
    compilation = compile_patch(patch, read_envelope(document))
    assert [each.place for each in compilation.findings if each.code == CODE] == ["sys:state:submitted"]


def test_a_status_behind_a_request_that_decides_is_named_with_its_contract() -> None:
    """No patch is needed to know it. Lawful contracts lock the status, accept edits, or decide nothing."""
    requested = {"from": ["submitted"], "to": "active", "kind": "requested"}
    for changes, deciding, places in (
        ({"edit": "editable"}, ["release"], ["sys:state:active"]),
        ({"edit": "editable"}, [], []),
        ({"edit": "locked"}, ["release"], []),
        ({"edit": "editable", "after_approval": "editable"}, ["release"], []),
    ):
        document = deepcopy(CONTRACT)
        document["states"]["active"] = {**document["states"]["active"], **changes}
        document["transitions"] |= {"release": requested}
        del document["transitions"]["approve"], document["slots"]["approval"], document["slots"]["posting"]
        document["separation_of_duties"] = {"deciding": deciding}
        compilation = compile_effective(read_envelope(document), None, SETTINGS)
        assert [each.place for each in compilation.findings if each.code == CODE] == places


def test_an_approval_beside_a_request_that_decides_leaves_no_free_way() -> None:
    both = deepcopy(CONTRACT)
    both["transitions"] |= {"release": {"from": ["submitted"], "to": "active", "kind": "requested"}}
    both["separation_of_duties"] = {"deciding": ["release"]}
    both["states"]["active"] = {**both["states"]["active"], "edit": "editable"}
    base = {"entity_type": "invoice", "envelope_version": 3}
    compilation = compile_patch(
        {"patch": "own", "base": base, "slots": {"approval": ASK}}, read_envelope(both)
    )
    assert [each.place for each in compilation.findings if each.code == CODE] == ["sys:state:active"]


def test_the_contract_accepts_it_by_name() -> None:
    assert found({"edit": "editable", "after_approval": "editable"}) == []


def test_where_nobody_edits_or_nobody_is_asked_nothing_is_found() -> None:
    assert found({}) == found({"edit": "editable"}, asked=False) == []
    assert found({"edit": "editable"}, quick=QUICK) == []


def test_a_rejection_that_leads_on_is_named_where_people_are_asked() -> None:
    document = deepcopy(CONTRACT)
    document["states"]["released"] = {"edit": "locked", "settled": True}
    document["transitions"]["approve"]["rejected_to"] = "released"
    document["transitions"]["finish"] = {"from": ["released"], "to": "active", "kind": "requested"}
    base = {"entity_type": "invoice", "envelope_version": 3}
    for slots, wanted in (({"approval": ASK}, ["/transitions/approve/rejected_to"]), ({"checks": ASK}, [])):
        compilation = compile_patch({"patch": "own", "base": base, "slots": slots}, read_envelope(document))
        found = [each.place for each in compilation.findings if each.code == "REJECTION_LEADS_ON"]
        assert found == wanted, compilation.findings
