"""Approvals that no gate uses: what they let through went on, so that their voters answer for none of it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Json

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.effect_acts import EffectActs
from signet.engine.instances.repairs import Repairs
from signet.ids import make_id
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.scenarios.authority.test_skipped_nodes import (
    APPROVED,
    DONE,
    DUTIES,
    LOOK,
    LOOKUP,
    PAID_BEHIND,
    PAY,
    advance,
    answer_of,
    asked,
    hold_lookup,
    paid_to,
    skip,
)
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

TWO_GATES: Mapping[str, Any] = {
    **CONTRACT,
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "editable"},
        "active": {"edit": "locked"},
        "sent": {"edit": "locked", "settled": True},
        "cancelled": {"edit": "locked", "final": True},
    },
    "transitions": {
        **CONTRACT["transitions"],
        "send": {"from": ["active"], "to": "sent", "kind": "automatic", "rejected_to": "draft"},
    },
    "slots": {
        **CONTRACT["slots"],
        "sending": {"transition": "send"},
        "closing": {"transition": "send", "position": "after"},
    },
}
# Behind a gate the author draws where a rejection leads.
REJECTED = {"source": "look", "target": "out", "on": "rejected"}
LOOKED_BEHIND: Mapping[str, Any] = {
    "nodes": [LOOK],
    "edges": [{"source": "look", "target": "out"}, REJECTED],
    "exit": "join",
}
RUN = {"id": "run", "type": "action", "config": {"action": "run", "run_as": "system"}}
LOOKED_THEN_RUN: Mapping[str, Any] = {
    "nodes": [LOOK, RUN],
    "edges": [{"source": "look", "target": "run"}, {"source": "run", "target": "out"}, REJECTED],
    "exit": "join",
}
LOOKUP_OR_PAY: Mapping[str, Any] = {
    "nodes": [LOOKUP, PAY],
    "edges": [
        {"source": "lookup", "target": "pay"},
        {"source": "lookup", "target": "out", "on": "error"},
        {"source": "pay", "target": "out"},
    ],
    "exit": "join",
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("fiona", "eve", "carl", "rita")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        add_endpoint(made)
        yield made


def approved_behind(stage: WorkflowStage, contract: Any = TWO_GATES, **slots: Any) -> Made:
    """Let fiona approve a document behind its first gate, so that it comes to the next one."""
    document = asked(stage, contract, **{"posting": LOOKED_BEHIND, **slots})
    stage.drain()
    assert vote(stage, document.id, "fiona") == APPROVED
    stage.drain()
    return document


def attempt(stage: WorkflowStage, act: Callable[[], object]) -> str:
    try:
        act()
    except Rejected as refused:
        return refused.code
    stage.drain()
    return DONE


def list_void_codes(stage: WorkflowStage, document: Made) -> list[str | None]:
    query = "SELECT void_code FROM approval_requests WHERE document_id = %s ORDER BY id"
    return [code for (code,) in stage.standing.rows(query, document.id)]


# --- answers ---


@pytest.mark.parametrize("how", ["skip", "advance"])
def test_who_approved_behind_a_gate_names_no_account_at_the_next_one(stage: WorkflowStage, how: str) -> None:
    document = approved_behind(stage, sending=PAID_BEHIND)
    if how == "skip":
        hold_lookup(stage, document)
    give = skip if how == "skip" else advance
    assert give(stage, document, "fiona", "sending:lookup", answer_of("DE-FIONA")) == DUTIES
    assert paid_to(stage, document) == []
    # The lawful way: a person without part in the document gives the answer.
    assert give(stage, document, "eve", "sending:lookup", answer_of("DE-1")) == DONE
    assert paid_to(stage, document) == ["DE-1"]
    assert list_void_codes(stage, document) == ["moved_on"]


def test_who_approved_behind_a_gate_withdraws_no_call_that_chooses_the_way(stage: WorkflowStage) -> None:
    document = approved_behind(stage, sending=LOOKUP_OR_PAY)
    (effect_id,) = stage.standing.row(
        "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s", document.instance_id
    )
    company = stage.standing.company
    acts = EffectActs(company.database, stage.caches(), CompiledCache())
    for person, code in (("fiona", DUTIES), ("eve", DONE)):
        caller = company.caller(person, "admin")
        assert attempt(stage, partial(acts.withdraw, caller, effect_id, "why")) == code


def test_who_was_sent_past_bars_like_who_was_passed(stage: WorkflowStage) -> None:
    """An operator sends the document on behind its approval: nobody asks these people again."""
    document = approved_behind(stage, posting=LOOKED_THEN_RUN, sending=PAID_BEHIND)
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    caller, seen = stage.standing.company.caller("eve", "admin"), version(stage, document)

    def on() -> object:
        return repairs.go_to(caller, document.instance_id, seen, "sys:state:active", "it is done by hand")

    assert attempt(stage, on) == DONE
    assert list_void_codes(stage, document) == ["moved_on"]
    assert advance(stage, document, "fiona", "sending:lookup", answer_of("DE-FIONA")) == DUTIES
    assert advance(stage, document, "rita", "sending:lookup", answer_of("DE-1")) == DONE


def test_who_is_asked_again_is_barred_by_the_new_answer_alone(stage: WorkflowStage) -> None:
    """The approval was edited away before its gate: nothing was done with it, and it bars nobody."""
    document = asked(stage, TWO_GATES, approval={"nodes": [LOOK]}, posting=PAID_BEHIND)
    assert vote(stage, document.id, "fiona", "abstained") == "open"
    edit(stage, document, "carl", amount=2)
    stage.drain()
    assert list_void_codes(stage, document) == ["asked_again", None]
    assert vote(stage, document.id, "rita") == APPROVED
    assert [skip_held(stage, document, who) for who in ("rita", "fiona")] == [DUTIES, DONE]


def skip_held(stage: WorkflowStage, document: Made, person: str) -> str:
    if stage.instance(document.instance_id)["status"] == "running":
        hold_lookup(stage, document)
    return skip(stage, document, person, "posting:lookup", answer_of("DE-1"))


def test_what_another_person_rejected_bars_nobody(stage: WorkflowStage) -> None:
    """Its gate did not pass, so that it let nothing through."""
    second = {**LOOK, "id": "second"}
    edges = [{"source": "lookup", "target": "look"}, {"source": "look", "target": "second"}]
    document = asked(stage, approval={"nodes": [LOOKUP, LOOK, second], "edges": edges})
    assert advance(stage, document, "eve", "approval:lookup", answer_of("DE-1")) == DONE
    assert vote(stage, document.id, "fiona") == APPROVED
    assert vote(stage, document.id, "rita", "rejected") == "rejected"
    assert list_void_codes(stage, document) == ["moved_on", None]
    submit(stage, document, "carl")
    assert advance(stage, document, "fiona", "approval:lookup", answer_of("DE-2")) == DONE


# --- other acts behind the next gate ---


@pytest.mark.parametrize("act", ["cancel", "fail", "go_to"])
def test_who_approved_behind_a_gate_ends_nothing_behind_the_next_one(stage: WorkflowStage, act: str) -> None:
    document = approved_behind(stage, closing={"nodes": [RUN]})
    caches, database = stage.caches(), stage.standing.company.database
    instances = Instances(database, caches, CompiledCache())
    repairs = Repairs(database, caches, CompiledCache())
    seen = version(stage, document)

    def end(person: str) -> object:
        caller, id_ = stage.standing.company.caller(person, "admin"), document.instance_id
        if act == "go_to":
            return repairs.go_to(caller, id_, seen, "sys:state:sent", "why")
        return getattr(instances, act)(caller, id_, seen, "why")

    assert attempt(stage, lambda: end("fiona")) == DUTIES
    assert attempt(stage, lambda: end("eve")) == DONE


def test_who_approved_behind_a_gate_restarts_nothing_behind_the_next_one(stage: WorkflowStage) -> None:
    document = approved_behind(stage, closing={"nodes": [RUN]})
    company, caches = stage.standing.company, stage.caches()
    instances = Instances(company.database, caches, CompiledCache())
    instances.cancel(company.caller("eve", "admin"), document.instance_id, version(stage, document), "why")
    restarts, seen = Restarts(company.database, caches, CompiledCache()), stage.version_of(document.id)

    def restart(person: str) -> Callable[[], object]:
        return lambda: restarts.restart(company.caller(person, "admin"), document.id, seen, "why")

    assert attempt(stage, restart("fiona")) == DUTIES
    assert attempt(stage, restart("eve")) == DONE


def test_what_was_approved_behind_a_gate_is_not_corrected_at_the_next_one(stage: WorkflowStage) -> None:
    document = approved_behind(stage, sending=PAID_BEHIND)
    hold_lookup(stage, document)
    company, seen = stage.standing.company, stage.version_of(document.id)
    corrections = Corrections(company.database, stage.caches(), CompiledCache())

    def correct() -> object:
        return corrections.correct(
            company.caller("eve", "admin"), document.id, seen, {"amount": 9}, "misread"
        )

    assert attempt(stage, correct) == "CORRECTION_NOT_POSSIBLE"


def test_an_approval_that_ended_with_its_instance_still_bars(stage: WorkflowStage) -> None:
    """It had let something through before an amendment ended its way, and that comes from it."""
    contract = {**CONTRACT, "amendment": {"from": ["active"]}}
    original = approved_behind(stage, contract, posting=LOOKED_THEN_RUN)
    applied = stage.mutate(Amend(original.id, stage.version_of(original.id), {"amount": 5}), "carl")
    amendment = Made(applied.document_id, stage.instance_of(applied.document_id))
    submit(stage, amendment, "carl")
    stage.drain()
    assert list_void_codes(stage, original) == ["instance_ended"]
    assert vote(stage, amendment.id, "rita") == APPROVED
    for person, code in (("fiona", DUTIES), ("rita", DUTIES), ("eve", DONE)):
        assert skip(stage, amendment, person, "posting:run") == code


# --- older rows ---


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("the document went another way, or was edited", "moved_on"),
        ("an operator has sent the workflow back", "moved_on"),
        ("its step was withdrawn", "step_withdrawn"),
        ("the document was edited", "asked_again"),
        ("variables of the workflow have changed: context.bank", "asked_again"),
        ("amended", "instance_ended"),
    ],
)
def test_a_void_of_the_release_before_gets_its_code(stage: WorkflowStage, sentence: str, code: str) -> None:
    """It names none, and its sentence is read as it is written."""
    document = asked(stage, TWO_GATES, posting=LOOKED_BEHIND)
    stage.drain()
    voided = [{"instance_id": str(document.instance_id), "reason": sentence, "notice_id": str(make_id())}]
    with stage.database.transaction(stage.tenant_id) as connection:
        connection.execute("SELECT void_approval_requests(%s::json, now())", [Json(voided)])
    assert list_void_codes(stage, document) == [code]
