"""Approvals that an edit or a transition overtakes: voided, and each asked person and voter is notified."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Delete
from signet.engine.instances.actions import Instances
from signet.engine.integrations.notifications import Notifications
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PEOPLE = {
    "mona": ("finance",),
    "otto": ("finance",),
    "anna": ("voter",),
    "dora": ("voter",),
    "carl": ("clerk", "admin"),
}
AMENDABLE = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
    "amendment": {},
}
DELETABLE = {**CONTRACT, "deletable_in": ["draft", "submitted"]}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=held) for name, held in PEOPLE.items()]
        company = made.standing.company
        with company.database.transaction(made.tenant_id) as connection:
            roles = tuple(Role(role=name, permissions=("*:approve",)) for name in ("finance", "voter"))
            save_roles(connection, made.tenant_id, roles, COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        day, now = timedelta(days=1), datetime.now(UTC)
        Delegations(company.database).delegate(
            company.caller("anna"), "anna", "dora", from_time=now, to_time=now + day
        )
        yield made


def asked(stage: WorkflowStage, contract: Any = None, **config: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(contract, approval={"nodes": [node]}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def decide(stage: WorkflowStage, document: Made, user_id: str, *, then_works: bool = True) -> None:
    company = stage.standing.company
    approvals, caller = Approvals(company.database, stage.caches()), company.caller(user_id)
    inbox = approvals.inbox(caller, limit=200)
    (request_id,) = [item.request_id for item in inbox if item.document_id == document.id]
    approvals.decide(caller, request_id, "approved")
    if then_works:
        stage.drain()


def told(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    """Return recipient and reason of each notification that the voiding transaction has written."""
    query: LiteralString = (
        "SELECT coalesce(n.user_id, '@' || n.role), n.data ->> 'reason' FROM notifications n"
        " JOIN approval_requests r ON r.tenant_id = n.tenant_id AND r.id = n.request_id AND r.xmin = n.xmin"
        " WHERE n.kind = 'approval_voided' AND r.status = 'voided' AND r.document_id = %s ORDER BY 1"
    )
    return stage.standing.rows(query, document.id)


def requests(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    query: LiteralString = (
        "SELECT status, outcome, applied FROM approval_requests WHERE document_id = %s ORDER BY id"
    )
    return stage.standing.rows(query, document.id)


def edit(stage: WorkflowStage, document: Made) -> None:
    stage.edit(document.id, amount=7)
    stage.drain()


def amend(stage: WorkflowStage, document: Made) -> None:
    assert stage.edit(document.id, amount=7).original_id == document.id


def delete(stage: WorkflowStage, document: Made) -> None:
    stage.mutate(Delete(document.id, stage.version_of(document.id)))


def operate(stage: WorkflowStage, document: Made) -> tuple[Instances, Caller, int]:
    company, row = stage.standing.company, stage.instance(document.instance_id)
    instances = Instances(company.database, stage.caches(), CompiledCache())
    return instances, company.caller(), row["version"]


def give_up(stage: WorkflowStage, document: Made) -> None:
    instances, caller, version = operate(stage, document)
    instances.fail(caller, document.instance_id, version, "over", "leave")


def cancel(stage: WorkflowStage, document: Made) -> None:
    instances, caller, version = operate(stage, document)
    instances.cancel(caller, document.instance_id, version, "over", "leave")


def cancel_token(stage: WorkflowStage, document: Made) -> None:
    instances, caller, version = operate(stage, document)
    instances.cancel_token(caller, document.instance_id, version, "usr:approval:look", "over")


WAYS = [
    (edit, CONTRACT, "the document was edited"),
    (amend, AMENDABLE, "amended"),
    (delete, DELETABLE, "deleted"),
    (give_up, CONTRACT, "its step was withdrawn"),
    (cancel, CONTRACT, "its step was withdrawn"),
    (cancel_token, CONTRACT, "its step was withdrawn"),
]
Overtake = Callable[[WorkflowStage, Made], None]


@pytest.mark.parametrize(("overtake", "contract", "reason"), WAYS)
def test_who_is_asked_and_who_has_decided_are_told_once(
    stage: WorkflowStage, overtake: Overtake, contract: Any, reason: str
) -> None:
    """Notify a role once though it has two seats; notify the delegate who decided and the delegator."""
    approvers = [role("finance"), role("finance"), user("anna")]
    document = asked(stage, contract, approvers=approvers)
    decide(stage, document, "dora")
    overtake(stage, document)
    assert requests(stage, document)[0] == ("voided", reason, None)
    assert told(stage, document) == [("@finance", reason), ("anna", reason), ("dora", reason)]
    company = stage.standing.company
    newest = Notifications(company.database).list_of(company.caller("dora"), limit=1)
    assert [(each.kind, each.data["reason"]) for each in newest] == [("approval_voided", reason)]


@pytest.mark.parametrize(("overtake", "contract", "reason"), WAYS[:3])
def test_an_approval_that_no_gate_has_used_is_void_too(
    stage: WorkflowStage, overtake: Overtake, contract: Any, reason: str
) -> None:
    """Leave out the person whose seat was closed: the decision has notified them already."""
    document = asked(stage, contract, approvers=[user("mona"), user("otto")], quorum="any")
    decide(stage, document, "otto", then_works=False)
    overtake(stage, document)
    (status, outcome, applied), *_ = requests(stage, document)
    assert (status, applied) == ("voided", False)
    assert told(stage, document) == [("otto", outcome)]


def test_what_a_gate_has_used_stays_and_nobody_is_told(stage: WorkflowStage) -> None:
    document = asked(stage, DELETABLE, approvers=[user("mona")])
    decide(stage, document, "mona")
    assert stage.status_of(document.id) == "active"
    stage.ask(document.id, "cancel")
    stage.drain()
    assert requests(stage, document) == [("approved", "decided in stage 1", True)]
    assert told(stage, document) == []


def test_only_the_requests_of_the_instance_are_voided(stage: WorkflowStage) -> None:
    one, other = (asked(stage, DELETABLE, approvers=[user("mona")]) for _ in range(2))
    delete(stage, one)
    assert (requests(stage, one)[0][0], requests(stage, other)[0][0]) == ("voided", "open")
    assert told(stage, other) == []


def test_those_who_decided_an_earlier_stage_are_told(stage: WorkflowStage) -> None:
    tenant: UUID = stage.tenant_id
    stage.standing.run(
        "INSERT INTO approval_chains VALUES (%s, 'two', 1, 'draft', '', repeat('0', 64), 'carl', now())",
        tenant,
    )
    for position, approver in enumerate(('"mona"', '"otto"'), start=1):
        stage.standing.run(
            "INSERT INTO approval_chain_steps VALUES (%s, 'two', 1, %s, %s)",
            tenant,
            position,
            f'{{"approvers": [{{"by": "user", "user": {approver}}}]}}',
        )
    stage.standing.run("UPDATE approval_chains SET status = 'published', published_at = now()")
    document = asked(stage, AMENDABLE, chain="two")
    decide(stage, document, "mona")
    amend(stage, document)
    assert told(stage, document) == [("mona", "amended"), ("otto", "amended")]
