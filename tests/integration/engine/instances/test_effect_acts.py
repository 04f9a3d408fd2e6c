"""Acts of operators on effects: listed, tried now, withdrawn, discarded; each with its dry run."""

from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.instances.effect_acts import EffectActs
from signet.engine.instances.operations import HandledLetter, Operations
from signet.engine.integrations.effects import FAILURES_TO_REST
from signet.ids import make_id
from signet.outbound.connector import Delivery, OutboundMessage
from tests.support.effects import Answering, add_endpoint, begin, effects, endpoint
from tests.support.operated_instances import DETAILS, check, operating_on, status_of, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

OF_INSTANCE: LiteralString = (
    "SELECT status, withdraw_reason, completed_at IS NOT NULL FROM workflow_side_effects_outbox"
    " WHERE instance_id = %s ORDER BY id"
)
OPEN: LiteralString = (
    "SELECT code, kind FROM incidents WHERE closed_at IS NULL AND instance_id = %s ORDER BY id"
)
BURIAL: tuple[LiteralString, ...] = (
    "UPDATE workflow_events_outbox SET status = 'processing', claim_id = id, lease_until = now()"
    " WHERE id = %s",
    "UPDATE workflow_events_outbox SET status = 'failed', claim_id = NULL, lease_until = NULL WHERE id = %s",
    "UPDATE workflow_events_outbox SET status = 'dead_letter' WHERE id = %s",
)
FAILING = Delivery(503, "ANSWERED: 503")
# Without an edge for errors.
BARE = {"nodes": [CALL]}


def acting(stage: WorkflowStage, person: str = "olga", *roles: str) -> tuple[EffectActs, Operations, Caller]:
    company = stage.standing.company
    acts = EffectActs(company.database, stage.caches(), CompiledCache())
    instances, _ = operating_on(stage)
    operations = Operations(company.database, instances, stage.caches(), CompiledCache())
    return acts, operations, company.caller(person, *roles)


def effect_of(stage: WorkflowStage, document: Made) -> UUID:
    (effect_id,) = stage.standing.row(
        "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id DESC LIMIT 1",
        document.instance_id,
    )
    assert isinstance(effect_id, UUID)
    return effect_id


@pytest.fixture
def waiting(stage: WorkflowStage) -> Made:
    """Make a document whose slot waits for the answer of a call, without an edge for errors."""
    contract = stage.publish(checks=BARE)
    document = stage.create(contract)
    stage.ask(document.id, "submit")
    stage.drain()
    add_endpoint(stage)
    return document


def test_a_withdrawn_call_is_not_sent_and_its_step_is_held(stage: WorkflowStage, waiting: Made) -> None:
    acts, _, olga = acting(stage)
    acted = acts.withdraw(olga, effect_of(stage, waiting), "ordered twice")
    assert (acted.outcome, acted.follows, acted.may_have_left) == ("done", "incident", False)
    assert (acted.effect.status, acted.effect.reason, acted.effect.acts) == ("withdrawn", "ordered twice", [])
    stage.drain()
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    assert connector.given == []
    assert stage.standing.rows(OF_INSTANCE, waiting.instance_id) == [("withdrawn", "ordered twice", True)]
    assert stage.standing.rows(OPEN, waiting.instance_id) == [("EFFECT_WITHDRAWN", "business")]
    assert status_of(stage, waiting)[2] == "EFFECT_WITHDRAWN: ordered twice"
    details = stage.standing.rows(DETAILS, str(waiting.instance_id))
    assert details == [("withdraw", "olga", "ordered twice", {"effects": [str(acted.effect.id)]})]
    check(stage, waiting)


def test_a_retry_of_the_held_step_sends_it_after_all(stage: WorkflowStage, waiting: Made) -> None:
    acts, _, olga = acting(stage)
    first = effect_of(stage, waiting)
    acts.withdraw(olga, first, "ordered twice")
    stage.drain()
    instances, _ = operating_on(stage)
    instances.retry(olga, waiting.instance_id, version(stage, waiting), "it was not")
    stage.drain()
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    stage.drain()
    assert [message.id for message in connector.given] == [first]
    assert stage.status_of(waiting.id) == "active"
    check(stage, waiting)


def test_a_withdrawn_call_takes_the_edge_for_errors(stage: WorkflowStage) -> None:
    (made,) = begin(stage)
    acts, _, olga = acting(stage)
    acted = acts.withdraw(olga, effect_of(stage, made), "not wanted")
    assert acted.follows == "error_edge"
    stage.drain()
    assert "usr:checks:failed" in stage.nodes(made.instance_id)
    assert stage.standing.rows(OPEN, made.instance_id) == []
    check(stage, made)


@pytest.mark.parametrize("is_delivered", [True, False])
def test_what_is_withdrawn_on_its_way(stage: WorkflowStage, waiting: Made, is_delivered: bool) -> None:
    """Withdraw it while the receiver has it: what arrives counts, what does not is not tried again."""
    acts, _, olga = acting(stage)
    effect_id = effect_of(stage, waiting)
    refused: list[Rejected] = []

    class WithdrawnMeanwhile(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            acted = acts.withdraw(olga, effect_id, "too late?")
            assert (acted.effect.status, acted.may_have_left) == ("processing", True)
            with pytest.raises(Rejected) as again:
                acts.withdraw(olga, effect_id, "once more")
            refused.append(again.value)
            return super().deliver(message)

    delivery = Delivery(200, None, {"ok": True}) if is_delivered else FAILING
    effects(stage, webhook=WithdrawnMeanwhile(delivery)).work(stage.tenant_id)
    assert [one.code for one in refused] == ["EFFECT_ACT_NOT_POSSIBLE"]
    stage.drain()
    if is_delivered:
        assert stage.status_of(waiting.id) == "active"
        assert stage.standing.rows(OPEN, waiting.instance_id) == []
    else:
        assert stage.standing.rows(OPEN, waiting.instance_id) == [("EFFECT_WITHDRAWN", "business")]
        assert stage.standing.rows(OF_INSTANCE, waiting.instance_id) == [("withdrawn", "too late?", True)]
    check(stage, waiting)


def test_what_is_withdrawn_under_a_worker_that_dies(stage: WorkflowStage, waiting: Made) -> None:
    acts, _, olga = acting(stage)
    effect_id = effect_of(stage, waiting)

    class Dying(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            acts.withdraw(olga, effect_id, "the worker is gone")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        effects(stage, webhook=Dying()).work(stage.tenant_id)
    stage.expire_leases()
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    stage.drain()
    assert stage.standing.rows(OPEN, waiting.instance_id) == [("EFFECT_WITHDRAWN", "business")]


def test_what_waits_for_its_next_attempt_is_tried_now(stage: WorkflowStage, waiting: Made) -> None:
    acts, _, olga = acting(stage)
    connector = Answering(FAILING)
    worker = effects(stage, webhook=connector)
    worker.work(stage.tenant_id)
    assert worker.work(stage.tenant_id) == 0
    acted = acts.try_now(olga, effect_of(stage, waiting), "it answers again")
    assert (acted.outcome, acted.follows, acted.effect.acts) == ("done", "nothing", ["try_now", "withdraw"])
    connector.delivery = Delivery(200, None)
    assert worker.work(stage.tenant_id) == 1
    stage.drain()
    assert stage.status_of(waiting.id) == "active"


def test_what_its_endpoint_lets_rest_is_tried_now(stage: WorkflowStage) -> None:
    made = begin(stage, count=FAILURES_TO_REST)
    add_endpoint(stage)
    connector = Answering(FAILING)
    worker = effects(stage, webhook=connector)
    worker.work(stage.tenant_id)
    assert endpoint(stage) == ("active", FAILURES_TO_REST, True)
    acts, _, olga = acting(stage)
    acts.try_now(olga, effect_of(stage, made[1]), "it answers again")
    connector.delivery = Delivery(200, None)
    assert worker.work(stage.tenant_id) == 1
    assert endpoint(stage)[:2] == ("active", 0)


@pytest.mark.parametrize("act", ["try_now", "withdraw"])
def test_who_has_a_part_ends_no_effect_that_chooses_the_way(stage: WorkflowStage, act: str) -> None:
    """Withdrawn or used up, it takes the edge for errors: that is an answer by hand."""
    (made,) = begin(stage)
    acts, _, olga = acting(stage)
    carl = acting(stage, "carl", "admin")[2]
    do = {"try_now": acts.try_now, "withdraw": acts.withdraw}[act]
    for dry_run in (True, False):
        with pytest.raises(Rejected) as refused:
            do(carl, effect_of(stage, made), "not wanted", dry_run=dry_run)
        assert refused.value.code == "SEPARATION_OF_DUTIES"
    assert do(olga, effect_of(stage, made), "not wanted").outcome == "done"
    editors = stage.standing.rows(
        "SELECT p FROM documents d JOIN responsible_sets s ON s.hash = d.editor_responsible,"
        " unnest(s.persons) p WHERE d.id = %s",
        made.id,
    )
    assert (("olga",) in editors) == (act == "withdraw"), "who chooses the way counts as an editor"


def test_who_has_a_part_withdraws_what_is_only_held_then(stage: WorkflowStage, waiting: Made) -> None:
    """The lawful way beside it: nothing is chosen, and a retry sends it after all."""
    acts, _, carl = acting(stage, "carl", "admin")
    assert acts.withdraw(carl, effect_of(stage, waiting), "not wanted").follows == "incident"


def test_who_has_withdrawn_one_withdraws_the_next(stage: WorkflowStage) -> None:
    """Their own answers bar nobody from another one."""
    nodes = [CALL, {**CALL, "id": "next"}, {**CALL, "id": "last"}]
    edges = [
        {"source": "call", "target": "out"},
        {"source": "call", "target": "next", "on": "error"},
        {"source": "next", "target": "out"},
        {"source": "next", "target": "last", "on": "error"},
        {"source": "last", "target": "out"},
    ]
    document = stage.create(stage.publish(checks={"nodes": nodes, "edges": edges, "exit": "join"}))
    stage.ask(document.id, "submit")
    stage.drain()
    acts, _, olga = acting(stage)
    for _ in range(2):
        assert acts.withdraw(olga, effect_of(stage, document), "not wanted").follows == "error_edge"
        stage.drain()
    assert stage.instance(document.instance_id)["current_nodes"] == ["usr:checks:last"]


PLANNED: LiteralString = (
    "SELECT status, attempts, max_attempts, due_at, planned_at FROM workflow_side_effects_outbox"
    " WHERE instance_id = %s"
)


@pytest.mark.parametrize("is_final", [False, True])
def test_a_try_by_hand_uses_up_no_attempt(stage: WorkflowStage, is_final: bool) -> None:
    """Its plan alone ends it, also where the receiver would end the call for good."""
    name = f"tried_{is_final}".lower()
    (made,) = begin(stage, {**CALL, "config": {"endpoint": name}})
    add_endpoint(stage, "https://erp.example/", name, name=name)
    connector = Answering(FAILING)
    worker, (acts, _, olga) = effects(stage, webhook=connector), acting(stage)
    tried = effect_of(stage, made)
    worker.work(stage.tenant_id)
    before = stage.standing.row(PLANNED, made.instance_id)
    assert before[:2] == ("failed", 1)
    connector.delivery = Delivery(400, "ANSWERED: 400", is_final=is_final)
    for count in range(2, 16):
        acts.try_now(olga, tried, "again")
        worker.work(stage.tenant_id)
        assert [message.id for message in connector.given].count(tried) == count
    assert stage.standing.row(PLANNED, made.instance_id) == before
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == ["usr:checks:call"]


def test_a_first_try_by_hand_shows_that_it_may_have_left(stage: WorkflowStage) -> None:
    (made,) = begin(stage, {**CALL, "config": {"endpoint": "tried_first"}})
    add_endpoint(stage, "https://erp.example/", "tried_first", name="tried_first")
    worker, (acts, _, olga) = effects(stage, webhook=Answering(FAILING)), acting(stage)
    left = stage.standing.row(PLANNED, made.instance_id)
    acts.try_now(olga, effect_of(stage, made), "at once")
    worker.work(stage.tenant_id)
    status, attempts, max_attempts, due_at, planned_at = stage.standing.row(PLANNED, made.instance_id)
    assert (status, attempts, max_attempts) == ("failed", 0, left[2])
    assert (due_at, planned_at) == (left[3], None)
    assert acts.withdraw(olga, effect_of(stage, made), "why", dry_run=True).may_have_left


@pytest.mark.parametrize("act", ["try_now", "withdraw"])
def test_a_dry_run_writes_nothing(stage: WorkflowStage, waiting: Made, act: str) -> None:
    acts, _, olga = acting(stage)
    before = stage.standing.rows("SELECT to_jsonb(e) FROM workflow_side_effects_outbox e")
    do = {"try_now": acts.try_now, "withdraw": acts.withdraw}[act]
    acted = do(olga, effect_of(stage, waiting), "only a look", dry_run=True)
    assert (acted.act, acted.outcome) == (act, "possible")
    assert acted.follows == {"try_now": "nothing", "withdraw": "incident"}[act]
    assert stage.standing.rows("SELECT to_jsonb(e) FROM workflow_side_effects_outbox e") == before
    assert stage.standing.rows(DETAILS, str(waiting.instance_id)) == []


def test_who_may_not_and_what_is_not_there(stage: WorkflowStage, waiting: Made) -> None:
    acts, operations, anna = acting(stage, "anna", "clerk")
    effect_id = effect_of(stage, waiting)
    for refused in (
        lambda: acts.withdraw(anna, effect_id, "why"),
        lambda: acts.try_now(anna, effect_id, "why", dry_run=True),
        lambda: operations.discard(anna, [effect_id], "why"),
    ):
        with pytest.raises(Rejected) as denied:
            refused()
        assert denied.value.code == "PERMISSION_DENIED"
    olga = acting(stage)[2]
    for unknown in (make_id(), UUID(int=7)):
        with pytest.raises(Rejected) as missing:
            acts.withdraw(olga, unknown, "why")
        assert missing.value.code == "EFFECT_NOT_FOUND"
    with pytest.raises(Rejected) as empty:
        acts.withdraw(olga, effect_id, " ")
    assert empty.value.code == "FIELDS_INVALID"


def test_a_dead_letter_is_discarded_with_a_reason(stage: WorkflowStage, waiting: Made) -> None:
    acts, operations, olga = acting(stage)
    dead = effect_of(stage, waiting)
    stage.answer(waiting.instance_id, error="gone")
    stage.drain()
    assert operations.discard(olga, [dead], "paid by hand", dry_run=True) == [HandledLetter(dead)]
    assert stage.standing.rows(OF_INSTANCE, waiting.instance_id) == [("dead_letter", None, False)]
    pending = begin(stage)
    outcomes = operations.discard(olga, [dead, effect_of(stage, pending[0]), make_id()], "paid by hand")
    assert outcomes[0] == HandledLetter(dead)
    assert [one.code for one in outcomes if isinstance(one, Rejected)] == ["DEAD_LETTER_NOT_FOUND"] * 2
    (listed,) = acts.list_of_instance(olga.principal, waiting.instance_id, before=None, limit=5)
    assert (listed.status, listed.reason, listed.acts) == ("discarded", "paid by hand", [])
    details = stage.standing.rows(DETAILS, str(waiting.instance_id))
    assert details == [("discard", "olga", "paid by hand", {"effects": [str(dead)]})]
    # The incident stays: a retry asks for the effect again.
    assert stage.standing.rows(OPEN, waiting.instance_id) == [("EFFECT_DEAD", "outside")]
    (refused,) = operations.requeue(olga, [dead])
    assert isinstance(refused, Rejected) and refused.code == "DEAD_LETTER_NOT_FOUND"
    check(stage, waiting)


def test_a_discarded_letter_is_dead_for_the_step_that_waits(stage: WorkflowStage, waiting: Made) -> None:
    _, operations, olga = acting(stage)
    instances, _ = operating_on(stage)
    dead = effect_of(stage, waiting)
    instances.pause(olga, waiting.instance_id, version(stage, waiting), "a look")
    stage.answer(waiting.instance_id, error="gone")
    stage.drain()
    operations.discard(olga, [dead], "paid by hand")
    instances.resume(olga, waiting.instance_id, version(stage, waiting))
    stage.drain()
    assert stage.standing.rows(OPEN, waiting.instance_id) == [("EFFECT_DEAD", "outside")]


def test_a_dead_trigger_is_discarded_and_its_instance_retried(stage: WorkflowStage, waiting: Made) -> None:
    _, operations, olga = acting(stage)
    trigger = stage.wake(waiting.instance_id)
    for change in BURIAL:
        stage.standing.run(change, trigger)
    assert operations.discard(olga, [trigger], "of no use") == [HandledLetter(trigger)]
    assert stage.standing.row(
        "SELECT status, discard_reason, completed_at IS NOT NULL FROM workflow_events_outbox WHERE id = %s",
        trigger,
    ) == ("discarded", "of no use", True)
    details: list[Any] = stage.standing.rows(DETAILS, str(waiting.instance_id))
    assert details == [("discard", "olga", "of no use", {"triggers": [str(trigger)]})]


def test_effects_are_listed_page_by_page(stage: WorkflowStage, waiting: Made) -> None:
    acts, _, olga = acting(stage)
    instances, _ = operating_on(stage)
    for _ in range(2):
        stage.answer(waiting.instance_id, error="gone")
        stage.drain()
        instances.retry(olga, waiting.instance_id, version(stage, waiting), "again")
        stage.drain()
    listed = acts.list_of_instance(olga.principal, waiting.instance_id, before=None, limit=2)
    assert [one.status for one in listed] == ["pending", "withdrawn"]
    rest = acts.list_of_instance(olga.principal, waiting.instance_id, before=listed[-1].id, limit=2)
    assert [one.status for one in rest] == ["withdrawn"]
    with pytest.raises(Rejected) as missing:
        acts.list_of_instance(olga.principal, make_id(), before=None, limit=2)
    assert missing.value.code == "INSTANCE_NOT_FOUND"


def test_what_was_sent_stays_named_where_its_attempts_were_taken_back(
    stage: WorkflowStage, waiting: Made
) -> None:
    """A dead call that is queued again has no attempts, and may have left all the same."""
    acts, _, olga = acting(stage)
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 0, left_at = now() WHERE instance_id = %s",
        waiting.instance_id,
    )
    for is_dry in (True, False):
        acted = acts.withdraw(olga, effect_of(stage, waiting), "why", dry_run=is_dry)
        assert (acted.effect.attempts, acted.may_have_left) == (0, True)
