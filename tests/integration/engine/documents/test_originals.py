"""Originals of amendments: in force until the amendment settles, and free when it is given up."""

from collections.abc import Iterator
from typing import Any, LiteralString

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, Update
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.support.amended_documents import (
    AMENDABLE,
    APPROVAL,
    AUDIT,
    BY_EDIT,
    GONE,
    MOVED_ON,
    OPEN,
    STRICT,
    amend,
    answer,
    delete,
    end,
    fail,
    incidents,
    keys,
    line,
    move_on,
    of,
    read,
    refusal,
    settle,
    settled,
    submit,
    withdraw,
)
from tests.support.operated_instances import check, operating_on
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


# --- in force until it settles ---


def test_the_original_is_in_force_until_the_amendment_settles(stage: WorkflowStage) -> None:
    original = settled(stage)
    before = read(stage, original)
    amendment = amend(stage, original, amount=2)
    assert read(stage, original).status == "active" and read(stage, original).version == before.version
    assert line(stage, original) == (amendment.id, None, original.id)
    assert line(stage, amendment) == (amendment.id, None, original.id)
    assert keys(stage, original) == [("R-1", original.id)]
    settle(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    assert line(stage, original) == (None, amendment.id, amendment.id)
    assert line(stage, amendment) == (None, None, amendment.id)
    assert keys(stage, original) == [("R-1", amendment.id)]
    detail = {"diff": {"amount": {"before": 1, "after": 2}}, "amended_by": str(amendment.id)}
    (opened, told), (ended, said) = stage.standing.rows(AUDIT, str(original.id))
    assert (opened, ended) == ("amendment_opened", "amended")
    assert told | detail == told and said | detail == said
    for document in (original, amendment):
        check(stage, document)


def test_an_edit_of_what_is_settled_does_the_same(stage: WorkflowStage) -> None:
    original = settled(stage, BY_EDIT)
    amendment = of(stage.edit(original.id, amount=2))
    assert stage.status_of(original.id) == "active"
    again = refusal(stage, Update(original.id, stage.version_of(original.id), {"amount": 3}))
    assert (again.code, again.details) == (OPEN, {"amendment_open": str(amendment.id)})
    settle(stage, amendment)
    assert stage.status_of(original.id) == "amended"


def test_one_is_open_at_a_time(stage: WorkflowStage) -> None:
    original = settled(stage)
    amend(stage, original)
    refused = refusal(stage, Amend(original.id, stage.version_of(original.id), {"amount": 7}))
    assert refused.code == OPEN and "Edit that document" in (refused.remedy or "")


def test_a_line_of_amendments_names_the_one_in_force(stage: WorkflowStage) -> None:
    first = settled(stage)
    second = amend(stage, first)
    settle(stage, second)
    third = amend(stage, second)
    assert line(stage, first) == (None, second.id, second.id)
    assert line(stage, third) == (third.id, None, second.id)
    settle(stage, third)
    assert line(stage, first) == (None, second.id, third.id)
    assert keys(stage, first) == [("R-1", third.id)]


def test_what_is_not_settled_yet_ends_at_once(stage: WorkflowStage) -> None:
    original = stage.create(stage.publish(STRICT, approval=APPROVAL), number="R-1")
    submit(stage, original)
    amendment = of(stage.edit(original.id, amount=2))
    assert stage.status_of(original.id) == "amended"
    assert line(stage, original) == (None, amendment.id, amendment.id)
    assert line(stage, amendment) == (None, None, amendment.id)
    assert keys(stage, original) == [("R-1", amendment.id)]
    settle(stage, amendment)
    check(stage, amendment)


def test_a_document_that_begins_settled_is_amended_at_once(stage: WorkflowStage) -> None:
    draft = {"edit": "amend_only", "initial": True, "settled": True}
    contract = {**AMENDABLE, "states": {**CONTRACT["states"], "draft": draft}}
    original = stage.create(stage.publish(contract), number="R-1")
    stage.drain()
    of(stage.edit(original.id, amount=2))
    assert stage.status_of(original.id) == "amended"


def test_a_workflow_of_the_original_ends_with_it(stage: WorkflowStage) -> None:
    """Let its posting be under way when the amendment settles: it is withdrawn with its incident."""
    original = settled(stage, posting={"nodes": [{**CALL, "id": "book"}]})
    stage.answer(original.instance_id, error="gone")
    stage.drain()
    assert incidents(stage, original) == [("EFFECT_DEAD", "outside", None)]
    amendment = amend(stage, original)
    settle(stage, amendment)
    assert stage.status_of(original.id) == "amended"
    instance = stage.instance(original.instance_id)
    assert (instance["status"], instance["reason"]) == ("cancelled", "amended")
    assert incidents(stage, original) == [("EFFECT_DEAD", "outside", "ended")]
    check(stage, original)


# --- an original that moved on ---


def test_an_original_that_moved_on_holds_the_gate(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    move_on(stage, original)
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("active", "submitted")
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.retry(olga, amendment.instance_id, version, "perhaps now")
    stage.drain()
    assert incidents(stage, amendment)[1:] == [(MOVED_ON, "business", None)]
    version = stage.instance(amendment.instance_id)["version"]
    state = "sys:state:submitted"
    Repairs(stage.standing.company.database, stage.caches(), CompiledCache()).go_to(
        olga, amendment.instance_id, version, state, "look at it again"
    )
    stage.drain()
    # The call is not made again before a person has looked at the original.
    assert [closing for *_, closing in incidents(stage, amendment)] == ["retried", "withdrawn", None]
    stage.edit(amendment.id)
    stage.drain()
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    for document in (original, amendment):
        check(stage, document)


def test_a_step_of_the_amendment_does_not_stand_for_the_original_as_it_is(stage: WorkflowStage) -> None:
    """Let its own action make a version: nobody has looked at the original for it."""
    post = {"id": "post", "type": "action", "config": {"action": "post"}}
    original = settled(stage)
    name = read(stage, original).entity_type
    edges = [{"source": "call", "target": "post", "on": "delivered"}]
    stage.publish_next(name, approval={"nodes": [CALL, post], "edges": edges})
    amendment = amend(stage, original)
    submit(stage, amendment)
    move_on(stage, original)
    answer(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]


@pytest.mark.parametrize(("transition", "code"), [("cancel", GONE), ("reopen", MOVED_ON)])
def test_an_original_that_is_not_settled_any_more_is_not_replaced(
    stage: WorkflowStage, transition: str, code: str
) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    submit(stage, amendment)
    stage.ask(original.id, transition)
    stage.drain()
    stage.edit(amendment.id, amount=9)
    stage.drain()
    assert incidents(stage, amendment) == [(code, "business", None)]
    assert stage.status_of(original.id) in ("cancelled", "draft")


def list_calls(stage: WorkflowStage, document: Made) -> list[Any]:
    query: LiteralString = (
        "SELECT status FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id"
    )
    return [status for (status,) in stage.standing.rows(query, stage.instance_of(document.id))]


def test_nothing_leaves_for_an_amendment_whose_original_is_gone(stage: WorkflowStage) -> None:
    """The gate would hold it, when the call has paid already."""
    original = settled(stage)
    amendment = amend(stage, original)
    stage.ask(original.id, "cancel")
    stage.drain()
    submit(stage, amendment)
    assert incidents(stage, amendment) == [(GONE, "business", None)]
    assert list_calls(stage, amendment) == []
    withdraw(stage, amendment)
    assert stage.status_of(amendment.id) == "cancelled" and list_calls(stage, amendment) == []


def test_approvers_see_that_the_original_is_gone(stage: WorkflowStage) -> None:
    look = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "anna"}]}}
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        anna = Member(user_id="anna", display_name="Anna", roles=("voter",))
        save_members(connection, stage.tenant_id, (anna,), COMMAND_LINE)
    ways = [{"source": "call", "target": "look", "on": "delivered"}]
    original = settled(stage)
    name = read(stage, original).entity_type
    stage.publish_next(name, approval={"nodes": [CALL, look], "edges": ways})
    amendment = amend(stage, original)
    settle(stage, amendment)
    query = "SELECT id FROM approval_requests WHERE document_id = %s"
    (request_id,) = stage.standing.row(query, amendment.id)
    company = stage.standing.company
    inbox = Approvals(company.database, stage.caches())
    assert inbox.read_request(company.caller("olga"), request_id).original_moved is None
    stage.ask(original.id, "cancel")
    stage.drain()
    shown = inbox.read_request(company.caller("olga"), request_id).original_moved
    assert shown is not None and shown.code == GONE and "which is final" in shown.message


def test_nothing_leaves_until_a_person_has_seen_an_original_that_moved_on(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    move_on(stage, original)
    submit(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    assert list_calls(stage, amendment) == []
    stage.edit(amendment.id)
    stage.drain()
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    assert list_calls(stage, amendment) == ["completed"]


def test_what_ends_an_amendment_for_good_may_say_so(stage: WorkflowStage) -> None:
    """The lawful way beside it: its last status leads nowhere, and its call tells the receiver."""
    ending = {"ending": {"transition": "cancel", "position": "after"}}
    contract = {**AMENDABLE, "slots": {**AMENDABLE["slots"], **ending}}
    original = settled(stage, contract, ending={"nodes": [{**CALL, "id": "tell"}]})
    amendment = amend(stage, original)
    stage.ask(original.id, "cancel")
    stage.drain()
    withdraw(stage, amendment)
    assert stage.status_of(amendment.id) == "cancelled" and incidents(stage, amendment) == []
    assert list_calls(stage, amendment) == ["pending"]


def test_an_amendment_that_nobody_can_edit_there_begins_again(stage: WorkflowStage) -> None:
    """Send it there from a gate that nothing but the end of its workflow would leave."""
    locked = {**AMENDABLE, "states": {**AMENDABLE["states"], "submitted": {"edit": "locked"}}}
    original = settled(stage, locked)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    stage.ask(original.id, "reopen")
    stage.drain()
    answer(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    wanted = IncidentFilter(instance_id=amendment.instance_id)
    (listed,) = list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=9)
    (targets,) = [act.targets for act in listed.acts if act.name == "go_to"]
    assert "sys:state:amended" in targets
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    version = stage.instance(amendment.instance_id)["version"]
    olga = stage.standing.company.caller("olga")
    repairs.go_to(olga, amendment.instance_id, version, "sys:state:amended", "look at it again")
    stage.drain()
    assert stage.status_of(amendment.id) == "draft"
    assert incidents(stage, amendment) == [(MOVED_ON, "business", "withdrawn")]
    stage.check_rebuild(amendment.instance_id)
    settle(stage, original)
    stage.edit(amendment.id, amount=9)
    stage.drain()
    settle(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    for document in (original, amendment):
        check(stage, document)


def test_an_original_that_another_transaction_holds_is_tried_again(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    submit(stage, amendment)
    with stage.standing.company.database.transaction(stage.tenant_id) as other:
        other.execute("SELECT FROM documents WHERE id = %s FOR NO KEY UPDATE", (original.id,))
        stage.answer(amendment.instance_id)
        stage.worker().work(stage.tenant_id)
        assert stage.status_of(amendment.id) == "submitted"
        assert incidents(stage, amendment) == []
    stage.make_due()
    stage.drain()
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    check(stage, amendment)


# --- given up ---


@pytest.mark.parametrize("give_up", [delete, withdraw, end, fail])
def test_what_is_given_up_gives_the_original_back(stage: WorkflowStage, give_up: Any) -> None:
    original = settled(stage)
    amendment = amend(stage, original, number="R-2")
    stage.drain()
    assert keys(stage, original) == [("R-1", original.id), ("R-2", amendment.id)]
    give_up(stage, amendment)
    assert line(stage, original) == (None, None, original.id)
    again = amend(stage, original, number="R-2")
    assert line(stage, original) == (again.id, None, original.id)
    settle(stage, again)
    assert stage.status_of(original.id) == "amended"
    assert keys(stage, original) == [("R-2", again.id)]


def test_a_rejection_that_is_not_for_good_keeps_it_open(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    submit(stage, amendment)
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.cancel_token(olga, amendment.instance_id, version, "usr:approval:call", "not like this")
    stage.drain()
    assert stage.status_of(amendment.id) == "draft"
    assert line(stage, original) == (amendment.id, None, original.id)


def test_a_rejection_for_good_gives_the_original_back(stage: WorkflowStage) -> None:
    transitions = AMENDABLE["transitions"]
    approve = {**transitions["approve"], "rejected_to": "cancelled"}
    original = settled(stage, {**AMENDABLE, "transitions": {**transitions, "approve": approve}})
    amendment = amend(stage, original)
    submit(stage, amendment)
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.cancel_token(olga, amendment.instance_id, version, "usr:approval:call", "not like this")
    stage.drain()
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("active", "cancelled")
    assert line(stage, original) == (None, None, original.id)


def test_an_amendment_that_begins_again_is_open_again(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    stage.drain()
    end(stage, amendment)
    assert line(stage, original)[0] is None
    submit(stage, amendment)
    assert line(stage, original)[0] == amendment.id
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")


def test_an_amendment_that_begins_again_beside_another_is_held(stage: WorkflowStage) -> None:
    original = settled(stage)
    first = amend(stage, original)
    stage.drain()
    end(stage, first)
    second = amend(stage, original)
    submit(stage, first)
    assert incidents(stage, first) == [(GONE, "business", None)]
    settle(stage, second)
    assert (stage.status_of(original.id), stage.status_of(second.id)) == ("amended", "active")
    assert stage.status_of(first.id) == "submitted"
    assert line(stage, first) == (None, None, second.id)
