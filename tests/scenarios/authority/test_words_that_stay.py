"""An erasure takes a document's personal values. The words of people stay where they are on record."""

from collections.abc import Iterator

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.erase import Erasures
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
VALUE, WORDS = "Erika Mustermann-Geheim", "the account is not of this supplier"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=n, display_name=n, roles=("voter", "admin")) for n in ("app1", "carl", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def find_text(stage: WorkflowStage, text: str) -> list[str]:
    """Return every column of every table that holds this text."""
    columns = stage.standing.rows(
        "SELECT c.table_name, c.column_name FROM information_schema.columns c"
        " JOIN information_schema.tables t USING (table_schema, table_name)"
        " WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY 1, 2"
    )
    return [
        f"{table}.{column}"
        for table, column in columns
        if stage.standing.row(
            f'SELECT count(*) FROM "{table}" WHERE position(%s in "{column}"::text) > 0', text
        )
        != (0,)
    ]


def test_an_erasure_takes_the_value_and_leaves_the_words_of_a_rejection(stage: WorkflowStage) -> None:
    company = stage.standing.company
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "carl", contact=VALUE)
    submit(stage, document, "carl")
    approvals, request = Approvals(company.database, stage.caches()), newest(stage, document.id)
    approvals.decide(company.caller("app1"), request, "rejected", WORDS)
    stage.drain()
    Erasures(company.database).erase(company.caller("mia", "admin"), document.id, None, "asked by letter")
    stage.drain()
    assert find_text(stage, VALUE) == []
    assert find_text(stage, WORDS) == [
        "approval_decisions.reason",
        "approval_requests.outcome",
        "audit_log.content",
        "notifications.data",
    ]
    shown = approvals.read_request(company.caller("app1"), request)
    assert shown.outcome is not None and WORDS in shown.outcome and "app1" in shown.outcome
