"""A document for which as many persons are responsible as a set holds: it can still come to an end."""

from collections.abc import Iterator

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.responsible import MAX_PERSONS, hash_responsible
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import Delete, Update
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "carl", "olga")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


@pytest.fixture
def full(stage: WorkflowStage) -> Made:
    """Make a draft that 200 persons have edited."""
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "carl")
    persons = frozenset(f"person{number}" for number in range(MAX_PERSONS))
    stage.standing.run(
        "WITH kept AS (INSERT INTO responsible_sets (tenant_id, hash, persons)"
        " VALUES (%s, decode(%s, 'hex'), %s) RETURNING hash)"
        " UPDATE documents SET editor_responsible = (SELECT hash FROM kept) WHERE id = %s",
        stage.tenant_id,
        hash_responsible(persons),
        sorted(persons),
        document.id,
    )
    return document


def count_editors(stage: WorkflowStage, document: Made) -> int:
    (count,) = stage.standing.row(
        "SELECT cardinality(s.persons) FROM documents d"
        " JOIN responsible_sets s ON s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible"
        " WHERE d.id = %s",
        document.id,
    )
    return int(count)


def test_an_edit_by_another_person_is_refused(stage: WorkflowStage, full: Made) -> None:
    operation = Update(full.id, stage.version_of(full.id), {"amount": 7})
    with pytest.raises(Rejected) as refused:
        stage.mutate(operation, "olga")
    assert refused.value.code == "RESPONSIBLE_TOO_MANY"
    assert stage.version_of(full.id) == 1


def test_another_person_cancels_it(stage: WorkflowStage, full: Made) -> None:
    submit(stage, full, "olga")
    stage.ask(full.id, "cancel", "app2")
    stage.drain()
    assert stage.status_of(full.id) == "cancelled"
    assert count_editors(stage, full) == MAX_PERSONS, "nobody is forgotten for it"


@pytest.mark.parametrize(("decision", "status"), [("rejected", "draft"), ("approved", "active")])
def test_another_person_decides_about_it(
    stage: WorkflowStage, full: Made, decision: str, status: str
) -> None:
    submit(stage, full, "olga")
    assert vote(stage, full.id, "app1", "approved" if decision == "approved" else "rejected") == decision
    assert stage.status_of(full.id) == status
    assert count_editors(stage, full) == MAX_PERSONS


def test_another_person_deletes_it(stage: WorkflowStage, full: Made) -> None:
    stage.mutate(Delete(full.id, stage.version_of(full.id)), "olga")
    ((deleted,),) = stage.standing.rows("SELECT deleted_at IS NOT NULL FROM documents WHERE id = %s", full.id)
    assert deleted
