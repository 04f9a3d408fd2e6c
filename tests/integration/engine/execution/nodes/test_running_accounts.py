"""Steps that run as a service account: with its roles of the moment, and never while it cannot be used."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.compiler import slot_graph
from signet.core.tenants.principal import SERVICE_ROLE, SERVICE_SUBJECT
from signet.engine.documents.commands import Applied, Create, RequestTransition
from signet.engine.execution.nodes import running_accounts
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.store.tenants.service_accounts import read_running_accounts
from tests.support.company import INVOICE, Company
from tests.support.drained_waves import drain
from tests.support.invoice_instances import Admin, publish_patch, read, stand_of
from tests.support.machines import add_account, disable_member, set_account_status

POLICY = "sys:policy:usr:approved_to_active:p"


@pytest.fixture(autouse=True)
def unconditional(company: Company) -> None:
    """Publish the contract without conditions: no step here asks people, only the system."""
    company.publish("invoice", version=2, conditions={})


def give(company: Company, role: str, *permissions: str) -> None:
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, %s, %s)"
            " ON CONFLICT (tenant_id, role) DO UPDATE SET permissions = excluded.permissions",
            [company.tenant_id, role, list(permissions)],
        )


def publish(company: Company, *, node_type: str = "action", **config: Any) -> None:
    if node_type == "action":
        payload = {"ledger_entry": "AP-1", "posted_on": {"$expr": "entity.invoice_date"}}
        config = {"action": "post_to_ledger", "payload": payload, **config}
    node = {"id": "p", "type": node_type, "config": {"run_as": "service_account", **config}}
    publish_patch(company, {"approved_to_active": {"nodes": [node]}}, version=2)


def submit(company: Company, worker: Worker, number: str = "R-1") -> UUID:
    made = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": number}))
    request = RequestTransition(made.document_id, 1, "submit")
    company.documents.mutate(company.caller("sam", "clerk"), request)
    drain(worker, [company.tenant_id])
    return UUID(str(made.instance_id))


def ledger(admin: Admin) -> list[tuple[Any, ...]]:
    return read(admin, "SELECT data ->> 'ledger_entry' FROM documents ORDER BY id")


@pytest.fixture
def posting(company: Company) -> Company:
    """Publish a step that runs as an account of kim, who holds no role."""
    give(company, "machine", "invoice:post")
    add_account(company, "posting", "machine", owner="kim")
    publish(company, service_account="posting")
    return company


def break_account(company: Company, how: str) -> str:
    if how == "account":
        set_account_status(company, "posting", "disabled")
        return "the service account 'posting' is disabled"
    disable_member(company, "kim")
    return "kim, who owns the service account 'posting', is disabled"


@pytest.mark.parametrize("how", ["account", "owner"])
def test_an_instance_pauses_while_its_account_cannot_be_used(
    posting: Company, worker: Worker, instances: Instances, admin: Admin, how: str
) -> None:
    reason = break_account(posting, how)
    instance_id = submit(posting, worker)
    stood = stand_of(admin, instance_id)
    assert stood == ("paused", [POLICY], f"SERVICE_ACCOUNT_UNUSABLE: {reason}")
    assert ledger(admin) == [(None,)], "nothing of the step happened"
    add_account(posting, "posting", "machine", owner="carl")
    set_account_status(posting, "posting", "active")
    ((version,),) = read(admin, "SELECT version::int FROM workflow_instances WHERE id = %s", instance_id)
    instances.retry(posting.caller(), instance_id, version, "it has an owner again")
    drain(worker, [posting.tenant_id])
    assert stand_of(admin, instance_id) == ("completed", [], None)
    assert ledger(admin) == [("AP-1",)]


@pytest.mark.parametrize("node_type", ["webhook_out", "notification"])
def test_steps_that_ask_no_permission_pause_too(
    company: Company, worker: Worker, admin: Admin, node_type: str
) -> None:
    config: dict[str, Any] = {"event": "invoice.posted"}
    if node_type == "notification":
        config = {"channel": "email", "to": [{"by": "role", "role": "admin"}], "text": "posted"}
    add_account(company, "posting", "reader")
    publish(company, node_type=node_type, service_account="posting", **config)
    submit(company, worker, "R-1")
    sent = read(admin, "SELECT count(*)::int FROM workflow_side_effects_outbox")
    runs = read(
        admin, "SELECT run_as, actor_user_id FROM workflow_step_executions WHERE node_id LIKE 'usr:%%'"
    )
    assert set(runs) == {("service_account", "service:posting")}
    set_account_status(company, "posting", "disabled")
    paused = submit(company, worker, "R-2")
    status, nodes, reason = stand_of(admin, paused)
    assert (status, nodes) == ("paused", ["usr:approved_to_active:p"])
    assert reason == "SERVICE_ACCOUNT_UNUSABLE: the service account 'posting' is disabled"
    assert read(admin, "SELECT count(*)::int FROM workflow_side_effects_outbox") == sent


def test_a_step_has_the_roles_that_the_account_has_when_it_comes(
    posting: Company, worker: Worker, admin: Admin
) -> None:
    add_account(posting, "posting", "reader", owner="kim")
    denied = submit(posting, worker, "R-1")
    assert stand_of(admin, denied) == (
        "paused",
        ["sys:policy:usr:approved_to_active:p"],
        "PERMISSION_DENIED: needs the permission 'invoice:post'",
    )
    add_account(posting, "posting", "machine", owner="kim")
    assert stand_of(admin, submit(posting, worker, "R-2")) == ("completed", [], None)
    audited = read(
        admin,
        "SELECT actor_id, content::jsonb ->> 'via' FROM audit_log WHERE action = 'action:post_to_ledger'",
    )
    assert audited == [("service:posting", "workflow")]


def test_expressions_read_the_account_as_the_actor(company: Company, worker: Worker, admin: Admin) -> None:
    give(company, "machine", "invoice:post")
    add_account(company, "posting", "machine")
    conditions = {"invoice:post": "actor.user_id == 'service:posting' && 'machine' in actor.roles"}
    company.publish("invoice", version=3, conditions=conditions)
    payload = {"ledger_entry": "{actor.user_id}", "posted_on": {"$expr": "entity.invoice_date"}}
    config = {
        "action": "post_to_ledger",
        "payload": payload,
        "run_as": "service_account",
        "service_account": "posting",
    }
    slot = {"nodes": [{"id": "p", "type": "action", "config": config}]}
    publish_patch(company, {"approved_to_active": slot}, version=3)
    assert stand_of(admin, submit(company, worker)) == ("completed", [], None)
    assert ledger(admin) == [("service:posting",)]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[set[str]]]:
    seen: list[set[str]] = []

    def read_and_count(connection: Any, tenant_id: UUID, account_ids: Any) -> Any:
        seen.append(set(account_ids))
        return read_running_accounts(connection, tenant_id, account_ids)

    monkeypatch.setattr(running_accounts, "read_running_accounts", read_and_count)
    yield seen


def test_accounts_are_read_once_in_a_wave_and_only_when_a_step_needs_one(
    posting: Company, worker: Worker, admin: Admin, reads: list[set[str]]
) -> None:
    made: list[Applied] = []
    for number in range(3):
        data = {**INVOICE, "number": f"R-{number}"}
        made.append(posting.documents.mutate(posting.caller(), Create("invoice", data)))
    drain(worker, [posting.tenant_id])
    assert reads == []
    for applied in made:
        request = RequestTransition(applied.document_id, 1, "submit")
        posting.documents.mutate(posting.caller("sam", "clerk"), request)
    drain(worker, [posting.tenant_id])
    assert reads == [{"posting"}]
    assert ledger(admin) == [("AP-1",)] * 3


def test_a_definition_from_before_names_runs_with_the_role_of_that_name(
    company: Company, worker: Worker, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publish as the release before did, which asked for no name."""
    monkeypatch.setattr(slot_graph, "_check_run_as", lambda node_id, config: iter(()))
    give(company, SERVICE_ROLE, "invoice:post")
    publish(company)
    assert stand_of(admin, submit(company, worker)) == ("completed", [], None)
    runs = read(admin, "SELECT run_as, actor_user_id FROM workflow_step_executions WHERE node_id LIKE '%%:p'")
    assert set(runs) == {("service_account", SERVICE_SUBJECT)}


def test_an_account_that_vanished_pauses_like_a_disabled_one(
    posting: Company, worker: Worker, admin: Admin
) -> None:
    admin.execute("DELETE FROM service_accounts")
    stood = stand_of(admin, submit(posting, worker))
    assert stood == (
        "paused",
        [POLICY],
        "SERVICE_ACCOUNT_UNUSABLE: the tenant has no service account 'posting'",
    )
