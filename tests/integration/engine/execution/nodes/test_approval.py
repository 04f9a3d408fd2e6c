"""An approval node asks people, waits for them, and its gate uses up their answer."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from signet.core.compiler.node_configurations import Vote
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from tests.support.workflow_stage import CALL, CONTRACT, WorkflowStage, standing_stage

PEOPLE = {"mona": ["finance"], "otto": ["finance"], "anna": ["board"], "carl": ["admin"]}
BY_FINANCE = {"approvers": [{"by": "role", "role": "finance"}]}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        tenant = made.tenant_id
        for role in ("finance", "board"):
            made.standing.run("INSERT INTO roles VALUES (%s, %s, '{*:approve}')", tenant, role)
        for user_id, roles in PEOPLE.items():
            made.standing.run(
                "INSERT INTO members VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", tenant, user_id, user_id
            )
            for role in (*roles, "voter"):
                made.standing.run(
                    "INSERT INTO member_roles VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                    tenant,
                    user_id,
                    role,
                )
        made.standing.run("INSERT INTO org_chart VALUES (%s, 'carl', 'anna')", tenant)
        yield made


def approval(**config: Any) -> dict[str, Any]:
    return {"id": "look", "type": "approval", "config": config or BY_FINANCE}


def request_of(stage: WorkflowStage, instance_id: UUID) -> dict[str, Any]:
    query: LiteralString = (
        "SELECT to_jsonb(r) FROM approval_requests r WHERE instance_id = %s ORDER BY id DESC LIMIT 1"
    )
    (found,) = stage.standing.row(query, instance_id)
    return dict(found)


def seats_of(stage: WorkflowStage, request_id: str) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT stage, coalesce(holder_user_id, holder_role), origin, status FROM approval_seats"
        " WHERE request_id = %s ORDER BY stage, position",
        request_id,
    )


def vote(stage: WorkflowStage, request_id: str, status: Vote, person: str) -> None:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    approvals.decide(company.caller(person), UUID(request_id), status, "seen")


def submitted(stage: WorkflowStage, *nodes: dict[str, Any], **data: Any) -> Any:
    document = stage.create(stage.publish(approval={"nodes": list(nodes)}), **data)
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def test_who_is_asked_is_pinned_to_version_snapshot_definition_and_policy(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    request = request_of(stage, document.instance_id)
    snapshot = stage.standing.row(
        "SELECT id::text, hash FROM document_versions WHERE document_id = %s AND version = 2", document.id
    )
    assert (request["document_version"], request["status"], request["requester_id"]) == (2, "open", "carl")
    assert request["trace_id"] == "00-test"
    assert (request["snapshot_version_id"], request["snapshot_hash"]) == snapshot
    assert seats_of(stage, request["id"]) == [(1, "finance", "resolved", "open")]
    (step,) = [s for s in stage.whole_steps(document.instance_id) if s["node_type"] == "approval"]
    assert (step["status"], step["approval_request_id"]) == ("running", request["id"])
    assert step["snapshot_version_id"] == snapshot[0]
    told = stage.standing.rows("SELECT role, kind FROM notifications WHERE request_id = %s", request["id"])
    assert told == [("finance", "approval_requested")]
    stage.check_rebuild(document.instance_id)


def test_an_approval_lets_the_gate_pass_and_is_used_up(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    request = request_of(stage, document.instance_id)
    vote(stage, request["id"], "approved", "mona")
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    request = request_of(stage, document.instance_id)
    assert (request["status"], request["applied"]) == ("approved", True)
    (step,) = [s for s in stage.whole_steps(document.instance_id) if s["node_type"] == "approval"]
    assert (step["status"], step["applied"]) == ("completed", True)
    assert step["output_json"]["evidence"]["seats"][0]["decided_by"] == "mona"


def test_a_rejection_sends_the_document_back_and_uses_nothing_up(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    request = request_of(stage, document.instance_id)
    vote(stage, request["id"], "rejected", "mona")
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "draft"
    request = request_of(stage, document.instance_id)
    assert (request["status"], request["applied"]) == ("rejected", None)


def test_an_edit_voids_what_is_open_and_says_so(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    first = request_of(stage, document.instance_id)
    stage.edit(document.id, amount=7)
    stage.drain()
    again = stage.standing.row("SELECT status, outcome FROM approval_requests WHERE id = %s", first["id"])
    assert again == ("voided", "the document was edited")
    assert seats_of(stage, first["id"]) == [(1, "finance", "resolved", "closed")]
    told = stage.standing.rows(
        "SELECT kind FROM notifications WHERE request_id = %s ORDER BY id", first["id"]
    )
    assert told == [("approval_requested",), ("approval_voided",)]
    new = request_of(stage, document.instance_id)
    assert (new["status"], new["document_version"]) == ("open", 3)


def test_nobody_who_may_decide_holds_the_instance(stage: WorkflowStage) -> None:
    """Ask only the creator, barred by separation of duties: the request would wait for ever."""
    document = submitted(stage, approval(approvers=[{"by": "user", "user": "carl"}]))
    row = stage.instance(document.instance_id)
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_NOBODY_ELIGIBLE")
    assert "usr:approval:look" not in stage.nodes(document.instance_id)


def test_a_wider_circle_is_asked_where_the_first_cannot(stage: WorkflowStage) -> None:
    config = {
        "approvers": [{"by": "user", "user": "carl"}],
        "escalate": {"after": "P3D", "to": {"by": "manager", "of": "entity.creator"}},
    }
    document = submitted(stage, approval(**config))
    request = request_of(stage, document.instance_id)
    assert seats_of(stage, request["id"])[-1] == (1, "anna", "escalated", "open")


def test_time_escalates_and_then_expires(stage: WorkflowStage) -> None:
    config = {
        "approvers": [{"by": "user", "user": "mona"}],
        "escalate": {"after": "P1D", "to": {"by": "user", "user": "anna"}},
        "expire_after": "P2D",
    }
    nodes = [approval(**config)]
    edges = [
        {"source": "in", "target": "look"},
        {"source": "look", "target": "out", "on": "approved"},
        {"source": "look", "target": "out", "on": "expired"},
    ]
    entity_type = stage.publish(approval={"nodes": nodes, "edges": edges, "exit": "join"})
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    request = request_of(stage, document.instance_id)
    due: LiteralString = (
        "SELECT (due_at - now()) > interval '23 hours' FROM workflow_events_outbox"
        " WHERE instance_id = %s AND status = 'pending'"
    )
    assert stage.standing.rows(due, document.instance_id) == [(True,), (True,)]
    stage.bring_escalation(document.id)
    stage.make_due()
    stage.drain()
    assert [seat[1] for seat in seats_of(stage, request["id"])] == ["mona", "anna"]
    stage.standing.run("UPDATE approval_requests SET expire_at = now() WHERE id = %s", request["id"])
    stage.wake(document.instance_id)
    stage.drain()
    assert request_of(stage, document.instance_id)["status"] == "expired"
    stage.check_rebuild(document.instance_id)


def test_turns_go_round(stage: WorkflowStage) -> None:
    entity_type = stage.publish(
        approval={"nodes": [approval(approvers=[{"by": "role", "role": "finance", "pick": "round_robin"}])]}
    )
    asked = []
    for _ in range(3):
        document = stage.create(entity_type)
        stage.ask(document.id, "submit")
        stage.drain()
        asked += [seat[1] for seat in seats_of(stage, request_of(stage, document.instance_id)["id"])]
    assert sorted(asked[:2]) == ["mona", "otto"] and asked[2] == asked[0]


def test_an_amendment_voids_what_the_original_asked(stage: WorkflowStage) -> None:
    contract = {
        **CONTRACT,
        "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
        "amendment": {},
    }
    entity_type = stage.publish(contract, approval={"nodes": [approval()]})
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    request = request_of(stage, document.instance_id)
    amended = stage.edit(document.id, amount=9)
    assert amended.original_id == document.id
    again = stage.standing.row("SELECT status, outcome FROM approval_requests WHERE id = %s", request["id"])
    assert again == ("voided", "amended")
    assert seats_of(stage, request["id"]) == [(1, "finance", "resolved", "closed")]
    stage.check_rebuild(document.instance_id)
    # The amended document has its own instance, and people are asked about it again.
    stage.drain()
    stage.ask(amended.document_id, "submit")
    stage.drain()
    new = request_of(stage, stage.instance_of(amended.document_id))
    assert (new["status"], new["document_id"]) == ("open", str(amended.document_id))


def test_an_operator_who_ends_an_instance_ends_its_requests(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    request = request_of(stage, document.instance_id)
    company = stage.standing.company
    instances = Instances(company.database, stage.caches(), CompiledCache())
    version = stage.instance(document.instance_id)["version"]
    instances.fail(company.caller(), document.instance_id, version, "over", "leave")
    assert request_of(stage, document.instance_id)["status"] == "voided"
    assert seats_of(stage, request["id"]) == [(1, "finance", "resolved", "closed")]


REASON: LiteralString = (
    "SELECT content::jsonb ->> 'reason' FROM audit_log"
    " WHERE subject_id = %s AND action = 'transition:approve'"
)


def publish_chain(stage: WorkflowStage, name: str, *bodies: dict[str, Any]) -> None:
    stage.standing.run(
        "INSERT INTO approval_chains (tenant_id, name, version, hash, created_by)"
        " VALUES (%s, %s, 1, %s, 'carl')",
        stage.tenant_id,
        name,
        "0" * 64,
    )
    for position, body in enumerate(bodies, start=1):
        step: LiteralString = "INSERT INTO approval_chain_steps VALUES (%s, %s, 1, %s, %s)"
        stage.standing.run(step, stage.tenant_id, name, position, Jsonb(body))
    stage.standing.run(
        "UPDATE approval_chains SET status = 'published', published_at = now() WHERE name = %s", name
    )


@pytest.mark.parametrize(
    ("drawn", "name"), [((), "plain"), (({"source": "look", "target": "out", "on": "expired"},), "drawn")]
)
def test_a_chain_that_expires_goes_the_way_of_a_rejection(
    stage: WorkflowStage, drawn: tuple[Any, ...], name: str
) -> None:
    """Take the edge of the author where they draw one: only they know what the chain may do."""
    publish_chain(stage, name, {"approvers": [{"by": "user", "user": "mona"}], "expire_after": "P14D"})
    slot: dict[str, Any] = {"nodes": [approval(chain=name)]}
    if drawn:
        edges = [{"source": "in", "target": "look"}, {"source": "look", "target": "out", "on": "approved"}]
        slot |= {"edges": [*edges, *drawn], "exit": "join"}
    document = stage.create(stage.publish(approval=slot))
    stage.ask(document.id, "submit")
    stage.drain()
    request = request_of(stage, document.instance_id)
    stage.standing.run("UPDATE approval_requests SET expire_at = now() WHERE id = %s", request["id"])
    stage.wake(document.instance_id)
    stage.drain()
    assert request_of(stage, document.instance_id)["status"] == "expired"
    assert stage.status_of(document.id) == "draft"
    assert stage.instance(document.instance_id)["status"] == "running"
    assert told_of(stage, document, "approval_expired") == ["carl", "mona"]
    assert stage.standing.row(REASON, str(document.id)) == ("expired: nobody decided in time",)
    stage.check_rebuild(document.instance_id)


def test_who_asked_is_told_of_a_rejection_once(stage: WorkflowStage) -> None:
    document = submitted(stage, approval())
    request = request_of(stage, document.instance_id)
    vote(stage, request["id"], "rejected", "mona")
    stage.wake(document.instance_id)
    stage.drain()
    assert told_of(stage, document, "approval_rejected") == ["carl"]
    assert stage.standing.row(REASON, str(document.id)) == ("rejected",)


def test_who_asked_is_told_that_an_amendment_takes_the_place(stage: WorkflowStage) -> None:
    states = {**CONTRACT["states"], "draft": {"edit": "amend_only", "initial": True}}
    document = stage.create(
        stage.publish({**CONTRACT, "states": states, "amendment": {}}, checks={"nodes": [CALL]})
    )
    stage.ask(document.id, "submit")
    stage.drain()
    stage.edit(document.id, amount=2)
    assert stage.requests(document.id) == [("submit", "superseded")]
    assert told_of(stage, document, "request_superseded") == ["carl"]


def told_of(stage: WorkflowStage, document: Any, kind: str) -> list[str]:
    query: LiteralString = (
        "SELECT coalesce(user_id, role) FROM notifications"
        " WHERE kind = %s AND data ->> 'document_id' = %s ORDER BY 1"
    )
    return [name for (name,) in stage.standing.rows(query, kind, str(document.id))]


def test_a_chain_asks_stage_after_stage_and_keeps_to_its_version(stage: WorkflowStage) -> None:
    first = {"approvers": [{"by": "user", "user": "mona"}]}
    publish_chain(stage, "two", first, {"approvers": [{"by": "user", "user": "anna"}]})
    document = submitted(stage, approval(chain="two"))
    request = request_of(stage, document.instance_id)
    assert (request["chain_name"], request["chain_version"]) == ("two", 1)
    stage.standing.run("UPDATE approval_chains SET status = 'archived' WHERE name = 'two'")
    vote(stage, request["id"], "approved", "mona")
    stage.wake(document.instance_id)
    stage.drain()
    assert seats_of(stage, request["id"]) == [
        (1, "mona", "resolved", "approved"),
        (2, "anna", "resolved", "open"),
    ]
    vote(stage, request["id"], "approved", "anna")
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"
