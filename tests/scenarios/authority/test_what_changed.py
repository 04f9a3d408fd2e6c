"""The view of an approval tells people who decide again what has changed, and who has said no before."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import Amend, RequestTransition, Update
from signet.engine.documents.erase import erase_personal
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, newest, submit, vote
from tests.support.api_application import wire
from tests.support.core.approval_policies import role
from tests.support.http_client import Client
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
TELL = {
    "id": "tell",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"account": "{entity.vendor.number}"}},
}
APPROVED = "approved"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name.title(), roles=("voter", "admin"))
            for name in ("app1", "app2", "carl", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def vendor_and_payment(stage: WorkflowStage) -> tuple[str, str]:
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref},
        "amendment": {"from": ["active"]},
    }
    return vendor, stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [TELL]})


def paid_payment(stage: WorkflowStage) -> tuple[Made, Made]:
    """Return a vendor, and a payment that was approved with its account."""
    vendor, payment = vendor_and_payment(stage)
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    stage.answer(made.instance_id)
    stage.drain()
    return supplier, made


def amend(stage: WorkflowStage, document: Made, **changes: Any) -> Made:
    applied = stage.mutate(Amend(document.id, stage.version_of(document.id), changes, "typo"), "carl")
    amended = Made(applied.document_id, stage.instance_of(applied.document_id))
    submit(stage, amended, "carl")
    return amended


def edit(stage: WorkflowStage, document: Made, user_id: str, **changes: Any) -> None:
    stage.mutate(Update(document.id, stage.version_of(document.id), changes), user_id)
    stage.drain()


def view(stage: WorkflowStage, document: Made, user_id: str) -> Mapping[str, Any]:
    client = Client(wire(stage.standing.company.database), stage.tenant_id, user_id, ("voter",))
    answer = client.get(f"/v1/approvals/{newest(stage, document.id)}")
    assert answer.status == 200, answer.text
    shown: Mapping[str, Any] = answer.body
    return shown


# --- since the last approval ---


def test_an_amendment_shows_the_account_that_changed_meanwhile(stage: WorkflowStage) -> None:
    """Carl changes the vendor's account, and amends a remark: the account is named beside it."""
    supplier, made = paid_payment(stage)
    edit(stage, supplier, "carl", number="DE-EVIL")
    amended = amend(stage, made, number="remark")
    shown = view(stage, amended, "app2")["last_approved"]
    assert shown["document_id"] == str(made.id)
    assert shown["changes"] == [
        {"field": "number", "before": None, "after": "remark"},
        {"field": "vendor.number", "before": "DE-GOOD", "after": "DE-EVIL"},
    ]
    assert vote(stage, amended.id, "app2") == APPROVED


def test_an_account_that_is_the_same_is_no_change(stage: WorkflowStage) -> None:
    _, made = paid_payment(stage)
    amended = amend(stage, made, number="remark")
    shown = view(stage, amended, "app2")["last_approved"]
    assert [change["field"] for change in shown["changes"]] == ["number"]


def test_an_approval_of_an_older_release_has_pinned_nothing(stage: WorkflowStage) -> None:
    _, made = paid_payment(stage)
    stage.standing.run("ALTER TABLE approval_requests DISABLE TRIGGER USER")
    stage.standing.run("UPDATE approval_requests SET pins = NULL WHERE document_id = %s", made.id)
    stage.standing.run("ALTER TABLE approval_requests ENABLE TRIGGER USER")
    amended = amend(stage, made, number="remark")
    shown = view(stage, amended, "app2")["last_approved"]
    assert [change["field"] for change in shown["changes"]] == ["number"]


# --- who has said no before ---


def test_a_rejection_is_shown_after_a_trivial_change(stage: WorkflowStage) -> None:
    """App1 says that it is fake; carl changes an amount a little, and app2 is asked."""
    _, payment = vendor_and_payment(stage)
    made = stage.create(payment, "carl", number="N1")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1", "rejected") == "rejected"
    first = newest(stage, made.id)
    edit(stage, made, "carl", amount=2)
    submit(stage, made, "carl")
    (rejection,) = view(stage, made, "app2")["rejected_before"]
    assert (rejection["request_id"], rejection["document_id"]) == (str(first), str(made.id))
    assert rejection["rejected_by"] == {"user_id": "app1", "display_name": "App1"}
    assert (rejection["reason"], rejection["is_same_content"]) == ("seen", False)
    assert vote(stage, made.id, "app2") == APPROVED, "who has read it may approve all the same"


def test_an_unchanged_document_says_so(stage: WorkflowStage) -> None:
    _, payment = vendor_and_payment(stage)
    made = stage.create(payment, "carl", number="N1")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1", "rejected") == "rejected"
    submit(stage, made, "carl")
    (rejection,) = view(stage, made, "app1")["rejected_before"]
    assert rejection["is_same_content"] is True


def test_a_rejection_is_shown_of_an_amended_original(stage: WorkflowStage) -> None:
    supplier, made = paid_payment(stage)
    amended = amend(stage, made, number="remark")
    assert vote(stage, amended.id, "app2", "rejected") == "rejected"
    edit(stage, amended, "carl", number="another", vendor=str(supplier.id))
    submit(stage, amended, "carl")
    assert vote(stage, amended.id, "app1") == APPROVED
    stage.answer(amended.instance_id)
    stage.drain()
    again = amend(stage, amended, number="remark")
    (rejection,) = view(stage, again, "app2")["rejected_before"]
    assert (rejection["document_id"], rejection["is_same_content"]) == (str(amended.id), True)


def test_an_account_that_changed_is_another_content(stage: WorkflowStage) -> None:
    vendor, payment = vendor_and_payment(stage)
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1", "rejected") == "rejected"
    edit(stage, supplier, "mia", number="DE-NEW")
    submit(stage, made, "carl")
    (rejection,) = view(stage, made, "app1")["rejected_before"]
    assert rejection["is_same_content"] is False


def test_another_document_has_rejections_of_its_own(stage: WorkflowStage) -> None:
    _, payment = vendor_and_payment(stage)
    for number in ("N1", "N2"):
        made = stage.create(payment, "carl", number=number)
        submit(stage, made, "carl")
        assert view(stage, made, "app1")["rejected_before"] == []
        assert vote(stage, made.id, "app1", "rejected") == "rejected"


# --- since people were asked before ---


def test_an_edit_that_makes_a_new_document_shows_what_was_asked_before(stage: WorkflowStage) -> None:
    """App1 has approved 5; carl makes it 9, and the approval has not been used."""
    submitted = {"submitted": {"edit": "amend_only"}}
    contract = {**CONTRACT, "states": {**CONTRACT["states"], **submitted}, "amendment": {}}
    check = {**TELL, "config": {"endpoint": "erp", "payload": {}}}
    nodes = {"nodes": [LOOK, check], "edges": [{"source": "look", "target": "tell"}]}
    made = stage.create(stage.publish(contract, approval=nodes), "carl", amount=5)
    stage.mutate(RequestTransition(made.id, stage.version_of(made.id), "submit", "as agreed"), "carl")
    stage.drain()
    assert view(stage, made, "app1")["request_reason"] == "as agreed"
    assert vote(stage, made.id, "app1") == APPROVED
    first = newest(stage, made.id)
    applied = stage.mutate(Update(made.id, stage.version_of(made.id), {"amount": 9}), "carl")
    heir = Made(applied.document_id, stage.instance_of(applied.document_id))
    stage.drain()
    submit(stage, heir, "carl")
    shown = view(stage, heir, "app1")
    assert shown["last_approved"] is None and shown["request_reason"] == "for once"
    assert (shown["last_asked"]["request_id"], shown["last_asked"]["document_id"]) == (
        str(first),
        str(made.id),
    )
    assert shown["last_asked"]["changes"] == [{"field": "amount", "before": 5, "after": 9}]


def test_an_amendment_of_what_was_approved_was_not_asked_before(stage: WorkflowStage) -> None:
    """The lawful way beside it: the approval of its original was used, and is the one to compare with."""
    _, payment = vendor_and_payment(stage)
    made = stage.create(payment, "carl", number="N1")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1", "rejected") == "rejected"
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    stage.answer(made.instance_id)
    stage.drain()
    shown = view(stage, amend(stage, made, number="remark"), "app1")
    assert shown["last_asked"] is None and shown["last_approved"]["document_id"] == str(made.id)


def reasons(stage: WorkflowStage, document: Made) -> set[str]:
    """Return why people were told that the approval counts no more."""
    query = (
        "SELECT n.data ->> 'reason' FROM notifications n JOIN approval_requests r"
        " ON r.tenant_id = n.tenant_id AND r.id = n.request_id"
        " WHERE n.kind = 'approval_voided' AND r.document_id = %s"
    )
    return {row[0] for row in stage.standing.rows(query, document.id)}


def told(stage: WorkflowStage, document: Made) -> str:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    return " ".join(
        write_instance(explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id))
    )


def test_who_is_asked_again_sees_the_account_before_and_after(stage: WorkflowStage) -> None:
    vendor, payment = vendor_and_payment(stage)
    supplier = stage.create(vendor, "mia", number="DE111")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    first = newest(stage, made.id)
    assert view(stage, made, "app1")["last_asked"] is None
    edit(stage, supplier, "mia", number="DE222")
    standing = view(stage, made, "app1")["standing"]
    assert "The next vote is refused, and by it people are asked again" in standing["why_not"]["sentence"]
    assert "A vote, which is refused, or a wake: by either" in told(stage, made)
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert "A vote, which is refused" not in told(stage, made)
    reason = "what the document refers to has changed: vendor"
    asked = view(stage, made, "app2")["last_asked"]
    assert (asked["request_id"], asked["status"], asked["outcome"]) == (str(first), "voided", reason)
    assert asked["changes"] == [{"field": "vendor.number", "before": "DE111", "after": "DE222"}]
    assert reasons(stage, made) == {reason}
    assert f"found that {reason}" in told(stage, made)
    client = Client(wire(stage.standing.company.database), stage.tenant_id, "nora", ("admin",))
    assert client.get(f"/v1/approvals/{newest(stage, made.id)}").body["last_asked"] is None, (
        "nobody asked nora"
    )


def test_an_erasure_is_named_as_the_reason(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "carl", contact="Erna")
    submit(stage, document, "carl")
    database = stage.standing.company.database
    erase_personal(database, stage.tenant_id, document.id, actor_id="mia", via="api", reason="asked")
    assert vote(stage, document.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    reason = "personal values were erased: contact"
    assert view(stage, document, "app1")["last_asked"]["outcome"] == reason
    assert reasons(stage, document) == {reason}
    assert f"found that {reason}" in told(stage, document)
    assert "It was sent to" in told(stage, document)
    assert "what the document refers to" not in told(stage, document)


def test_an_edit_is_named_as_the_reason(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "carl")
    submit(stage, document, "carl")
    edit(stage, document, "carl", amount=7)
    assert reasons(stage, document) == {"the document was edited"}
    asked = view(stage, document, "app1")["last_asked"]
    assert asked["changes"] == [{"field": "amount", "before": 1, "after": 7}]
