"""What goes wrong in a wave: who is taken along by it, who is not, and what it costs."""

from uuid import UUID

import psycopg
import pytest

from signet.core.errors import Transient
from signet.store.database import Database, PoolSettings
from signet.store.server import act_as
from tests.engine.waves.stage import Made, Stage

ASK_RULE = {"id": "known", "type": "rule", "config": {"rules": ["known"]}}


def impatient(stage: Stage) -> Database:
    """A worker's, which does not wait for locks."""
    url = act_as(stage.standing.admin_url, "signet_worker")
    return Database(url, PoolSettings(size=2, lock_seconds=0.02))


def make_several(stage: Stage, entity_type: str, count: int) -> list[Made]:
    return [stage.create(entity_type) for _ in range(count)]


def errors_of(stage: Stage, instance_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT error FROM workflow_events_outbox WHERE instance_id = %s AND error IS NOT NULL", instance_id
    )
    return [error for (error,) in rows]


def test_a_statement_that_was_in_somebodys_way_is_nobodys_failure(stage: Stage) -> None:
    """What a node asks the database in the first round meets a lock: the wave falls whole and is tried again."""
    entity_type = stage.publish(checks={"nodes": [ASK_RULE]})
    stage.add_rule(entity_type, "known", "entity.amount > 5", on="delete")
    documents = make_several(stage, entity_type, 3)
    for document in documents:
        stage.ask(document.id, "submit")
    database = impatient(stage)
    try:
        with psycopg.connect(stage.standing.admin_url) as other:
            other.execute("LOCK TABLE rules IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(Transient) as caught:
                stage.worker(database=database).drain([stage.tenant_id])
            assert caught.value.code == "DATABASE_CONTENDED"
        for document in documents:
            assert stage.triggers(document.instance_id) == [("processing", 1)] * 2
            assert errors_of(stage, document.instance_id) == []
    finally:
        database.close()
