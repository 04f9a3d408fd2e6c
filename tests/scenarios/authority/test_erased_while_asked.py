"""A personal value that is erased while people are asked: no condition of their slot takes the gap."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.compiler.node_configurations import Vote
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.corrections import Corrections
from tests.scenarios.authority.acts import edit, newest, submit, vote
from tests.scenarios.authority.test_done_once import withdraw
from tests.scenarios.authority.test_erased_behind_gates import (
    BOSS,
    CHOICE,
    HELD,
    LOOK,
    WATCHED,
    ask,
    erase,
    held,
)
from tests.scenarios.authority.test_erased_behind_gates import stage as stage_behind_gates
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

stage = stage_behind_gates
# The boss is asked about who is watched, and then a voter looks in any case.
BOSS_FIRST: Mapping[str, Any] = {
    "nodes": [CHOICE, BOSS, LOOK],
    "edges": [
        {"source": "choice", "target": "boss", "condition": WATCHED},
        {"source": "choice", "target": "look"},
        {"source": "boss", "target": "look"},
    ],
}
LOCKED: Mapping[str, Any] = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "submitted": {"edit": "locked"}},
}


def watched(stage: WorkflowStage, contract: Mapping[str, Any] = LOCKED) -> Made:
    """Submit a document whose contact is watched: the boss is asked."""
    document = stage.create(stage.publish(contract, approval=BOSS_FIRST), "carl", contact="watch")
    submit(stage, document, "carl")
    assert asking(stage, document) == ["boss"]
    return document


def asking(stage: WorkflowStage, document: Made) -> list[str]:
    query = "SELECT node_id FROM approval_requests WHERE document_id = %s AND status = 'open' ORDER BY id"
    return [node.rpartition(":")[2] for (node,) in stage.standing.rows(query, document.id)]


def erased_fields(stage: WorkflowStage, document: Made) -> list[str]:
    """Return what the view of the newest request says of erasures."""
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return list(approvals.read_request(company.caller("ben"), newest(stage, document.id)).erased_fields)


@pytest.mark.parametrize("has_voted", [False, True])
def test_an_erasure_leaves_nobody_out_who_was_asked(stage: WorkflowStage, has_voted: bool) -> None:
    document = watched(stage)
    if has_voted:
        assert vote(stage, document.id, "bea") == "approved"
        assert asking(stage, document) == ["look"]
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([HELD], [])
    stage.check_rebuild(document.instance_id)
    # The lawful way in a locked status: an operator fills the value, and the boss is asked.
    correct(stage, document, contact="watch")
    assert (held(stage, document), asking(stage, document)) == ([], ["boss"])
    assert erased_fields(stage, document) == ["contact"]
    assert vote(stage, document.id, "bea") == "approved"
    assert vote(stage, document.id, "ben") == "approved"
    assert stage.status_of(document.id) == "active"


def correct(stage: WorkflowStage, document: Made, **patch: Any) -> None:
    company = stage.standing.company
    corrections = Corrections(company.database, stage.caches(), CompiledCache())
    version = stage.version_of(document.id)
    corrections.correct(company.caller("otto", "admin"), document.id, version, patch, "it was erased")
    stage.drain()


def test_a_person_fills_what_was_erased_where_they_may_edit(stage: WorkflowStage) -> None:
    document = watched(stage, CONTRACT)
    erase(stage, document)
    assert held(stage, document) == [HELD]
    edit(stage, document, "carl", contact="known")
    stage.drain()
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])
    assert vote(stage, document.id, "bea") == "approved"
    assert stage.status_of(document.id) == "active"


def test_who_comes_again_from_where_nobody_is_asked_is_asked_by_what_it_says(stage: WorkflowStage) -> None:
    """The lawful way: in a draft people edit, and an erasure does no more than that."""
    document = watched(stage)
    assert vote(stage, document.id, "bea", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"
    erase(stage, document)
    submit(stage, document, "carl")
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])
    assert erased_fields(stage, document) == ["contact"]


def test_what_was_erased_before_anybody_was_asked_is_shown(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(LOCKED, approval=BOSS_FIRST), "carl", contact="watch")
    erase(stage, document)
    submit(stage, document, "carl")
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])
    assert erased_fields(stage, document) == ["contact"]


def test_an_erasure_that_nobody_reads_has_people_asked_again(stage: WorkflowStage) -> None:
    """The lawful way: no condition of the slot reads the value."""
    document = stage.create(stage.publish(LOCKED, approval={"nodes": [LOOK]}), "carl", contact="watch")
    submit(stage, document, "carl")
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])
    assert erased_fields(stage, document) == ["contact"]
    assert vote(stage, document.id, "bea") == "approved"
    assert stage.status_of(document.id) == "active"


def test_an_erasure_opens_no_second_way(stage: WorkflowStage) -> None:
    """Ask people by one transition, and then go by another one whose condition reads the gap."""
    transitions = {
        **CONTRACT["transitions"],
        "approve": {"from": ["submitted"], "to": "active", "kind": "requested", "rejected_to": "draft"},
        "pass": {
            "from": ["submitted"],
            "to": "active",
            "kind": "requested",
            "condition": "entity.contact != 'watch'",
        },
    }
    contract = {**LOCKED, "transitions": transitions}
    document = stage.create(stage.publish(contract, approval=BOSS_FIRST), "carl", contact="watch")
    submit(stage, document, "carl")
    assert ask(stage, document, "approve") == "submitted"
    assert asking(stage, document) == ["boss"]
    erase(stage, document)
    withdraw(stage, document)
    assert ask(stage, document, "pass") == HELD
    assert stage.status_of(document.id) == "submitted"


def test_what_was_erased_before_a_decision_in_the_same_status_was_decided_about(
    stage: WorkflowStage,
) -> None:
    """The lawful way: a gate that leaves the status as it is has used an approval without the value."""
    transitions = {
        **CONTRACT["transitions"],
        "review": {"from": ["submitted"], "to": "submitted", "kind": "requested", "rejected_to": "draft"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "requested", "rejected_to": "draft"},
    }
    slots = {**CONTRACT["slots"], "reviewing": {"transition": "review"}}
    contract = {**LOCKED, "transitions": transitions, "slots": slots}
    entity_type = stage.publish(contract, reviewing={"nodes": [LOOK]}, approval=BOSS_FIRST)
    document = stage.create(entity_type, "carl", contact="watch")
    submit(stage, document, "carl")
    assert ask(stage, document, "review") == "submitted"
    erase(stage, document)
    assert vote(stage, document.id, "bea") == "approved"
    assert ask(stage, document, "approve") == "submitted"
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_a_gate_takes_no_gap_and_sends_back_what_was_rejected(stage: WorkflowStage, verdict: Vote) -> None:
    approve = {**CONTRACT["transitions"]["approve"], "condition": "entity.contact != 'watch'"}
    contract = {**LOCKED, "transitions": {**CONTRACT["transitions"], "approve": approve}}
    document = stage.create(stage.publish(contract, approval={"nodes": [LOOK]}), "carl", contact="watch")
    submit(stage, document, "carl")
    erase(stage, document)
    assert vote(stage, document.id, "bea", verdict) == verdict
    expected = ("submitted", [HELD]) if verdict == "approved" else ("draft", [])
    assert (stage.status_of(document.id), held(stage, document)) == expected


def test_a_document_that_is_held_may_be_cancelled(stage: WorkflowStage) -> None:
    document = watched(stage)
    erase(stage, document)
    assert ask(stage, document, "cancel") == "cancelled"
    assert held(stage, document) == []
