"""A bench that is cleared by another role than the one that is asked (A5).

The seat is of finance. The permission that a vote needs comes by `paying` to the strict approver, and by
`lax` to the lenient one.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import pytest

from signet.core.explain.instance import InstanceExplanation, write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.explain import explain
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.engine.tenants.roles import Roles
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import edit, list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

BARRED, NOBODY = "VOTE_BARRED_BY_GRANT", ("paused", "APPROVAL_NOBODY_ELIGIBLE")
PERMITTING = ("*:approve", "*:print")
ROLES: Mapping[str, Sequence[str]] = {
    "finance": (),
    "warehouse": ("*:print",),
    **dict.fromkeys(("paying", "lax", "spare"), PERMITTING),
}
# Carl makes and asks. Frank and hana are administrators without a part; hana could vote as well.
PEOPLE = {
    "strict": ("finance", "paying", "warehouse"),
    "lenient": ("finance", "lax"),
    "idle": ("finance",),
    "hana": ("finance", "lax", "admin"),
    "first": ("spare",),
    "stores": ("warehouse",),
    "carl": ("clerk", "admin"),
    "frank": ("admin",),
}
STRICT = PEOPLE["strict"]


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            roles = [Role(role=name, permissions=tuple(granted)) for name, granted in ROLES.items()]
            save_roles(connection, made.tenant_id, tuple(roles), COMMAND_LINE)
            members = [Member(user_id=name, display_name=name, roles=held) for name, held in PEOPLE.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, *approvers: Any, contract: Any = None, **config: Any) -> Made:
    config = {"approvers": approvers or [role("finance")], "quorum": "any", **config}
    entity_type = stage.publish(
        contract, approval={"nodes": [{"id": "look", "type": "approval", "config": config}]}
    )
    document = stage.create(entity_type, "carl")
    submit(stage, document, "carl")
    return document


def give(stage: WorkflowStage, by: str, user_id: str, *roles: str) -> None:
    """Let a person give another these roles and no others."""
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(company.caller(by, "admin"), member, "active", succession=Succession())
    stage.drain()


def set_role(stage: WorkflowStage, by: str, name: str, *permissions: str) -> None:
    Roles(stage.standing.company.database).save(stage.standing.company.caller(by, "admin"), name, permissions)
    stage.drain()


def delete(stage: WorkflowStage, by: str, name: str) -> None:
    Roles(stage.standing.company.database).delete(stage.standing.company.caller(by, "admin"), name)


def explain_instance(stage: WorkflowStage, document: Made) -> InstanceExplanation:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    return explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id)


def clear(stage: WorkflowStage, way: str, by: str = "carl") -> None:
    """Take the permission from the strict approver, by the role that gives it."""
    if way == "emptied":
        set_role(stage, by, "paying")
        return
    give(stage, by, "strict", "finance", "warehouse")
    if way == "deleted":
        delete(stage, by, "paying")


def give_back(stage: WorkflowStage, by: str) -> None:
    set_role(stage, by, "paying", *PERMITTING)
    give(stage, by, "strict", *STRICT)


def resume(stage: WorkflowStage, document: Made) -> None:
    if stage.instance(document.instance_id)["status"] == "paused":
        stage.retry(document, stage.standing.company.caller("frank", "admin"))


def reason_of(stage: WorkflowStage, document: Made) -> tuple[str, str]:
    instance = stage.instance(document.instance_id)
    return instance["status"], (instance["reason"] or "").split(":")[0]


WAYS = ("taken", "emptied", "deleted")


@pytest.mark.parametrize("way", WAYS)
def test_the_permission_is_taken_by_another_role(stage: WorkflowStage, way: str) -> None:
    """Carl takes it, and the lenient approver votes. Frank gives it back: then anybody may."""
    document = asked(stage)
    clear(stage, way)
    assert vote(stage, document.id, "lenient") == BARRED
    edit(stage, document, "carl", number="X")
    stage.drain()
    resume(stage, document)
    assert reason_of(stage, document) == NOBODY, "asking again lifts nothing"
    assert stage.status_of(document.id) == "submitted"
    give_back(stage, "frank")
    resume(stage, document)
    assert vote(stage, document.id, "lenient") == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("way", WAYS)
def test_the_views_and_the_wave_say_the_same(stage: WorkflowStage, way: str) -> None:
    document, company = asked(stage), stage.standing.company
    clear(stage, way)
    assert reason_of(stage, document) == NOBODY
    (item,) = Approvals(company.database, stage.caches()).inbox(company.caller("lenient"))
    assert not item.may_decide
    assert item.why_not is not None and item.why_not.code == BARRED
    said = "carl changed the role 'paying'" if way == "emptied" else "carl took the role 'paying' from strict"
    for is_open in (True, False):
        explained = explain_instance(stage, document)
        (stuck,) = explained.stuck_stages
        assert (stuck.request_id is not None) == is_open
        assert any("person without a part in the document gives it back" in line for line in stuck.remedies)
        assert any(f"Not lenient: {said}" in line for line in write_instance(explained))
        edit(stage, document, "carl", number="X")
        stage.drain()
        resume(stage, document)


@pytest.mark.parametrize("way", WAYS)
def test_a_person_without_a_part_may_take_it(stage: WorkflowStage, way: str) -> None:
    document = asked(stage)
    clear(stage, way, by="frank")
    assert vote(stage, document.id, "lenient") == "approved"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("helper", ["frank", "hana"])
def test_who_agrees_gives_it_back_and_takes_it_again(stage: WorkflowStage, way: str, helper: str) -> None:
    """The newest taking is theirs. So it is too where they could vote themselves: then they alone may not."""
    document = asked(stage)
    clear(stage, way)
    give_back(stage, helper)
    clear(stage, way, by=helper)
    resume(stage, document)
    if helper == "hana":
        assert vote(stage, document.id, "hana") == BARRED
    assert vote(stage, document.id, "lenient") == "approved"


@pytest.mark.parametrize("way", WAYS)
def test_it_is_not_given_back_by_who_took_it(stage: WorkflowStage, way: str) -> None:
    document = asked(stage)
    clear(stage, way)
    give_back(stage, "carl")
    assert vote(stage, document.id, "lenient") == BARRED
    give(stage, "carl", "strict", *STRICT, "spare")
    assert vote(stage, document.id, "lenient") == BARRED, "nor by another role"
    assert vote(stage, document.id, "strict") == BARRED


def test_another_role_that_is_given_before_the_taking_hides_nothing(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "strict", *STRICT, "spare")
    give(stage, "carl", "strict", "finance", "spare")
    assert vote(stage, document.id, "lenient") == BARRED


def test_what_had_nothing_to_do_with_the_vote_bars_nothing(stage: WorkflowStage) -> None:
    """Nor where a person is asked who never had the permission."""
    document = asked(stage)
    give(stage, "carl", "strict", "finance", "paying")
    set_role(stage, "carl", "warehouse")
    set_role(stage, "carl", "paying", "*:approve")
    give(stage, "carl", "stores")
    set_role(stage, "carl", "spare")
    assert vote(stage, document.id, "lenient") == "approved"


def test_who_keeps_the_permission_by_another_role_has_lost_nothing(stage: WorkflowStage) -> None:
    give(stage, "frank", "strict", *STRICT, "spare")
    document = asked(stage)
    give(stage, "carl", "strict", "finance", "spare")
    assert vote(stage, document.id, "lenient") == "approved"


@pytest.mark.parametrize(
    ("first", "second", "answer"), [("frank", "carl", "approved"), ("carl", "frank", BARRED)]
)
def test_a_role_that_was_changed_before_it_was_taken(
    stage: WorkflowStage, first: str, second: str, answer: str
) -> None:
    """Frank empties it: carl takes nothing then. Carl empties it first: that bars."""
    document = asked(stage)
    set_role(stage, first, "paying")
    give(stage, second, "strict", "finance", "warehouse")
    assert vote(stage, document.id, "lenient") == answer


def test_named_people_lose_it_as_well(stage: WorkflowStage) -> None:
    people = [{"by": "user", "user": "strict"}, {"by": "user", "user": "lenient"}]
    document = asked(stage, *people)
    give(stage, "carl", "strict", "finance", "paying")
    assert list_asked(stage, document) == ["strict", "lenient"]
    assert vote(stage, document.id, "lenient") == "approved", "the warehouse has no part in it"
    document = asked(stage, *people)
    give(stage, "carl", "strict", "finance")
    assert vote(stage, document.id, "lenient") == BARRED


def test_a_condition_that_reads_roles_may_be_taken_away_by_any(stage: WorkflowStage) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"] = {**contract["transitions"]["approve"], "permission": "thing:approve"}
    contract["conditions"] = {"thing:approve": "'warehouse' in actor.roles || 'lax' in actor.roles"}
    document = asked(stage, contract=contract)
    give(stage, "carl", "strict", "finance", "paying")
    assert vote(stage, document.id, "strict") == "PERMISSION_CONDITION"
    assert vote(stage, document.id, "lenient") == BARRED
    give(stage, "frank", "strict", *STRICT)
    resume(stage, document)
    assert vote(stage, document.id, "lenient") == "approved"


def test_a_wider_circle_is_a_bench_too(stage: WorkflowStage) -> None:
    """A wider circle is asked from its escalation on: what carl took before counts."""
    for by, is_barred in (("carl", True), ("frank", False)):
        document = asked(stage, role("spare"), escalate={"after": "P1D", "to": role("finance")})
        clear(stage, "emptied", by)
        assert reason_of(stage, document) == ("running", "")
        stage.bring_escalation(document.id)
        stage.wake(document.instance_id)
        stage.drain()
        assert vote(stage, document.id, "lenient") == ("APPROVAL_NOT_YOURS" if is_barred else "approved")
        assert (reason_of(stage, document) == NOBODY) == is_barred
        set_role(stage, "frank", "paying", *PERMITTING)


def test_clearing_the_bench_hastens_no_escalation(stage: WorkflowStage) -> None:
    document = asked(stage, escalate={"after": "P1D", "to": role("lax")})
    clear(stage, "emptied")
    assert list_asked(stage, document) == ["@finance"]


def test_a_vote_is_not_undone_by_what_others_lost_after_it(stage: WorkflowStage) -> None:
    document, company = asked(stage), stage.standing.company
    request = stage.standing.row("SELECT id FROM approval_requests WHERE document_id = %s", document.id)[0]
    Approvals(company.database, stage.caches()).decide(company.caller("lenient"), request, "approved", "seen")
    clear(stage, "taken")
    assert stage.status_of(document.id) == "active"


def forget_what_roles_gave(stage: WorkflowStage) -> None:
    """Leave the records as an older release wrote them."""
    stage.standing.run("ALTER TABLE eligibility_changes DISABLE TRIGGER reject_change")
    stage.standing.run("UPDATE eligibility_changes SET permissions = NULL")
    stage.standing.run("ALTER TABLE eligibility_changes ENABLE TRIGGER reject_change")


def test_a_change_of_an_older_release_may_have_taken_anything(stage: WorkflowStage) -> None:
    """It does not say what the role gave: who lacks the permission may have lost it by that."""
    give(stage, "frank", "idle", "finance", "warehouse")
    document = asked(stage)
    give(stage, "carl", "strict", "finance", "paying")
    forget_what_roles_gave(stage)
    assert vote(stage, document.id, "lenient") == "approved", "strict has kept it"
    document = asked(stage)
    give(stage, "carl", "idle", "finance")
    forget_what_roles_gave(stage)
    assert vote(stage, document.id, "lenient") == BARRED
