"""Views of authority: the inbox and a request show a person the answer that their vote would get."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.core.contracts.compiled_contract import Denial
from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.approvals.inbox import ApprovalRequest, Approvals, InboxItem
from signet.engine.documents.commands import Update
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PEOPLE = {
    "app1": ("voter",),
    "app2": ("voter",),
    "fay": ("voter", "owner"),
    "olga": ("owner",),
    "dora": (),
    "carl": ("clerk", "admin"),
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name.title(), roles=r) for name, r in PEOPLE.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="owner", permissions=()),), COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, *approvers: Any, contract: Any = None, **config: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": list(approvers), **config}}
    document = stage.create(stage.publish(contract, approval={"nodes": [node]}))
    submit(stage, document, "carl")
    return document


def in_two_stages(stage: WorkflowStage, **terms: Any) -> Made:
    chains, caller = ApprovalChains(stage.standing.company.database), stage.standing.company.caller("olga")
    caller = stage.standing.company.caller("olga", "admin")
    step = {"approvers": [role("voter")]}
    saved = chains.save(caller, {"name": "two", "steps": [step, step], **terms})
    assert isinstance(saved, ChainVersion), saved
    chains.publish(caller, "two", saved.version)
    node = {"id": "look", "type": "approval", "config": {"chain": "two"}}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    submit(stage, document, "carl")
    return document


def delegate(stage: WorkflowStage, person: str, delegate: str) -> None:
    stage.standing.run(
        "INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, from_time, to_time,"
        " created_by, created_at) VALUES (%s, gen_random_uuid(), %s, %s, now() - interval '1 h',"
        " now() + interval '1 d', %s, now())",
        stage.tenant_id,
        person,
        delegate,
        person,
    )


def inbox(stage: WorkflowStage, person: str) -> dict[UUID, InboxItem]:
    company = stage.standing.company
    items = Approvals(company.database, stage.caches()).inbox(company.caller(person), limit=200)
    return {item.request_id: item for item in items}


def view(stage: WorkflowStage, person: str, request_id: UUID, *roles: str) -> ApprovalRequest:
    company = stage.standing.company
    return Approvals(company.database, stage.caches()).read_request(
        company.caller(person, *roles), request_id
    )


def assert_told(stage: WorkflowStage, document: Made, person: str, code: str | None) -> InboxItem:
    """Compare the inbox, the view of the request, and the answer to the vote."""
    request_id = newest(stage, document.id)
    item, standing = inbox(stage, person)[request_id], view(stage, person, request_id).standing
    assert (item.why_not and item.why_not.code) == code
    assert item.may_decide == (code is None)
    assert (standing.may_decide, standing.may_reject, standing.why_not) == (
        item.may_decide,
        item.may_reject,
        item.why_not,
    )
    assert standing.on_behalf_of == item.on_behalf_of or not item.may_reject
    answer = vote(stage, document.id, person, request_id=request_id)
    assert answer == (code or "approved") or (code is None and answer == "open")
    return item


# --- the inbox says what a vote is answered ---


def test_duties_bar_also_as_a_delegate_and_for_another(stage: WorkflowStage) -> None:
    document = asked(stage, user("carl"), user("app1"), quorum="any")
    assert_told(stage, document, "carl", "SEPARATION_OF_DUTIES")
    delegate(stage, "carl", "fay")
    item = assert_told(stage, document, "fay", "SEPARATION_OF_DUTIES")
    assert item.on_behalf_of == "carl"
    assert_told(stage, document, "app1", None)


def test_who_has_voted_in_an_earlier_stage_is_told_so(stage: WorkflowStage) -> None:
    """App1 decides the first stage of people by name; the second asks another."""
    chains, caller = (
        ApprovalChains(stage.standing.company.database),
        stage.standing.company.caller("olga", "admin"),
    )
    saved = chains.save(
        caller, {"name": "named", "steps": [{"approvers": [user(name)]} for name in ("app1", "app2")]}
    )
    assert isinstance(saved, ChainVersion), saved
    chains.publish(caller, "named", saved.version)
    node = {"id": "look", "type": "approval", "config": {"chain": "named"}}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    submit(stage, document, "carl")
    delegate(stage, "app1", "fay")
    request_id = newest(stage, document.id)
    company, approvals = stage.standing.company, Approvals(stage.standing.company.database, stage.caches())
    assert vote(stage, document.id, "fay") == "open"
    for person in ("fay", "app1"):
        sentence = "fay has voted for app1 already: approved in stage 1"
        standing = view(stage, person, request_id).standing
        assert standing.why_not == Denial("APPROVAL_SEAT_TAKEN", sentence)
        with pytest.raises(Rejected) as refused:
            approvals.decide(company.caller(person), request_id, "rejected", "changed my mind")
        assert (refused.value.code, refused.value.message) == ("APPROVAL_SEAT_TAKEN", sentence)


def test_a_seat_without_the_permission(stage: WorkflowStage) -> None:
    document = asked(stage, user("olga"), user("app1"), quorum="any")
    item = assert_told(stage, document, "olga", "PERMISSION_DENIED")
    assert not item.may_reject
    assert_told(stage, document, "app1", None)


def test_both_voices_need_the_permission(stage: WorkflowStage) -> None:
    document = asked(stage, user("app2"), user("app1"), quorum="any")
    delegate(stage, "app2", "dora")
    assert_told(stage, document, "dora", "PERMISSION_DENIED")
    delegate(stage, "app2", "fay")
    assert assert_told(stage, document, "fay", None).on_behalf_of == "app2"


def test_the_condition_is_about_the_reader(stage: WorkflowStage) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"] = {**contract["transitions"]["approve"], "permission": "thing:approve"}
    contract["conditions"] = {"thing:approve": "entity.amount <= 10 || !('owner' in actor.roles)"}
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    entity_type = stage.publish(contract, approval={"nodes": [node]})
    large, small = (stage.create(entity_type, "carl", amount=amount) for amount in (11, 9))
    for document in (large, small):
        submit(stage, document, "carl")
    assert_told(stage, large, "fay", "PERMISSION_CONDITION")
    assert_told(stage, small, "fay", None)
    (need,) = view(stage, "app1", newest(stage, large.id)).voters_need
    assert need.permission == "thing:approve"
    assert need.condition == contract["conditions"]["thing:approve"]
    assert need.text is not None and "10" in need.text
    assert_told(stage, large, "app1", None)


def test_a_person_who_approved_before_may_still_reject(stage: WorkflowStage) -> None:
    document = in_two_stages(stage)
    assert_told(stage, document, "app1", None)
    item = assert_told(stage, document, "app1", "APPROVAL_SAME_PERSON")
    assert item.may_reject
    assert vote(stage, document.id, "app1", "rejected") == "rejected"


def test_a_role_that_the_requester_gave_meanwhile(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    company = stage.standing.company
    member = Member(user_id="olga", display_name="Olga", roles=("voter",))
    Members(company.database).save(company.caller("carl", "admin"), member, "active", succession=Succession())
    assert_told(stage, document, "olga", "VOTE_BARRED_BY_GRANT")
    assert_told(stage, document, "app1", None)


def test_a_person_whose_vote_lapsed_is_asked_like_everybody(stage: WorkflowStage) -> None:
    document = in_two_stages(stage)
    request_id = newest(stage, document.id)
    assert vote(stage, document.id, "app1") == "open"
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    assert vote(stage, document.id, "app2") == "approved"
    stage.standing.run("UPDATE members SET status = 'active' WHERE user_id = 'app1'")
    assert request_id in inbox(stage, "app1")
    assert_told(stage, document, "app2", "APPROVAL_SAME_PERSON")
    assert_told(stage, document, "app1", None)


def test_what_takes_no_vote_says_so(stage: WorkflowStage) -> None:
    """A document that is referred to has changed, and the workflow has not asked again yet."""
    supplier, payment = make_payment(stage)
    request_id = newest(stage, payment.id)
    stage.mutate(Update(supplier.id, stage.version_of(supplier.id), {"number": "DE-OTHER"}), "carl")
    item = inbox(stage, "app1")[request_id]
    assert item.why_not is not None and item.why_not.code == "APPROVAL_STALE"
    (pin,) = view(stage, "app1", request_id).pins
    assert pin.is_changed
    assert vote(stage, payment.id, "app1", request_id=request_id) == "APPROVAL_STALE"


def count_statements(monkeypatch: pytest.MonkeyPatch, stage: WorkflowStage, person: str) -> tuple[int, int]:
    """Return the items of the person's inbox, and the statements that it took."""
    sent: list[Any] = []
    execute = psycopg.Cursor.execute

    def count(cursor: Any, query: Any, *values: Any, **options: Any) -> Any:
        sent.append(query)
        return execute(cursor, query, *values, **options)

    company = stage.standing.company
    approvals = Approvals(company.database, stage.standing.company.documents.caches)
    approvals.inbox(company.caller(person), limit=200)  # the contracts are known then
    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", count)
        items = approvals.inbox(company.caller(person), limit=200)
    return len(items), len(sent)


def test_a_page_takes_as_many_statements_as_one_item(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"] = {**contract["transitions"]["approve"], "permission": "thing:approve"}
    contract["conditions"] = {"thing:approve": "entity.amount <= 10 || !('owner' in actor.roles)"}
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    entity_type = stage.publish(contract, approval={"nodes": [node]})

    def ask(count: int) -> None:
        for document in [stage.create(entity_type, "carl", amount=n) for n in range(count)]:
            stage.ask(document.id, "submit", "carl")
        stage.drain()

    delegate(stage, "app2", "fay")
    ask(1)
    one, for_one = count_statements(monkeypatch, stage, "fay")
    ask(24)
    many, for_many = count_statements(monkeypatch, stage, "fay")
    assert (one, many) == (1, 25)
    assert for_many == for_one <= 10


# --- the view of a request ---


def make_payment(stage: WorkflowStage) -> tuple[Made, Made]:
    """Make a vendor, whose number app2 changed last, and a payment to it that people are asked about."""
    vendor = stage.publish()
    reads = {"number": {"type": "string"}}
    fields = {**CONTRACT["fields"], "vendor": {"type": "ref", "entity_type": vendor, "reads": reads}}
    payload = {"account": "{entity.vendor.number}"}
    call = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
    look = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    payment = stage.publish(
        {**CONTRACT, "fields": fields}, approval={"nodes": [look]}, posting={"nodes": [call]}
    )
    supplier = stage.create(vendor, "carl", number="DE-GOOD")
    stage.mutate(Update(supplier.id, stage.version_of(supplier.id), {"number": "DE-NEW"}), "app2", "admin")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return supplier, made


def test_the_fields_that_are_followed_are_shown_with_who_changed_them(stage: WorkflowStage) -> None:
    supplier, payment = make_payment(stage)
    (pin,) = view(stage, "app1", newest(stage, payment.id)).pins
    assert (pin.field, pin.document_id, pin.version) == ("vendor", supplier.id, 2)
    assert dict(pin.values) == {"number": "DE-NEW"}
    assert [(person.user_id, person.display_name) for person in pin.changed_by] == [("app2", "App2")]
    assert not pin.is_changed
    assert_told(stage, payment, "app2", "SEPARATION_OF_DUTIES")


def test_the_persons_behind_it_have_their_names(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    stage.mutate(Update(document.id, stage.version_of(document.id), {"amount": 5}), "olga", "admin")
    stage.drain()
    request = view(stage, "app1", newest(stage, document.id))
    parts = request.responsible
    shown = {
        part: [(person.user_id, person.display_name) for person in getattr(parts, part)]
        for part in ("creator", "editors", "requesters")
    }
    assert shown == {
        "creator": [("carl", "Carl")],
        "editors": [("olga", "Olga")],
        "requesters": [("carl", "Carl")],
    }
    assert request.requester_owner is None


def test_rejections_of_the_same_content_are_shown(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    first = newest(stage, document.id)
    assert view(stage, "app2", first).rejected_before == []
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    submit(stage, document, "carl")
    second = newest(stage, document.id)
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    submit(stage, document, "carl")
    shown = view(stage, "app1", newest(stage, document.id)).rejected_before
    assert [(each.request_id, each.rejected_by.display_name, each.reason) for each in shown] == [
        (second, "App1", "seen"),
        (first, "App1", "seen"),
    ]


def test_what_a_policy_wants_of_its_voters_is_shown(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"), permission="letter:approve", same_person="allowed")
    request = view(stage, "app1", newest(stage, document.id))
    assert request.policy.same_person == "allowed"
    assert [need.permission for need in request.voters_need][-1] == "letter:approve"
    assert [need.condition for need in request.voters_need] == [None] * len(request.voters_need)


@pytest.mark.parametrize(("window", "shown"), [("editable", ["active"]), ("locked", [])])
def test_where_an_edit_behind_the_approval_asks_nobody_is_shown(
    stage: WorkflowStage, window: str, shown: list[str]
) -> None:
    states = {**CONTRACT["states"], "active": {"edit": window, "settled": True}}
    document = asked(stage, role("voter"), contract={**CONTRACT, "states": states})
    assert view(stage, "app1", newest(stage, document.id)).editable_behind == shown
