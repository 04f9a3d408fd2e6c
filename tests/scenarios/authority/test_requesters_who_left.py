"""A requester's roles are those of now, and nobody acts in the name of a person who has left (A8)."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import add_endpoint, newest, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

POST = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "actor"}}
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ASKER = ("*:submit", "*:post", "*:create")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="asker", permissions=ASKER),), COMMAND_LINE)
        for user_id, roles in (("sid", ("asker",)), ("app1", ("voter",))):
            hire(made, user_id, *roles)
        yield made


def hire(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, (member,), COMMAND_LINE)


def asked(stage: WorkflowStage, requester: str = "sid", **slots: Any) -> Made:
    """Ask for a transition that an approval leads to."""
    document = stage.create(stage.publish(CONTRACT, **(slots or {"checks": {"nodes": [LOOK]}})), "carl")
    stage.ask(document.id, "submit", requester, "asker")
    stage.drain()
    return document


def state(stage: WorkflowStage, document: Made) -> tuple[Any, ...]:
    row = stage.instance(document.instance_id)
    return row["status"], (row["reason"] or "").partition(":")[0]


def set_status(stage: WorkflowStage, user_id: str, status: str) -> None:
    stage.standing.run("UPDATE members SET status = %s WHERE user_id = %s", status, user_id)


def retry(stage: WorkflowStage, document: Made) -> None:
    company, row = stage.standing.company, stage.instance(document.instance_id)
    operators = Instances(company.database, stage.caches(), CompiledCache())
    operators.retry(company.caller("olga", "admin"), document.instance_id, row["version"], "there again")
    stage.drain()


def waking(stage: WorkflowStage, document: Made) -> str:
    """Return what explanations say of what moves the instance."""
    contracts, instance_id = stage.caches().contracts, document.instance_id
    explained = explain(stage.standing.company.database, contracts, stage.tenant_id, instance_id)
    return " ".join(explained.waking)


def test_nothing_is_done_in_the_name_of_a_requester_who_was_disabled(stage: WorkflowStage) -> None:
    document = asked(stage)
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'sid'")
    assert vote(stage, document.id, "app1") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    assert stage.status_of(document.id) == "draft"


@pytest.mark.parametrize("way", ["the same person", "another person"])
def test_it_goes_on_when_a_member_stands_behind_the_request_again(stage: WorkflowStage, way: str) -> None:
    document = asked(stage)
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'sid'")
    assert vote(stage, document.id, "app1") == "approved"
    if way == "the same person":
        stage.standing.run("UPDATE members SET status = 'active' WHERE user_id = 'sid'")
    else:
        hire(stage, "ann", "asker")
        stage.ask(document.id, "submit", "ann", "asker")
    retry(stage, document)
    assert stage.status_of(document.id) == "active"


def test_a_step_in_the_name_of_who_has_left_waits(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]}, posting={"nodes": [POST]})
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'sid'")
    assert vote(stage, document.id, "app1") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")


def test_a_step_has_only_the_roles_that_are_left(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]}, posting={"nodes": [POST]})
    hire(stage, "sid", "voter")
    assert vote(stage, document.id, "app1") == "approved"
    assert "PERMISSION_DENIED" in stage.instance(document.instance_id)["reason"]
    contracts, instance_id = stage.caches().contracts, document.instance_id
    explained = explain(stage.standing.company.database, contracts, stage.tenant_id, instance_id)
    (incident,) = explained.incidents
    assert incident.remedy.endswith("The permission is in: admin (carl) and asker (nobody).")


def test_a_role_that_was_given_since_lets_a_retry_pass(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]}, posting={"nodes": [POST]})
    hire(stage, "sid", "voter")
    assert vote(stage, document.id, "app1") == "approved"
    hire(stage, "sid", "voter", "asker")
    retry(stage, document)
    assert state(stage, document) == ("completed", "")


def test_a_role_that_was_never_asked_with_lets_a_retry_pass(stage: WorkflowStage) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        entrant = Role(role="entrant", permissions=("*:submit",))
        save_roles(connection, stage.tenant_id, (entrant,), COMMAND_LINE)
    hire(stage, "sid", "entrant")
    document = stage.create(
        stage.publish(CONTRACT, approval={"nodes": [LOOK]}, posting={"nodes": [POST]}), "carl"
    )
    stage.ask(document.id, "submit", "sid", "entrant")
    stage.drain()
    assert vote(stage, document.id, "app1") == "approved"
    assert "PERMISSION_DENIED" in stage.instance(document.instance_id)["reason"]
    hire(stage, "sid", "entrant", "asker")
    retry(stage, document)
    assert state(stage, document) == ("completed", "")


def test_a_requester_who_kept_the_role_passes(stage: WorkflowStage) -> None:
    document = asked(stage)
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_a_requester_who_is_no_member_keeps_the_roles_of_the_request(stage: WorkflowStage) -> None:
    document = asked(stage, "stranger")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_the_requested_gate_asks_for_the_permission_again(stage: WorkflowStage) -> None:
    document = asked(stage)
    hire(stage, "sid")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "draft"
    assert stage.requests(document.id)[-1] == ("submit", "refused")


# --- keys that ask ---


def key_of_kim(stage: WorkflowStage) -> str:
    """Return the subject of a key with the role of an asker, which kim owns, who may ask too."""
    hire(stage, "kim", "asker")
    (key_id,) = stage.standing.row(
        "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, created_at)"
        " VALUES (%s, gen_random_uuid(), 'erp', sha256('erp'), '{asker}', 'kim', now()) RETURNING id",
        stage.tenant_id,
    )
    return f"key:{key_id}"


def test_what_a_key_asked_for_waits_while_its_owner_is_disabled(stage: WorkflowStage) -> None:
    document = asked(stage, key_of_kim(stage))
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'kim'")
    assert vote(stage, document.id, "app1") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    assert "its owner is no active member" in stage.instance(document.instance_id)["reason"]


def test_a_key_asks_with_the_roles_that_its_owner_still_covers(stage: WorkflowStage) -> None:
    document = asked(stage, key_of_kim(stage))
    hire(stage, "kim", "voter")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.requests(document.id)[-1] == ("submit", "refused")


@pytest.mark.parametrize("is_revoked", [False, True])
def test_what_a_key_asked_for_goes_on_also_when_it_was_replaced(
    stage: WorkflowStage, is_revoked: bool
) -> None:
    document = asked(stage, key_of_kim(stage))
    if is_revoked:
        stage.standing.run("UPDATE api_keys SET revoked_at = now(), revoked_by = 'kim'")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_a_key_of_an_older_release_keeps_the_roles_of_the_request(stage: WorkflowStage) -> None:
    document = asked(stage, "key:erp")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


# --- where the way out is automatic ---


def test_an_automatic_gate_waits_while_who_asked_is_disabled(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]})
    set_status(stage, "sid", "disabled")
    assert vote(stage, document.id, "app1") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    assert stage.status_of(document.id) == "submitted"
    retry(stage, document)
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    set_status(stage, "sid", "active")
    retry(stage, document)
    assert stage.status_of(document.id) == "active"


def test_it_is_sent_back_by_hand_and_another_member_asks(stage: WorkflowStage) -> None:
    document = asked(stage, approval={"nodes": [LOOK]})
    set_status(stage, "sid", "disabled")
    vote(stage, document.id, "app1")
    assert "cancel the token at the gate" in waking(stage, document)
    company, row = stage.standing.company, stage.instance(document.instance_id)
    operators = Instances(company.database, stage.caches(), CompiledCache())
    operators.cancel_token(
        company.caller("olga", "admin"), document.instance_id, row["version"], "sys:gate:approve", "sid left"
    )
    stage.check_rebuild(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "draft"
    hire(stage, "ann", "asker")
    stage.ask(document.id, "submit", "ann", "asker")
    stage.drain()
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("slot", ["approval", "checks"])
def test_a_rejection_needs_nobody_who_asked(stage: WorkflowStage, slot: str) -> None:
    slots: dict[str, Any] = {slot: {"nodes": [LOOK]}}
    document = asked(stage, **slots)
    set_status(stage, "sid", "disabled")
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"
    assert state(stage, document) == ("running", "")


def test_an_automatic_gate_without_an_approval_waits_for_nobody(stage: WorkflowStage) -> None:
    add_endpoint(stage)
    document = asked(stage, approval={"nodes": [CALL]})
    set_status(stage, "sid", "disabled")
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_nobody_asked_for_a_document_that_begins_before_the_gate(stage: WorkflowStage) -> None:
    states = {**CONTRACT["states"], "draft": {"edit": "editable"}}
    states["submitted"] = {"edit": "editable", "initial": True}
    entity_type = stage.publish({**CONTRACT, "states": states}, approval={"nodes": [LOOK]})
    document = stage.create(entity_type, "sid", "asker")
    stage.drain()
    set_status(stage, "sid", "disabled")
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_an_automatic_gate_waits_for_an_active_owner_of_the_key(stage: WorkflowStage) -> None:
    document = asked(stage, key_of_kim(stage), approval={"nodes": [LOOK]})
    set_status(stage, "kim", "disabled")
    assert vote(stage, document.id, "app1") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    stage.standing.run_unguarded("UPDATE api_keys SET owner_id = 'sid'")
    retry(stage, document)
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("requester", ["sid", "key", "stranger"])
def test_approvers_see_that_who_asked_has_left(stage: WorkflowStage, requester: str) -> None:
    document = asked(stage, key_of_kim(stage) if requester == "key" else requester)
    company = stage.standing.company
    approvals, caller = Approvals(company.database, stage.caches()), company.caller("app1")

    def seen() -> set[bool]:
        (item,) = approvals.inbox(caller)
        return {item.requester_has_left, approvals.read_request(caller, item.request_id).requester_has_left}

    assert seen() == {False}
    set_status(stage, "kim" if requester == "key" else "sid", "disabled")
    assert seen() == {requester != "stranger"}
    assert newest(stage, document.id)


def test_explanations_say_what_ends_the_absence(stage: WorkflowStage) -> None:
    document = asked(stage)
    set_status(stage, "sid", "disabled")
    vote(stage, document.id, "app1")
    assert "another member asks for the same" in waking(stage, document)
    assert "cancel the token" not in waking(stage, document)


@pytest.mark.parametrize("way", ["the same person", "another person"])
def test_a_requester_may_leave_while_a_lapsed_vote_is_asked_again(stage: WorkflowStage, way: str) -> None:
    """Keep the request and its votes until a member stands behind it again."""
    hire(stage, "app2", "voter")
    document = asked(stage)
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    approvals.decide(company.caller("app1", "voter"), newest(stage, document.id), "approved", "seen")
    set_status(stage, "app1", "disabled")
    stage.drain()
    set_status(stage, "sid", "disabled")
    assert vote(stage, document.id, "app2") == "approved"
    assert state(stage, document) == ("paused", "ACTOR_NOT_ACTIVE")
    assert stage.status_of(document.id) == "draft"
    if way == "the same person":
        set_status(stage, "sid", "active")
        retry(stage, document)
    else:
        hire(stage, "tom", "asker")
        stage.ask(document.id, "submit", "tom", "asker")
        stage.drain()
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)
