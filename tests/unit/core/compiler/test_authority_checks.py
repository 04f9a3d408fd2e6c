"""Conditions that only the system would answer, and seats that a requester could fill, do not compile."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.approvals.policy import parse_chain
from signet.core.compiler.compiler import Compilation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.contracts.reader import parse_contract
from signet.core.validation.finding import Severity
from tests.support.core.valid_workflow import CONTRACT, PATCH, compile_patch, node, read_envelope

OWN = "actor.user_id != entity.creator"


def change_contract(**changes: Any) -> dict[str, Any]:
    return {**deepcopy(CONTRACT), **changes}


def found_in_contract(contract: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f.code, f.place) for f in parse_contract(contract)[1]]


def found(compilation: Compilation) -> list[tuple[str, str]]:
    return [(finding.code, finding.place) for finding in compilation.findings]


# --- conditions on the actor ---


def test_an_automatic_transitions_own_condition_asks_nobody_who_acts() -> None:
    contract = change_contract()
    contract["transitions"]["approve"]["condition"] = OWN
    assert found_in_contract(contract) == [("ACTOR_IS_SYSTEM", "/transitions/approve/condition")]
    contract["transitions"]["approve"]["condition"] = "entity.grand_total > 0"
    contract["transitions"]["submit"]["condition"] = OWN
    assert found_in_contract(contract) == []


def test_a_stored_contract_that_does_so_does_not_compile_again() -> None:
    """Show that the compiler finds it too: a contract of an older release is not checked again."""
    envelope = read_envelope()
    transition = envelope.contract.transitions["approve"].model_copy(update={"condition": OWN})
    contract = envelope.contract.model_copy(
        update={"transitions": {**envelope.contract.transitions, "approve": transition}}
    )
    compilation = compile_effective(make_envelope(contract))
    assert found(compilation) == [("ACTOR_IS_SYSTEM", "sys:gate:approve")]
    assert compilation.artifact is None


def test_a_permissions_condition_is_asked_of_those_who_vote() -> None:
    envelope = read_envelope(change_contract(conditions={"invoice:approve": OWN}))
    assert compile_patch(PATCH, envelope).findings == ()
    without = deepcopy(PATCH)
    del without["slots"]["approval"]
    compilation = compile_patch(without, envelope)
    assert found(compilation) == [("ACTOR_IS_SYSTEM", "approval")] and compilation.artifact is None
    asks_nobody = deepcopy(PATCH)
    asks_nobody["slots"]["approval"] = {"nodes": [{"id": "free", "type": "condition"}]}
    assert found(compile_patch(asks_nobody, envelope)) == [("ACTOR_IS_SYSTEM", "approval")]


def test_an_envelope_without_a_patch_warns_that_nobody_votes() -> None:
    compilation = compile_effective(read_envelope(change_contract(conditions={"invoice:approve": OWN})))
    assert [(f.code, f.severity) for f in compilation.findings] == [("ACTOR_NOT_ASKED_YET", Severity.WARNING)]
    assert compilation.artifact is not None
    plain = change_contract(conditions={"invoice:approve": "entity.grand_total > 0"})
    assert compile_effective(read_envelope(plain)).findings == ()


def test_where_no_slot_can_ask_the_contract_is_wrong() -> None:
    contract = change_contract(conditions={"invoice:approve": OWN})
    del contract["slots"]["approval"]
    assert found_in_contract(contract) == [("ACTOR_IS_SYSTEM", "/conditions/invoice:approve")]
    contract["conditions"] = {"invoice:submit": OWN}
    assert found_in_contract(contract) == []


def test_a_step_that_runs_as_the_system_has_no_actor() -> None:
    envelope = read_envelope(change_contract(conditions={"invoice:post": OWN}))
    assert compile_patch(PATCH, envelope).findings == ()
    patch = deepcopy(PATCH)
    node(patch, "stamp")["config"]["run_as"] = "system"
    assert found(compile_patch(patch, envelope)) == [("ACTOR_IS_SYSTEM", "sys:policy:usr:checks:stamp")]


# --- seats ---

NAMED = {"by": "expression", "expression": "entity.vendor"}


def ask(*approvers: dict[str, Any], **more: Any) -> Compilation:
    patch = deepcopy(PATCH)
    node(patch, "finance")["config"] |= {"approvers": list(approvers), **more}
    return compile_patch(patch)


@pytest.mark.parametrize(
    "approver",
    [
        {**NAMED, "who": "cfo"},
        {"by": "expression", "expression": "org.trusted"},
        {"by": "expression", "expression": "['ann', 'bob']"},
        {"by": "expression", "expression": "entity.creator"},
        {"by": "expression", "expression": "actor.user_id"},
        {"by": "manager"},
        {"by": "manager", "of": "entity.creator"},
        {"by": "user", "user": "ann"},
        {"by": "role", "role": "cfo"},
    ],
)
def test_a_seat_that_no_requester_fills(approver: dict[str, Any]) -> None:
    assert ask(approver).findings == ()


@pytest.mark.parametrize(
    ("approver", "place"),
    [
        (NAMED, "expression"),
        ({"by": "expression", "expression": "entity.vendor == null"}, None),
        ({"by": "manager", "of": "entity.vendor"}, "of"),
    ],
)
def test_a_seat_that_the_requester_could_fill(approver: dict[str, Any], place: str | None) -> None:
    codes = {code for code, _ in found(ask(approver))}
    assert "SEAT_NOT_LOCKED" in codes
    if place is not None:
        expected = [("SEAT_NOT_LOCKED", f"usr:approval:finance/approvers/0/{place}")]
        assert found(ask(approver)) == expected
        (escalated,) = found(ask({"by": "role", "role": "cfo"}, escalate={"after": "P1D", "to": approver}))
        assert escalated == ("SEAT_NOT_LOCKED", f"usr:approval:finance/escalate/to/{place}")


def test_a_variable_and_a_followed_ref_are_not_locked() -> None:
    patch = deepcopy(PATCH)
    patch["variables"] = {"who": {"type": "string"}}
    node(patch, "finance")["config"]["approvers"] = [{"by": "expression", "expression": "context.who"}]
    (finding,) = compile_patch(patch).findings
    assert finding.code == "SEAT_NOT_LOCKED" and "context.who" in finding.sentence
    contract = change_contract()
    reads = {"owner": {"type": "string"}}
    contract["fields"]["customer"] = {"type": "ref", "entity_type": "customer", "reads": reads}
    node(patch, "finance")["config"]["approvers"][0]["expression"] = "entity.customer.owner"
    assert [f.code for f in compile_patch(patch, read_envelope(contract)).findings] == ["SEAT_NOT_LOCKED"]


def test_an_expression_that_does_not_parse_is_one_finding() -> None:
    assert [code for code, _ in found(ask({"by": "expression", "expression": "entity."}))] == [
        "EXPRESSION_INVALID"
    ]


def test_the_seats_of_a_chain_are_checked_where_it_is_saved() -> None:
    chain, findings = parse_chain({"name": "large", "steps": [{"approvers": [NAMED]}]})
    assert chain is None
    assert [(f.code, f.place) for f in findings] == [("SEAT_NOT_LOCKED", "/steps/0/approvers/0/expression")]
    chain, findings = parse_chain({"name": "large", "steps": [{"approvers": [{**NAMED, "who": "cfo"}]}]})
    assert chain is not None and findings == ()


# --- the terms of voters ---


def test_terms_of_voters_are_left_out_where_nobody_set_any() -> None:
    plain = ask({"by": "role", "role": "cfo"}).artifact
    assert plain is not None
    config = plain.content["nodes"]["usr:approval:finance"]["config"]
    assert "same_person" not in config and "permission" not in config
    filtered = ask({**NAMED, "who": "cfo"}, same_person="allowed", permission="invoice:post").artifact
    assert filtered is not None
    config = filtered.content["nodes"]["usr:approval:finance"]["config"]
    assert (config["same_person"], config["permission"]) == ("allowed", "invoice:post")
    assert config["approvers"] == [{**NAMED, "who": "cfo"}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"same_person": "denied"},
        {"permission": "invoice:*"},
        {"permission": "*:approve"},
        {"permission": "approve"},
        {"approvers": [], "chain": "standard", "same_person": "allowed"},
        {"approvers": [], "chain": "standard", "permission": "invoice:post"},
        {"approvers": [{"by": "role", "role": "cfo", "who": "cfo"}]},
    ],
)
def test_terms_that_are_none(wrong: dict[str, Any]) -> None:
    patch = deepcopy(PATCH)
    node(patch, "finance")["config"] |= wrong
    assert {code for code, _ in found(compile_patch(patch))} == {"NODE_CONFIG_INVALID"}


def test_a_recipient_is_not_filtered() -> None:
    patch = deepcopy(PATCH)
    node(patch, "told")["config"]["to"] = [NAMED]
    assert compile_patch(patch).findings == ()
    node(patch, "told")["config"]["to"] = [{**NAMED, "who": "cfo"}]
    assert found(compile_patch(patch)) == [("NODE_CONFIG_INVALID", "usr:approval:told")]


# --- actions that people may run before the approval ---

SPAWN = {"id": "task", "type": "action", "config": {"action": "spawn"}}
CFO = {"id": "cfo", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}
OPEN = "ACTION_OPEN_BEFORE_APPROVAL"
BESIDE: dict[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        CFO,
        SPAWN,
        {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "cfo"},
        {"source": "fork", "target": "task"},
        {"source": "cfo", "target": "both"},
        {"source": "task", "target": "both"},
    ],
}
BEHIND = {"nodes": [CFO, SPAWN], "edges": [{"source": "cfo", "target": "task"}]}


def compile_slots(contract: dict[str, Any] | None = None, **slots: Any) -> list[tuple[str, str]]:
    """Compile these slots; an amendment would begin behind the first gate."""
    contract = {**(contract or change_contract()), "amendment": None}
    contract["states"]["submitted"]["edit"] = "locked"
    envelope = read_envelope(contract)
    return found(compile_patch({**PATCH, "slots": slots}, envelope))


@pytest.mark.parametrize(
    ("slots", "place"),
    [
        # Behind the gate, behind the approval in its slot, and in a slot between two gates.
        ({"approval": {"nodes": [CFO]}, "posting": {"nodes": [SPAWN]}}, "usr:posting:task"),
        ({"approval": BEHIND}, "usr:approval:task"),
        ({"checks": {"nodes": [CFO]}, "approval": {"nodes": [SPAWN]}}, "usr:approval:task"),
        # Steps make it before too, beside, or where nobody is asked.
        ({"checks": {"nodes": [SPAWN]}, "approval": {"nodes": [CFO]}, "posting": {"nodes": [SPAWN]}}, None),
        ({"approval": BESIDE}, None),
        ({"posting": {"nodes": [SPAWN]}}, None),
    ],
)
def test_an_action_that_makes_documents_is_open_before_its_approval(
    slots: dict[str, Any], place: str | None
) -> None:
    expected = [] if place is None else [(OPEN, f"sys:policy:{place}")]
    assert compile_slots(**slots) == expected


def test_a_condition_on_the_status_keeps_it_shut() -> None:
    """The lawful way: the step and people run it where the condition says."""
    slots: dict[str, Any] = {"approval": {"nodes": [CFO]}, "posting": {"nodes": [SPAWN]}}
    shut = change_contract(conditions={"invoice:spawn": "entity.status == 'active'"})
    assert compile_slots(shut, **slots) == []
    other = change_contract(conditions={"invoice:spawn": "entity.grand_total > 0"})
    assert [code for code, _ in compile_slots(other, **slots)] == [OPEN]
    named = change_contract(conditions={"task:make": "entity.status == 'active'"})
    named["actions"]["spawn"]["permission"] = "task:make"
    assert compile_slots(named, **slots) == []


def test_an_action_that_sets_fields_is_held_by_the_edit_window() -> None:
    stamp = {"id": "stamp", "type": "action", "config": {"action": "post", "payload": {"at": "2026-01-01"}}}
    assert compile_slots(approval={"nodes": [CFO]}, posting={"nodes": [stamp]}) == []


ASK: dict[str, Any] = {
    "id": "ask",
    "type": "approval",
    "config": {"approvers": [{"by": "user", "user": "ann"}]},
}
SCRIPT = {"id": "step", "type": "script", "config": {"set": {"seen": "1"}}}
POSTED = {"id": "step", "type": "action", "config": {"action": "post", "payload": {"at": "2026-01-01"}}}
CALLED = {"id": "step", "type": "webhook_out", "config": {"endpoint": "erp"}}


@pytest.mark.parametrize(
    ("step", "asks", "is_deciding", "is_named"),
    [
        (SCRIPT, True, False, True),
        (POSTED, True, False, True),
        (CALLED, True, False, False),
        (POSTED, False, False, False),
        (POSTED, False, True, True),
        ({"id": "step", "type": "action", "config": {"action": "spawn"}}, False, False, True),
    ],
)
def test_an_edge_for_errors_that_is_never_taken_is_named(
    step: dict[str, Any], asks: bool, is_deciding: bool, is_named: bool
) -> None:
    duties = {"separation_of_duties": {"deciding": ["submit"]}} if is_deciding else {}
    told = {"id": "told", "type": "condition"}
    edges = [{"source": "step", "target": "told"}, {"source": "step", "target": "told", "on": "error"}]
    slots = {
        "checks": {"nodes": [step, told], "edges": edges},
        **({"approval": {"nodes": [ASK]}} if asks else {}),
    }
    base = {"entity_type": "invoice", "envelope_version": 3}
    compiled = compile_patch(
        {"patch": "p", "base": base, "slots": slots}, read_envelope({**CONTRACT, **duties})
    )
    assert compiled.artifact is not None, compiled.findings
    named = [finding.place for finding in compiled.findings if finding.code == "ERROR_EDGE_NOT_TAKEN"]
    assert named == (["usr:checks:step"] if is_named else [])


LOOK = {**ASK, "id": "look"}
CHOOSE = {"id": "choose", "type": "condition"}


def way(source: str, target: str, on: str | None = None, condition: str | None = None) -> dict[str, Any]:
    given = {"source": source, "target": target, "on": on, "condition": condition}
    return {name: value for name, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("nodes", "edges", "passed"),
    [
        # The approval is left out, or another one is asked in its place.
        ([ASK], [way("step", "ask"), way("step", "out", "error"), way("ask", "out")], "usr:approval:ask"),
        (
            [ASK, LOOK],
            [way("step", "ask"), way("step", "look", "error"), way("ask", "out"), way("look", "out")],
            "usr:approval:ask",
        ),
        # A condition may leave it out on the other way alone.
        (
            [ASK, CHOOSE],
            [
                way("step", "ask"),
                way("step", "choose", "error"),
                way("choose", "ask", condition="entity.posted"),
                way("choose", "out"),
                way("ask", "out"),
            ],
            "usr:approval:ask",
        ),
        # A rejection of the first is no way around the second.
        (
            [ASK, LOOK, CHOOSE],
            [
                way("step", "look"),
                way("look", "ask"),
                way("step", "choose", "error"),
                way("choose", "look", condition="entity.posted"),
                way("choose", "out"),
                way("ask", "out"),
            ],
            "usr:approval:ask, usr:approval:look",
        ),
        # Both ways ask it, or the same condition chooses.
        ([ASK], [way("step", "ask"), way("step", "ask", "error"), way("ask", "out")], None),
        (
            [ASK, CHOOSE],
            [
                way("step", "choose"),
                way("step", "choose", "error"),
                way("choose", "ask", condition="entity.posted"),
                way("choose", "out"),
                way("ask", "out"),
            ],
            None,
        ),
        # The other way asks nobody, and the failure does.
        ([ASK], [way("step", "out"), way("step", "ask", "error"), way("ask", "out")], None),
    ],
)
def test_an_edge_for_errors_past_an_approval_is_named(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]], passed: str | None
) -> None:
    slots = {"approval": {"nodes": [CALLED, *nodes], "edges": edges, "exit": "join"}}
    base = {"entity_type": "invoice", "envelope_version": 3}
    compiled = compile_patch({"patch": "p", "base": base, "slots": slots}, read_envelope(CONTRACT))
    assert compiled.artifact is not None, compiled.findings
    found = [finding for finding in compiled.findings if finding.code == "ERROR_EDGE_PASSES_APPROVAL"]
    assert [finding.place for finding in found] == ([] if passed is None else ["usr:approval:step"])
    assert passed is None or found[0].parameters["passed"] == passed


@pytest.mark.parametrize(
    ("deciding", "expected"),
    [(["submit"], [("ACTION_AFTER_REQUEST", "usr:checks:stamp")]), (["cancel"], []), ([], [])],
)
def test_an_action_changes_nothing_that_a_request_has_decided(
    deciding: list[str], expected: list[tuple[str, str]]
) -> None:
    """It stands in the slot before the gate: its change is another one than the person has seen."""
    compilation = compile_patch(
        PATCH, read_envelope(change_contract(separation_of_duties={"deciding": deciding}))
    )
    assert found(compilation) == expected and compilation.artifact is not None
