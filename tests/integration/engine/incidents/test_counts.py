"""Open incidents are counted over all tenants, by codes of a closed set, and nothing else is told of them."""

from collections.abc import Iterator, Sequence
from typing import LiteralString

import psycopg
import pytest

from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping.runner import Housekeeping
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.tasks import list_tasks
from signet.engine.incidents.counts import count_open
from signet.store.database import Database, PoolSettings
from tests.support.database.runtime_roles import as_role
from tests.support.housekeeping import KeptTelemetry
from tests.support.operated_instances import operating_on, submitted, version
from tests.support.workflow_stage import WorkflowStage

RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
NOT_LOADED = "ACTION_NOT_LOADED"
AGE: LiteralString = (
    "UPDATE incidents SET opened_at = now() - make_interval(mins => %s) WHERE instance_id = %s"
)
BEYOND: Sequence[LiteralString] = (
    "SELECT measure_incidents(NULL, '1 hour')",
    "SELECT measure_incidents('{A_B}', NULL)",
    "SELECT measure_incidents(array_fill('A_B'::text, '{201}'), '1 hour')",
)
BAD_PARAMETER, NO_PRIVILEGE = "22023", "42501"


@pytest.fixture
def janitor(stage: WorkflowStage) -> Iterator[Database]:
    made = Database(as_role(stage.standing.admin_url, "signet_janitor"), PoolSettings())
    yield made
    made.close()


def count(stage: WorkflowStage) -> dict[str, tuple[int, int]]:
    with stage.standing.company.database.tenantless_transaction() as connection:
        return {one.code: (one.open_count, one.unattended_count) for one in count_open(connection)}


def test_open_incidents_are_counted_until_they_close(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    before = count(stage).get(NOT_LOADED, (0, 0))[0]
    document = submitted(stage, checks={"nodes": [RUN]})
    assert count(stage)[NOT_LOADED] == (before + 1, 0)
    instances.cancel(olga, document.instance_id, version(stage, document), "not wanted")
    assert count(stage).get(NOT_LOADED, (0, 0)) == (before, 0)


def test_one_that_is_old_is_overlooked_until_a_person_acknowledges_it(stage: WorkflowStage) -> None:
    document = submitted(stage, checks={"nodes": [RUN]})
    for minutes, unattended in ((59, 0), (61, 1)):
        stage.standing.run(AGE, minutes, document.instance_id)
        assert count(stage)[NOT_LOADED][1] == unattended
    stage.standing.run(
        "UPDATE incidents SET acknowledged_by = 'olga', acknowledged_at = now() WHERE instance_id = %s",
        document.instance_id,
    )
    assert count(stage)[NOT_LOADED][1] == 0


def test_a_code_of_an_author_is_counted_as_other(stage: WorkflowStage) -> None:
    document = submitted(stage, checks={"nodes": [RUN]})
    stage.standing.run("UPDATE incidents SET code = 'HUNTER_2' WHERE instance_id = %s", document.instance_id)
    assert count(stage)["OTHER"] == (1, 0) and "HUNTER_2" not in count(stage)


def test_the_janitor_reports_them(stage: WorkflowStage, janitor: Database) -> None:
    submitted(stage, checks={"nodes": [RUN]})
    told = KeptTelemetry()
    (task,) = [one for one in list_tasks(Retentions()) if one.name == "count_incidents"]
    runner = Housekeeping(janitor, [Task(task.name, task.every_seconds, task.run)], told)
    (ran,) = runner.run(10.0)
    assert ran.outcome == "done"
    expected = {code: open_count for code, (open_count, _) in count(stage).items()}
    assert told.incidents == [(expected, 0)] and ran.rows == sum(expected.values())


@pytest.mark.parametrize("call", BEYOND)
def test_the_count_is_bounded(stage: WorkflowStage, call: LiteralString) -> None:
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_api")) as connection:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(call)
    assert caught.value.sqlstate == BAD_PARAMETER


def test_the_one_who_counts_sees_no_row(stage: WorkflowStage) -> None:
    submitted(stage, checks={"nodes": [RUN]})
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_api"), autocommit=True) as connection:
        assert NOT_LOADED in {one.code for one in count_open(connection)}
        assert connection.execute("SELECT count(*) FROM incidents").fetchone() == (0,)
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_dispatch"), autocommit=True) as connection:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT message FROM incidents")
    assert caught.value.sqlstate == NO_PRIVILEGE
