"""New instances of a document whose workflow has ended: failed, cancelled or at rest.

Each test lists every step of every instance, in order.
"""

from typing import Any

import pytest

from signet.engine.audit.verify import verify_tenant
from tests.support.operated_instances import operating_on, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

TO_CALL: list[tuple[Any, ...]] = [
    ("sys:start", "T", "completed"),
    ("sys:state:draft", "T", "completed"),
    ("sys:slot:checks:in", "T", "completed"),
]
FROM_CALL: list[tuple[Any, ...]] = [
    ("usr:checks:call", "T", "completed"),
    ("sys:slot:checks:out", "T", "completed"),
    ("sys:gate:submit", "T", "completed"),
    ("sys:state:submitted", "T", "completed"),
    ("sys:gate:approve", "T", "completed"),
    ("sys:state:active", "T", "completed"),
    ("sys:end", "T", "completed"),
]
CANCELLED_FROM_ACTIVE: list[tuple[Any, ...]] = [
    ("sys:state:active", "T", "completed"),
    ("sys:gate:cancel", "T", "completed"),
    ("sys:state:cancelled", "T", "completed"),
    ("sys:end", "T", "completed"),
]


def end(stage: WorkflowStage, document: Made, act: str) -> None:
    instances, olga = operating_on(stage)
    getattr(instances, act)(olga, document.instance_id, version(stage, document), "entered twice", "leave")


def lives(stage: WorkflowStage, document: Made) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Return (status, steps) of each instance of the document, by age, after checking that it rebuilds."""
    rows = stage.standing.rows(
        "SELECT id, status FROM workflow_instances WHERE entity_id = %s ORDER BY id", document.id
    )
    for instance_id, _ in rows:
        stage.check_rebuild(instance_id)
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound
    return [(status, stage.steps(instance_id)) for instance_id, status in rows]


@pytest.mark.parametrize(("act", "status"), [("fail", "failed"), ("cancel", "cancelled")])
def test_what_was_ended_begins_anew_where_its_document_stands(
    stage: WorkflowStage, act: str, status: str
) -> None:
    document = stage.create(stage.publish(checks={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    end(stage, document, act)
    assert stage.status_of(document.id) == "draft"
    assert stage.requests(document.id) == [("submit", "refused")]
    given_up = (
        status,
        [*TO_CALL, ("usr:checks:call", "T", "cancelled"), (f"sys:control:{status}", "", "completed")],
    )
    assert lives(stage, document) == [given_up]
    stage.ask(document.id, "submit")
    stage.drain()
    stage.answer(stage.instance_of(document.id))
    stage.drain()
    assert lives(stage, document) == [given_up, ("completed", [*TO_CALL[1:], *FROM_CALL])]
    assert stage.requests(document.id) == [("submit", "refused"), ("submit", "performed")]
    assert (stage.status_of(document.id), stage.version_of(document.id)) == ("active", 3)


def test_one_that_was_ended_on_its_way_begins_at_the_status_that_it_had_reached(stage: WorkflowStage) -> None:
    """Start at the status reached, so that no gate is passed twice."""
    document = stage.create(stage.publish(approval={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    end(stage, document, "cancel")
    assert stage.status_of(document.id) == "submitted"
    stage.ask(document.id, "cancel")
    stage.drain()
    (first, second) = lives(stage, document)
    assert first == (
        "cancelled",
        [
            *TO_CALL[:2],
            ("sys:gate:submit", "T", "completed"),
            ("sys:state:submitted", "T", "completed"),
            ("sys:slot:approval:in", "T", "completed"),
            ("usr:approval:call", "T", "cancelled"),
            ("sys:control:cancelled", "", "completed"),
        ],
    )
    assert second == ("completed", [("sys:state:submitted", "T", "completed"), *CANCELLED_FROM_ACTIVE[1:]])


def test_a_settled_document_is_cancelled_by_an_instance_that_begins_there(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(checks={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    assert lives(stage, document) == [("completed", [*TO_CALL, *FROM_CALL])]
    again = stage.ask(document.id, "cancel")
    assert again.instance_id not in (None, document.instance_id)
    stage.drain()
    assert lives(stage, document) == [
        ("completed", [*TO_CALL, *FROM_CALL]),
        ("completed", CANCELLED_FROM_ACTIVE),
    ]
    assert stage.status_of(document.id) == "cancelled"
    assert stage.requests(document.id) == [("submit", "performed"), ("cancel", "performed")]


def test_what_was_taken_up_again_and_given_up_can_be_taken_up_once_more(stage: WorkflowStage) -> None:
    """End the new instance before it moves: the document is settled, and free for the next request."""
    document = stage.create(stage.publish())
    stage.ask(document.id, "submit")
    stage.drain()
    again = stage.ask(document.id, "cancel")
    assert again.instance_id is not None
    end(stage, Made(document.id, again.instance_id), "cancel")
    stage.drain()
    assert (stage.status_of(document.id), stage.requests(document.id)[1:]) == (
        "active",
        [("cancel", "refused")],
    )
    stage.ask(document.id, "cancel")
    stage.drain()
    first, *later = lives(stage, document)
    assert first[0] == "completed"
    given_up = [("sys:control:cancelled", "", "completed"), ("sys:state:active", "T", "cancelled")]
    assert later == [("cancelled", given_up), ("completed", CANCELLED_FROM_ACTIVE)]
    assert stage.status_of(document.id) == "cancelled"
