"""Explanations of authority: what keeps each person, lapsed votes, and the way out of a lock-out."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.explain.instance import InstanceExplanation, write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE, ChangeAuthor
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.instances.explain import explain
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.store.tenants.people import set_member_status
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import expression, manager, role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PEOPLE = {
    "app1": ("voter",),
    "app2": ("voter",),
    "olga": ("owner",),
    "carl": ("clerk", "admin"),
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="owner", permissions=()),), COMMAND_LINE)
        hire(made, PEOPLE)
        yield made


def hire(stage: WorkflowStage, people: dict[str, tuple[str, ...]]) -> None:
    members = tuple(Member(user_id=name, display_name=name, roles=roles) for name, roles in people.items())
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, members, COMMAND_LINE)


def look(**config: Any) -> dict[str, Any]:
    return {"id": "look", "type": "approval", "config": config}


def asked(stage: WorkflowStage, contract: Any = None, **config: Any) -> Made:
    document = stage.create(stage.publish(contract, approval={"nodes": [look(**config)]}))
    submit(stage, document, "carl")
    return document


def publish_chain(stage: WorkflowStage, *steps: dict[str, Any], **terms: Any) -> None:
    chains = ApprovalChains(stage.standing.company.database)
    caller = stage.standing.company.caller("olga", "admin")
    saved = chains.save(caller, {"name": "two", "steps": list(steps), **terms})
    assert isinstance(saved, ChainVersion), saved
    chains.publish(caller, "two", saved.version)


def chain_of(stage: WorkflowStage, *approvers: dict[str, Any], **terms: Any) -> Made:
    """Ask in as many stages as there are approvers."""
    publish_chain(stage, *({"approvers": [approver]} for approver in approvers), **terms)
    return asked(stage, chain="two")


def told(stage: WorkflowStage, document: Made) -> InstanceExplanation:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    return explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id)


def kept(explained: InstanceExplanation) -> dict[str, str | None]:
    """Return what keeps each person from approving the newest request."""
    return {voter.person: voter.code for voter in explained.approvals[-1].voters}


# --- what keeps each person ---


def test_each_person_who_is_asked_is_told_what_keeps_them(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[user("carl"), user("olga"), user("app1"), role("voter")], quorum="any")
    member = Member(user_id="nora", display_name="Nora", roles=("voter",))
    Members(stage.standing.company.database).save(
        stage.standing.company.caller("carl", "admin"), member, "active", succession=Succession()
    )
    explained = told(stage, document)
    assert kept(explained) == {
        "app1": None,
        "app2": None,
        "carl": "SEPARATION_OF_DUTIES",
        "nora": "VOTE_BARRED_BY_GRANT",
        "olga": "PERMISSION_DENIED",
    }
    for voter in explained.approvals[-1].voters:
        # Each would be answered so.
        answer = vote(stage, document.id, voter.person) if voter.code else None
        assert answer == voter.code
    text = "\n".join(write_instance(explained))
    assert "Who may decide now: app1 and app2." in text
    assert "Not nora: carl " in text
    assert "Not olga: needs the permission" in text
    assert "A voter needs the permission thing_" in text
    assert explained.stuck_stages == ()


def test_delegates_are_judged_with_both_voices(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[user("app1")])
    stage.standing.run(
        "INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, from_time, to_time,"
        " created_by, created_at) VALUES (%s, gen_random_uuid(), 'app1', 'olga', now() - interval '1 h',"
        " now() + interval '1 d', 'app1', now())",
        stage.tenant_id,
    )
    assert kept(told(stage, document)) == {"app1": None, "olga": "PERMISSION_DENIED"}


def test_an_opt_out_is_told(stage: WorkflowStage) -> None:
    document = chain_of(stage, role("voter"), role("voter"), same_person="allowed")
    assert "One person may approve more than once here (same_person: allowed)." in (
        told(stage, document).approvals[-1].text
    )


def test_what_takes_no_vote_is_told_once_for_all(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[role("voter")], expire_after="PT1H")
    stage.standing.run("UPDATE approval_requests SET expire_at = now() - interval '1 minute'")
    explained = told(stage, document).approvals[-1]
    assert "Nobody can vote now: the time to decide is over." in explained.text
    assert explained.voters == ()


# --- lapsed votes ---


@pytest.mark.parametrize(
    ("loss", "reason"),
    [("role", "Now: app1 needs the permission"), ("membership", "Now: app1 is no active member any more.")],
)
def test_a_lapsed_vote_is_named_with_its_seat(stage: WorkflowStage, loss: str, reason: str) -> None:
    hire(stage, {"app3": ("voter",)})
    document = chain_of(stage, role("voter"), role("voter"))
    assert vote(stage, document.id, "app1") == "open"
    if loss == "role":
        hire(stage, {"app1": ("clerk",)})
    else:
        stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    assert vote(stage, document.id, "app2") == "approved"
    explained = told(stage, document).approvals[-1]
    (lapsed,) = explained.lapsed
    assert (lapsed.stage, lapsed.seat, lapsed.by) == (1, 1, "app1")
    assert "The vote of app1 in stage 1, seat 1, has lapsed (VOTE_NO_LONGER_VALID)" in lapsed.text
    assert reason in lapsed.text
    assert [(seat.stage, seat.position) for seat in explained.open_seats] == [(1, 2)]
    assert vote(stage, document.id, "app3") == "approved"
    # Afterwards it is still on record, without its reason of that time.
    assert [each.reason for each in told(stage, document).approvals[-1].lapsed] == [None]


# --- a team that is locked out ---


def test_nobody_else_for_the_second_stage(stage: WorkflowStage) -> None:
    """Three people: one creates and asks, one approves, the other has no permission."""
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app2'")
    document = chain_of(stage, role("voter"), role("voter"))
    assert vote(stage, document.id, "app1") == "open"
    assert stage.instance(document.instance_id)["reason"].startswith("APPROVAL_NOBODY_ELIGIBLE")
    explained = told(stage, document)
    (stuck,) = explained.stuck_stages
    assert (stuck.node, stuck.stage) == ("usr:approval:look", 2)
    assert stuck.request_id == newest(stage, document.id)
    assert stuck.additions == ("olga",)
    text = "\n".join(write_instance(explained))
    for sentence in (
        "nobody may decide stage 2.",
        "Not app1: app1 has approved this before; another approval needs another person",
        "Stage 1 is decided, and stage 2 cannot begin: nobody may decide it.",
        "Give the role voter to olga, or to a new member: nothing else keeps them.",
        "No active member without a part in the document may do that (member:edit, and what",
        "Nobody can ask for it again then in the state 'submitted'. Cancel the workflow with `then: leave`,"
        " and restart the document under the definition with that policy.",
        "A person must do that who is not responsible for the document: otherwise it bars the vote.",
        "Or cancel the workflow, where nobody wants this any more.",
        "Or publish a policy with fewer stages or with same_person: allowed.",
        "When nothing keeps the people any more, retry the instance.",
    ):
        assert sentence in text, text
    # A stage that has not begun takes no rejection, and none is advised.
    assert vote(stage, document.id, "app1", "rejected") == "APPROVAL_CLOSED"
    assert "reject it" not in text.replace("nobody can reject it", ""), text
    assert "has not taken the decision yet" not in text
    # The lawful way: olga gets the role by a person who has no part in the document.
    member = Member(user_id="olga", display_name="Olga", roles=("voter",))
    Members(stage.standing.company.database).save(
        stage.standing.company.caller("frank", "admin"), member, "active", succession=Succession()
    )
    stage.standing.run("UPDATE workflow_instances SET status = 'running', reason = NULL")
    stage.wake(document.instance_id)
    stage.drain()
    assert told(stage, document).stuck_stages == ()
    assert vote(stage, document.id, "olga") == "approved"


def test_nobody_for_the_first_stage(stage: WorkflowStage) -> None:
    """The approval asks nobody yet: there is no request to look at."""
    document = asked(stage, approvers=[user("olga"), user("carl")], quorum="any")
    explained = told(stage, document)
    assert explained.approvals == ()
    (stuck,) = explained.stuck_stages
    assert (stuck.stage, stuck.request_id, stuck.additions) == (1, None, ())
    assert any(line.startswith("Not olga: needs the permission") for line in stuck.text)
    assert any(line.startswith("Not carl: carl is responsible as creator") for line in stuck.text)
    assert "People are asked by name here, so that no other member can be added." in stuck.remedies
    assert "Then move the instance to the definition with that policy." in stuck.remedies


def test_a_chain_is_read_again(stage: WorkflowStage) -> None:
    hire(stage, {"app1": ("clerk",), "app2": ("clerk",)})
    hire(stage, {"carl": ("voter", "admin", "clerk")})
    document = chain_of(stage, role("voter"))
    (stuck,) = told(stage, document).stuck_stages
    assert stuck.additions == ("app1", "app2", "olga")
    assert "The chain two is read again when the instance is retried." in stuck.remedies
    assert any("Their roles must grant thing_" in remedy for remedy in stuck.remedies)


def test_managers_and_expressions_are_looked_up(stage: WorkflowStage) -> None:
    stage.standing.run(
        "INSERT INTO org_chart (tenant_id, user_id, manager_id) VALUES (%s, 'carl', 'olga')", stage.tenant_id
    )
    document = asked(stage, approvers=[manager("entity.creator"), expression("org.name")], quorum="any")
    (stuck,) = told(stage, document).stuck_stages
    assert any(line.startswith("Not olga") for line in stuck.text), stuck.text


def test_who_is_named_and_has_the_role_would_be_asked(stage: WorkflowStage) -> None:
    hire(stage, {"carl": ("voter", "clerk", "admin")})
    named = {**expression("entity.number"), "who": "voter"}
    entity_type = stage.publish(approval={"nodes": [look(approvers=[named])]})
    document = stage.create(entity_type, number="carl")
    submit(stage, document, "carl")
    (stuck,) = told(stage, document).stuck_stages
    text = " ".join(stuck.text)
    assert "Not carl: carl is responsible as creator" in text
    assert "is no member with the role" not in text


def test_an_open_request_that_nobody_may_decide_any_more(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[role("voter")])
    hire(stage, {"app1": ("clerk",), "app2": ("clerk",)})
    (stuck,) = told(stage, document).stuck_stages
    assert stuck.request_id == newest(stage, document.id)
    assert not any("break-glass" in remedy for remedy in stuck.remedies), "a seat gives no permission"
    assert stuck.additions == ("app1", "app2", "olga")


def test_break_glass_is_advised_where_a_seat_is_all_that_lacks(stage: WorkflowStage) -> None:
    """App2 may vote and has no seat; carl has a part, and app1 is asked and has left."""
    document = asked(stage, approvers=[user("app1")])
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    (stuck,) = told(stage, document).stuck_stages
    advice = "If the tenant can do none of this, two operators may seat app2 by break-glass."
    assert advice in stuck.remedies, stuck.remedies


def test_who_cannot_give_the_role_is_not_said_to_help(stage: WorkflowStage) -> None:
    """Sue changes members and cannot give what the role brings; sam can, and gives nothing to themselves."""
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        keeper = Role(role="keeper", permissions=("member:*",))
        chief = Role(role="chief", permissions=("*:*",))
        save_roles(connection, stage.tenant_id, (keeper, chief), COMMAND_LINE)
    hire(stage, {"sue": ("keeper",), "sam": ("chief",)})
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id IN ('app1', 'app2', 'frank')")
    document = asked(stage, approvers=[role("voter")])
    (stuck,) = told(stage, document).stuck_stages
    assert "That can be done by sam." in stuck.remedies, stuck.remedies
    assert "sam" not in stuck.additions and "sue" in stuck.additions


def test_an_approver_who_rejected_it_before_and_was_disabled_by_the_creator(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[role("voter")])
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        creator = ChangeAuthor("carl", ("carl",))
        set_member_status(connection, stage.tenant_id, "app1", "disabled", datetime.now(UTC), creator)
    submit(stage, document, "carl")
    assert stage.instance(document.instance_id)["status"] == "paused"
    (stuck,) = told(stage, document).stuck_stages
    assert stuck.request_id is None
    assert stuck.remedies[0].startswith("Undo this first: carl disabled app1")


def test_an_approver_who_rejected_it_before_and_leaves_when_asked_again(stage: WorkflowStage) -> None:
    document = asked(stage, approvers=[role("voter")])
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    submit(stage, document, "carl")
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    stage.wake(document.instance_id)
    stage.drain()
    (stuck,) = told(stage, document).stuck_stages
    assert "People are asked by name here, so that no other member can be added." in stuck.remedies
    assert any(remedy.startswith("Make app1 an active member.") for remedy in stuck.remedies)
    assert any("app1 rejected this content" in remedy for remedy in stuck.remedies)


@pytest.mark.parametrize(
    ("approver", "remedy"),
    [
        (manager(), "Set the manager of carl"),
        ({**expression("entity.number"), "who": "voter"}, "Correct entity.number: it must name a member."),
        (
            {**expression("entity.contact"), "who": "owner"},
            "Give app1 the role owner, or correct entity.contact.",
        ),
    ],
)
def test_what_gives_a_named_person_a_seat_is_said(
    stage: WorkflowStage, approver: dict[str, Any], remedy: str
) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["fields"]["contact"] = {"type": "string"}
    entity_type = stage.publish(contract, approval={"nodes": [look(approvers=[approver])]})
    document = stage.create(entity_type, "carl", contact="app1")
    submit(stage, document, "carl")
    (stuck,) = told(stage, document).stuck_stages
    assert any(said.startswith(remedy) for said in stuck.remedies), stuck.remedies


def test_a_named_person_who_lost_the_role_is_given_it_again(stage: WorkflowStage) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["fields"]["contact"] = {"type": "string"}
    named = {**expression("entity.contact"), "who": "voter"}
    entity_type = stage.publish(contract, approval={"nodes": [look(approvers=[named])]})
    document = stage.create(entity_type, "carl", contact="app1")
    submit(stage, document, "carl")
    hire(stage, {"app1": ("owner",)})
    stage.wake(document.instance_id)
    stage.drain()
    (stuck,) = told(stage, document).stuck_stages
    assert "Give app1 the role voter." in stuck.remedies


def test_a_person_who_may_only_reject_is_named(stage: WorkflowStage) -> None:
    """Two branches ask the same person, and nobody else is left for the second."""
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app2'")
    fork = {"id": "fork", "type": "parallel_split"}
    join = {"id": "join", "type": "parallel_join", "config": {"mode": "all"}}
    branches = [
        {"id": name, "type": "approval", "config": {"approvers": [role("voter")]}}
        for name in ("left", "right")
    ]
    edges = [{"source": "fork", "target": each["id"]} for each in branches]
    edges += [{"source": each["id"], "target": "join"} for each in branches]
    entity_type = stage.publish(approval={"nodes": [fork, *branches, join], "edges": edges})
    document = stage.create(entity_type)
    submit(stage, document, "carl")
    left, right = (row[0] for row in stage.standing.rows("SELECT id FROM approval_requests ORDER BY id"))
    assert vote(stage, document.id, "app1", request_id=left) == "approved"
    (stuck,) = told(stage, document).stuck_stages
    assert stuck.request_id == right
    assert "Or reject it: app1 may." in stuck.remedies
    assert "app1 may still reject it." in told(stage, document).approvals[-1].text
    assert CONTRACT["transitions"]["approve"]["rejected_to"] == "draft"
    assert vote(stage, document.id, "app1", "rejected", request_id=right) == "rejected"
