"""Approvals in `explain`: the voters, their delegators and rights, the content, and the result."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.engine.approvals.delegations import Delegations
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from tests.scenarios.use_cases.test_a_invoice import BILL, submitted
from tests.support.database.runtime_roles import as_role
from tests.support.examples_tenant import Story, assert_golden

LARGE = 2000000


@pytest.fixture
def invoices(story: Story) -> Story:
    story.publish("invoice")
    return story


@pytest.fixture
def amendable(story: Story) -> Story:
    story.publish("invoice")
    story.publish("invoice_amendment", replaces="invoice_approval")
    return story


def delegate(story: Story, user_id: str, delegate_id: str, entity_type: str | None = None) -> UUID:
    day, now = timedelta(days=1), datetime.now(UTC)
    delegations = Delegations(story.company.database)
    made = delegations.delegate(
        story.author(user_id),
        user_id,
        delegate_id,
        from_time=now,
        to_time=now + day,
        entity_type=entity_type,
    )
    return made.id


def half_decided(story: Story) -> UUID:
    """Let the budget owner's delegate approve an invoice, and escalate it to its creator's role."""
    delegate(story, "olga", "anton", "invoice")
    invoice = story.create("ada", "invoice", **BILL, number="R-1", vendor_id="V-9", grand_total=LARGE)
    story.ask("ada", invoice, "submit")
    story.decide("anton", invoice, "approved", "as agreed with olga")
    delegate(story, "frank", "sam")
    story.stage.bring_escalation(invoice)
    story.stage.make_due()
    story.work()
    return invoice


def test_who_decided_for_whom_and_who_may_still_decide(invoices: Story) -> None:
    explained = invoices.explain("explained_half_decided.txt", half_decided(invoices))
    owner, finance = explained.approvals
    (vote,) = owner.votes
    assert vote.delegation is not None
    assert (vote.by, vote.on_behalf_of, vote.delegation.entity_type) == ("anton", "olga", "invoice")
    assert [seat.origin for seat in finance.open_seats] == ["resolved", "escalated"]
    assert [(each.person, each.on_behalf_of) for each in finance.voters if each.obstacle is None] == [
        ("fiona", None),
        ("frank", None),
    ]
    kept = {each.person: each.code for each in finance.voters if each.code is not None}
    assert kept == {"ada": "SEPARATION_OF_DUTIES", "sam": "PERMISSION_DENIED"}, "sam stands in for frank"


def test_the_same_as_json(invoices: Story, owner_url: str) -> None:
    """Run the command line as the API's role."""
    instance_id = invoices.stage.instance_of(half_decided(invoices))
    words = ["instance", "explain", str(instance_id), "--tenant", str(invoices.company.tenant_id), "--json"]
    environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
    result = CliRunner().invoke(app, words, env=environment)
    assert result.exit_code == 0, result.output
    approvals = json.loads(result.output)["approvals"]
    assert_golden("explained_half_decided.json", json.dumps(approvals, indent=1) + "\n")


def test_used_by_the_gate_stage_after_stage(invoices: Story) -> None:
    invoice = submitted(invoices, "R-2", 60000)
    invoices.decide("anton", invoice)
    invoices.decide("fiona", invoice)
    explained = invoices.explain("explained_used.txt", invoice)
    (request,) = explained.approvals
    assert request.used_by is not None and request.used_by.gate == "sys:gate:approve"


def test_the_snapshot_and_the_hashes_are_those_on_record(invoices: Story) -> None:
    invoice = submitted(invoices, "R-3", 60000)
    invoices.decide("anton", invoice)
    (request,) = invoices.explain("explained_between_stages.txt", invoice).approvals
    assert invoices.stage.standing.rows(
        "SELECT v.hash, d.compiled_hash, q.policy_hash FROM approval_requests q"
        " JOIN document_versions v ON v.tenant_id = q.tenant_id AND v.document_id = q.document_id"
        " JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id"
        " JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id"
        " WHERE v.version = 2 AND q.document_id = %s",
        invoice,
    ) == [(request.snapshot_hash, request.definition_hash, request.policy_hash)]


def test_a_rejection_withdrew_the_other_question(invoices: Story) -> None:
    invoice = submitted(invoices, "R-4", LARGE)
    invoices.decide("fiona", invoice, "rejected", "the price is wrong")
    invoices.explain("explained_rejected.txt", invoice)


def test_a_cancel_voided_what_was_decided(invoices: Story) -> None:
    invoice = submitted(invoices, "R-5", 60000)
    invoices.decide("anton", invoice)
    invoices.ask("fiona", invoice, "cancel", "ordered twice")
    (request,) = invoices.explain("explained_cancelled.txt", invoice).approvals
    assert request.overtaken is not None
    assert (request.overtaken.because, request.overtaken.by) == ("asked", ("fiona",))


def test_an_amendment_voided_two_decisions(amendable: Story) -> None:
    invoice = amendable.create("carl", "invoice", **BILL, number="R-6", vendor_id="V-9", grand_total=LARGE)
    amendable.ask("carl", invoice, "submit")
    amendable.decide("fiona", invoice)
    amendable.decide("frank", invoice, then_works=False)
    amended = amendable.edit("carl", invoice, grand_total=90000).document_id
    (request,) = amendable.explain("explained_amended.txt", invoice).approvals
    assert request.overtaken is not None
    assert (request.overtaken.because, request.overtaken.by, request.overtaken.version) == (
        "amended",
        ("carl",),
        3,
    )
    amendable.ask("carl", amended, "submit")
    amendable.edit("ada", amended, grand_total=80000)
    (request,) = amendable.explain("explained_edited.txt", amended).approvals
    assert request.overtaken is not None
    assert (request.overtaken.because, request.overtaken.by, request.overtaken.version) == (
        "edited",
        ("ada",),
        2,
    )


def test_an_edit_that_the_workflow_has_not_seen_yet(amendable: Story) -> None:
    invoice = amendable.create("carl", "invoice", **BILL, number="R-7", vendor_id="V-9", grand_total=LARGE)
    amendable.ask("carl", invoice, "submit")
    amended = amendable.edit("carl", invoice, grand_total=90000).document_id
    amendable.ask("carl", amended, "submit")
    amendable.edit("ada", amended, grand_total=80000, then_works=False)
    amendable.explain("explained_not_seen_yet.txt", amended)


def test_an_operator_took_the_question_back(invoices: Story) -> None:
    invoice = submitted(invoices, "R-8", 60000)
    instance_id = invoices.stage.instance_of(invoice)
    instances = Instances(invoices.company.database, invoices.stage.caches(), CompiledCache())
    version, node = invoices.stage.instance(instance_id)["version"], "usr:submitted_to_approved:single"
    instances.cancel_token(invoices.author("ada"), instance_id, version, node, "asked in error")
    invoices.work()
    (request,) = invoices.explain("explained_operated.txt", invoice).approvals
    assert request.overtaken is not None
    assert (request.overtaken.because, request.overtaken.by) == ("token_cancelled", ("ada",))
    invoices.check("a_token_cancelled.txt", invoice)
