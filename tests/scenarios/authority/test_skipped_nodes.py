"""Answers for nodes that are skipped: whole, shown to those who decide, by a person without part."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import make_command_line
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.approvals.request_view import AnswerByHand
from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.operated_instances import DETAILS, version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES, INVALID, DONE = "approved", "SEPARATION_OF_DUTIES", "FIELDS_INVALID", "done"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
LOOKUP = {"id": "lookup", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
TO_ACCOUNT = {"iban": {"$expr": "context.bank.body.iban"}}
PAY = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": TO_ACCOUNT}}
PAID_BEHIND: Mapping[str, Any] = {"nodes": [LOOKUP, PAY], "edges": [{"source": "lookup", "target": "pay"}]}
LOOKED_UP_AND_PAID: Mapping[str, Any] = {
    "nodes": [LOOKUP, PAY, LOOK],
    "edges": [{"source": "lookup", "target": "pay"}, {"source": "pay", "target": "look"}],
}
# No function is loaded for it, so that it is held.
RUN = {"id": "run", "type": "action", "config": {"action": "run", "run_as": "system"}}
RUNS_TWICE: Mapping[str, Any] = {
    "nodes": [RUN, {**RUN, "id": "again"}, LOOK],
    "edges": [{"source": "run", "target": "again"}, {"source": "again", "target": "look"}],
}
LOOKED_AT_WHEN_LARGE: Mapping[str, Any] = {
    "nodes": [
        {**RUN, "config": {"action": "run", "run_as": "system", "save_as": "result"}},
        {"id": "choice", "type": "condition"},
        LOOK,
    ],
    "edges": [
        {"source": "run", "target": "choice"},
        {"source": "choice", "target": "look", "condition": "context.result.total > 5"},
        {"source": "choice", "target": "out"},
        {"source": "look", "target": "out"},
    ],
    "exit": "join",
}
ALLOWED = {**CONTRACT, "separation_of_duties": {"may_decide": ["editor"]}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("fiona", "app2", "eve", "carl")
        )
        deputy = Member(user_id="deputy", display_name="Deputy", roles=("clerk", "admin"))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, (*members, deputy), COMMAND_LINE)
        add_endpoint(made)
        yield made


def asked(stage: WorkflowStage, contract: Any = None, **slots: Any) -> Made:
    document = stage.create(stage.publish(contract, **slots))
    submit(stage, document, "carl")
    return document


def answer_of(iban: str) -> dict[str, Any]:
    return {"status": 200, "body": {"iban": iban}}


def skip(stage: WorkflowStage, document: Made, person: str | Caller, node: str, payload: Any = None) -> str:
    """Return "done", or the code of the refusal."""
    company = stage.standing.company
    caller = company.caller(person, "admin") if isinstance(person, str) else person
    repairs, seen = Repairs(company.database, stage.caches(), CompiledCache()), version(stage, document)
    try:
        repairs.skip(caller, document.instance_id, seen, f"usr:{node}", "it came by phone", payload)
    except Rejected as refused:
        return refused.code
    stage.drain()
    stage.check_rebuild(document.instance_id)
    return DONE


def advance(stage: WorkflowStage, document: Made, person: str, node: str, payload: Any = None) -> str:
    company = stage.standing.company
    instances, seen = Instances(company.database, stage.caches(), CompiledCache()), version(stage, document)
    try:
        instances.advance(
            company.caller(person, "admin"), document.instance_id, seen, f"usr:{node}", "by phone", payload
        )
    except Rejected as refused:
        return refused.code
    stage.drain()
    return DONE


def hold_lookup(stage: WorkflowStage, document: Made) -> None:
    stage.answer(document.instance_id, error="gone")
    stage.drain()


def paid_to(stage: WorkflowStage, document: Made) -> list[Any]:
    """List the accounts that payments of the document go to."""
    rows = stage.standing.rows(
        "SELECT payload_json -> 'payload' ->> 'iban' FROM workflow_side_effects_outbox"
        " WHERE instance_id = %s AND payload_json -> 'payload' ? 'iban' ORDER BY id",
        document.instance_id,
    )
    return [iban for (iban,) in rows]


def answers_shown(stage: WorkflowStage, document: Made, person: str) -> list[AnswerByHand]:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return list(approvals.read_request(company.caller(person), newest(stage, document.id)).answered_by_hand)


# --- an approval that the gate has used ---


@pytest.mark.parametrize("how", ["skip", "advance"])
def test_who_approved_says_nothing_about_the_account_behind_the_gate(stage: WorkflowStage, how: str) -> None:
    document = asked(stage, approval={"nodes": [LOOK]}, posting=PAID_BEHIND)
    assert vote(stage, document.id, "fiona") == APPROVED
    assert stage.status_of(document.id) == "active"
    if how == "skip":
        hold_lookup(stage, document)
    give = skip if how == "skip" else advance
    assert give(stage, document, "fiona", "posting:lookup", answer_of("DE-OF-FIONA")) == DUTIES
    assert paid_to(stage, document) == []
    # The lawful way: a person without part in the document gives the answer.
    assert give(stage, document, "eve", "posting:lookup", answer_of("DE-1")) == DONE
    assert paid_to(stage, document) == ["DE-1"]


def test_who_approved_on_the_command_line_is_barred_as_they_are(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]}, posting=PAID_BEHIND)
    assert vote(stage, document.id, "fiona") == APPROVED
    hold_lookup(stage, document)
    command_line = make_command_line(stage.tenant_id, "postgres", "local")
    for person, code in (("fiona", DUTIES), ("eve", DONE)):
        caller = Caller(command_line, "cli", claimed=person)
        assert skip(stage, document, caller, "posting:lookup", answer_of("DE-1")) == code


def test_those_an_approver_voted_for_give_no_answer_either(stage: WorkflowStage) -> None:
    company, now = stage.standing.company, datetime.now(UTC)
    document = asked(stage, approval={"nodes": [LOOK]}, posting=PAID_BEHIND)
    Delegations(company.database).delegate(
        company.caller("fiona"), "fiona", "deputy", from_time=now, to_time=now + timedelta(hours=1)
    )
    assert vote(stage, document.id, "deputy") == APPROVED
    hold_lookup(stage, document)
    for person, code in (("fiona", DUTIES), ("deputy", DUTIES), ("eve", DONE)):
        assert skip(stage, document, person, "posting:lookup", answer_of("DE-1")) == code


def test_a_contract_that_lets_editors_decide_lets_its_approvers_answer(stage: WorkflowStage) -> None:
    document = asked(stage, ALLOWED, approval={"nodes": [LOOK]}, posting=PAID_BEHIND)
    assert vote(stage, document.id, "fiona") == APPROVED
    hold_lookup(stage, document)
    assert skip(stage, document, "fiona", "posting:lookup", answer_of("DE-1")) == DONE


def test_a_vote_that_no_gate_used_bars_nobody_from_an_answer(stage: WorkflowStage) -> None:
    """Let a person who rejected the document answer for it when it is asked about again."""
    slot = {"nodes": [LOOKUP, LOOK], "edges": [{"source": "lookup", "target": "look"}]}
    document = asked(stage, approval=slot)
    assert advance(stage, document, "eve", "approval:lookup", answer_of("DE-1")) == DONE
    assert vote(stage, document.id, "fiona", "rejected") == "rejected"
    submit(stage, document, "carl")
    assert advance(stage, document, "fiona", "approval:lookup", answer_of("DE-2")) == DONE


# --- those who decide see it ---


def test_those_who_decide_see_what_was_said_for_a_skipped_node(stage: WorkflowStage) -> None:
    slot = {"nodes": [LOOKUP, LOOK], "edges": [{"source": "lookup", "target": "look"}]}
    document = asked(stage, approval=slot)
    hold_lookup(stage, document)
    command_line = Caller(make_command_line(stage.tenant_id, "postgres", "local"), "cli", claimed="eve")
    assert skip(stage, document, command_line, "approval:lookup", answer_of("DE-1")) == DONE
    (shown,) = answers_shown(stage, document, "app2")
    assert (shown.node_id, shown.reason, shown.variables) == (
        "usr:approval:lookup",
        "it came by phone",
        {"bank": answer_of("DE-1")},
    )
    assert shown.claimed == "eve"
    assert vote(stage, document.id, "eve") == DUTIES
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "active"


# --- an answer is whole ---


@pytest.mark.parametrize("payload", [None, "text", {}, {"nonsense": [1]}, {"total": "9"}])
def test_nobody_skips_past_an_approval_by_saying_nothing(stage: WorkflowStage, payload: Any) -> None:
    document = asked(stage, approval=LOOKED_AT_WHEN_LARGE)
    assert skip(stage, document, "eve", "approval:run", payload) == INVALID
    assert stage.status_of(document.id) == "submitted"
    assert skip(stage, document, "eve", "approval:run", {"total": 9}) == DONE
    assert vote(stage, document.id, "eve") == DUTIES
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_nobody_ends_a_call_without_its_answer(stage: WorkflowStage) -> None:
    slot = {"nodes": [LOOKUP, LOOK], "edges": [{"source": "lookup", "target": "look"}]}
    document = asked(stage, approval=slot)
    for payload in (None, {"status": 200}):
        assert advance(stage, document, "eve", "approval:lookup", payload) == INVALID
    assert advance(stage, document, "eve", "approval:lookup", answer_of("DE-1")) == DONE


def test_nobody_leaves_out_of_an_answer_what_the_next_step_reads(stage: WorkflowStage) -> None:
    document = asked(stage, approval=LOOKED_UP_AND_PAID)
    assert (
        advance(stage, document, "eve", "approval:lookup", {"status": 200, "body": {"bic": "X"}}) == INVALID
    )
    assert refuse_dry(stage, document, {"status": 200, "body": None}) == [
        ("/payload/body/iban", "is left out, and usr:approval:pay reads it (context.bank.body.iban)")
    ]
    assert advance(stage, document, "eve", "approval:lookup", answer_of("DE-1")) == DONE


def refuse_dry(stage: WorkflowStage, document: Made, payload: Any) -> list[tuple[str, str]]:
    """Return what a dry run refuses of the answer to the call."""
    company = stage.standing.company
    instances, seen = Instances(company.database, stage.caches(), CompiledCache()), version(stage, document)
    caller, node = company.caller("eve", "admin"), "usr:approval:lookup"
    with pytest.raises(Rejected) as refused:
        instances.advance(caller, document.instance_id, seen, node, "by phone", payload, dry_run=True)
    return [(mistake.pointer, mistake.message) for mistake in refused.value.fields]


def test_who_has_skipped_once_may_skip_again(stage: WorkflowStage) -> None:
    document = asked(stage, approval=RUNS_TWICE)
    assert skip(stage, document, "carl", "approval:run") == DUTIES
    assert skip(stage, document, "eve", "approval:run") == DONE
    assert skip(stage, document, "eve", "approval:again") == DONE
    assert vote(stage, document.id, "eve") == DUTIES
    assert vote(stage, document.id, "app2") == APPROVED


def test_the_audit_row_seals_the_answer(stage: WorkflowStage) -> None:
    document = asked(stage, approval=LOOKED_AT_WHEN_LARGE)
    assert skip(stage, document, "eve", "approval:run", {"total": 9}) == DONE
    ((act, actor, reason, said),) = stage.standing.rows(DETAILS, str(document.instance_id))
    assert (act, actor, reason) == ("skip", "eve", "it came by phone")
    assert said["answer"] == {"total": 9}
    assert said["answer_hash"] == hash_bytes(canonical_bytes({"total": 9}))
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound
