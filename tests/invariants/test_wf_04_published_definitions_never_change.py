"""WF-04: the database itself refuses every role that changes a published definition.

`tests/store/test_invariants.py` extends this to every column of every such table and to every pair of
statuses.
"""

from collections.abc import Iterator
from typing import LiteralString

import pytest

from signet.engine.documents.commands import Create
from tests.engine.conftest import INVOICE
from tests.engine.standing_company import CompanyWithWorkers, standing_company
from tests.engine.test_definitions import publish_patch, read_example
from tests.store.attack import FROZEN, NO_PRIVILEGE, OWNER, ROLES, STATUS_REGRESSION, attack

WRITERS = ("signet_api", OWNER)
CHANGES: list[LiteralString] = [
    "nodes_json = '{}'",
    "edges_json = '{}'",
    "compiled_json = '{}'",
    "compiled_hash = repeat('0', 64)",
    "compiler_version = 'other'",
    "body_patches_json = '{\"slots\": {}}'",
    "version = version + 1",
    # A change that is allowed covers no other.
    "status = 'archived', compiled_json = '{}'",
]
DEFINITIONS: LiteralString = (
    "SELECT id, status, version, nodes_json::text, edges_json::text, body_patches_json::text, compiled_json,"
    " compiled_hash, compiler_version FROM workflow_definitions ORDER BY id"
)


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    """Yield a company with an envelope, a published patch and its workflow, an archived one and a draft."""
    with standing_company(server_url) as made:
        if made.row("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") != (True,):
            pytest.skip("only a superuser may act as the owner")
        company = made.company
        publish_patch(company)
        company.definitions.recompile(
            company.caller(),
            made.row("SELECT id FROM workflow_definitions WHERE definition_kind = 'effective'")[0],
        )
        company.definitions.create(company.caller(), "org_patch", read_example("invoice/patch.yaml"))
        yield made


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("status", ["published", "archived"])
def test_wf_04_a_published_definition_never_changes(
    standing: CompanyWithWorkers, status: LiteralString, change: LiteralString, role: str
) -> None:
    before = standing.rows(DEFINITIONS)
    found = attack(
        standing,
        role,
        f"UPDATE workflow_definitions SET {change} WHERE NOT is_default AND status = '{status}'",
    )
    assert found == (FROZEN if role in WRITERS else NO_PRIVILEGE)
    assert standing.rows(DEFINITIONS) == before


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "attempt",
    [
        "UPDATE workflow_definitions SET compiled_json = '{}' WHERE is_default",
        "UPDATE workflow_definitions SET status = 'archived' WHERE is_default",
        "DELETE FROM workflow_definitions WHERE is_default",
    ],
)
def test_wf_04_a_default_never_changes_at_all(
    standing: CompanyWithWorkers, attempt: LiteralString, role: str
) -> None:
    assert attack(standing, role, attempt) == (FROZEN if role in WRITERS else NO_PRIVILEGE)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "attempt",
    [
        "UPDATE contracts SET body = '{}' WHERE status = 'published'",
        "UPDATE contracts SET hash = repeat('0', 64) WHERE status = 'published'",
        "DELETE FROM contracts WHERE status = 'published'",
    ],
)
def test_wf_04_a_published_contract_never_changes(
    standing: CompanyWithWorkers, attempt: LiteralString, role: str
) -> None:
    assert attack(standing, role, attempt) == (FROZEN if role in WRITERS else NO_PRIVILEGE)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("status", ["published", "archived"])
def test_wf_04_a_published_definition_is_never_deleted(
    standing: CompanyWithWorkers, status: LiteralString, role: str
) -> None:
    found = attack(
        standing, role, f"DELETE FROM workflow_definitions WHERE NOT is_default AND status = '{status}'"
    )
    assert found == (FROZEN if role in WRITERS else NO_PRIVILEGE)


@pytest.mark.parametrize("role", WRITERS)
@pytest.mark.parametrize(("before", "after"), [("published", "draft"), ("archived", "published")])
def test_wf_04_a_published_definition_never_becomes_a_draft_again(
    standing: CompanyWithWorkers, before: LiteralString, after: LiteralString, role: str
) -> None:
    change: LiteralString = f"UPDATE workflow_definitions SET status = '{after}'"
    found = attack(standing, role, f"{change} WHERE NOT is_default AND status = '{before}'")
    assert found == STATUS_REGRESSION


@pytest.mark.parametrize("role", WRITERS)
def test_wf_04_a_draft_may_be_edited_and_deleted_and_what_is_published_archived(
    standing: CompanyWithWorkers, role: str
) -> None:
    """Try the changes that triggers allow; otherwise the tests above could fail for another reason."""
    for allowed in (
        "UPDATE workflow_definitions SET body_patches_json = '{\"slots\": {}}' WHERE status = 'draft'",
        "DELETE FROM workflow_definitions WHERE status = 'draft'",
        "UPDATE workflow_definitions SET status = 'archived' WHERE status = 'published' AND NOT is_default",
    ):
        assert attack(standing, role, allowed) == ""


def test_wf_04_a_workflow_in_use_runs_the_bytes_that_were_published(standing: CompanyWithWorkers) -> None:
    """Publish a later version of the patch as a row of its own; the document keeps the earlier one."""
    company = standing.company
    created = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": "R-wf-04"}))
    pinned: LiteralString = (
        "SELECT d.id, d.compiled_hash FROM workflow_instances i JOIN workflow_definitions d"
        " ON d.id = i.definition_id WHERE i.id = %s"
    )
    before = standing.row(pinned, created.instance_id)
    publish_patch(company)
    assert standing.row(pinned, created.instance_id) == before
