"""An endpoint that is missing or switched off holds what is for it; all is sent when it is there."""

from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.effect_acts import EffectActs
from signet.engine.instances.incidents import IncidentFilter, Incidents
from signet.engine.instances.repairs import Repairs
from signet.engine.integrations.endpoints import Endpoints, EndpointTerms
from signet.outbound.connector import Delivery
from tests.support.effects import (
    Answering,
    add_endpoint,
    come_due,
    effects,
    endpoint,
    list_may_have_left,
    rows,
)
from tests.support.operated_instances import check, operating_on, status_of, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

GONE = Delivery(410, "ANSWERED: 410", is_final=True, is_gone=True)
OPEN: LiteralString = (
    "SELECT code, kind, endpoint FROM incidents WHERE closed_at IS NULL AND instance_id = %s ORDER BY id"
)
CLOSED: LiteralString = (
    "SELECT code, closing FROM incidents WHERE closed_at IS NOT NULL AND instance_id = %s ORDER BY id"
)
HELD: LiteralString = "SELECT count(*) FROM workflow_side_effects_outbox WHERE held_at IS NOT NULL"
DISABLED = ("ENDPOINT_DISABLED", "configuration", "erp")


def switch(stage: WorkflowStage, status: Any) -> None:
    """Switch the endpoint on or off, as a person with `endpoint:edit` does."""
    company = stage.standing.company
    endpoints, olga = Endpoints(company.database, lambda url, hosts: None), company.caller("olga")
    found = endpoints.read(olga.principal, "erp")
    endpoints.replace(olga, "erp", found.version, EndpointTerms(found.url, found.secret_refs, status))


def submit(stage: WorkflowStage, contract: str) -> Made:
    document = stage.create(contract)
    stage.ask(document.id, "submit")
    stage.drain()
    return document


@pytest.fixture
def contract(stage: WorkflowStage) -> str:
    add_endpoint(stage)
    return stage.publish(checks={"nodes": [CALL]})


@pytest.fixture
def held(stage: WorkflowStage, contract: str) -> Made:
    """Make a document whose call was answered with 410."""
    document = submit(stage, contract)
    effects(stage, webhook=Answering(GONE)).work(stage.tenant_id)
    stage.drain()
    return document


def test_a_410_holds_the_call_and_says_so(stage: WorkflowStage, held: Made) -> None:
    assert rows(stage) == [("pending", 0)]
    assert endpoint(stage)[0] == "disabled"
    assert stage.standing.rows(OPEN, held.instance_id) == [DISABLED]
    status, _, reason = status_of(stage, held)
    assert status == "paused" and reason is not None
    assert "the receiver answered 410" in reason
    check(stage, held)


def test_what_comes_by_later_is_held_as_well(stage: WorkflowStage, contract: str, held: Made) -> None:
    later = submit(stage, contract)
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    stage.drain()
    assert connector.given == []
    assert stage.standing.rows(OPEN, later.instance_id) == [DISABLED]
    company = stage.standing.company
    instances, olga = operating_on(stage)
    incidents = Incidents(company.database, CompiledCache(), instances)
    (group,) = [one for one in incidents.list_groups(olga.principal) if one.endpoint == "erp"]
    assert (group.code, group.count) == ("ENDPOINT_DISABLED", 2)
    # They are looked at again from time to time, and are told only once.
    come_due(stage)
    effects(stage, webhook=connector).work(stage.tenant_id)
    stage.drain()
    assert connector.given == []
    assert stage.standing.rows(CLOSED, later.instance_id) == []
    check(stage, later)


def test_switching_it_on_sends_what_it_held(stage: WorkflowStage, contract: str, held: Made) -> None:
    later = submit(stage, contract)
    worker = effects(stage, webhook=Answering())
    worker.work(stage.tenant_id)
    stage.drain()
    switch(stage, "active")
    stage.drain()
    assert stage.standing.row(HELD) == (0,)
    for document in (held, later):
        assert stage.standing.rows(OPEN, document.instance_id) == []
        assert stage.standing.rows(CLOSED, document.instance_id) == [("ENDPOINT_DISABLED", "resumed")]
        assert status_of(stage, document)[0] == "running"
    worker.work(stage.tenant_id)
    stage.drain()
    for document in (held, later):
        assert stage.status_of(document.id) == "active"
        check(stage, document)


def test_switched_off_by_hand_it_holds_too(stage: WorkflowStage, contract: str) -> None:
    document = submit(stage, contract)
    switch(stage, "disabled")
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    stage.drain()
    assert stage.standing.rows(OPEN, document.instance_id) == [DISABLED]


def test_what_may_have_left_stays_noted_when_it_is_freed(stage: WorkflowStage, contract: str) -> None:
    """Hold a call that has been tried: freed, it has all its attempts, and says that it may have left."""
    submit(stage, contract)
    worker = effects(stage, webhook=Answering(Delivery(503, "ANSWERED: 503")))
    for _ in range(3):
        worker.work(stage.tenant_id)
        come_due(stage)
    switch(stage, "disabled")
    worker.work(stage.tenant_id)
    assert rows(stage) == [("pending", 3)]
    switch(stage, "active")
    assert rows(stage) == [("pending", 0)]
    assert list_may_have_left(stage) == [True]


@pytest.mark.parametrize("is_delivered", [True, False])
def test_what_was_not_freed_goes_on_when_it_is_looked_at(
    stage: WorkflowStage, held: Made, is_delivered: bool
) -> None:
    """Switch the endpoint on past the use case, as the rest of a long list is left to the next look."""
    stage.standing.run("UPDATE endpoints SET status = 'active', disabled_reason = NULL")
    come_due(stage)
    delivery = Delivery(200, None) if is_delivered else Delivery(503, "ANSWERED: 503")
    effects(stage, webhook=Answering(delivery)).work(stage.tenant_id)
    stage.drain()
    assert stage.standing.row(HELD) == (0,)
    assert stage.standing.rows(OPEN, held.instance_id) == []
    closing = "went_on" if is_delivered else "resumed"
    assert stage.standing.rows(CLOSED, held.instance_id) == [("ENDPOINT_DISABLED", closing)]
    assert stage.status_of(held.id) == ("active" if is_delivered else "draft")
    check(stage, held)


def test_a_retry_while_it_is_off_is_held_again(stage: WorkflowStage, held: Made) -> None:
    instances, olga = operating_on(stage)
    company = stage.standing.company
    incidents = Incidents(company.database, CompiledCache(), instances)
    wanted = IncidentFilter(True, "ENDPOINT_DISABLED", endpoint="erp")
    incidents.retry_many(olga, wanted, "is it on?")
    stage.drain()
    assert stage.standing.rows(CLOSED, held.instance_id) == [("ENDPOINT_DISABLED", "retried")]
    assert stage.standing.rows(OPEN, held.instance_id) == [DISABLED]
    assert rows(stage) == [("pending", 0)]


def test_the_acts_on_what_is_held(stage: WorkflowStage, held: Made) -> None:
    company = stage.standing.company
    acts, olga = EffectActs(company.database, stage.caches(), CompiledCache()), company.caller("olga")
    (listed,) = acts.list_of_instance(olga.principal, held.instance_id, before=None, limit=5)
    assert (listed.status, listed.acts) == ("held", ["withdraw"])
    with pytest.raises(Rejected) as refused:
        acts.try_now(olga, listed.id, "now")
    assert refused.value.code == "ENDPOINT_DISABLED"
    acts.withdraw(olga, listed.id, "they are out of business")
    stage.drain()
    assert stage.standing.rows(OPEN, held.instance_id) == [("EFFECT_WITHDRAWN", "business", "erp")]
    check(stage, held)


def test_what_is_held_is_skipped_and_not_sent_later(stage: WorkflowStage, held: Made) -> None:
    company = stage.standing.company
    olga = company.caller("olga")
    repairs = Repairs(company.database, stage.caches(), CompiledCache())
    repairs.skip(olga, held.instance_id, version(stage, held), "usr:checks:call", "told by phone")
    stage.drain()
    assert stage.status_of(held.id) == "active"
    assert stage.standing.rows(CLOSED, held.instance_id) == [("ENDPOINT_DISABLED", "skipped")]
    assert rows(stage) == [("withdrawn", 0)]
    switch(stage, "active")
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    assert connector.given == []
    check(stage, held)


def test_another_branch_runs_on(stage: WorkflowStage) -> None:
    """Hold a call in one branch of a block: the other branch goes on, and the instance is not paused."""
    add_endpoint(stage)
    wait = {
        "id": "told",
        "type": "notification",
        "config": {
            "channel": "email",
            "to": [{"by": "user", "user": "carl"}],
            "subject": "s",
            "text": "t",
            "await": True,
        },
    }
    nodes = [
        {"id": "split", "type": "parallel_split"},
        CALL,
        wait,
        {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
    ]
    edges = [
        {"source": "split", "target": "call"},
        {"source": "split", "target": "told"},
        {"source": "call", "target": "join"},
        {"source": "told", "target": "join"},
    ]
    document = submit(stage, stage.publish(checks={"nodes": nodes, "edges": edges, "exit": "join"}))
    effects(stage, webhook=Answering(GONE), email=Answering(Delivery(503, "later"))).work(stage.tenant_id)
    stage.drain()
    assert stage.standing.rows(OPEN, document.instance_id) == [DISABLED]
    assert status_of(stage, document)[0] == "running"
    check(stage, document)


# --- an endpoint that does not exist ---

UNKNOWN = ("ENDPOINT_UNKNOWN", "configuration", "erp")


@pytest.fixture
def unsent(stage: WorkflowStage) -> Made:
    """Make a document whose call is for an endpoint that nobody has made."""
    contract = stage.publish(checks={"nodes": [CALL]})
    stage.standing.run("DELETE FROM endpoints WHERE name = 'erp'")
    document = submit(stage, contract)
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    stage.drain()
    return document


def test_a_call_to_a_missing_endpoint_is_held_at_once(stage: WorkflowStage, unsent: Made) -> None:
    assert rows(stage) == [("pending", 0)]
    assert list_may_have_left(stage) == [False]
    assert stage.standing.rows(OPEN, unsent.instance_id) == [UNKNOWN]
    company = stage.standing.company
    acts, olga = EffectActs(company.database, stage.caches(), CompiledCache()), company.caller("olga")
    (listed,) = acts.list_of_instance(olga.principal, unsent.instance_id, before=None, limit=5)
    assert (listed.status, listed.acts) == ("held", ["withdraw"])
    with pytest.raises(Rejected) as refused:
        acts.try_now(olga, listed.id, "now")
    assert refused.value.code == "ENDPOINT_UNKNOWN"
    check(stage, unsent)


def test_making_the_endpoint_sends_what_waits_for_it(stage: WorkflowStage, unsent: Made) -> None:
    company = stage.standing.company
    endpoints = Endpoints(company.database, lambda url, hosts: None)
    endpoints.create(company.caller("olga"), "erp", EndpointTerms("https://erp.example/", ["new"]))
    stage.drain()
    assert stage.standing.rows(CLOSED, unsent.instance_id) == [("ENDPOINT_UNKNOWN", "resumed")]
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    stage.drain()
    assert len(connector.given) == 1
    assert stage.status_of(unsent.id) == "active"
    check(stage, unsent)


def test_deleting_an_endpoint_holds_what_is_for_it(stage: WorkflowStage, contract: str) -> None:
    document = submit(stage, contract)
    company = stage.standing.company
    endpoints, olga = Endpoints(company.database, lambda url, hosts: None), company.caller("olga")
    endpoints.delete(olga, "erp", endpoints.read(olga.principal, "erp").version)
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    stage.drain()
    assert stage.standing.rows(OPEN, document.instance_id) == [UNKNOWN]


def test_what_the_release_before_held_has_the_same_code(stage: WorkflowStage, held: Made) -> None:
    """It wrote the reason without its code."""
    stage.standing.run("UPDATE workflow_side_effects_outbox SET error = 'the endpoint is switched off: 410'")
    instances, olga = operating_on(stage)
    instances.retry(olga, held.instance_id, version(stage, held), "is it on?")
    stage.drain()
    assert stage.standing.rows(OPEN, held.instance_id) == [DISABLED]
