"""Delegations given once more: a vote rests on the one that it is given by, and another bars nobody (A6).

Dora is away, and strict votes for her. Carl makes and asks, and may give delegations between others.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import list_lapse_reasons, newest, submit, vote
from tests.support.core.approval_policies import user
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

BARRED = "VOTE_BARRED_BY_GRANT"
PEOPLE = {"strict": ("voter",), "dora": ("voter",), "carl": ("clerk", "admin"), "frank": ("admin",)}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in PEOPLE.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": [user("dora")]}}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    return document


def delegate(stage: WorkflowStage, by: str, *, days: int = 1, entity_type: str | None = None) -> UUID:
    """Let a person give dora's voice to strict, from now on."""
    company = stage.standing.company
    terms: dict[str, Any] = {"to_time": datetime.now(UTC) + timedelta(days=days), "entity_type": entity_type}
    return Delegations(company.database).delegate(company.caller(by, "admin"), "dora", "strict", **terms).id


def type_of(stage: WorkflowStage, document: Made) -> str:
    return str(stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)[0])


def may_decide(stage: WorkflowStage, user_id: str) -> bool:
    company = stage.standing.company
    (item,) = Approvals(company.database, stage.caches()).inbox(company.caller(user_id))
    return item.may_decide


def test_a_second_delegation_bars_nobody(stage: WorkflowStage) -> None:
    """Dora gives it for the type, and carl for all types: strict votes by that of dora."""
    document = asked(stage)
    own = delegate(stage, "dora", entity_type=type_of(stage, document))
    delegate(stage, "carl")
    assert may_decide(stage, "strict")
    assert vote(stage, document.id, "strict") == "approved"
    assert stage.status_of(document.id) == "active", "nor does the gate mind"
    assert stage.standing.rows("SELECT delegation_id FROM approval_decisions") == [(own,)]


def test_nobody_votes_by_the_one_that_the_creator_gave(stage: WorkflowStage) -> None:
    """Dora can still vote, or give her voice herself: also where carl has given it."""
    document = asked(stage)
    delegate(stage, "carl")
    assert not may_decide(stage, "strict")
    assert vote(stage, document.id, "strict") == BARRED
    delegate(stage, "dora")
    assert vote(stage, document.id, "strict") == "approved"


def test_nor_when_the_lawful_one_is_revoked(stage: WorkflowStage) -> None:
    document, company = asked(stage), stage.standing.company
    own = delegate(stage, "dora", entity_type=type_of(stage, document))
    delegate(stage, "carl")
    Delegations(company.database).revoke(company.caller("dora"), own)
    assert vote(stage, document.id, "strict") == BARRED
    assert vote(stage, document.id, "dora") == "approved"


def test_the_gate_judges_the_one_that_the_vote_was_given_by(stage: WorkflowStage) -> None:
    """It may be told only then that a person of the document has given it."""
    for giver in ("carl", "dora"):
        document, company = asked(stage), stage.standing.company
        given = delegate(stage, "dora")
        approvals, request_id = Approvals(company.database, stage.caches()), newest(stage, document.id)
        approvals.decide(company.caller("strict"), request_id, "approved", "seen")
        forged = "UPDATE approval_delegations SET created_by = %s, given_by = ARRAY[%s] WHERE id = %s"
        stage.standing.run(forged, giver, giver, given)
        stage.drain()
        assert stage.status_of(document.id) == ("submitted" if giver == "carl" else "active")
        if giver == "carl":
            (reason,) = list_lapse_reasons(stage, document)
            assert reason is not None and reason.startswith("carl gave strict a delegation of dora")
            Delegations(company.database).revoke(company.caller("dora"), given)


def test_one_that_was_given_before_the_asking_bars_nobody(stage: WorkflowStage) -> None:
    delegate(stage, "carl")
    document = asked(stage)
    assert vote(stage, document.id, "strict") == "approved"


def test_the_same_is_not_given_twice(stage: WorkflowStage) -> None:
    """A person may still give their own voice, where another has given it for them."""
    first = delegate(stage, "carl", days=3)
    with pytest.raises(Rejected) as refused:
        delegate(stage, "frank")
    assert refused.value.code == "DELEGATION_OVERLAPS"
    assert str(first) in refused.value.message
    delegate(stage, "dora")
    with pytest.raises(Rejected):
        delegate(stage, "dora", entity_type="thing")
