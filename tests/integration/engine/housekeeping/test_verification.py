"""The verification of what is stored.

It finds nothing in a tenant at work, and each fault that a superuser makes.

A new invariant needs its fault in `support/stored_faults.py`, so that none can be one that never fails.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.engine.cache import CompiledCache
from signet.engine.housekeeping import verification
from signet.engine.housekeeping.verification import (
    REBUILT,
    TRAIL,
    VerificationLimits,
    find_stored_violations,
    list_tenants,
)
from signet.store.database import Database, PoolSettings
from signet.store.operations.invariants import INVARIANTS, find_violations
from tests.support.database.runtime_roles import as_role
from tests.support.effects import add_endpoint
from tests.support.repair.contract import CONTRACT, LOOK, RUN, slot
from tests.support.repair.scene import RepairScene
from tests.support.stored_faults import FAULTS
from tests.support.stored_violations import list_violations
from tests.support.workflow_stage import CALL, WorkflowStage, standing_stage

OF_PYTHON = {
    REBUILT: "UPDATE workflow_instances SET edit_window_node = 'forged'",
    TRAIL: "DELETE FROM audit_log",
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    """Yield a tenant with documents that wait for people and for a call, are held, and have ended."""
    with standing_stage(server_url) as made:
        scene = RepairScene(made)
        scene.hire()
        scene.publish(CONTRACT, {"checks": slot(LOOK), "booking": slot(CALL), "archive": slot(RUN)})
        add_endpoint(made)
        documents = [made.create(scene.entity_type, number=f"N-{number}") for number in range(4)]
        for document in documents:
            made.ask(document.id, "submit")
        made.drain()
        for document in documents[1:]:
            scene.vote(document)
        made.drain()
        for document in documents[2:]:
            made.answer(document.instance_id)
        made.drain()
        for document, is_broken in ((documents[2], True), (documents[3], False)):
            scene.is_broken = is_broken
            made.ask(document.id, "close")
            made.drain()
        assert {made.status_of(document.id) for document in documents} == {"draft", "approved", "closed"}
        yield made


@pytest.fixture(scope="module")
def owner(stage: WorkflowStage) -> Iterator[Database]:
    database = Database(as_role(stage.standing.admin_url, "signet_owner"), PoolSettings())
    yield database
    database.close()


@pytest.fixture
def forger(stage: WorkflowStage) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Yield a connection past all triggers and foreign keys; what it does is undone."""
    with psycopg.connect(stage.standing.admin_url) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")
        yield connection
        connection.rollback()


def test_nothing_is_violated_by_a_tenant_at_work(stage: WorkflowStage) -> None:
    assert list_violations(stage.standing.admin_url, stage.tenant_id) == []


def test_each_invariant_has_its_fault() -> None:
    assert {invariant.name for invariant in INVARIANTS} == set(FAULTS)


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda each: each.name)
def test_each_invariant_finds_its_fault(
    stage: WorkflowStage, forger: psycopg.Connection[tuple[Any, ...]], invariant: Any
) -> None:
    def find() -> list[str]:
        return find_violations(forger, stage.tenant_id, invariant, grace_seconds=900, limit=20)

    assert find() == []
    for statement in FAULTS[invariant.name]:
        forger.execute(statement)
    assert find() != []


def test_each_sentence_can_be_shown() -> None:
    assert all(invariant.sentence.endswith(".") for invariant in INVARIANTS)


@pytest.mark.parametrize("name", OF_PYTHON)
def test_a_row_that_differs_from_its_steps_or_its_trail_is_found(server_url: str, name: str) -> None:
    with standing_stage(server_url) as made:
        made.create(made.publish())
        made.drain()
        made.standing.run_unguarded(OF_PYTHON[name])
        assert name in {found for found, _ in list_violations(made.standing.admin_url, made.tenant_id)}


def test_no_more_rows_are_named_than_asked_for(stage: WorkflowStage, owner: Database) -> None:
    """Everything is overdue for one who waits for less than nothing."""
    limits = VerificationLimits(violations=1, instances=0, grace_seconds=-3_600)
    found = find_stored_violations(owner, CompiledCache(), stage.tenant_id, limits)
    names = [violation.invariant for violation in found]
    assert len(names) == len(set(names)) > 0 and REBUILT not in names


def test_tenants_are_listed_page_by_page(owner: Database, stage: WorkflowStage, monkeypatch: Any) -> None:
    monkeypatch.setattr(verification, "TENANTS_AT_A_LOOK", 1)
    stage.standing.run("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'other', '{}')", uuid4())
    found = list(list_tenants(owner))
    assert found == sorted(found) and len(found) == 2 and stage.tenant_id in found


class TestCommand:
    def run(self, url: str, *more: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["ops", "verify", "--database-url", url, *more])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code, done.output

    def test_all_tenants_are_checked(self, stage: WorkflowStage) -> None:
        code, said = self.run(stage.standing.admin_url)
        assert code == 0, said
        assert f"{len(INVARIANTS) + 2} invariants" in said and "0 violations" in said

    def test_a_violation_is_named_with_exit_code_1(self, server_url: str) -> None:
        with standing_stage(server_url) as made:
            document = made.create(made.publish())
            made.standing.run_unguarded("UPDATE documents SET status = 'forged'")
            code, said = self.run(made.standing.admin_url, "--tenant", str(made.tenant_id))
            assert code == 1
            assert "VIOLATED document_is_its_last_version" in said and str(document.id) in said

    def test_no_answer_is_exit_code_2(self) -> None:
        code, said = self.run("postgresql://nobody@127.0.0.1:1/none", "--tenant", str(UUID(int=1)))
        assert code == 2 and "signet: the database" in said
