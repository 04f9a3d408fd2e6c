"""The set of a document's editors, which the API's role may write because an erasure adds to it."""

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from signet.core.tenants.responsible import hash_responsible
from signet.engine.documents.commands import Update
from tests.support.database.runtime_roles import as_role
from tests.support.workflow_stage import WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def write_set(stage: WorkflowStage, document_id: UUID, *persons: str, is_kept: bool = True) -> str:
    """Write a set of editors as the API's role; return the state in which it ends."""
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_api")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        digest = bytes.fromhex(hash_responsible(frozenset(persons)))
        named = {"document": document_id, "persons": sorted(persons), "digest": digest}
        if is_kept:
            connection.execute(
                "INSERT INTO responsible_sets (tenant_id, hash, persons)"
                " VALUES (current_tenant_id(), %(digest)s, %(persons)s)"
                " ON CONFLICT DO NOTHING",
                named,
            )
        try:
            connection.execute(
                "UPDATE documents SET editor_responsible = %(digest)s WHERE id = %(document)s",
                named,
            )
            # The commit checks the same.
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as refused:
            return refused.sqlstate or ""
        finally:
            connection.rollback()
    return "written"


def test_a_set_of_editors_only_grows(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    stage.mutate(Update(document.id, 1, {"amount": 7}), "anna")
    assert write_set(stage, document.id, "anna", "zoe") == "written"
    assert write_set(stage, document.id, "carl", "zoe") == "SG002"


def test_the_first_editors_are_a_set_that_is_there(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    assert write_set(stage, document.id, "nora") == "written"
    assert write_set(stage, document.id, "nora", is_kept=False) == "SG002"


EDIT = (
    "SELECT json_agg(json_build_object('id', id, 'status', status, 'seen_version', version,"
    " 'version', version + 1, 'data', data, 'editor_ids', editor_ids, 'is_deleted', false))"
    " FROM documents WHERE id = ANY (%(some)s)"
)


@pytest.mark.parametrize(
    ("call", "state"),
    [
        (f"write_edits(%(all)s, ({EDIT}), '[]', '[]', '[]', now())", "SG004"),
        (f"write_edits(%(some)s || %(some)s, ({EDIT}), '[]', '[]', '[]', now())", "SG004"),
        (f"write_edits(%(some)s, ({EDIT}), '[]', '[]', '[]', now())", "SG002"),
        # As the release before this one calls it.
        (f"write_edits(({EDIT}), '[]', '[]', '[]', now())", "SG002"),
    ],
)
def test_no_edit_is_written_in_part(stage: WorkflowStage, call: str, state: str) -> None:
    """Each of the documents that are named is written, and each with its version and its row of the trail."""
    entity_type = stage.publish()
    ids = [stage.create(entity_type).id for _ in range(2)]
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_api")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(f"SELECT {call}".encode(), {"all": ids, "some": ids[:1]})
        assert refused.value.sqlstate == state


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("editor_ids = '{}'", "SG002"),
        ("editor_responsible = NULL", "SG002"),
        ("status = 'active'", "SG002"),
        ("data = '{}'", "SG002"),
        ("version = version - 1", "SG002"),
        ("updated_at = now()", "written"),
    ],
)
def test_a_trigger_keeps_them_for_every_role(stage: WorkflowStage, change: str, state: str) -> None:
    """Refuse it to a superuser too, who needs no function to write."""
    document = stage.create(stage.publish())
    stage.mutate(Update(document.id, 1, {"amount": 7}), "anna")
    statement = f"UPDATE documents SET {change} WHERE id = %s"
    try:
        stage.standing.admin.execute(statement.encode(), [document.id])
    except psycopg.Error as refused:
        assert refused.sqlstate == state
    else:
        assert state == "written"
