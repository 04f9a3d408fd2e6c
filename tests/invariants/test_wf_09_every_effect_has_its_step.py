"""WF-09: a step is written before every other row of a workflow, so that no work is hidden.

Versions of documents, audit rows, calls to the outside and ended requests each name their step. The step's
row came first.
"""

from collections.abc import Iterator
from typing import Any, LiteralString

import pytest

from tests.engine.waves.random_lives import begin, live, prepare
from tests.engine.waves.stage import CALL, CONTRACT, Made, WorkflowStage

POST: dict[str, Any] = {"id": "post", "type": "action", "config": {"action": "post"}}
SPAWN: dict[str, Any] = {"id": "spawn", "type": "action", "config": {"action": "spawn"}}
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"},
}
# The step that a row of each table belongs to.
STEP_OF: dict[str, LiteralString] = {
    "workflow_step_executions": "NEW.id",
    "workflow_side_effects_outbox": "NEW.step_execution_id",
    "audit_log": "(NEW.content::json ->> 'step_id')::uuid",
}
WITHOUT_STEP: LiteralString = (
    "SELECT a.action FROM audit_log a"
    " WHERE a.content::json ->> 'via' = 'workflow' AND NOT EXISTS (SELECT FROM workflow_step_executions s"
    " WHERE s.id::text = a.content::json ->> 'step_id'"
    " AND s.instance_id::text = a.content::json ->> 'instance_id')"
)


@pytest.fixture(scope="module")
def written(stage: WorkflowStage) -> Iterator[WorkflowStage]:
    """Yield the stage with a log of written rows, in their order."""
    stage.standing.run("CREATE TABLE written (place serial, what text, step_id uuid)")
    stage.standing.run("GRANT ALL ON written, written_place_seq TO PUBLIC")
    for table, step in STEP_OF.items():
        note = (
            f"CREATE FUNCTION note_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" INSERT INTO written (what, step_id) VALUES ('{table}', {step}); RETURN NULL; END $$;"
            f" CREATE TRIGGER note AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION note_{table}()"
        )
        stage.standing.admin.execute(note.encode())
    prepare(stage)
    yield stage


def publish(stage: WorkflowStage) -> str:
    contract = {
        **CONTRACT,
        "actions": {
            **CONTRACT["actions"],
            "spawn": {"kind": "create", "entity_type": "task", "set": {"title": "for {entity.number}"}},
        },
    }
    edges = [{"source": "post", "target": "tell"}, {"source": "tell", "target": "call"}]
    return stage.publish(
        contract, checks={"nodes": [POST, TELL, CALL], "edges": edges}, posting={"nodes": [SPAWN]}
    )


def live_plainly(stage: WorkflowStage) -> Made:
    document = stage.create(publish(stage))
    stage.ask(document.id, "submit")
    stage.drain()
    for _ in ("tell", "call"):
        stage.answer(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    return document


def test_wf_09_the_steps_row_comes_before_what_it_does(written: WorkflowStage) -> None:
    document = live_plainly(written)
    steps = {step["id"]: step["node_id"] for step in written.whole_steps(document.instance_id)}
    log = written.standing.rows(
        "SELECT what, step_id::text FROM written WHERE step_id::text = ANY (%s) ORDER BY place", list(steps)
    )
    first = {step_id: what for what, step_id in reversed(log)}
    assert first == dict.fromkeys(steps, "workflow_step_executions")
    done = {(what, steps[step_id]) for what, step_id in log if what != "workflow_step_executions"}
    assert done == {
        ("audit_log", "usr:checks:post"),
        ("workflow_side_effects_outbox", "usr:checks:tell"),
        ("workflow_side_effects_outbox", "usr:checks:call"),
        ("audit_log", "sys:gate:submit"),
        ("audit_log", "sys:gate:approve"),
        ("audit_log", "usr:posting:spawn"),
    }


def test_wf_09_every_version_that_a_workflow_makes_is_of_a_step(stage: WorkflowStage) -> None:
    """Find the step in the audit row of each version but the first, which a person made."""
    document = live_plainly(stage)
    rows = stage.standing.rows(
        "SELECT v.version, s.node_id, s.version_after FROM document_versions v"
        " JOIN audit_log a ON a.subject_id = v.document_id::text"
        " AND (a.content::json -> 'after' ->> 'version')::bigint = v.version"
        " AND (a.content::json -> 'before' ->> 'version')::bigint = v.version - 1"
        " JOIN workflow_step_executions s ON s.id::text = a.content::json ->> 'step_id'"
        " WHERE v.document_id = %s ORDER BY v.version",
        document.id,
    )
    assert rows == [(2, "usr:checks:post", 2), (3, "sys:gate:submit", 3), (4, "sys:gate:approve", 4)]


def test_wf_09_random_workflows_do_nothing_without_a_step(written: WorkflowStage) -> None:
    """Cover rejections, refusals, errors, interrupts and lists."""
    lives = [begin(written, seed, seed + 1) for seed in range(40)]
    live(written, lives)
    assert written.standing.rows(WITHOUT_STEP) == []
    (audited, effects, ended) = written.standing.row(
        "SELECT (SELECT count(*) FROM audit_log WHERE content::json ->> 'via' = 'workflow'),"
        " (SELECT count(*) FROM workflow_side_effects_outbox),"
        " (SELECT count(*) FROM transition_requests WHERE status IN ('performed', 'refused'))"
    )
    assert min(audited, effects, ended) > 30
    early = written.standing.rows(
        "SELECT what FROM written w WHERE step_id IS NOT NULL AND NOT EXISTS (SELECT FROM written s"
        " WHERE s.step_id = w.step_id AND s.what = 'workflow_step_executions' AND s.place <= w.place)"
    )
    assert early == []


def test_wf_09_an_effect_belongs_to_a_step(stage: WorkflowStage) -> None:
    live_plainly(stage)
    strays = stage.standing.rows(
        "SELECT e.id FROM workflow_side_effects_outbox e WHERE NOT EXISTS ("
        " SELECT FROM workflow_step_executions s WHERE s.id = e.step_execution_id"
        " AND s.instance_id = e.instance_id)"
    )
    assert strays == []
