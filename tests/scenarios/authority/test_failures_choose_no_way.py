"""Failures choose no way: where people decide, an edge for errors is for what fails outside."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Create
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.machines import add_account
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

BOSS = {"id": "boss", "type": "approval", "config": {"approvers": [role("boss")]}}
LOOK = {**BOSS, "id": "look", "config": {"approvers": [role("voter")]}}
STAMP = {"id": "step", "type": "action", "config": {"action": "post"}}
CALL: dict[str, Any] = {"id": "step", "type": "webhook_out", "config": {"endpoint": "erp"}}
OPEN = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
APPROVED = "approved"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = {"vlad": ("voter", "admin"), "carl": ("admin",), "olga": ("boss", "admin")}
        made.standing.run(
            "INSERT INTO roles (tenant_id, role, permissions)"
            " SELECT %s, unnest('{boss,nobody,noter}'::text[]), '{}'",
            made.tenant_id,
        )
        members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in people.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def skipping(step: Mapping[str, Any]) -> dict[str, Any]:
    """Let the boss be asked behind a step, unless it fails; the voters are asked in any case."""
    edges = [
        {"source": "step", "target": "boss"},
        {"source": "step", "target": "look", "on": "error"},
        {"source": "boss", "target": "look"},
    ]
    return {"nodes": [step, BOSS, LOOK], "edges": edges}


def held(stage: WorkflowStage, made: Made) -> list[str]:
    return [code for (code,) in stage.standing.rows(OPEN, made.id)]


def repair(stage: WorkflowStage, made: Made) -> None:
    """Let an operator without a part in the document retry what is held."""
    stage.retry(made, stage.standing.company.caller("otto", "admin"))
    stage.check_rebuild(made.instance_id)


def act(stage: WorkflowStage, made: Made, name: str, *reason: str) -> None:
    instances = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    version = stage.instance(made.instance_id)["version"]
    getattr(instances, name)(
        stage.standing.company.caller("otto", "admin"), made.instance_id, version, *reason
    )


# --- what a step makes is refused ---


def paying(stage: WorkflowStage) -> tuple[str, str, str]:
    """Let an order pay its vendor, and another account where that is refused. People approve each payment."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    fields = {
        **CONTRACT["fields"],
        "vendor": ref,
        "code": {"type": "string", "unique": True, "required": True, "max_length": 9},
    }
    payment = stage.publish({**CONTRACT, "fields": fields}, approval={"nodes": [LOOK]})
    number = {"number": "{entity.number}", "code": "{entity.number}"}
    actions = {
        "pay": {"kind": "create", "entity_type": payment, "set": {**number, "vendor": "{entity.vendor}"}},
        "pay_other": {"kind": "create", "entity_type": payment, "set": {"number": "FRAUD", "code": "FRAUD"}},
    }
    nodes = [
        {"id": name, "type": "action", "config": {"action": name, "run_as": "system"}} for name in actions
    ]
    edges = [
        {"source": "pay", "target": "out"},
        {"source": "pay", "target": "pay_other", "on": "error"},
        {"source": "pay_other", "target": "out"},
    ]
    fields = {**CONTRACT["fields"], "vendor": ref}
    slot = {"nodes": nodes, "edges": edges, "exit": "join"}
    return vendor, payment, stage.publish({**CONTRACT, "fields": fields, "actions": actions}, posting=slot)


def paid(stage: WorkflowStage, payment: str) -> list[str]:
    query = "SELECT data ->> 'number' FROM documents WHERE entity_type = %s AND deleted_at IS NULL"
    rows = stage.standing.rows(query, payment)
    return [number for (number,) in rows]


def test_who_has_a_rule_refuse_a_payment_makes_no_other_one(stage: WorkflowStage) -> None:
    vendor, payment, order = paying(stage)
    stage.add_rule(payment, "stop", "entity.vendor.number == 'B'", on="create")
    supplier = stage.create(vendor, "olga", number="A")
    edit(stage, supplier, "vlad", number="B")
    made = stage.create(order, "carl", vendor=str(supplier.id), number="P1")
    submit(stage, made, "carl")
    assert (held(stage, made), paid(stage, payment)) == (["RULE_REJECTED"], [])
    edit(stage, supplier, "olga", number="A")
    repair(stage, made)
    assert (held(stage, made), paid(stage, payment)) == ([], ["P1"])


def test_who_takes_the_key_of_a_payment_makes_no_other_one(stage: WorkflowStage) -> None:
    vendor, payment, order = paying(stage)
    taken = stage.mutate(Create(payment, {"number": "TAKEN", "code": "P1"}), "vlad")
    supplier = stage.create(vendor, "olga", number="A")
    made = stage.create(order, "carl", vendor=str(supplier.id), number="P1")
    submit(stage, made, "carl")
    assert (held(stage, made), paid(stage, payment)) == (["KEY_TAKEN"], ["TAKEN"])
    stage.delete(taken.document_id)
    repair(stage, made)
    assert (held(stage, made), paid(stage, payment)) == ([], ["P1"])


# --- the step may not do it ---


def set_permissions(stage: WorkflowStage, *permissions: str) -> None:
    stage.standing.run(
        "UPDATE roles SET permissions = %s WHERE tenant_id = %s AND role = 'noter'",
        list(permissions),
        stage.tenant_id,
    )


def test_who_takes_a_permission_from_an_account_skips_nobody(stage: WorkflowStage) -> None:
    set_permissions(stage, "*:post")
    add_account(stage.standing.company, "bot", "noter", owner="otis")
    step = {**STAMP, "config": {"action": "post", "run_as": "service_account", "service_account": "bot"}}
    order = stage.publish(approval=skipping(step))
    set_permissions(stage, "*:read")
    made = stage.create(order, "carl")
    submit(stage, made, "carl")
    assert (held(stage, made), list_asked(stage, made)) == (["PERMISSION_DENIED"], [])
    set_permissions(stage, "*:post")
    repair(stage, made)
    assert list_asked(stage, made) == ["@boss"]


@pytest.mark.parametrize("is_made", [False, True], ids=["a request decides", "its origin was approved"])
def test_who_makes_a_step_fail_chooses_no_way_though_its_workflow_asks_nobody(
    stage: WorkflowStage, is_made: bool
) -> None:
    duties = {} if is_made else {"separation_of_duties": {"deciding": ["submit"]}}
    edges = [
        {"source": "step", "target": "out"},
        {"source": "step", "target": "other", "on": "error"},
        {"source": "other", "target": "out"},
    ]
    other = {"id": "other", "type": "script", "config": {"set": {"seen": "1"}}}
    slot = {"nodes": [STAMP, other], "edges": edges, "exit": "join"}
    payment = stage.publish({**CONTRACT, **duties}, checks=slot)
    if is_made:
        actions = {"pay": {"kind": "create", "entity_type": payment, "set": {"number": "P1"}}}
        pay = {"id": "pay", "type": "action", "config": {"action": "pay", "run_as": "system"}}
        contract = {**CONTRACT, "actions": actions}
        order = stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [pay]})
        origin = stage.create(order, "carl")
        submit(stage, origin, "carl")
        assert vote(stage, origin.id, "vlad") == APPROVED
        (document,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", payment)
        made = Made(document, stage.instance_of(document))
    else:
        made = stage.create(payment, "carl")
    set_permissions(stage, "*:submit")
    stage.ask(made.id, "submit", "sam", "noter")
    stage.drain()
    assert held(stage, made) == ["PERMISSION_DENIED"]
    assert "usr:checks:other" not in stage.nodes(made.instance_id)


# --- nothing has left ---


def test_a_receiver_that_fails_leads_on(stage: WorkflowStage) -> None:
    """The lawful way beside it: the author has drawn it for that."""
    made = stage.create(stage.publish(approval=skipping(CALL)), "carl")
    submit(stage, made, "carl")
    stage.answer(made.instance_id, error="ANSWERED: 500")
    stage.drain()
    assert (held(stage, made), list_asked(stage, made)) == ([], ["@voter"])
    assert vote(stage, made.id, "vlad") == APPROVED


@pytest.mark.parametrize(
    "error",
    [
        "SECRET_MISSING: there is none",
        "ADDRESS_REFUSED: it is private",
        "NOBODY_MEANT: no active member",
        "ADDRESS_MISSING: no mail is known",
    ],
)
def test_what_the_tenant_has_not_set_up_leads_nowhere(stage: WorkflowStage, error: str) -> None:
    telling: dict[str, Any] = {"channel": "email", "to": [role("nobody")], "text": "x", "await": True}
    told = {"id": "step", "type": "notification", "config": telling}
    step = told if error.startswith(("NOBODY", "ADDRESS_MISSING")) else CALL
    made = stage.create(stage.publish(approval=skipping(step)), "carl")
    submit(stage, made, "carl")
    stage.answer(made.instance_id, error=error)
    stage.drain()
    assert (len(held(stage, made)), list_asked(stage, made)) == (1, [])
    repair(stage, made)
    stage.answer(made.instance_id)
    stage.drain()
    assert list_asked(stage, made) == ["@boss"]


@pytest.mark.parametrize(
    ("attempts", "error", "is_paused", "is_held"),
    [
        (0, None, False, True),
        (1, "ENDPOINT_DISABLED: off", False, True),
        (1, "ANSWERED: 500", True, True),
        (1, "ANSWERED: 500", False, False),
    ],
)
def test_an_answer_that_is_late_leads_on_where_the_receiver_was_asked(
    stage: WorkflowStage, attempts: int, error: str | None, is_paused: bool, is_held: bool
) -> None:
    """Otherwise who pauses the instance, or switches the endpoint off, would choose the way."""
    step = {**CALL, "config": {"endpoint": "erp", "timeout": "PT1H"}}
    made = stage.create(stage.publish(approval=skipping(step)), "carl")
    submit(stage, made, "carl")
    if is_paused:
        act(stage, made, "pause", "a look")
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = %s, error = %s WHERE instance_id = %s",
        attempts,
        error,
        made.instance_id,
    )
    stage.standing.run(
        "UPDATE workflow_step_executions SET resume_at = now() - interval '1 second'"
        " WHERE instance_id = %s AND status = 'running'",
        made.instance_id,
    )
    if is_paused:
        act(stage, made, "resume")
    stage.make_due()
    stage.drain()
    assert held(stage, made) == (["EFFECT_TIMEOUT"] if is_held else [])
    assert list_asked(stage, made) == ([] if is_held else ["@voter"])
