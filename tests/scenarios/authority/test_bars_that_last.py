"""A bar on a vote lasts: neither asking again nor a flood of other changes lifts it (A5)."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.explain.instance import InstanceExplanation, write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Update
from signet.engine.documents.erase import Erasures
from signet.engine.instances.explain import explain
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.engine.tenants.org_chart import OrgChart
from signet.engine.tenants.roles import Roles
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import list_asked, list_lapse_reasons, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

BARRED, CONFLICT = "VOTE_BARRED_BY_GRANT", "SEPARATION_OF_DUTIES"
# Carl makes and asks. Bob is of the wider circle, and an administrator as well.
PEOPLE = {
    "app1": ("voter",),
    "app2": ("voter",),
    "olga": ("clerk",),
    "carl": ("clerk", "admin"),
    "bob": ("boss", "admin"),
    "otto": ("boss", "admin"),
    "frank": ("admin",),
}
WIDER = {"after": "P1D", "to": role("boss")}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="boss", permissions=("*:act",)),), COMMAND_LINE)
            people = {**PEOPLE, **{f"m{number:04}": () for number in range(505)}}
            members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in people.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, *, pick: str = "first_available", **config: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter", pick)], **config}}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl", contact="Erna")
    submit(stage, document, "carl")
    return document


def give(stage: WorkflowStage, by: str, user_id: str, *roles: str) -> None:
    """Let a person give another these roles and no others."""
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(company.caller(by, "admin"), member, "active", succession=Succession())
    stage.drain()


def clear_the_bench(stage: WorkflowStage, by: str) -> None:
    for (user_id,) in stage.standing.rows("SELECT user_id FROM member_roles WHERE role = 'voter'"):
        give(stage, by, user_id)


def edit(stage: WorkflowStage, document: Made, user_id: str) -> None:
    change = Update(document.id, stage.version_of(document.id), {"number": "X"})
    stage.mutate(change, user_id)
    stage.drain()


def come_to_the_time_of_the_escalation(stage: WorkflowStage, document: Made) -> None:
    stage.bring_escalation(document.id)
    stage.wake(document.instance_id)
    stage.drain()


# --- the gate asks it too (L3) ---


def test_a_role_that_comes_back_from_the_creator_lets_the_vote_lapse(stage: WorkflowStage) -> None:
    """App1 votes, loses the role, and has it again before the gate looks: by carl's hand, or by frank's."""
    for by, status in (("carl", "submitted"), ("frank", "active")):
        document = asked(stage)
        company = stage.standing.company
        approvals, request_id = Approvals(company.database, stage.caches()), newest(stage, document.id)
        approvals.decide(company.caller("app1"), request_id, "approved", "seen")
        for giver, roles in (("frank", ()), (by, ("voter",))):
            member = Member(user_id="app1", display_name="app1", roles=roles)
            caller = company.caller(giver, "admin")
            Members(company.database).save(caller, member, "active", succession=Succession())
        stage.drain()
        assert stage.status_of(document.id) == status
        if by == "carl":
            (reason,) = list_lapse_reasons(stage, document)
            assert reason is not None and reason.startswith("carl gave app1 the role 'voter'")
            assert vote(stage, document.id, "app1") == BARRED
            assert vote(stage, document.id, "app2") == "approved"
            assert stage.status_of(document.id) == "active"


# --- an instance tells when only barred people are left (M5) ---


def reason_of(stage: WorkflowStage, document: Made) -> tuple[str, str]:
    instance = stage.instance(document.instance_id)
    return instance["status"], (instance["reason"] or "").split(":")[0]


def test_when_only_a_barred_voter_is_left_it_pauses_and_says_so(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "olga", "voter")
    give(stage, "frank", "app1")
    assert reason_of(stage, document) == ("running", "")
    give(stage, "frank", "app2")
    assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")


def test_the_vote_after_which_only_a_barred_voter_is_left_pauses_it(stage: WorkflowStage) -> None:
    two = {"approvers": [role("voter"), role("voter")], "quorum": "all"}
    entity_type = stage.publish(approval={"nodes": [{"id": "look", "type": "approval", "config": two}]})
    document = stage.create(entity_type, "carl")
    submit(stage, document, "carl")
    give(stage, "carl", "olga", "voter")
    give(stage, "frank", "app2")
    assert reason_of(stage, document) == ("running", "")
    assert vote(stage, document.id, "app1") == "open"
    assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")


def test_where_the_documents_people_clear_the_bench_it_pauses(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "app1")
    assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE"), "app2 is barred too"
    for is_open in (True, False):
        explained = explain_instance(stage, document)
        (stuck,) = explained.stuck_stages
        assert (stuck.request_id is not None) == is_open
        assert any("person without a part in the document gives it back" in line for line in stuck.remedies)
        assert any("Not app2: carl took the role" in line for line in write_instance(explained))
        if is_open:
            edit(stage, document, "carl")
            stage.retry(document, stage.standing.company.caller("frank", "admin"))


# --- what was taken is given back by a person without a part ---


def test_asking_again_lets_no_lenient_approver_decide(stage: WorkflowStage) -> None:
    """Carl takes the role from app1, and edits and asks again: app2 stays barred."""
    document = asked(stage)
    give(stage, "carl", "app1")
    for _ in range(2):
        edit(stage, document, "carl")
        stage.retry(document, stage.standing.company.caller("frank", "admin"))
        assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")
        assert stage.status_of(document.id) == "submitted"
    give(stage, "frank", "app1", "voter")
    stage.retry(document, stage.standing.company.caller("frank", "admin"))
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("helper", ["frank", "app3"])
def test_who_agrees_with_the_taking_gives_it_back_and_takes_it_again(
    stage: WorkflowStage, helper: str
) -> None:
    """The newest taking is theirs. So it is too where they could vote themselves."""
    hire(stage, "app3", "voter", "admin")
    document = asked(stage)
    disable(stage, "carl", "app1")
    assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")
    assert vote(stage, document.id, "app2") == BARRED
    give(stage, helper, "app1", "voter")
    disable(stage, helper, "app1")
    stage.retry(document, stage.standing.company.caller(helper, "admin"))
    assert reason_of(stage, document) == ("running", "")
    if helper == "app3":
        assert vote(stage, document.id, helper) == BARRED, "they have cleared it themselves"
    assert code_of(stage, document, "app2") is None, "a view of all judges each vote apart"
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


def test_who_takes_it_again_after_it_was_given_back_bars_it_again(stage: WorkflowStage) -> None:
    document = asked(stage)
    for by, roles in (("carl", ()), ("frank", ("voter",)), ("carl", ())):
        give(stage, by, "app1", *roles)
    assert vote(stage, document.id, "app2") == BARRED


def test_permissions_that_the_creator_took_are_set_again_by_another(stage: WorkflowStage) -> None:
    """The creator may set them again: then that bars those who have the role."""
    document = asked(stage)
    before = permissions_of(stage, "voter")
    for permissions, answer in (((), "PERMISSION_DENIED"), (before, BARRED)):
        set_permissions(stage, "carl", "voter", permissions)
        assert vote(stage, document.id, "app2") == answer
    set_permissions(stage, "frank", "voter", (*before, "thing:read"))
    assert vote(stage, document.id, "app2") == BARRED, "frank has added something else"
    set_permissions(stage, "frank", "voter", before)
    assert vote(stage, document.id, "app2") == "approved"


def test_a_permission_that_the_creator_adds_bars_those_who_have_the_role(stage: WorkflowStage) -> None:
    hire(stage, "ben", "second")
    set_permissions(stage, "frank", "second", ("*:submit",))
    document = asked(stage, approvers=[role("voter"), role("second")], quorum="any")
    set_permissions(stage, "carl", "second", ("*:approve", "*:submit"))
    assert vote(stage, document.id, "ben") == BARRED
    assert reason_of(stage, document) == ("running", "")
    assert vote(stage, document.id, "app1") == "approved", "the stage has lost nobody by it"


def hire(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_roles(
            connection, stage.tenant_id, (Role(role="second", permissions=("*:approve",)),), COMMAND_LINE
        )
        member = Member(user_id=user_id, display_name=user_id, roles=roles)
        save_members(connection, stage.tenant_id, (member,), COMMAND_LINE)


def disable(stage: WorkflowStage, by: str, user_id: str) -> None:
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=("voter",))
    Members(company.database).save(company.caller(by, "admin"), member, "disabled", succession=Succession())
    stage.drain()


def permissions_of(stage: WorkflowStage, name: str) -> tuple[str, ...]:
    (permissions,) = stage.standing.row("SELECT permissions FROM roles WHERE role = %s", name)
    return tuple(permissions)


def set_permissions(stage: WorkflowStage, by: str, name: str, permissions: Sequence[str]) -> None:
    company = stage.standing.company
    Roles(company.database).save(company.caller(by, "admin"), name, permissions)


def code_of(stage: WorkflowStage, document: Made, user_id: str) -> str | None:
    """Return the code that an explanation for everybody names for a person."""
    voters = explain_instance(stage, document).approvals[-1].voters
    (found,) = [voter for voter in voters if voter.person == user_id]
    return found.code


def explain_instance(stage: WorkflowStage, document: Made) -> InstanceExplanation:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    return explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id)


# --- many other changes hide none (H2) ---


def test_delegations_that_come_and_go_hide_no_grant(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "olga", "voter")
    company = stage.standing.company
    delegations, olga = Delegations(company.database), company.caller("olga")
    for number in range(505):
        now = datetime.now(UTC)
        tomorrow = now + timedelta(days=1)
        given = delegations.delegate(olga, "olga", f"m{number:04}", from_time=now, to_time=tomorrow)
        delegations.revoke(olga, given.id)
    assert vote(stage, document.id, "olga") == BARRED
    assert vote(stage, document.id, "app1") == "approved", "who was given nothing may vote"


def test_reporting_lines_hide_no_grant(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "olga", "voter")
    company = stage.standing.company
    chart, carl = OrgChart(company.database), company.caller("carl", "admin")
    for number in range(505):
        chart.set_manager(carl, f"m{number:04}", "app1")
        chart.set_manager(carl, f"m{number:04}", "olga")
    assert vote(stage, document.id, "olga") == BARRED
    assert vote(stage, document.id, "app2") == "approved"


# --- asking again lifts none (H3) ---


@pytest.mark.parametrize("again", ["edit", "rejection", "erasure"])
def test_who_was_given_the_role_meanwhile_stays_barred(stage: WorkflowStage, again: str) -> None:
    document = asked(stage)
    give(stage, "carl", "olga", "voter")
    assert vote(stage, document.id, "olga") == BARRED
    if again == "edit":
        edit(stage, document, "carl")
    elif again == "rejection":
        assert vote(stage, document.id, "app1", "rejected") == "rejected"
        edit(stage, document, "carl")
        submit(stage, document, "carl")
    else:
        erase(stage, document, "frank")
    assert vote(stage, document.id, "olga") == BARRED
    assert vote(stage, document.id, "app2") == "approved"


def test_after_a_gate_has_used_an_approval_it_counts_anew(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "olga", "voter")
    edit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "approved"
    moments = stage.standing.rows("SELECT asked_since, created_at FROM approval_requests ORDER BY id")
    assert {since for since, _ in moments} == {moments[0][1]}, "both look back to the first"
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        assert connection.execute("SELECT first_asked(%s)", (document.id,)).fetchone() == (None,)
    assert vote(stage, asked(stage).id, "olga") == "approved", "nor does it bar votes on another document"


def erase(stage: WorkflowStage, document: Made, user_id: str) -> None:
    company = stage.standing.company
    Erasures(company.database).erase(company.caller(user_id, "admin"), document.id, None, "asked for")
    stage.drain()


def test_who_cleared_the_bench_and_erased_does_not_decide(stage: WorkflowStage) -> None:
    document = asked(stage, escalate=WIDER)
    clear_the_bench(stage, "bob")
    erase(stage, document, "bob")
    assert list_asked(stage, document) == ["@voter"], "the wider circle waits for its time"
    come_to_the_time_of_the_escalation(stage, document)
    assert vote(stage, document.id, "otto") == "APPROVAL_NOT_YOURS"
    assert reason_of(stage, document) == ("paused", "APPROVAL_NOBODY_ELIGIBLE"), "bob bars all by it"
    for roles in (("voter",), ()):
        for user_id in ("app1", "app2"):
            give(stage, "frank", user_id, *roles)
    stage.retry(document, stage.standing.company.caller("frank", "admin"))
    assert vote(stage, document.id, "bob") == CONFLICT
    assert vote(stage, document.id, "otto") == "approved"


@pytest.mark.parametrize("pick", ["first_available", "round_robin"])
def test_the_edit_of_another_hastens_no_escalation_and_lifts_no_bar(stage: WorkflowStage, pick: str) -> None:
    document = asked(stage, pick=pick, escalate=WIDER)
    clear_the_bench(stage, "bob")
    edit(stage, document, "carl")
    assert "@boss" not in list_asked(stage, document)
    assert vote(stage, document.id, "bob") == "APPROVAL_NOT_YOURS"
    come_to_the_time_of_the_escalation(stage, document)
    assert "@boss" in list_asked(stage, document)
    assert vote(stage, document.id, "bob") == BARRED
    assert vote(stage, document.id, "otto") == "approved"


def test_a_document_that_nobody_was_asked_about_escalates_at_once(stage: WorkflowStage) -> None:
    clear_the_bench(stage, "frank")
    document = asked(stage, escalate=WIDER)
    assert list_asked(stage, document) == ["@voter", "@boss"]
    assert vote(stage, document.id, "bob") == "approved"


def test_who_gave_the_role_and_asks_for_the_same_later_bars_the_vote(stage: WorkflowStage) -> None:
    """The vote is lawful when it is given. At the gate the giver is a requester too."""
    look = {"approvers": [role("voter")] * 2, "quorum": "all"}
    node = {"id": "look", "type": "approval", "config": look}
    document = stage.create(stage.publish(checks={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    give(stage, "frank", "olga", "voter")
    assert vote(stage, document.id, "olga") == "open"
    submit(stage, document, "frank")
    assert vote(stage, document.id, "app1") in ("open", "approved")
    assert stage.status_of(document.id) == "draft"
    assert vote(stage, document.id, "olga") == BARRED
