"""Answers that are kept as text: who types what makes an answer so leads nothing past people."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.outbound.webhook import AllowedAddresses, Webhooks
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import list_asked, submit, vote
from tests.scenarios.authority.test_done_once import withdraw
from tests.scenarios.authority.test_erased_behind_gates import PAYABLE
from tests.scenarios.authority.test_skipped_nodes import DONE, INVALID, skip
from tests.support.core.approval_policies import role
from tests.support.effects import add_endpoint, come_due, effects
from tests.support.services.webhook_receiver import answering, receiving
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

SECRET = f"whsec_{base64.b64encode(b's' * 24).decode()}"
BOSS = {"id": "boss", "type": "approval", "config": {"approvers": [role("boss")]}}
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
CALL: Mapping[str, Any] = {
    "id": "check",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"memo": "{entity.number}"}, "save_as": "bureau"},
}
TEXT = {"type": "string", "max_length": 20_000}
WORDY: Mapping[str, Any] = {**CONTRACT, "fields": {**CONTRACT["fields"], "number": TEXT}}
LOST = "ANSWER_UNREADABLE"
Receive = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        roles = {
            "vlad": ("voter", "admin"),
            "carl": ("admin",),
            "olga": ("boss", "admin"),
            "otto": ("admin",),
        }
        made.standing.run(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'boss', '{}')", made.tenant_id
        )
        members = [Member(user_id=name, display_name=name, roles=held) for name, held in roles.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def choosing(condition: str) -> dict[str, Any]:
    """Let the boss be asked where the condition holds, and the voters in any case."""
    edges = [
        {"source": "check", "target": "boss", "condition": condition},
        {"source": "check", "target": "look"},
        {"source": "boss", "target": "look"},
    ]
    return {"nodes": [CALL, BOSS, LOOK], "edges": edges}


BAD = choosing("context.bureau.body.rating == 'BAD'")


def rate(memo: str, rating: str = "BAD") -> Receive:
    """Return a receiver that repeats what it was asked about, with its rating."""
    return answering(200, json.dumps({"memo": memo, "rating": rating}).encode())


def checked(
    stage: WorkflowStage, receive: Receive, *, slot: Mapping[str, Any] = BAD, memo: str = "M"
) -> Made:
    """Submit a document, and have the receiver answer its call as the process that delivers does."""
    document = stage.create(stage.publish(WORDY, approval=slot), "carl", number=memo)
    submit(stage, document, "carl")
    deliver(stage, receive)
    return document


def deliver(stage: WorkflowStage, receive: Receive) -> None:
    allowed = AllowedAddresses(frozenset({"127.0.0.1"}))
    with receiving(receive) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/", "new")
        come_due(stage)
        effects(stage, webhook=Webhooks(lambda tenant_id, name: SECRET, allowed)).work(stage.tenant_id)
    stage.drain()


def held(stage: WorkflowStage, document: Made) -> list[tuple[str, str]]:
    query = "SELECT code, node_id FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    return [(code, node) for code, node in stage.standing.rows(query, document.id)]


HELD = [(LOST, "usr:approval:check")]


def test_a_clerk_does_not_cut_the_answer_that_chooses_who_is_asked(stage: WorkflowStage) -> None:
    short = checked(stage, rate("M"))
    assert (held(stage, short), list_asked(stage, short)) == ([], ["@boss"])
    memo = "m" * 20_000
    long = checked(stage, rate(memo), memo=memo)
    assert (held(stage, long), list_asked(stage, long)) == (HELD, [])
    stage.check_rebuild(long.instance_id)
    # A retry reads the same answer.
    stage.retry(long, stage.standing.company.caller("otto", "admin"))
    assert (held(stage, long), list_asked(stage, long)) == (HELD, [])
    # An operator asks the receiver, and gives what the condition reads.
    answer = {"status": 200, "body": {"memo": "m"}}
    assert skip(stage, long, "otto", "approval:check", answer) == INVALID
    assert skip(stage, long, "otto", "approval:check", {"status": 200, "body": {"rating": "BAD"}}) == DONE
    assert (held(stage, long), list_asked(stage, long)) == ([], ["@boss"])


UNREADABLE = [
    b'{"order": "a "quoted" word", "rating": "BAD"}',
    b'{"order": "\xfc", "rating": "BAD"}',
    b'{"order": "\\ud800", "rating": "BAD"}',
    b'{"order": 123456789012345678901234567890, "rating": "BAD"}',
    b'{"order": 1e999, "rating": "BAD"}',
    b'{"order": ' + b"[" * 40 + b"]" * 40 + b', "rating": "BAD"}',
    b'{"rating": "BAD", "rating": "GOOD"}',
    b"The bureau is closed.",
]


@pytest.mark.parametrize("body", UNREADABLE)
def test_an_answer_that_is_kept_as_text_chooses_nobody(stage: WorkflowStage, body: bytes) -> None:
    document = checked(stage, answering(200, body))
    assert (held(stage, document), list_asked(stage, document)) == (HELD, [])


def test_an_answer_whose_connection_ends_early_chooses_nobody(stage: WorkflowStage) -> None:
    def break_off(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100")
        handler.end_headers()
        handler.wfile.write(b"12")

    document = checked(stage, break_off, slot=choosing("context.bureau.body >= 100"))
    assert (held(stage, document), list_asked(stage, document)) == (HELD, [])


@pytest.mark.parametrize("condition", ["context.bureau.status == 500", "entity.amount > 1000"])
def test_where_nobody_reads_of_the_answer_it_may_be_any_text(stage: WorkflowStage, condition: str) -> None:
    """The lawful way: the receiver says what it likes."""
    document = checked(stage, answering(200, b"x" * 40_000), slot=choosing(condition))
    assert (held(stage, document), list_asked(stage, document)) == ([], ["@voter"])


def test_a_text_is_read_as_the_text_that_it_is(stage: WorkflowStage) -> None:
    """The lawful way: a receiver that answers no JSON. A JSON of that name, or a part of a text, is none."""
    slot = choosing("context.bureau.body.text == 'BAD'")
    plain = checked(stage, answering(200, b"BAD"), slot=slot)
    assert (held(stage, plain), list_asked(stage, plain)) == ([], ["@boss"])
    for body in (b'{"text": "BAD", "memo": "\\ud800"}', b"x" * 20_000):
        lost = checked(stage, answering(200, body), slot=slot)
        assert (held(stage, lost), list_asked(stage, lost)) == (HELD, [])


def test_an_answer_of_before_is_not_read_in_vain_by_a_newer_definition(stage: WorkflowStage) -> None:
    """Behind an approval the call is not made again: its first answer counts, and says no more than then."""
    asking = {"nodes": [CALL, BOSS], "edges": [{"source": "check", "target": "boss"}]}
    entity_type = stage.publish(PAYABLE, approval={"nodes": [LOOK]}, before=asking)
    document = stage.create(entity_type, "carl", number="M")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "vlad") == "approved"
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    deliver(stage, answering(200, b"x" * 20_000))
    assert (held(stage, document), list_asked(stage, document)) == ([], ["@boss"])
    withdraw(stage, document)
    stage.publish_next(entity_type, approval={"nodes": [LOOK]}, before=BAD)
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    assert (held(stage, document), list_asked(stage, document)) == ([(LOST, "usr:before:check")], [])
