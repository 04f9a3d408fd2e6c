"""Answers by hand for documents that an action made: not by those who approved where they come from."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.delegations import Delegations
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend
from signet.engine.instances.actions import Instances
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES, DONE = "approved", "SEPARATION_OF_DUTIES", "done"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
LOOKUP = {"id": "lookup", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
TO_ACCOUNT = {"iban": {"$expr": "context.bank.body.iban"}}
PAY = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": TO_ACCOUNT}}
PAID: Mapping[str, Any] = {"nodes": [LOOKUP, PAY], "edges": [{"source": "lookup", "target": "pay"}]}
MAKE = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
BESIDE: Mapping[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        LOOK,
        LOOKUP,
        {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "look"},
        {"source": "fork", "target": "lookup"},
        {"source": "look", "target": "join"},
        {"source": "lookup", "target": "join"},
    ],
}
# An amendment is approved itself, before it asks for its account.
AMENDABLE = {
    **CONTRACT,
    "amendment": {"from": ["active"]},
    "slots": {**CONTRACT["slots"], "again": {"transition": "submit", "from": "amended"}},
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("fiona", "eve", "carl", "gina")
        )
        deputy = Member(user_id="deputy", display_name="Deputy", roles=("clerk", "admin"))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, (*members, deputy), COMMAND_LINE)
        add_endpoint(made)
        yield made


def making(entity_type: str) -> dict[str, Any]:
    """Return a contract with an action that makes a document of this type."""
    make = {"kind": "create", "entity_type": entity_type, "set": {"number": "{entity.number}"}}
    return {**CONTRACT, "actions": {**CONTRACT["actions"], "make": make}}


def approve_what_makes(stage: WorkflowStage, entity_type: str, person: str = "fiona") -> None:
    """Have the person approve a document that makes one of this type behind its gate."""
    origin = stage.create(
        stage.publish(making(entity_type), approval={"nodes": [LOOK]}, posting={"nodes": [MAKE]}), "carl"
    )
    submit(stage, origin, "carl")
    assert vote(stage, origin.id, person) == APPROVED
    stage.check_rebuild(origin.instance_id)


def newest_of(stage: WorkflowStage, entity_type: str) -> Made:
    query = "SELECT id FROM documents WHERE entity_type = %s ORDER BY created_at DESC LIMIT 1"
    document_id: UUID = stage.standing.row(query, entity_type)[0]
    return Made(document_id, stage.instance_of(document_id))


def payment_of(stage: WorkflowStage) -> Made:
    """Have a payment wait for its account that is made of a document which fiona approved."""
    payment = stage.publish(AMENDABLE, approval=PAID, again={"nodes": [LOOK]})
    approve_what_makes(stage, payment)
    return asked(stage, newest_of(stage, payment))


def asked(stage: WorkflowStage, document: Made) -> Made:
    submit(stage, document, "carl")
    return document


def answer(stage: WorkflowStage, document: Made, person: str, iban: str, *, is_held: bool = False) -> str:
    """Return "done", or the code of the refusal."""
    company, seen = stage.standing.company, version(stage, document)
    acts = Repairs if is_held else Instances
    use_case = acts(company.database, stage.caches(), CompiledCache())
    give = use_case.skip if isinstance(use_case, Repairs) else use_case.advance
    said = {"status": 200, "body": {"iban": iban}}
    caller = company.caller(person, "admin")
    node = next(
        node for node in stage.instance(document.instance_id)["current_nodes"] if node.endswith(":lookup")
    )
    try:
        give(caller, document.instance_id, seen, node, "by phone", said)
    except Rejected as refused:
        assert refused.remedy
        return refused.code
    stage.drain()
    return DONE


def paid_to(stage: WorkflowStage, document: Made) -> list[Any]:
    rows = stage.standing.rows(
        "SELECT payload_json -> 'payload' ->> 'iban' FROM workflow_side_effects_outbox"
        " WHERE instance_id = %s AND payload_json -> 'payload' ? 'iban'",
        document.instance_id,
    )
    return [iban for (iban,) in rows]


@pytest.mark.parametrize("is_held", [False, True])
def test_who_approved_the_origin_names_no_account_for_the_payment(
    stage: WorkflowStage, is_held: bool
) -> None:
    """Let nobody approve the payment, so that the answer alone says where the money goes."""
    payment = payment_of(stage)
    if is_held:
        stage.answer(payment.instance_id, error="gone")
        stage.drain()
    assert answer(stage, payment, "fiona", "DE-OF-FIONA", is_held=is_held) == DUTIES
    assert paid_to(stage, payment) == []
    assert answer(stage, payment, "eve", "DE-1", is_held=is_held) == DONE
    assert paid_to(stage, payment) == ["DE-1"]


def test_it_holds_over_further_documents(stage: WorkflowStage) -> None:
    payment = stage.publish(checks=PAID)
    middle = stage.publish(making(payment), checks={"nodes": [MAKE]})
    approve_what_makes(stage, middle)
    asked(stage, newest_of(stage, middle))
    document = asked(stage, newest_of(stage, payment))
    assert answer(stage, document, "fiona", "DE-OF-FIONA") == DUTIES
    assert answer(stage, document, "eve", "DE-1") == DONE


def test_it_holds_for_the_amendment_of_the_payment(stage: WorkflowStage) -> None:
    original = payment_of(stage)
    assert answer(stage, original, "eve", "DE-1") == DONE
    stage.answer(original.instance_id)
    stage.drain()
    assert stage.status_of(original.id) == "active"
    seen = stage.version_of(original.id)
    applied = stage.mutate(Amend(original.id, seen, {"amount": 2}), "carl")
    stage.drain()
    amendment = asked(stage, Made(applied.document_id, stage.instance_of(applied.document_id)))
    assert vote(stage, amendment.id, "eve") == DUTIES, "her answer counts as an edit of the original"
    assert vote(stage, amendment.id, "gina") == APPROVED
    assert answer(stage, amendment, "fiona", "DE-OF-FIONA") == DUTIES
    assert answer(stage, amendment, "deputy", "DE-2") == DONE
    assert paid_to(stage, amendment) == ["DE-2"]


def test_it_holds_for_those_who_were_voted_for(stage: WorkflowStage) -> None:
    company, now = stage.standing.company, datetime.now(UTC)
    Delegations(company.database).delegate(
        company.caller("fiona"), "fiona", "deputy", from_time=now, to_time=now + timedelta(hours=1)
    )
    payment = stage.publish(checks=PAID)
    approve_what_makes(stage, payment, "deputy")
    document = asked(stage, newest_of(stage, payment))
    assert [answer(stage, document, person, "DE-9") for person in ("fiona", "deputy")] == [DUTIES] * 2
    assert answer(stage, document, "eve", "DE-1") == DONE


def test_who_approved_one_payment_answers_for_another(stage: WorkflowStage) -> None:
    """The lawful way beside it: an approval counts for what is made of its own document."""
    payment = stage.publish(checks=PAID)
    approve_what_makes(stage, payment)
    other = stage.create(payment, "carl")
    assert answer(stage, asked(stage, other), "fiona", "DE-1") == DONE


def test_an_approval_that_was_voided_bars_nobody(stage: WorkflowStage) -> None:
    """It counts for nothing, neither for nor against anybody: people are asked again."""
    document = asked(stage, stage.create(stage.publish(approval=BESIDE), "carl"))
    assert vote(stage, document.id, "fiona") == APPROVED
    assert answer(stage, document, "fiona", "DE-9") == DUTIES
    edit(stage, document, "carl", amount=2)
    stage.drain()
    assert answer(stage, document, "fiona", "DE-1") == DONE
    assert vote(stage, document.id, "fiona") == DUTIES
    assert vote(stage, document.id, "eve") == APPROVED


def test_a_line_of_documents_has_an_end(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    payment = payment_of(stage)
    monkeypatch.setattr("signet.store.approvals.given_decisions.MAX_LINE", 1)
    assert answer(stage, payment, "eve", "DE-1") == "ORIGINS_TOO_MANY"
    monkeypatch.undo()
    assert answer(stage, payment, "eve", "DE-1") == DONE
