"""Originals of amendments: in force until the amendment settles, and free when it is given up."""

from collections.abc import Iterator, Mapping
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, Applied, Delete, Operation, RunAction, Update
from signet.engine.documents.read import DocumentInLine, DocumentsRead
from signet.engine.instances.repairs import Repairs
from tests.support.core.approval_policies import role
from tests.support.operated_instances import check, operating_on
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

NUMBER = {"type": "string", "unique": True, "required": True, "max_length": 60}
AMENDABLE: Mapping[str, Any] = {
    **CONTRACT,
    "fields": {**CONTRACT["fields"], "number": NUMBER},
    "transitions": {
        **CONTRACT["transitions"],
        "renew": {"from": ["active"], "to": "active", "kind": "requested"},
        "reopen": {"from": ["active"], "to": "draft", "kind": "requested"},
    },
    "slots": {**CONTRACT["slots"], "renewal": {"transition": "renew"}},
    "amendment": {"from": ["active"]},
}
SUSPENDING = {**AMENDABLE, "amendment": {"from": ["active"], "while_open": "suspended"}}
BY_EDIT = {
    **AMENDABLE,
    "states": {**CONTRACT["states"], "active": {"edit": "amend_only", "settled": True}},
    "amendment": {},
}
STRICT = {
    **AMENDABLE,
    "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
}
APPROVAL = {"nodes": [CALL]}
OPEN, MOVED_ON = "AMENDMENT_OPEN", "ORIGINAL_MOVED_ON"
INCIDENTS: LiteralString = "SELECT code, kind, closing FROM incidents WHERE instance_id = %s ORDER BY id"
KEYS: LiteralString = "SELECT value, document_id FROM document_keys WHERE entity_type = %s ORDER BY value"
AUDIT: LiteralString = (
    "SELECT action, content::jsonb -> 'detail' FROM audit_log WHERE subject_id = %s"
    " AND action IN ('amendment_opened', 'amended') ORDER BY seq"
)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def settled(stage: WorkflowStage, contract: Mapping[str, Any] = AMENDABLE, **slots: Any) -> Made:
    """Return a document that is active; its approval is a call, which the world outside has answered."""
    document = stage.create(stage.publish(contract, **({"approval": APPROVAL} | slots)), number="R-1")
    settle(stage, document)
    return document


def settle(stage: WorkflowStage, document: Made) -> None:
    submit(stage, document)
    answer(stage, document)


def submit(stage: WorkflowStage, document: Made) -> None:
    stage.ask(document.id, "submit")
    stage.drain()


def answer(stage: WorkflowStage, document: Made) -> None:
    stage.answer(stage.instance_of(document.id))
    stage.drain()


def move_on(stage: WorkflowStage, original: Made) -> None:
    """Take the original up again and settle it: it is active as before, and at another version."""
    stage.ask(original.id, "reopen")
    stage.drain()
    settle(stage, original)
    assert stage.status_of(original.id) == "active"


def amend(stage: WorkflowStage, original: Made, **patch: Any) -> Made:
    applied = stage.mutate(Amend(original.id, stage.version_of(original.id), patch, "a reason"))
    return of(applied)


def of(applied: Applied) -> Made:
    assert applied.instance_id is not None and applied.original_id is not None
    return Made(applied.document_id, applied.instance_id)


def refusal(stage: WorkflowStage, operation: Operation) -> Rejected:
    with pytest.raises(Rejected) as caught:
        stage.mutate(operation)
    return caught.value


def read(stage: WorkflowStage, document: Made) -> DocumentInLine:
    company = stage.standing.company
    return DocumentsRead(company.database).read(company.principal(), document.id)


def line(stage: WorkflowStage, document: Made) -> tuple[UUID | None, UUID | None, UUID | None]:
    """Return which amendment is open, which one took the document's place, and what is in force."""
    shown = read(stage, document)
    return shown.amendment_open, shown.amended_by, shown.current_id


def keys(stage: WorkflowStage, document: Made) -> list[tuple[str, UUID]]:
    return stage.standing.rows(KEYS, read(stage, document).entity_type)


def incidents(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(INCIDENTS, stage.instance_of(document.id))


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
    """Its posting is under way when the amendment settles: it is withdrawn, and so is its incident."""
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
    assert [closing for *_, closing in incidents(stage, amendment)] == ["retried", "withdrawn"]
    stage.edit(amendment.id)
    stage.drain()
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    for document in (original, amendment):
        check(stage, document)


def test_a_step_of_the_amendment_does_not_stand_for_the_original_as_it_is(stage: WorkflowStage) -> None:
    """Its own action makes a version, and nobody has looked at the original for it."""
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


@pytest.mark.parametrize("transition", ["cancel", "reopen"])
def test_an_original_that_is_not_settled_any_more_is_not_replaced(
    stage: WorkflowStage, transition: str
) -> None:
    original = settled(stage)
    amendment = amend(stage, original)
    submit(stage, amendment)
    stage.ask(original.id, transition)
    stage.drain()
    stage.edit(amendment.id, amount=9)
    stage.drain()
    answer(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    assert stage.status_of(original.id) in ("cancelled", "draft")


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


def delete(stage: WorkflowStage, amendment: Made) -> None:
    stage.mutate(Delete(amendment.id, stage.version_of(amendment.id)))


def withdraw(stage: WorkflowStage, amendment: Made) -> None:
    stage.ask(amendment.id, "cancel")
    stage.drain()


def end(stage: WorkflowStage, amendment: Made) -> None:
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.cancel(olga, amendment.instance_id, version, "entered in error")


def fail(stage: WorkflowStage, amendment: Made) -> None:
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.fail(olga, amendment.instance_id, version, "entered in error")


@pytest.mark.parametrize("give_up", [delete, withdraw, end, fail])
def test_what_is_given_up_gives_the_original_back(stage: WorkflowStage, give_up: Any) -> None:
    original = settled(stage)
    amendment = amend(stage, original, number="R-2")
    stage.drain()
    assert keys(stage, original) == [("R-1", original.id), ("R-2", amendment.id)]
    give_up(stage, amendment)
    assert line(stage, original) == (None, None, original.id)
    assert keys(stage, original) == [("R-1", original.id)]
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
    settle(stage, first)
    assert incidents(stage, first) == [(MOVED_ON, "business", None)]
    settle(stage, second)
    assert (stage.status_of(original.id), stage.status_of(second.id)) == ("amended", "active")
    assert stage.status_of(first.id) == "submitted"
    assert line(stage, first) == (None, None, second.id)


# --- business keys ---


def test_the_key_belongs_to_the_line(stage: WorkflowStage) -> None:
    original = settled(stage)
    name = read(stage, original).entity_type
    amendment = amend(stage, original)
    for number in ("R-2", "R-1", "R-3"):
        stage.edit(amendment.id, number=number)
    assert keys(stage, original) == [("R-1", original.id), ("R-3", amendment.id)]
    with pytest.raises(Rejected, match="another document has this number"):
        stage.create(name, number="R-1")
    settle(stage, amendment)
    assert keys(stage, original) == [("R-3", amendment.id)]
    stage.create(name, number="R-1")


def test_a_key_that_another_document_has_taken_holds_the_gate(stage: WorkflowStage) -> None:
    """What was given up has no key of its own, also when it begins again."""
    original = settled(stage)
    amendment = amend(stage, original, number="R-2")
    stage.drain()
    end(stage, amendment)
    stage.create(read(stage, original).entity_type, number="R-2")
    settle(stage, amendment)
    ((code, *_),) = incidents(stage, amendment)
    assert code == "KEY_TAKEN"
    assert stage.status_of(original.id) == "active"


def test_an_edit_hands_an_amendment_on(stage: WorkflowStage) -> None:
    """Where the amendment may only be amended itself, its edit makes another one of the same original."""
    original = settled(stage, STRICT)
    first = amend(stage, original, amount=2)
    submit(stage, first)
    move_on(stage, original)
    second = of(stage.edit(first.id, amount=3))
    assert (stage.status_of(original.id), stage.status_of(first.id)) == ("active", "amended")
    assert line(stage, original) == (second.id, None, original.id)
    assert line(stage, first) == (None, second.id, original.id)
    assert keys(stage, original) == [("R-1", original.id)]
    settle(stage, second)
    assert (stage.status_of(original.id), stage.status_of(second.id)) == ("amended", "active")
    assert line(stage, original) == (None, second.id, second.id)
    assert line(stage, first) == (None, second.id, second.id)
    assert keys(stage, original) == [("R-1", second.id)]


# --- suspended ---


def test_in_force_means_that_it_goes_on_as_if_none_were_open(stage: WorkflowStage) -> None:
    original = settled(stage)
    amend(stage, original)
    stage.ask(original.id, "renew")
    stage.drain()
    assert stage.requests(original.id)[-1] == ("renew", "performed")


def test_a_contract_may_suspend_the_original(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING)
    amendment = amend(stage, original)
    version = stage.version_of(original.id)
    refused = refusal(stage, RunAction(original.id, version, "post", {}))
    assert refused.code == OPEN and "suspended" in refused.message
    with pytest.raises(Rejected) as caught:
        stage.ask(original.id, "renew")
    assert caught.value.code == OPEN
    assert refusal(stage, Amend(original.id, version, {})).code == OPEN
    stage.ask(original.id, "cancel")
    stage.drain()
    assert stage.status_of(original.id) == "cancelled"
    assert line(stage, original)[0] == amendment.id


def test_what_is_suspended_comes_back(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING)
    delete(stage, amend(stage, original))
    stage.ask(original.id, "renew")
    stage.drain()
    assert stage.requests(original.id)[-1] == ("renew", "performed")


def test_what_is_under_way_is_not_suspended(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING, posting={"nodes": [{**CALL, "id": "book"}]})
    refused = refusal(stage, Amend(original.id, stage.version_of(original.id), {}))
    assert refused.code == "AMENDMENT_NOT_POSSIBLE" and "under way" in refused.message
    answer(stage, original)
    amend(stage, original)


def test_authors_of_the_original_are_editors_of_the_amendment(stage: WorkflowStage) -> None:
    look = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    original = settled(stage, renewal={"nodes": [look]})
    applied = stage.mutate(Amend(original.id, stage.version_of(original.id), {}), "mona")
    (editors,) = stage.standing.row("SELECT editor_ids FROM documents WHERE id = %s", applied.document_id)
    assert editors == ["carl"]


def test_another_tenant_sees_none(stage: WorkflowStage) -> None:
    amend(stage, settled(stage))
    with stage.standing.company.database.transaction(uuid4()) as connection:
        assert connection.execute("SELECT FROM amendments").fetchall() == []
