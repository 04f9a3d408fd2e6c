"""Moves to other approvals: refused where the tenant wants two people, and named elsewhere."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.explain.instance import write_instance
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.explain import explain
from signet.engine.instances.moves import InstanceMoves
from tests.support.core.approval_policies import user
from tests.support.moved_instances import SAY, codes, move, pin_of
from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

STRICT = {"id": "strict", "type": "approval", "config": {"approvers": [user("anna")]}}
WEAK = {"id": "weak", "type": "approval", "config": {"approvers": [user("mona")]}}


def want_two_people(stage: WorkflowStage, wanted: str) -> None:
    stage.standing.run(
        "UPDATE tenants SET settings = settings || jsonb_build_object('four_eyes', %s::boolean)"
        " WHERE tenant_id = %s",
        wanted,
        stage.tenant_id,
    )


@pytest.fixture
def made(stage: WorkflowStage) -> Iterator[tuple[str, Made]]:
    """Yield a document in draft, whose approval anna is asked for."""
    for name in ("anna", "mona"):
        stage.add_member(name)
    entity_type = stage.publish(approval={"nodes": [STRICT]})
    document = stage.create(entity_type, "dora")
    stage.drain()
    yield entity_type, document
    want_two_people(stage, "false")


def newest(stage: WorkflowStage, document: Made) -> UUID:
    (request_id,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1", document.id
    )
    return UUID(str(request_id))


def test_nobody_moves_a_document_to_weaker_approvals_alone(
    stage: WorkflowStage, moves: InstanceMoves, made: tuple[str, Made]
) -> None:
    entity_type, document = made
    version = stage.publish_next(entity_type, approval={"nodes": [WEAK]})
    want_two_people(stage, "true")
    outcome = move(moves, stage, document, version)
    assert (outcome.outcome, codes(outcome)) == ("blocked", ["APPROVALS_CHANGED"])
    assert pin_of(stage, document) == ("effective", "own", 1)


def test_nobody_moves_a_document_to_another_way_to_its_approval_alone(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    """The slot that asks is the same; another slot computes what its condition reads."""
    stage.add_member("anna")
    nodes = [{"id": "choice", "type": "condition"}, STRICT]
    edges = [
        {"source": "choice", "target": "out", "condition": "context.small == true"},
        {"source": "choice", "target": "strict"},
    ]
    approval = {"nodes": nodes, "edges": edges, "exit": "join"}

    def compute(limit: int) -> dict[str, Any]:
        config = {"set": {"small": f"entity.amount < {limit}"}}
        return {"checks": {"nodes": [{"id": "limit", "type": "script", "config": config}]}}

    entity_type = stage.publish(approval=approval, **compute(1))
    document = stage.create(entity_type, "dora", amount=50_000)
    stage.drain()
    version = stage.publish_next(entity_type, approval=approval, **compute(99_999))
    want_two_people(stage, "true")
    outcome = move(moves, stage, document, version)
    want_two_people(stage, "false")
    assert (outcome.outcome, codes(outcome)) == ("blocked", ["APPROVALS_CHANGED"])
    assert outcome.report is not None and outcome.report.changes_approvals


SETTING: dict[str, Any] = {
    **CONTRACT,
    "fields": {"kind": {"type": "string"}, "note": {"type": "string"}, "amount": {"type": "int"}},
    "states": {
        **CONTRACT["states"],
        "draft": {"edit": "editable"},
        "new": {"edit": "editable", "initial": True},
    },
    "transitions": {
        **CONTRACT["transitions"],
        "prepare": {"from": ["new"], "to": "draft", "kind": "requested"},
    },
    "slots": {**CONTRACT["slots"], "prepared": {"transition": "prepare"}},
    "actions": {
        "call_safe": {"kind": "update", "set": {"kind": "safe"}},
        "note_safe": {"kind": "update", "set": {"note": "safe"}},
        "take_note": {"kind": "update", "set": {"kind": "{entity.note}"}},
    },
}
PAST_BY_FIELD = {
    "nodes": [{"id": "choice", "type": "condition"}, STRICT],
    "edges": [
        {"source": "choice", "target": "out", "condition": "entity.kind == 'safe'"},
        {"source": "choice", "target": "strict"},
    ],
    "exit": "join",
}
PAST_BY_RULE = {
    "nodes": [{"id": "choice", "type": "rule", "config": {"rules": ["unsafe"]}}, STRICT],
    "edges": [
        {"source": "choice", "target": "out"},
        {"source": "choice", "target": "strict", "on": "rejected"},
    ],
    "exit": "join",
}


def run_action(name: str) -> dict[str, Any]:
    return {"nodes": [{"id": name, "type": "action", "config": {"action": name}}]}


@pytest.mark.parametrize(
    ("slots", "prepared"),
    [
        ({"approval": PAST_BY_FIELD, "checks": run_action("take_note")}, "note_safe"),
        ({"approval": PAST_BY_RULE}, "call_safe"),
    ],
    ids=["a copying action", "a rule"],
)
def test_nobody_moves_a_document_past_what_an_action_or_a_rule_reads_alone(
    stage: WorkflowStage, moves: InstanceMoves, slots: dict[str, Any], prepared: str
) -> None:
    """The newer definition sets a field earlier: an action copies it, or a rule on the way reads it."""
    stage.add_member("anna")
    entity_type = stage.publish(SETTING)
    stage.add_rule(entity_type, "unsafe", "entity.kind != 'safe'", on="action")
    stage.publish_next(entity_type, **slots)
    document = stage.create(entity_type, "dora", kind="x", note="x")
    stage.drain()
    base = {"entity_type": entity_type, "envelope_version": 1}
    newer = {"patch": "own", "base": base, "slots": {**slots, "prepared": run_action(prepared)}}
    published = publish_patch(stage.standing.company, newer)
    assert "OLDER_RUN_ON" in [finding.code for finding in published.findings]
    want_two_people(stage, "true")
    outcome = move(moves, stage, document, published.version)
    want_two_people(stage, "false")
    assert (outcome.outcome, codes(outcome)) == ("blocked", ["APPROVALS_CHANGED"])


def test_a_move_that_keeps_the_approvals_takes_one_person(
    stage: WorkflowStage, moves: InstanceMoves, made: tuple[str, Made]
) -> None:
    entity_type, document = made
    version = stage.publish_next(entity_type, approval={"nodes": [STRICT]}, posting={"nodes": [SAY]})
    want_two_people(stage, "true")
    assert move(moves, stage, document, version).outcome == "moved"
    assert pin_of(stage, document) == ("effective", "own", version)


def test_elsewhere_the_approver_and_the_explanation_name_who_moved_it(
    stage: WorkflowStage, moves: InstanceMoves, made: tuple[str, Made]
) -> None:
    entity_type, document = made
    version = stage.publish_next(entity_type, approval={"nodes": [WEAK]})
    outcome = move(moves, stage, document, version, reason="faster")
    assert outcome.report is not None
    assert (outcome.outcome, outcome.report.changes_approvals) == ("moved", True)
    stage.ask(document.id, "submit", "dora")
    stage.drain()
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    shown = approvals.read_request(company.caller("mona"), newest(stage, document))
    assert (shown.control.moved_by, shown.seated_authors) == (["olga"], [])
    explained = explain(company.database, stage.caches().contracts, stage.tenant_id, document.instance_id)
    assert explained.control is not None and explained.control.moved_by == ["olga"]
    text = " ".join(" ".join(write_instance(explained)).split())
    assert "olga moved the instance to where other approvals are asked." in text
    assert "version 2: faster. Other approvals are asked there." in text


def test_a_mover_who_is_asked_is_shown(
    stage: WorkflowStage, moves: InstanceMoves, made: tuple[str, Made]
) -> None:
    entity_type, document = made
    stage.add_member("olga")
    own = {"id": "own", "type": "approval", "config": {"approvers": [user("olga"), user("mona")]}}
    move(moves, stage, document, stage.publish_next(entity_type, approval={"nodes": [own]}))
    stage.ask(document.id, "submit", "dora")
    stage.drain()
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    assert approvals.read_request(company.caller("mona"), newest(stage, document)).seated_authors == ["olga"]
