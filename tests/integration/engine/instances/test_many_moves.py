"""Moves of many instances: each in a transaction of its own, reported first."""

from typing import LiteralString
from uuid import uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.moves import MAX_MOVED, MOVE, InstanceMoves, MoveTarget
from signet.store.database import Database, PoolSettings
from signet.store.instances.moves import ExpectedInstance
from tests.support.moved_instances import CALLING, NOTE, SAYING, calling, olga, pin_of, submit, version_of
from tests.support.workflow_stage import CALL, WorkflowStage


def test_many_are_moved_each_for_itself(
    stage: WorkflowStage, moves: InstanceMoves, operators: Instances
) -> None:
    """Move instances of several older definitions; a refused one stops no other."""
    entity_type = stage.publish(approval=CALLING)
    resting = stage.create(entity_type)
    waiting = [submit(stage, entity_type) for _ in range(3)]
    stage.publish_next(entity_type, checks={"nodes": [NOTE]}, approval=SAYING)
    later = submit(stage, entity_type)
    ended = submit(stage, entity_type)
    operators.fail(olga(stage), ended.instance_id, version_of(stage, ended), "given up", "leave")
    gone = {**CALL, "id": "another"}
    stage.publish_next(entity_type, approval={"nodes": [gone]})
    stage.publish_next(entity_type, approval=SAYING)
    newest = submit(stage, entity_type)
    caller = olga(stage)

    blocked = moves.list_movable(caller, entity_type, "own", 3)
    dry = moves.move_many(caller, blocked.seen, MoveTarget(3))
    assert [one.id for one in blocked.seen] == [each.instance_id for each in (resting, *waiting, later)]
    assert [one.outcome for one in dry] == ["safe", "blocked", "blocked", "blocked", "blocked"]

    movable = moves.list_movable(caller, entity_type, "own", 4)
    assert movable.seen == blocked.seen and movable.after is None
    assert newest.instance_id not in {one.id for one in movable.seen}
    assert {one.outcome for one in moves.move_many(caller, movable.seen, MoveTarget(4))} == {"safe"}
    # One of them moves on by itself before its turn.
    stage.answer(waiting[1].instance_id)
    stage.drain()
    strangers = [ExpectedInstance(uuid4(), 1), ExpectedInstance(ended.instance_id, version_of(stage, ended))]
    outcomes = moves.move_many(
        caller, [*movable.seen, *strangers], MoveTarget(4), "all of them", dry_run=False
    )
    assert [one.outcome for one in outcomes] == [
        "moved",
        "moved",
        "conflict",
        "moved",
        "moved",
        "not_found",
        "ended",
    ]
    assert [one.error is None for one in outcomes] == [True, True, False, True, True, False, False]
    for made in (resting, waiting[0], waiting[2], later):
        assert pin_of(stage, made) == ("effective", "own", 4)
        stage.check_rebuild(made.instance_id)
    assert pin_of(stage, waiting[1]) == ("effective", "own", 1)
    assert moves.list_movable(caller, entity_type, "own", 4).seen == []


def test_many_are_listed_in_pages(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type = stage.publish()
    made = [stage.create(entity_type).instance_id for _ in range(3)]
    stage.publish_next(entity_type, checks={"nodes": [NOTE]})
    caller = olga(stage)
    first = moves.list_movable(caller, entity_type, "own", 1, limit=2)
    assert [one.id for one in first.seen] == made[:2] and first.after == made[1]
    rest = moves.list_movable(caller, entity_type, "own", 1, limit=2, after=first.after)
    assert [one.id for one in rest.seen] == made[2:] and rest.after is None


def test_no_more_than_so_many_at_a_time(stage: WorkflowStage, moves: InstanceMoves) -> None:
    seen = [ExpectedInstance(uuid4(), 1)] * (MAX_MOVED + 1)
    with pytest.raises(Rejected) as caught:
        moves.move_many(olga(stage), seen, MoveTarget(2))
    assert caught.value.code == "BATCH_TOO_LARGE"


def test_one_that_somebody_holds_for_too_long_is_busy(stage: WorkflowStage) -> None:
    """Move the next one nevertheless."""
    entity_type, held = calling(stage)
    free = submit(stage, entity_type)
    stage.publish_next(entity_type, approval=SAYING)
    database = Database(stage.standing.api_url, PoolSettings(lock_seconds=0.05))
    moves = InstanceMoves(database, stage.caches(), CompiledCache())
    seen = [ExpectedInstance(made.instance_id, version_of(stage, made)) for made in (held, free)]
    try:
        with stage.standing.company.database.transaction(stage.tenant_id) as connection:
            connection.execute("SELECT FROM documents WHERE id = %s FOR NO KEY UPDATE", [held.id])
            outcomes = moves.move_many(olga(stage), seen, MoveTarget(2), dry_run=False)
        assert [one.outcome for one in outcomes] == ["busy", "moved"]
    finally:
        database.close()


def test_many_are_moved_as_far_as_the_quota_goes(stage: WorkflowStage, moves: InstanceMoves) -> None:
    """Leave the quota alone in a report."""
    entity_type = stage.publish()
    seen = [ExpectedInstance(stage.create(entity_type).instance_id, 0) for _ in range(3)]
    stage.publish_next(entity_type, checks={"nodes": [NOTE]})
    grant: LiteralString = "INSERT INTO tenant_quotas VALUES (%s, %s, 2, 3600, now())"
    stage.standing.run(grant, stage.tenant_id, MOVE)
    stage.standing.run("DELETE FROM quota_meters WHERE name = %s", MOVE)
    target = MoveTarget(1, "own")
    try:
        assert {one.outcome for one in moves.move_many(olga(stage), seen * 2, target)} == {"safe"}
        outcomes = moves.move_many(olga(stage), seen, target, dry_run=False)
    finally:
        stage.standing.run("DELETE FROM tenant_quotas WHERE name = %s", MOVE)
        stage.standing.run("DELETE FROM quota_meters WHERE name = %s", MOVE)
    assert [one.outcome for one in outcomes] == ["moved", "moved", "refused"]
    error = outcomes[-1].error
    assert error is not None and error.code == "QUOTA_EXCEEDED"
