"""A valid patch with one thing broken is caught by the right code, at the right place."""

from typing import Any

import pytest

from signet.core.validation.finding import Severity
from tests.support.core.valid_workflow import (
    PATCH,
    Break,
    add_edge,
    add_node,
    break_patch,
    compile_patch,
    drop_edge,
    edge,
    node,
    slot,
)

U = "usr:approval:"
E = "usr:approval:edge:"
ROLE = {"by": "role", "role": "clerk"}


def many(*changes: Break) -> Break:
    return lambda patch: [change(patch) for change in changes]


def nest(patch: dict[str, Any]) -> None:
    """Put a block inside the branch of the credit check."""
    edge(patch, "check")["target"] = "inner"
    add_node(patch, "inner", "parallel_split")
    add_node(patch, "mail", "notification", channel="sms", to=[ROLE], text="Hi")
    add_node(patch, "met", "parallel_join", mode="any")
    add_edge(patch, "inner", "credit", id="i1")
    add_edge(patch, "inner", "mail", id="i2")
    add_edge(patch, "mail", "met", id="i3")
    edge(patch, "checked")["target"] = "met"
    add_edge(patch, "met", "both", id="i4")


# Name → the break, the finding's code, its place.
BREAKS: dict[str, tuple[Break, str, str]] = {
    "a node of another slot": (
        lambda p: node(p, "told").update(id="usr:checks:told"), "NODE_ID_OUT_OF_SCOPE", "usr:checks:told"),
    "a system node": (
        lambda p: node(p, "told").update(id="sys:gate:x"), "NODE_ID_OUT_OF_SCOPE", "sys:gate:x"),
    "a node without a slug": (lambda p: node(p, "told").update(id="Told!"), "NODE_ID_OUT_OF_SCOPE", "Told!"),
    "a node called like an end": (lambda p: node(p, "told").update(id="out"), "NODE_ID_RESERVED", "out"),
    "two nodes of one id": (lambda p: add_node(p, "told", "condition"), "NODE_ID_TWICE", f"{U}told"),
    "two nodes, one named in full": (
        lambda p: add_node(p, f"{U}told", "condition"), "NODE_ID_TWICE", f"{U}told"),
    "an unknown type": (lambda p: node(p, "told").update(type="mail"), "NODE_TYPE_UNKNOWN", f"{U}told"),
    "a type of the envelope": (
        lambda p: node(p, "told").update(type="lifecycle_gate"), "NODE_TYPE_RESERVED", f"{U}told"),
    "a policy gate": (
        lambda p: node(p, "told").update(type="policy_gate"), "NODE_TYPE_RESERVED", f"{U}told"),
    "an unknown key": (
        lambda p: node(p, "told")["config"].update(urgent=True), "NODE_CONFIG_INVALID", f"{U}told"),
    "an account that is not named": (
        lambda p: node(p, "told")["config"].update(run_as="service_account"),
        "SERVICE_ACCOUNT_MISSING", f"{U}told"),
    "an account of another": (
        lambda p: node(p, "told")["config"].update(service_account="posting"),
        "SERVICE_ACCOUNT_UNEXPECTED", f"{U}told"),
    "a missing key": (lambda p: node(p, "told")["config"].pop("text"), "NODE_CONFIG_INVALID", f"{U}told"),
    "nobody to approve": (
        lambda p: node(p, "finance")["config"].update(approvers=[]), "NODE_CONFIG_INVALID", f"{U}finance"),
    "a quorum out of reach": (
        lambda p: node(p, "finance")["config"].update(quorum=2), "NODE_CONFIG_INVALID", f"{U}finance"),
    "a duration that is none": (
        lambda p: node(p, "finance")["config"].update(expire_after="P1M"),
        "NODE_CONFIG_INVALID", f"{U}finance"),
    "a timer without a time": (
        lambda p: node(p, "told").update(type="wait_timer", config={}), "NODE_CONFIG_INVALID", f"{U}told"),
    "two edges of one id": (lambda p: add_edge(p, "both", "told", id="tell"), "EDGE_ID_TWICE", f"{E}tell"),
    "an edge to a system node": (
        lambda p: edge(p, "tell").update(target="sys:gate:approve"),
        "EDGE_END_OUT_OF_SCOPE", "both → sys:gate:approve"),
    "an edge to another slot": (
        lambda p: edge(p, "tell").update(target="usr:checks:known"),
        "EDGE_END_OUT_OF_SCOPE", "both → usr:checks:known"),
    "an edge from a system node": (
        lambda p: edge(p, "tell").update(source="sys:start"), "EDGE_END_OUT_OF_SCOPE", "sys:start → told"),
    "an edge to another slot's end": (
        lambda p: edge(p, "tell").update(target="sys:slot:checks:out"),
        "EDGE_END_OUT_OF_SCOPE", "both → sys:slot:checks:out"),
    "an edge to nothing": (
        lambda p: edge(p, "tell").update(target="tolt"), "EDGE_END_UNKNOWN", "both → tolt"),
    "an edge back in": (lambda p: edge(p, "tell").update(target="in"), "EDGE_INTO_IN", "both → in"),
    "an edge from out": (lambda p: edge(p, "tell").update(source="out"), "EDGE_FROM_OUT", "out → told"),
    "an unknown outcome": (
        lambda p: edge(p, "asked").update(on="done"), "EDGE_OUTCOME_UNKNOWN", "finance → both"),
    "a circle": (lambda p: add_edge(p, "both", "fork", condition="entity.posted"), "CYCLE", f"{U}both"),
    "a circle of one": (
        lambda p: add_edge(p, "told", "told", on="error"), "CYCLE", f"{U}told"),
    "nothing begins": (
        many(lambda p: slot(p, "checks")["edges"].append({"source": "stamp", "target": "known"})),
        "SLOT_EMPTY_ENTRY", "checks"),
    "two begin": (
        lambda p: slot(p, "checks").update(edges=[]), "SLOT_SEVERAL_ENTRIES", "checks"),
    "two begin by edges": (
        many(lambda p: add_edge(p, "in", "amount", id="b1", condition="entity.posted"),
             lambda p: add_edge(p, "in", "told", id="b2")),
        "SLOT_SERIAL_BRANCHES", "approval"),
    "two end": (lambda p: slot(p).update(exit="single"), "SLOT_SEVERAL_EXITS", "approval"),
    "nothing ends": (
        lambda p: slot(p, "checks")["edges"].extend(
            [{"source": "in", "target": "known"}, {"source": "stamp", "target": "known"}]),
        "SLOT_NO_EXIT", "checks"),
    "a dropped default": (lambda p: drop_edge(p, "slow"), "BRANCH_WITHOUT_DEFAULT", f"{U}amount"),
    "a condition on the default": (
        lambda p: edge(p, "slow").update(condition="entity.posted"), "BRANCH_WITHOUT_DEFAULT", f"{U}amount"),
    "a second default": (
        lambda p: add_edge(p, "amount", "told"), "SEVERAL_EDGES_WITHOUT_CHOICE", f"{U}amount"),
    "a condition on a split": (
        lambda p: edge(p, "ask").update(condition="entity.posted"), "EDGE_CONDITION_ON_SPLIT", f"{E}ask"),
    "a dropped branch": (lambda p: drop_edge(p, "check"), "SPLIT_TOO_FEW", f"{U}fork"),
    "an exit from the split": (
        lambda p: edge(p, "check").update(target="told", role="exit"), "EXIT_FROM_SPLIT", f"{E}check"),
    "a split without its join": (
        many(lambda p: drop_edge(p, "asked"), lambda p: drop_edge(p, "checked"),
             lambda p: drop_edge(p, "tell"), lambda p: slot(p)["nodes"].remove(node(p, "both"))),
        "SPLIT_WITHOUT_JOIN", f"{U}fork"),
    "a join made a condition": (
        lambda p: node(p, "both").update(type="condition", config={}), "SPLIT_WITHOUT_JOIN", f"{U}fork"),
    "a split made a condition": (
        many(lambda p: node(p, "fork").update(type="condition"),
             lambda p: edge(p, "ask").update(condition="entity.posted")),
        "JOIN_WITHOUT_SPLIT", f"{U}both"),
    "two joins for one split": (
        many(lambda p: add_node(p, "again", "parallel_join", mode="any"),
             lambda p: edge(p, "asked").update(target="again"),
             lambda p: add_edge(p, "again", "told")),
        "SPLIT_WITHOUT_JOIN", f"{U}fork"),
    "a branch that always leaves an ALL block": (
        many(lambda p: edge(p, "checked").update(target="told", role="exit")),
        "JOIN_NEVER_SATISFIED", f"{U}both"),
    "an edge into a block": (
        lambda p: edge(p, "fast").update(target="finance"), "BLOCK_ENTERED_SIDEWAYS", f"{E}fast"),
    "an edge to the join from outside": (
        lambda p: edge(p, "fast").update(target="both"), "BLOCK_ENTERED_SIDEWAYS", f"{E}fast"),
    "an edge into the other branch": (
        lambda p: edge(p, "asked").update(target="credit"), "BLOCK_ENTERED_SIDEWAYS", f"{E}asked"),
    "an edge out of a block without exit": (
        lambda p: edge(p, "checked").update(target="told"), "BLOCK_LEFT_SIDEWAYS", f"{E}checked"),
    "an edge past the inner join": (
        many(nest, lambda p: edge(p, "i3").update(target="both")), "BLOCK_LEFT_SIDEWAYS", f"{E}i3"),
    "an edge between the branches of an inner block": (
        many(nest, lambda p: edge(p, "i3").update(target="credit")), "BLOCK_ENTERED_SIDEWAYS", f"{E}i3"),
    "a circle that nothing leaves": (
        many(lambda p: add_node(p, "one", "condition"), lambda p: add_node(p, "two", "condition"),
             lambda p: add_edge(p, "amount", "one", condition="entity.posted"),
             lambda p: add_edge(p, "one", "two"), lambda p: add_edge(p, "two", "one")),
        "DEAD_END", f"{U}one"),
    "a script that does not parse": (
        lambda p: node(p, "told").update(type="script", config={"set": {"late": "now >"}}),
        "EXPRESSION_INVALID", f"{U}told/set/late"),
    "an exit where there is no block": (
        lambda p: edge(p, "tell").update(role="exit"), "EXIT_OUTSIDE_BLOCK", f"{E}tell"),
    "an edge into the middle of a branch": (
        many(lambda p: add_node(p, "late", "condition"), lambda p: edge(p, "asked").update(target="late"),
             lambda p: add_edge(p, "late", "both"), lambda p: edge(p, "fast").update(target="late")),
        "BLOCK_ENTERED_SIDEWAYS", f"{E}fast"),
    "a loosened window": (lambda p: slot(p).update(edit="editable"), "WINDOW_LOOSER", "approval"),
    "an unknown slot": (
        lambda p: p["slots"].update(extra=p["slots"].pop("posting")), "SLOT_UNKNOWN", "extra"),
    "another entity": (
        lambda p: p["base"].update(entity_type="order"), "ENVELOPE_ENTITY_MISMATCH", "/base/entity_type"),
    "another envelope": (
        lambda p: p["base"].update(envelope_version=2),
        "ENVELOPE_VERSION_MISMATCH", "/base/envelope_version"),
    "an unknown field": (
        lambda p: edge(p, "fast").update(condition="entity.grand_totl <= 5"),
        "EXPRESSION_INVALID", f"{E}fast"),
    "an unknown setting": (
        lambda p: edge(p, "fast").update(condition="org.trustd contains 'a'"),
        "EXPRESSION_INVALID", f"{E}fast"),
    "a variable that nobody has written": (
        lambda p: edge(p, "fast").update(condition="context.score > 5"), "EXPRESSION_INVALID", f"{E}fast"),
    "a mistyped comparison": (
        lambda p: edge(p, "fast").update(condition="entity.grand_total == 'a'"),
        "EXPRESSION_INVALID", f"{E}fast"),
    "a condition that is none": (
        lambda p: edge(p, "fast").update(condition="entity.grand_total"), "EXPRESSION_NOT_BOOL", f"{E}fast"),
    "an unknown name in a text": (
        lambda p: node(p, "told")["config"].update(text="For {entity.vendr}"),
        "TEMPLATE_INVALID", f"{U}told/text"),
    "an approver that is no person": (
        lambda p: node(p, "finance")["config"].update(
            approvers=[{"by": "expression", "expression": "entity.grand_total"}]),
        "EXPRESSION_WRONG_TYPE", f"{U}finance/approvers/0/expression"),
    "an unknown action": (
        lambda p: node(p, "stamp")["config"].update(action="pots"), "ACTION_UNKNOWN", "usr:checks:stamp"),
    "a missing payload": (
        lambda p: node(p, "stamp")["config"].pop("payload"), "ACTION_PAYLOAD_MISSING", "usr:checks:stamp"),
    "an unknown payload": (
        lambda p: node(p, "stamp")["config"]["payload"].update(by="me"),
        "ACTION_PAYLOAD_UNKNOWN", "usr:checks:stamp"),
    "a number that JSON cannot keep": (
        lambda p: node(p, "stamp")["config"]["payload"].update(at=2**60),
        "DOCUMENT_NUMBER_INVALID", "/slots/checks/nodes/1/config/payload/at"),
    "items of what is no list": (
        lambda p: node(p, "task")["config"].update(for_each="entity.vendor"),
        "EXPRESSION_WRONG_TYPE", "usr:posting:task/for_each"),
    "an action after an approval": (
        many(lambda p: add_node(p, "late", "action", action="post", payload={"at": "2026-01-01"}),
             lambda p: add_edge(p, "told", "late")),
        "ACTION_AFTER_APPROVAL", f"{U}late"),
    "an action beside an approval": (
        many(lambda p: add_node(p, "side", "action", action="post", payload={"at": "2026-01-01"}),
             lambda p: edge(p, "check").update(target="side"), lambda p: add_edge(p, "side", "credit")),
        "ACTION_BESIDE_APPROVAL", f"{U}side"),
    "a dead end": (
        many(lambda p: edge(p, "failed").update(target="lost"), lambda p: add_node(p, "lost", "condition"),
             lambda p: add_edge(p, "lost", "told", condition="entity.posted")),
        "BRANCH_WITHOUT_DEFAULT", f"{U}lost"),
    "what nothing leads to": (
        lambda p: add_node(p, "lost", "condition"),
        "UNREACHABLE", f"{U}lost"),
    "an outcome that nothing follows": (
        many(lambda p: add_node(p, "paid", "wait_event", key="paid", timeout="P1D"),
             lambda p: add_edge(p, "told", "paid")),
        "OUTCOME_WITHOUT_EDGE", f"{U}paid"),
    "a rejection after the gate": (
        lambda p: slot(p, "posting")["nodes"].__setitem__(
            0, {"id": "known", "type": "rule", "config": {"rules": ["a"]}}),
        "REJECTION_UNHANDLED", "usr:posting:known"),
    "no nodes": (lambda p: slot(p).update(nodes=[]), "FIELD_INVALID", "/slots/approval/nodes"),
    "too many branches": (
        many(*(lambda p, i=i: add_edge(p, "fork", "both", id=f"more{i}") for i in range(50))),
        "LIMIT_EXCEEDED", f"{U}fork"),
    "an unknown key in the patch": (lambda p: p.update(owner="me"), "FIELD_INVALID", "/owner"),
    "a guessed type": (
        lambda p: p["base"].update(envelope_version="3"), "FIELD_INVALID", "/base/envelope_version"),
}  # fmt: skip


def test_the_patch_is_valid_before_it_is_broken() -> None:
    compilation = compile_patch(PATCH)
    assert compilation.artifact is not None
    assert compilation.findings == ()
    nested = {f.code for f in break_patch(nest) if f.severity is Severity.ERROR}
    assert nested == set()


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_caught(name: str) -> None:
    change, code, place = BREAKS[name]
    findings = break_patch(change)
    assert (code, place) in {(finding.code, finding.place) for finding in findings}
    assert all(finding.sentence and finding.remedy for finding in findings)


def test_a_suggestion_for_an_unknown_name() -> None:
    change = BREAKS["an unknown field"][0]
    (finding,) = break_patch(change)
    assert "unknown field `grand_totl`" in finding.sentence
    assert "grand_total" in finding.sentence + finding.remedy


def test_the_path_of_a_circle_is_told() -> None:
    (finding,) = (f for f in break_patch(BREAKS["a circle"][0]) if f.code == "CYCLE")
    assert f"{U}both → {U}fork → {U}" in finding.sentence
