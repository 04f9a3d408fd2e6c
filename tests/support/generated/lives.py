"""Documents that live through random workflows on Postgres, and the same lives in the simulator."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from random import Random
from typing import Any, LiteralString
from uuid import UUID

from hypothesis import strategies as st

from signet.authoring.actions import ActionInput, ActionResult
from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.simulation.nodes import scripted
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Create, RequestTransition, Update
from signet.engine.execution.wave import Clock
from signet.engine.tenants.install import install_tenant
from tests.support.generated.runnable_workflows import make_runnable
from tests.support.generated.scripts import ASKER, NODES, make_document
from tests.support.generated.workflows import SETTINGS, WorkflowCase
from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CallAnswer, WorkflowStage, stopped

ASKING = ("create", "edit", "amend", "t1", "t2", "t3", "park", "unpark", "renew", "cancel", "recall")
# A quick run takes its workflows from a few, each published once in a database.
workflows = st.integers(0, 2**32 - 1 if os.environ.get("SIGNET_FUZZ_EXAMPLES") else 39)
# Permissions of each role: everything, everything but actions, nothing.
PERMISSIONS = {"boss": ("*:*",), "hand": tuple(f"*:{each}" for each in ASKING), "clerk": ()}
VOTES: Sequence[Any] = ("approved", "approved", "rejected")
OUTPUT = {"total": 3}
RESPONSE = {"points": 9, "note": "ok"}
# What the engine keeps of it.
ANSWER = {"status": 200, "body": RESPONSE, "duration_ms": 1.0}
TASK = {
    "contract": "task",
    "fields": {"title": {"type": "string"}},
    "states": {"open": {"edit": "editable", "initial": True}, "done": {"edit": "locked", "final": True}},
    "transitions": {"finish": {"from": ["open"], "to": "done", "kind": "requested"}},
}
PARTNER = {**TASK, "contract": "partner", "fields": {"limit": {"type": "int"}}}
LIFE_STEPS: LiteralString = (
    "SELECT seq, end_seq, node_id, token_id, status, entity_version, version_after, output_json"
    " FROM workflow_step_executions WHERE instance_id = %s ORDER BY seq"
)


def prepare(stage: WorkflowStage) -> None:
    """Install a tenant with the settings, roles and contracts that random workflows refer to."""
    roles = [{"role": name, "permissions": list(permissions)} for name, permissions in PERMISSIONS.items()]
    company = stage.standing.company
    tenant = TenantFile.model_validate(
        {
            "tenant_id": stage.tenant_id,
            "name": "acme",
            "settings": SETTINGS.model_dump(mode="json"),
            "roles": [{"role": "admin", "permissions": ["*:*"]}, *roles],
            "members": [
                {"user_id": "ann", "display_name": "Ann", "roles": ["boss", "clerk", "hand"]},
                {"user_id": "cora", "display_name": "Cora", "roles": ["admin", "clerk"]},
            ],
        }
    )
    install_tenant(company.database, tenant, COMMAND_LINE)
    for contract in (TASK, PARTNER):
        company.definitions.create_contract(company.caller(), contract)
        company.definitions.publish_contract(company.caller(), str(contract["contract"]), 1)


@lru_cache(maxsize=500)
def load(seed: int) -> tuple[WorkflowCase, Workflow]:
    case = make_runnable(seed, f"random_{seed}")
    artifact = case.compile().artifact
    assert artifact is not None
    return case, Workflow(artifact)


def call(given: ActionInput) -> ActionResult:
    return ActionResult(output=OUTPUT)


def publish(stage: WorkflowStage, seed: int) -> None:
    """Publish the workflow and the rules that its nodes ask, once for each database."""
    case, workflow = load(seed)
    name = case.contract["contract"]
    if stage.standing.rows("SELECT FROM contracts WHERE entity_type = %s", name):
        return
    company = stage.standing.company
    company.definitions.create_contract(company.caller(), case.contract)
    company.definitions.publish_contract(company.caller(), name, case.contract["version"])
    published = publish_patch(company, case.patch)
    assert published.compiled_hash == workflow.hash
    stage.add_rule(name, "known", "entity.name == 'else'", on="delete")
    stage.add_rule(name, "solvent", "entity.amount < 0", on="delete")
    stage.registry.action(name, "call")(call)


def publish_next(stage: WorkflowStage, seed: int, rng: Random) -> tuple[Workflow, int]:
    """Publish the same workflow with one more step as its next version; return it with the version."""
    case = deepcopy(load(seed)[0])
    region = case.patch["slots"][rng.choice(sorted(case.patch["slots"]))]
    drawn = [one for one in region["edges"] if one.get("role", "forward") == "forward"]
    region["nodes"].append({"id": "added", "type": "script", "config": {"set": {"added": "1"}}})
    if drawn:
        changed = rng.choice(drawn)
        region["edges"].append({"id": "further", "source": "added", "target": changed["target"]})
        changed["target"] = "added"
    else:
        region["edges"] = [{"source": region["nodes"][-2]["id"], "target": "added"}, *region["edges"]]
    artifact = case.compile().artifact
    assert artifact is not None
    published = publish_patch(stage.standing.company, case.patch)
    return Workflow(artifact), published.version


@dataclass
class Life:
    """One document under one workflow; its script holds the acts of people and the answers of the world."""

    seed: int
    script: WorldScript
    document_id: UUID
    instance_id: UUID
    data: dict[str, Any]
    # Transitions that people asked for and mutate() accepted.
    asked: list[str] = field(default_factory=list)
    # The workflow after a move.
    moved_to: Workflow | None = None

    @property
    def workflow(self) -> Workflow:
        return self.moved_to or load(self.seed)[1]

    def simulate(self) -> Simulation:
        script = replace(self.script, requests=tuple(self.asked))
        return simulate(self.workflow, self.data, script, datetime.now(UTC))


def begin(stage: WorkflowStage, seed: int, number: int) -> Life:
    publish(stage, seed)
    case, rng = load(seed)[0], Random(number)
    name = case.contract["contract"]
    roles = [rng.choice(["boss", "boss", "hand"]), *(["clerk"] if rng.random() < 0.5 else [])]
    # Gates have conditions on the amount, so some of them must fail.
    data = {**make_document(rng), "amount": rng.choice([-1, 5, 50, 500])}
    birth = "amended" if "amendment" in case.contract and rng.random() < 0.3 else "created"
    # An amendment changes something: here the amount, to what it is otherwise from the beginning.
    first = {**data, "amount": data["amount"] + 1} if birth == "amended" else data
    made = stage.mutate(Create(name, first), ASKER, *roles)
    if birth == "amended":
        stage.standing.put_at(made.document_id, "s0", "amend_only")
        made = stage.mutate(Update(made.document_id, 1, {"amount": data["amount"]}), ASKER, *roles)
    (stored,) = stage.standing.row("SELECT data FROM documents WHERE id = %s", made.document_id)
    assert made.instance_id is not None
    script = WorldScript(
        requests=[rng.choice([*case.contract["transitions"], "t1", "nothing"]) for _ in range(8)],
        approvals={node: rng.choice(VOTES) for node in NODES if rng.random() < 0.8},
        effects={node: rng.choice(["delivered", "done", "error"]) for node in NODES if rng.random() < 0.5},
        outputs={"call": OUTPUT, "erp": ANSWER, "count_up": {}},
        rules={"known": stored.get("name") != "else", "solvent": not stored["amount"] < 0},
        actor={"user_id": ASKER, "roles": roles},
        permissions=[permission for role in roles for permission in PERMISSIONS[role]],
        org={"trusted": ["acme"]},
        birth=birth,
    )
    return Life(seed, script, made.document_id, made.instance_id, stored)


def live(
    stage: WorkflowStage,
    lives: Sequence[Life],
    *,
    clock: Clock = stopped,
    after_wave: Callable[[], None] = lambda: None,
) -> None:
    """Run the lives until all their scripts end; everything that is due moves in one wave."""
    wanted = {life.instance_id: list(life.script.requests) for life in lives}
    while True:
        worker = stage.worker(clock)
        while worker.work(stage.tenant_id):
            after_wave()
        running = [life for life in lives if stage.instance(life.instance_id)["status"] == "running"]
        found = {life.instance_id: find_answer(stage, life) for life in running}
        answers = [answer for answer in found.values() if answer is not None]
        give(stage, answers)
        others = [life for life in running if found[life.instance_id] is None]
        asked = [life for life in others if ask_next(stage, life, wanted[life.instance_id])]
        if not answers and not asked:
            return


@dataclass(frozen=True)
class Given:
    """The answer to a waiting step: a response from outside, or a vote."""

    step_id: UUID
    answer: CallAnswer | Vote


def give(stage: WorkflowStage, answers: Sequence[Given]) -> None:
    effects = {each.step_id: each.answer for each in answers if isinstance(each.answer, CallAnswer)}
    if effects:
        stage.answer_steps(effects)
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    for each in answers:
        if not isinstance(each.answer, CallAnswer):
            (request_id,) = stage.standing.row(
                "SELECT id FROM approval_requests WHERE step_execution_id = %s", each.step_id
            )
            approvals.decide(company.caller("cora", "clerk"), request_id, each.answer, "seen")


def find_answer(stage: WorkflowStage, life: Life) -> Given | None:
    """Return the answer to the oldest token whose step the script has an answer for."""
    tokens = stage.instance(life.instance_id)["active_tokens"]
    waiting: dict[str, UUID] = dict(
        stage.standing.rows(
            "SELECT s.token_id, s.id FROM workflow_step_executions s WHERE s.instance_id = %s"
            " AND s.status = 'running' AND (EXISTS (SELECT FROM workflow_side_effects_outbox e"
            " WHERE e.step_execution_id = s.id AND e.status = 'pending') OR EXISTS (SELECT"
            " FROM approval_requests a WHERE a.step_execution_id = s.id AND a.status = 'open'))",
            life.instance_id,
        )
    )
    for token in tokens:
        answer = read_answer(life, life.workflow.nodes[token["node"]]) if token["id"] in waiting else None
        if answer is not None:
            return Given(waiting[token["id"]], answer)
    return None


def read_answer(life: Life, node: WorkflowNode) -> CallAnswer | Vote | None:
    if node.type.name == "approval":
        vote: Vote | None = scripted(life.script.approvals, node.id)
        return vote if vote in node.edges else None
    answer = scripted(life.script.effects, node.id) or node.type.outcomes[0]
    if answer not in node.type.outcomes:
        return None
    return CallAnswer("the script has it fail" if answer == "error" else None, RESPONSE)


def ask_next(stage: WorkflowStage, life: Life, wanted: list[str]) -> bool:
    """Ask for the next transition that mutate() accepts."""
    while wanted:
        transition = wanted.pop(0)
        operation = RequestTransition(life.document_id, stage.version_of(life.document_id), transition)
        try:
            stage.mutate(operation, ASKER, *life.script.actor["roles"])
        except Rejected:
            continue
        life.asked.append(transition)
        return True
    return False


# --- comparing ---


def compare(stage: WorkflowStage, life: Life) -> None:
    simulation = life.simulate()
    expected = [describe_simulated(one.step) for one in simulation.steps]
    found = [describe_row(row) for row in stage.standing.rows(LIFE_STEPS, life.instance_id)]
    assert found == expected, f"workflow {life.seed}, asked for {life.asked}"
    instance, projection = stage.instance(life.instance_id), simulation.projection
    assert {
        "status": instance["status"],
        "version": instance["version"],
        "entity_version": instance["entity_version"],
        "active_tokens": instance["active_tokens"],
        "context_json": instance["context_json"],
        "actor": (instance["actor_id"], instance["actor_roles"]),
        "serves": instance["request_id"] is not None,
        "reason": instance["reason"] if instance["status"] == "paused" else None,
    } == {
        "status": projection.status,
        "version": projection.version,
        "entity_version": projection.entity_version,
        "active_tokens": plain([token.to_json() for token in projection.tokens()]),
        "context_json": plain(projection.context),
        "actor": (ASKER, life.script.actor["roles"]),
        "serves": projection.request is not None,
        "reason": projection.reason if projection.status == "paused" else None,
    }
    (status, version, data) = stage.standing.row(
        "SELECT status, version, data FROM documents WHERE id = %s", life.document_id
    )
    assert (status, data) == (simulation.document_status, plain(simulation.document))
    assert version == projection.entity_version


def plain(value: Any) -> Any:
    """Return the value as it comes back from JSON."""
    return json.loads(json.dumps(value))


def describe_simulated(step: Step) -> tuple[Any, ...]:
    return (*_identify(step), *_describe_output(step.is_control, plain(step.to_output())))


def _identify(step: Step) -> tuple[Any, ...]:
    return (step.seq, step.end_seq, step.node, step.token, step.status, step.version, step.version_after)


def describe_row(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*row[:7], *_describe_output(row[2].startswith("sys:control:"), row[7]))


def _describe_output(is_control: bool, output: dict[str, Any] | None) -> Iterable[Any]:
    """Yield the comparable part of an output: the token's movement and result, but no internal data."""
    if output is None or output.get("outcome", "") is None:
        return ()
    if is_control:
        kept = {name: output[name] for name in ("reason", "node", "because", "transition") if name in output}
        return (kept, "request" in output)
    told = (output["outcome"], output["chosen_edge_ids"], output.get("variables"))
    return (*told, "request" in output, output.get("actor"))
