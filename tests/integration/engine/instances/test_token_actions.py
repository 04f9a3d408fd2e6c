"""Operators who cancel one token of an instance, or end its wait."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import make_command_line
from signet.core.tenants.tenant_file import Member
from signet.engine.instances.actions import InstanceState
from signet.store.tenants.tenants import save_members
from tests.support.operated_instances import DETAILS, check, operating_on, status_of, submitted, version
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

LOOK: Mapping[str, Any] = {
    "id": "look",
    "type": "approval",
    "config": {"approvers": [{"by": "user", "user": "mona"}]},
}
BESIDE: Mapping[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        LOOK,
        CALL,
        {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "look"},
        {"source": "fork", "target": "call"},
        {"source": "look", "target": "join"},
        {"source": "call", "target": "join"},
    ],
}
UNREJECTED: dict[str, Any] = deepcopy(dict(CONTRACT))
del UNREJECTED["transitions"]["approve"]["rejected_to"]
SAVING = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "score"}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name, roles=("clerk", "voter", "admin"))
            for name in ("mona", "carl")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def cancel(stage: WorkflowStage, document: Made, node: str) -> InstanceState:
    instances, olga = operating_on(stage)
    seen = version(stage, document)
    state = instances.cancel_token(olga, document.instance_id, seen, node, "nobody is there")
    check(stage, document)
    return state


def advance(stage: WorkflowStage, document: Made, node: str, payload: Any = None) -> InstanceState:
    instances, olga = operating_on(stage)
    seen = version(stage, document)
    state = instances.advance(olga, document.instance_id, seen, node, "it came by phone", payload)
    check(stage, document)
    return state


def list_effects(stage: WorkflowStage, document: Made) -> list[str]:
    found = stage.standing.rows(
        "SELECT status FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id",
        document.instance_id,
    )
    return [status for (status,) in found]


def approval_of(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT r.status, r.outcome, array_agg(n.user_id || ' ' || n.kind ORDER BY n.id)"
        " FROM approval_requests r JOIN notifications n ON n.request_id = r.id"
        " WHERE r.instance_id = %s GROUP BY r.status, r.outcome",
        document.instance_id,
    )


# --- cancelling a token ---


def test_a_cancelled_approval_rejects_its_block_and_who_was_asked_is_told(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=BESIDE)
    state = cancel(stage, document, "usr:approval:look")
    assert (state.status, state.version) == ("running", 9)
    assert approval_of(stage, document) == [
        ("voided", "its step was withdrawn", ["mona approval_requested", "mona approval_voided"])
    ]
    stage.drain()
    assert stage.steps(document.instance_id) == [
        ("sys:start", "T", "completed"),
        ("sys:state:draft", "T", "completed"),
        ("sys:gate:submit", "T", "completed"),
        ("sys:state:submitted", "T", "completed"),
        ("sys:slot:approval:in", "T", "completed"),
        ("usr:approval:fork", "T", "completed"),
        ("usr:approval:call", "T/6.0", "cancelled"),
        ("usr:approval:look", "T/6.1", "cancelled"),
        ("sys:control:token_cancelled", "", "completed"),
        ("usr:approval:join", "T", "completed"),
        ("sys:slot:approval:out", "T", "completed"),
        ("sys:gate:approve", "T", "completed"),
        ("sys:state:draft", "T/b12", "running"),
    ]
    assert stage.status_of(document.id) == "draft"
    assert list_effects(stage, document) == ["withdrawn"]
    check(stage, document)


def test_who_cancelled_what_and_why_is_on_record(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=BESIDE)
    cancel(stage, document, "T/6.0")
    said = {"token": "T/6.0", "node": "usr:approval:call"}
    control = stage.whole_steps(document.instance_id)[-1]
    assert (control["node_id"], control["run_as"], control["actor_user_id"]) == (
        "sys:control:token_cancelled",
        "actor",
        "olga",
    )
    own = {
        **said,
        "reason": "nobody is there",
        "actor": {"id": "olga", "roles": ["admin"], "responsible": ["olga"]},
    }
    assert control["output_json"] == own
    history = stage.standing.rows(
        "SELECT entry, actor_id, data FROM workflow_event WHERE subject_id = %s ORDER BY id",
        document.instance_id,
    )
    assert history[-1] == ("token_cancelled", "olga", {"reason": "nobody is there", **said})
    audited = stage.standing.rows(DETAILS, str(document.instance_id))
    assert audited == [("cancel_token", "olga", "nobody is there", said)]
    # The instance still runs for the person it ran for before.
    assert stage.instance(document.instance_id)["actor_id"] == "carl"


def test_in_a_slot_of_a_request_the_gate_refuses_it(stage: WorkflowStage) -> None:
    document = submitted(stage, checks={"nodes": [CALL]})
    cancel(stage, document, "usr:checks:call")
    stage.drain()
    assert stage.requests(document.id) == [("submit", "refused")]
    assert status_of(stage, document) == ("running", ["sys:state:draft"], None)
    check(stage, document)
    stage.ask(document.id, "submit")
    stage.drain()
    assert list_effects(stage, document) == ["withdrawn", "pending"]
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_what_no_gate_could_send_back_is_not_cancelled(stage: WorkflowStage) -> None:
    """Its gate would stay shut. Another transition can be asked for."""
    document = submitted(stage, UNREJECTED, approval={"nodes": [CALL]})
    with pytest.raises(Rejected) as caught:
        cancel(stage, document, "usr:approval:call")
    assert caught.value.code == "INSTANCE_TOKEN_NOT_CANCELLABLE"
    assert "has no state for what is rejected" in caught.value.message and "skip" in caught.value.remedy
    assert status_of(stage, document) == ("running", ["usr:approval:call"], None)
    stage.ask(document.id, "cancel")
    stage.drain()
    assert stage.status_of(document.id) == "cancelled"
    check(stage, document)


def test_a_held_token_that_is_cancelled_goes_on_as_rejected(stage: WorkflowStage) -> None:
    """Cancel a token that could not begin, because its chain is not published any more."""
    operating_on(stage)
    chained = {"id": "look", "type": "approval", "config": {"chain": "nothing"}}
    document = stage.create(stage.publish(approval={"nodes": [chained]}))
    stage.standing.run("UPDATE approval_chains SET status = 'archived'")
    stage.ask(document.id, "submit")
    stage.drain()
    reason = "APPROVAL_CHAIN_UNKNOWN: no published chain is called 'nothing'"
    assert status_of(stage, document) == ("paused", ["usr:approval:look"], reason)
    state = cancel(stage, document, "usr:approval:look")
    assert state.status == "running"
    assert status_of(stage, document) == ("running", ["sys:slot:approval:out"], None)
    assert stage.steps(document.instance_id)[-1] == ("usr:approval:look", "T", "cancelled")
    stage.drain()
    assert stage.status_of(document.id) == "draft"
    check(stage, document)


@pytest.mark.parametrize(
    ("token", "code"),
    [
        ("sys:state:draft", "INSTANCE_TOKEN_NOT_CANCELLABLE"),
        ("T", "INSTANCE_TOKEN_NOT_CANCELLABLE"),
        ("usr:approval:look", "INSTANCE_TOKEN_NOT_FOUND"),
        ("T/6.0", "INSTANCE_TOKEN_NOT_FOUND"),
        ("", "INSTANCE_TOKEN_NOT_FOUND"),
        ("x" * 1_000_000, "INSTANCE_TOKEN_NOT_FOUND"),
        ("\0\ud800", "INSTANCE_TOKEN_NOT_FOUND"),
    ],
)
def test_what_is_no_token_to_cancel_is_refused(stage: WorkflowStage, token: str, code: str) -> None:
    instances, olga = operating_on(stage)
    document = stage.create(stage.publish(approval=BESIDE))
    stage.drain()
    before = stage.instance(document.instance_id)
    with pytest.raises(Rejected) as caught:
        instances.cancel_token(olga, document.instance_id, 2, token, "why")
    assert caught.value.code == code and caught.value.remedy
    assert stage.instance(document.instance_id) == before


# --- ending a wait ---


def test_a_call_that_will_not_be_answered_is_ended_by_hand(stage: WorkflowStage) -> None:
    slot = {
        "nodes": [SAVING, {"id": "choice", "type": "condition"}, {**CALL, "id": "more"}],
        "edges": [
            {"source": "call", "target": "choice"},
            {"source": "choice", "target": "out", "condition": "context.score.body.points > 5"},
            {"source": "choice", "target": "more"},
        ],
        "exit": "join",
    }
    document = submitted(stage, checks=slot)
    advance(stage, document, "usr:checks:call", {"status": 200, "body": {"points": 9}})
    waited = next(s for s in stage.whole_steps(document.instance_id) if s["node_id"] == "usr:checks:call")
    assert (waited["status"], waited["output_json"]["outcome"]) == ("completed", "delivered")
    assert waited["output_json"]["evidence"] == {"advanced_by": "olga"}
    control = stage.whole_steps(document.instance_id)[-1]
    assert (control["node_id"], control["actor_user_id"], waited["end_seq"]) == (
        "sys:control:advanced",
        "olga",
        control["seq"] + 1,
    )
    answer_hash = hash_bytes(canonical_bytes({"status": 200, "body": {"points": 9}}))
    said = {"token": "T", "node": "usr:checks:call", "answer_hash": answer_hash}
    audited = stage.standing.rows(DETAILS, str(document.instance_id))
    assert audited == [("advance", "olga", "it came by phone", said)]
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert list_effects(stage, document) == ["withdrawn"]
    check(stage, document)


def test_nobody_ends_a_wait_of_a_document_in_which_they_took_part(stage: WorkflowStage) -> None:
    """Refuse a creator, and a command line that claims to be theirs; another operator may."""
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [CALL]})
    command_line = make_command_line(stage.tenant_id, "postgres", "local")
    before, seen = stage.instance(document.instance_id), version(stage, document)
    for caller in (
        replace(olga, principal=replace(olga.principal, subject="carl")),
        Caller(command_line, "cli", claimed="carl"),
    ):
        with pytest.raises(Rejected) as caught:
            instances.advance(caller, document.instance_id, seen, "usr:checks:call", "why")
        assert (caught.value.code, bool(caught.value.remedy)) == ("SEPARATION_OF_DUTIES", True)
        assert stage.instance(document.instance_id) == before
    instances.advance(
        Caller(command_line, "cli", claimed="olga"), document.instance_id, seen, "usr:checks:call", "why"
    )
    ((act, actor, _, detail),) = stage.standing.rows(DETAILS, str(document.instance_id))
    assert (act, actor, detail["claimed"]) == ("advance", "cli:postgres@local", "olga")
    check(stage, document)


def test_a_message_need_not_be_delivered(stage: WorkflowStage) -> None:
    config = {"channel": "email", "to": [{"by": "user", "user": "mona"}], "text": "x", "await": True}
    document = submitted(stage, checks={"nodes": [{"id": "tell", "type": "notification", "config": config}]})
    advance(stage, document, "usr:checks:tell")
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_the_others_of_its_block_are_waited_for(stage: WorkflowStage) -> None:
    """Let the people who were asked still decide; nothing passes before."""
    document = submitted(stage, approval=BESIDE)
    advance(stage, document, "usr:approval:call")
    stage.drain()
    assert status_of(stage, document)[:2] == ("running", ["usr:approval:look"])
    with pytest.raises(Rejected) as caught:
        advance(stage, document, "usr:approval:look")
    assert caught.value.code == "INSTANCE_TOKEN_NOT_ADVANCEABLE"
    assert caught.value.remedy == "Have it decided by those who were asked, or cancel the token."
    assert approval_of(stage, document)[0][0] == "open"


@pytest.mark.parametrize(
    ("payload", "code"),
    [("x" * 65_536, "FIELD_TOO_LONG"), ("\0", "FIELD_TEXT_INVALID"), (float("inf"), "FIELD_NUMBER_UNSAFE")],
)
def test_an_answer_that_nothing_can_keep_is_refused(stage: WorkflowStage, payload: Any, code: str) -> None:
    document = submitted(stage, checks={"nodes": [SAVING]})
    with pytest.raises(Rejected) as caught:
        advance(stage, document, "usr:checks:call", payload)
    assert [(each.pointer, each.code) for each in caught.value.fields] == [("/payload", code)]


def test_an_edit_that_is_not_taken_in_yet_goes_first(stage: WorkflowStage) -> None:
    """Refuse until the edit is processed: its conditions would read content that no wave has seen."""
    document = submitted(stage, checks={"nodes": [CALL]})
    stage.edit(document.id, amount=2)
    with pytest.raises(Rejected) as caught:
        advance(stage, document, "usr:checks:call")
    assert caught.value.code == "INSTANCE_BEHIND"
    stage.drain()
    assert status_of(stage, document)[:2] == ("running", ["sys:state:draft"])
