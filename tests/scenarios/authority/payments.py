"""Orders that are approved, and make payments, whose own way then asks nobody, or some people."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.runtime.operator_actions import Sequel
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, RunAction, WithdrawRequest
from signet.engine.instances.actions import Instances
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PAY: Mapping[str, Any] = {
    "id": "pay",
    "type": "webhook_out",
    "config": {
        "endpoint": "erp",
        "payload": {"iban": "{entity.number}", "amount": {"$expr": "entity.amount"}},
    },
}
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
MAKE = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
PAY_OUT = {"id": "pay_out", "type": "action", "config": {"action": "pay_out", "run_as": "system"}}
MARK = {"id": "mark", "type": "action", "config": {"action": "mark", "run_as": "system"}}
GOOD, FRAUD = {"iban": "DE-OK", "amount": 100}, {"iban": "DE-FRAUD", "amount": 999}
TYPED = {"number": "DE-FRAUD", "amount": 999}
GIVEN = {"number": "{entity.number}", "amount": {"$expr": "entity.amount"}}
AMENDMENT_HELD, HELD = ["AMENDMENT_UNASKED"], ["EDIT_UNASKED"]
# The fraudster types, app1 and app2 decide.
STATES: Mapping[str, Any] = {
    "new": {"edit": "editable", "initial": True},
    "mid": {"edit": "locked"},
    "sent": {"edit": "amend_only", "settled": True},
    "void": {"edit": "locked", "final": True},
}
TRANSITIONS: Mapping[str, Any] = {
    "prep": {"from": ["new"], "to": "mid", "kind": "requested"},
    "go": {"from": ["mid"], "to": "sent", "kind": "automatic", "rejected_to": "new"},
    "drop": {"from": ["new", "mid"], "to": "void", "kind": "interrupting"},
}
SLOTS: Mapping[str, Any] = {
    "before_prep": {"transition": "prep"},
    "amended": {"transition": "prep", "from": "amended"},
    "behind_prep": {"transition": "prep", "position": "after"},
    "before_go": {"transition": "go"},
    "behind_go": {"transition": "go", "position": "after"},
    "behind_drop": {"transition": "drop", "position": "after"},
}
ON_THE_WAY = ["before_prep", "behind_prep", "before_go"]
# Nobody is locked out there: the gate that leads to it holds nothing.
OPEN = {"edit": "editable"}


@contextmanager
def standing_payments(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def publish_payments(stage: WorkflowStage, **slots: Any) -> str:
    """Publish payments, with nodes in the slots; `new`, `mid` and `deciding` are changes of the contract."""
    states = {**STATES, **{name: slots.pop(name) for name in STATES if name in slots}}
    locked = {"draft": {"edit": "locked", "initial": True}, "submitted": {"edit": "locked"}}
    payout = stage.publish({**CONTRACT, "states": {**CONTRACT["states"], **locked}})
    contract = {
        **CONTRACT,
        "states": states,
        "transitions": TRANSITIONS,
        "slots": SLOTS,
        "amendment": {"from": ["sent"]},
        "actions": {
            "pay_out": {"kind": "create", "entity_type": payout, "set": GIVEN},
            "mark": {"kind": "update", "set": {"number": "{entity.number}!"}},
        },
        "deletable_in": [],
        "separation_of_duties": {"deciding": slots.pop("deciding", [])},
    }
    return stage.publish(contract, **fill(slots))


def publish_next(stage: WorkflowStage, payment: str, **slots: Any) -> None:
    """Publish the next definition of payments: those that are sent are amended under it."""
    stage.publish_next(payment, **fill(slots))


def fill(slots: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: nodes if isinstance(nodes, Mapping) else chained(nodes) for name, nodes in slots.items()}


def chained(nodes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    ids = [str(node["id"]) for node in nodes]
    edges = [{"source": a, "target": b} for a, b in pairwise(ids)]
    return {"nodes": list(nodes), "edges": edges}


def conditional(*nodes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Go through these nodes with large amounts alone."""
    graph = chained(nodes)
    large = {"source": "size", "target": nodes[0]["id"], "condition": "entity.amount > 1000"}
    ends = [{"source": "size", "target": "out"}, {"source": nodes[-1]["id"], "target": "out"}]
    size = {"id": "size", "type": "condition"}
    return {"nodes": [size, *nodes], "edges": [large, *graph["edges"], *ends], "exit": "join"}


def pay_order(
    stage: WorkflowStage, payment: str, given: Mapping[str, Any] = GIVEN, *, required: bool = False
) -> Made:
    """Have an order approved that makes a payment; return the payment."""
    make = {"kind": "create", "entity_type": payment, "set": given}
    slots = dict(CONTRACT["slots"])
    if required:
        slots["approval"] = {**slots["approval"], "requires": {"approvals": 1, "role": "voter"}}
    states = {**CONTRACT["states"], "submitted": {"edit": "locked"}}
    contract = {**CONTRACT, "states": states, "slots": slots, "actions": {"make": make}}
    order = stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [MAKE]})
    made = stage.create(order, "carl", number="DE-OK", amount=100)
    stage.ask(made.id, "submit", "carl")
    stage.drain()
    assert vote(stage, made.id, "app1") == "approved"
    return newest_of(stage, payment)


def newest_of(stage: WorkflowStage, entity_type: str) -> Made:
    query = "SELECT id FROM documents WHERE entity_type = %s ORDER BY id DESC LIMIT 1"
    (found,) = stage.standing.row(query, entity_type)
    return Made(found, stage.instance_of(found))


def ask(stage: WorkflowStage, document: Made, transition: str, by: str = "carl") -> None:
    stage.ask(document.id, transition, by)
    stage.drain()


def amend(stage: WorkflowStage, document: Made, **changes: Any) -> Made:
    applied = stage.mutate(Amend(document.id, stage.version_of(document.id), changes), "carl")
    stage.drain()
    assert applied.instance_id is not None
    return Made(applied.document_id, applied.instance_id)


def calls(stage: WorkflowStage, document: Made) -> list[Any]:
    query = (
        "SELECT e.payload_json -> 'payload' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s AND e.effect_type = 'webhook' ORDER BY e.id"
    )
    return [row[0] for row in stage.standing.rows(query, document.id)]


def incidents(stage: WorkflowStage, document: Made) -> list[str]:
    query = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    return [row[0] for row in stage.standing.rows(query, document.id)]


def answer(stage: WorkflowStage, document: Made) -> None:
    stage.answer(stage.instance_of(document.id), body={})
    stage.drain()


def withdraw(stage: WorkflowStage, document: Made) -> None:
    query = "SELECT id FROM transition_requests WHERE document_id = %s AND status = 'open'"
    (request,) = stage.standing.row(query, document.id)
    stage.mutate(WithdrawRequest(document.id, request), "carl")
    stage.drain()


def end_workflow(stage: WorkflowStage, document: Made, then: Sequel | None = None) -> None:
    """Let an operator cancel the workflow, and leave the document where it is."""
    instances = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    caller, instance_id, version, _ = _name_token(stage, document)
    instances.cancel(caller, instance_id, version, "why", then)
    stage.drain()


def restart(stage: WorkflowStage, document: Made) -> None:
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    olga = stage.standing.company.caller("olga", "admin")
    restarts.restart(olga, document.id, stage.version_of(document.id), "why")
    stage.drain()


def skip(stage: WorkflowStage, document: Made) -> None:
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    repairs.skip(*_name_token(stage, document), "why")
    stage.drain()


def _name_token(stage: WorkflowStage, document: Made) -> tuple[Caller, UUID, int, str]:
    instance_id, olga = stage.instance_of(document.id), stage.standing.company.caller("olga", "admin")
    instance = stage.instance(instance_id)
    (token,) = (token["id"] for token in instance["active_tokens"])
    return olga, instance_id, instance["version"], token


def by_hand(stage: WorkflowStage, document: Made) -> str:
    try:
        stage.mutate(RunAction(document.id, stage.version_of(document.id), "pay_out", {}), "carl")
    except Rejected as refused:
        return refused.code
    stage.drain()
    return "made"


def count_made_of(stage: WorkflowStage, document: Made) -> int:
    """Count the documents that actions have made of this one."""
    query = (
        "SELECT count(*) FROM audit_log WHERE subject_type = 'document'"
        " AND content::json #>> '{detail,made_by,document_id}' = %s"
    )
    return int(stage.standing.row(query, str(document.id))[0])


def settled(stage: WorkflowStage, **slots: Any) -> tuple[Made, str]:
    """Return a payment that was sent as it was approved, with its type."""
    payment = publish_payments(stage, **slots)
    made = pay_order(stage, payment)
    ask(stage, made, "prep")
    if calls(stage, made):
        answer(stage, made)
    assert stage.status_of(made.id) == "sent"
    return made, payment
