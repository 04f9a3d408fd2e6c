"""A call that is withdrawn on its way: the answer names it, and people are told where it arrives."""

from typing import Any, LiteralString

import pytest

from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.cache import ContractCache
from signet.engine.documents.commands import WithdrawRequest
from signet.engine.documents.read import DocumentsRead
from signet.engine.instances.explain import explain
from signet.ids import make_id
from signet.store.outbox.queue import EFFECTS, ClaimedEffect, claim, complete, fail
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.named_things import supply_names
from tests.support.repair.contract import LOOK, changed, slot
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import CALL, Made, WorkflowStage

SENT = "usr:booking:call"
CARETAKERS = "caretaker"
ARRIVED: LiteralString = (
    "SELECT coalesce(user_id, role), data ->> 'node', data ->> 'document_id' FROM notifications"
    " WHERE kind = 'withdrawn_effect_arrived' ORDER BY 1"
)
CONTRACT = {
    **changed(transitions={"void": {"from": ["draft", "approved"], "to": "voided", "kind": "interrupting"}}),
    "on_incident": {"role": CARETAKERS},
}


@pytest.fixture
def scene(stage: WorkflowStage) -> RepairScene:
    supply_names(stage.standing.company.database, stage.tenant_id, roles=[CARETAKERS])
    scene = RepairScene(stage)
    scene.hire()
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        roles = (Role(role="stopper", permissions=("*:void",)),)
        save_roles(connection, stage.tenant_id, roles, COMMAND_LINE)
        vic = Member(user_id="vic", display_name="Vic", roles=("stopper",))
        save_members(connection, stage.tenant_id, (vic,), COMMAND_LINE)
    scene.publish(CONTRACT, {"approval": slot(LOOK), "booking": slot(CALL)})
    return scene


@pytest.fixture
def document(scene: RepairScene) -> Made:
    """Make a document that people approved, so that its call waits to be sent."""
    stage = scene.stage
    made = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(made.id, "submit")
    stage.drain()
    scene.vote(made)
    stage.drain()
    assert scene.describe(made) == f"approved, waits at {SENT}"
    return made


class Taken:
    """The calls that a worker has taken, and whose answer it has not recorded yet."""

    def __init__(self, stage: WorkflowStage) -> None:
        self._stage, self._claim_id = stage, make_id()
        with stage.database.transaction(stage.tenant_id) as connection:
            self._rows: list[ClaimedEffect] = claim(
                connection, EFFECTS, at_most=9, lease_seconds=60, claim_id=self._claim_id
            )
        assert len(self._rows) == 1

    def deliver(self) -> None:
        """Record the answer; the workflow has not taken it yet."""
        with self._stage.database.transaction(self._stage.tenant_id) as connection:
            complete(connection, EFFECTS, self._stage.tenant_id, self._rows, self._claim_id)

    def arrive(self) -> None:
        self.deliver()
        self._stage.drain()

    def fail(self) -> None:
        with self._stage.database.transaction(self._stage.tenant_id) as connection:
            failures = [(row, "ANSWERED: 503") for row in self._rows]
            fail(connection, EFFECTS, self._stage.tenant_id, failures, self._claim_id)
        self._stage.drain()


def explained(scene: RepairScene, document: Made) -> str:
    company = scene.stage.standing.company
    found = explain(company.database, ContractCache(), scene.stage.tenant_id, document.instance_id)
    return "\n".join(write_instance(found))


def void(scene: RepairScene, document: Made) -> Any:
    asked = scene.stage.ask(document.id, "void", "vic", "stopper")
    scene.stage.drain()
    assert asked.request_id is not None
    company = scene.stage.standing.company
    reading = DocumentsRead(company.database)
    return reading.read_request(company.caller("olga").principal, asked.request_id)


def test_a_void_names_what_may_have_left_and_tells_when_it_arrived(
    scene: RepairScene, document: Made
) -> None:
    taken = Taken(scene.stage)
    asked = void(scene, document)
    assert (asked.status, asked.may_have_left) == ("performed", [SENT])
    assert "on its way: it may still arrive" in explained(scene, document)
    assert scene.stage.standing.rows(ARRIVED) == []
    taken.arrive()
    named = (SENT, str(document.id))
    assert scene.stage.standing.rows(ARRIVED) == [("caretaker", *named), ("carl", *named), ("vic", *named)]
    text = explained(scene, document)
    assert 'The call to the endpoint "erp"' in text and "and was delivered at" in text
    assert "was withdrawn on its way, and has arrived" in text, "its life says so"


def test_a_void_names_what_had_arrived_when_it_was_asked(scene: RepairScene, document: Made) -> None:
    """The answer is recorded, and the workflow takes the request before it."""
    Taken(scene.stage).deliver()
    asked = void(scene, document)
    assert (asked.status, asked.may_have_left) == ("performed", [SENT])
    named = (SENT, str(document.id))
    assert scene.stage.standing.rows(ARRIVED) == [("caretaker", *named), ("carl", *named), ("vic", *named)]
    text = explained(scene, document)
    assert "What was withdrawn, and may have left" in text and "and was delivered at" in text
    assert f"what {SENT} sent had arrived when its step was withdrawn" in text, "its life says so"


def test_a_request_that_is_withdrawn_names_what_had_arrived(scene: RepairScene) -> None:
    """No race is needed: a paused instance takes no answer, and lets a person withdraw."""
    scene.publish(CONTRACT, {"checks": slot(CALL)})
    stage, made = scene.stage, scene.stage.create(scene.entity_type)
    stage.drain()
    asked = stage.ask(made.id, "submit")
    stage.drain()
    taken, row = Taken(stage), scene.row_of(made)
    scene.instances.pause(scene.olga, row["id"], row["version"], "wait")
    taken.deliver()
    assert asked.request_id is not None
    stage.mutate(WithdrawRequest(made.id, asked.request_id, "a mistake"))
    stage.drain()
    company = stage.standing.company
    read = DocumentsRead(company.database).read_request(company.caller("olga").principal, asked.request_id)
    assert (read.status, read.may_have_left) == ("superseded", ["usr:checks:call"])
    assert {person for person, *_ in stage.standing.rows(ARRIVED)} == {CARETAKERS, "carl"}
    assert "and was delivered at" in explained(scene, made)


def test_what_did_not_arrive_is_named_and_told_to_nobody(scene: RepairScene, document: Made) -> None:
    taken = Taken(scene.stage)
    assert void(scene, document).may_have_left == [SENT]
    taken.fail()
    assert scene.stage.standing.rows(ARRIVED) == []
    assert "after an attempt: it may have left" in explained(scene, document)


def test_what_never_left_is_not_named(scene: RepairScene, document: Made) -> None:
    asked = void(scene, document)
    assert (asked.status, asked.may_have_left) == ("performed", [])
    assert "may have left" not in explained(scene, document)


def test_an_answer_that_a_step_still_takes_is_told_to_nobody(scene: RepairScene, document: Made) -> None:
    """An operator withdraws the call on its way, and its step still waits for it."""
    taken = Taken(scene.stage)
    scene.stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET withdrawn_at = now(), withdraw_reason = 'by hand'"
    )
    taken.arrive()
    scene.stage.wake(document.instance_id)
    scene.stage.drain()
    assert scene.describe(document) == "active"
    assert scene.stage.standing.rows(ARRIVED) == []


def test_an_act_of_an_operator_names_what_may_have_left(scene: RepairScene, document: Made) -> None:
    taken = Taken(scene.stage)
    row = scene.row_of(document)
    given = (scene.olga, document.instance_id, row["version"], SENT, "the bank says yes")
    assert scene.instances.advance(*given, dry_run=True).may_have_left == [SENT]
    assert scene.instances.advance(*given).may_have_left == [SENT]
    scene.stage.drain()
    taken.arrive()
    assert {person for person, *_ in scene.stage.standing.rows(ARRIVED)} == {CARETAKERS, "carl"}


def test_a_skip_and_a_cancel_name_the_call_that_was_given_up(scene: RepairScene, document: Made) -> None:
    scene.stage.standing.run("UPDATE workflow_side_effects_outbox SET max_attempts = 1")
    taken = Taken(scene.stage)
    taken.fail()
    scene.stage.wake(document.instance_id)
    scene.stage.drain()
    assert scene.describe(document) == "approved, held: EFFECT_DEAD"
    row = scene.row_of(document)
    given = (scene.olga, document.instance_id, row["version"], SENT, "the bank says yes")
    assert scene.repairs.skip(*given, dry_run=True).may_have_left == [SENT]
