"""A company with a worker on a database of its own, and the acts of tests on its documents."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from signet.authoring.actions import ActionRegistry
from signet.core.documents.rules import Rule
from signet.core.runtime.idempotency_keys import event_key
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.documents.commands import Applied, Create, Delete, Operation, RequestTransition, Update
from signet.engine.documents.mutate import Documents
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.execution.wave import Clock
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.ids import created_at_of, make_id
from signet.store.database import Database, PoolSettings
from signet.store.definitions.rules import save_rule
from signet.store.documents.write import WriteBatch, write_batch
from signet.store.outbox.effect_acts import keep_responses
from signet.store.outbox.queue import EFFECTS, ClaimedEffect, claim, complete, fail
from signet.store.tenants.tenants import read_now, save_members
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import Drained, drain
from tests.support.named_things import publish_patch
from tests.support.seen_references import read_digest
from tests.support.shared_company import CompanyWithWorkers, standing_company

CALL: Mapping[str, Any] = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
CONTRACT: Mapping[str, Any] = {
    "version": 1,
    "fields": {
        "number": {"type": "string"},
        "amount": {"type": "int"},
        "contact": {"type": "string", "personal": True},
        "is_posted": {"type": "bool"},
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "editable"},
        "active": {"edit": "locked", "settled": True},
        "cancelled": {"edit": "locked", "final": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "cancel": {"from": ["draft", "submitted", "active"], "to": "cancelled", "kind": "interrupting"},
    },
    "slots": {
        "checks": {"transition": "submit"},
        "approval": {"transition": "approve"},
        "posting": {"transition": "approve", "position": "after"},
    },
    "actions": {
        "post": {"kind": "update", "set": {"is_posted": True}},
        "run": {"kind": "python", "output": {"total": {"type": "int"}}},
    },
    "deletable_in": ["draft"],
}
_NUMBERS = count()


def stopped() -> float:
    return 0.0


@dataclass
class Hurried:
    """A clock that ends every wave after one round."""

    seconds: float = 0.0

    def __call__(self) -> float:
        self.seconds += 10.0
        return self.seconds


@dataclass(frozen=True)
class Made:
    """A document, and its first instance."""

    id: UUID
    instance_id: UUID


@dataclass(frozen=True)
class CallAnswer:
    """The words of a receiver, or the error that its call was given up with."""

    error: str | None = None
    body: Any = None

    @property
    def response(self) -> Any:
        """Return the record that a worker keeps."""
        return None if self.body is None else {"status": 200, "body": self.body, "duration_ms": 1.0}


@dataclass(frozen=True)
class WorkflowStage:
    standing: CompanyWithWorkers
    # The database in the worker's role.
    database: Database
    registry: ActionRegistry = field(default_factory=ActionRegistry)

    @property
    def tenant_id(self) -> UUID:
        return self.standing.company.tenant_id

    def caches(self) -> DocumentCaches:
        """Return caches that read rules again each time."""
        return DocumentCaches(ContractCache(), RuleBook(ttl_seconds=0), self.registry)

    def worker(self, clock: Clock = stopped, database: Database | None = None) -> Worker:
        """Return a worker whose waves have unlimited time, unless a clock is given."""
        return Worker(database or self.database, self.caches(), CompiledCache(), clock)

    @contextmanager
    def another_database(self, **settings: Any) -> Iterator[Database]:
        """Yield a database in the worker's role, with a pool of its own."""
        made = Database(as_role(self.standing.admin_url, "signet_worker"), PoolSettings(**settings))
        try:
            yield made
        finally:
            made.close()

    def drain(self) -> Drained:
        return drain(self.worker(), [self.tenant_id])

    # --- definitions ---

    def publish(self, contract: Mapping[str, Any] | None = None, **slots: Any) -> str:
        """Publish the contract (or CONTRACT) under a name of its own, with these slots filled."""
        name = f"thing_{next(_NUMBERS)}"
        document = {**(contract or CONTRACT), "contract": name}
        company = self.standing.company
        definitions, caller = company.definitions, company.caller()
        saved = definitions.create_contract(caller, document)
        definitions.publish_contract(caller, saved.entity_type, saved.version)
        if slots:
            self.publish_next(name, saved.version, **slots)
        return name

    def publish_contract(self, entity_type: str, version: int, **changes: Any) -> None:
        """Publish the next version of CONTRACT, with changes at its top level."""
        definitions, caller = self.standing.company.definitions, self.standing.company.caller()
        document = {**CONTRACT, "contract": entity_type, "version": version, **changes}
        definitions.create_contract(caller, document)
        definitions.publish_contract(caller, entity_type, version)

    def publish_next(self, entity_type: str, envelope_version: int = 1, **slots: Any) -> int:
        """Publish the next version of the patch; return the version of the workflow."""
        base = {"entity_type": entity_type, "envelope_version": envelope_version}
        return publish_patch(self.standing.company, {"patch": "own", "base": base, "slots": slots}).version

    def add_rule(self, entity_type: str, name: str, condition: str, *, on: str) -> None:
        """Add a rule that rejects this operation while the condition holds; `rule` nodes ask it too."""
        document = {
            "name": name,
            "entity_type": entity_type,
            "phase": "before",
            "operations": [on],
            "condition": {"expression": condition},
            "actions": [{"kind": "reject", "message": f"{name} is against it"}],
        }
        rule, findings = parse_strictly(Rule, document)
        assert rule is not None, findings
        with self.standing.company.database.transaction(self.tenant_id) as connection:
            save_rule(connection, self.tenant_id, rule, frozenset())

    # --- people ---

    def add_member(self, user_id: str) -> None:
        with self.standing.company.database.transaction(self.tenant_id) as connection:
            member = Member(user_id=user_id, display_name=user_id.title(), roles=("clerk", "voter"))
            save_members(connection, self.tenant_id, (member,), COMMAND_LINE)

    def mutate(self, operation: Operation, user_id: str = "carl", *roles: str) -> Applied:
        company = self.standing.company
        documents = Documents(company.database, self.registry)
        return documents.mutate(company.caller(user_id, *roles), operation)

    def create(self, entity_type: str, user_id: str = "carl", *roles: str, **data: Any) -> Made:
        made = self.mutate(Create(entity_type, {"amount": 1, **data}), user_id, *roles)
        assert made.instance_id is not None
        return Made(made.document_id, made.instance_id)

    def edit(self, document_id: UUID, **patch: Any) -> Applied:
        return self.mutate(Update(document_id, self.version_of(document_id), patch))

    def delete(self, document_id: UUID) -> Applied:
        return self.mutate(Delete(document_id, self.version_of(document_id)))

    def ask(self, document_id: UUID, transition: str, user_id: str = "carl", *roles: str) -> Applied:
        """Ask for the transition, as a person who has just read the document."""
        version, reader = self.version_of(document_id), self.standing.company.caller(user_id, *roles)
        seen = read_digest(self.standing.company.database, reader, document_id)
        asked = RequestTransition(document_id, version, transition, "for once", seen)
        return self.mutate(asked, user_id, *roles)

    # --- the world outside ---

    def answer(self, instance_id: UUID, *, error: str | None = None, body: Any = None) -> None:
        """Deliver or give up the instance's oldest effect, and wake the instance."""
        (step_id,) = self.standing.row(
            "SELECT step_execution_id FROM workflow_side_effects_outbox"
            " WHERE instance_id = %s AND status = 'pending' ORDER BY id LIMIT 1",
            instance_id,
        )
        self.answer_steps({step_id: CallAnswer(error, body)})

    def answer_steps(self, answers: Mapping[UUID, "CallAnswer"]) -> None:
        """Deliver or give up the effects of these steps as a worker does, and wake their instances."""
        claim_id = make_id()
        first: LiteralString = (
            "UPDATE workflow_side_effects_outbox SET due_at = '2000-01-01' WHERE step_execution_id = ANY (%s)"
        )
        self.standing.run(first, list(answers))
        with self.database.transaction(self.tenant_id) as connection:
            own = claim(
                connection,
                EFFECTS,
                at_most=len(answers),
                lease_seconds=60,
                claim_id=claim_id,
            )
            assert {row.step_execution_id for row in own} == set(answers)
            responses = [(row, answers[row.step_execution_id].response) for row in own]
            keep_responses(connection, self.tenant_id, responses, claim_id)
            delivered = [row for row in own if answers[row.step_execution_id].error is None]
            complete(connection, EFFECTS, self.tenant_id, delivered, claim_id)
        for row in own:
            if (error := answers[row.step_execution_id].error) is not None:
                self._give_up(row, claim_id, error)
            self.wake(row.instance_id)

    def _give_up(self, effect: ClaimedEffect, claim_id: UUID, error: str) -> None:
        last: LiteralString = "UPDATE workflow_side_effects_outbox SET max_attempts = attempts WHERE id = %s"
        self.standing.run(last, effect.id)
        with self.database.transaction(self.tenant_id) as connection:
            returned = fail(connection, EFFECTS, self.tenant_id, [(effect, error)], claim_id)
        assert [row.id for row in returned.dead] == [effect.id]

    def wake(self, instance_id: UUID) -> UUID:
        """Write a trigger like the one that an ended effect writes."""
        event_id = make_id()
        payload = {"cause_id": str(event_id)}
        row = {
            "id": event_id,
            "created_at": created_at_of(event_id),
            "instance_id": instance_id,
            "entity_version": 0,
            "definition_version": None,
            "event_type": "effect_ended",
            "payload": payload,
            "trace_id": None,
            "idempotency_key": f"\\x{event_key(instance_id, 'effect_ended', payload, 0).hex()}",
        }
        with self.database.transaction(self.tenant_id) as connection:
            write_batch(connection, self.tenant_id, WriteBatch(events=[row]), now=read_now(connection))
        return event_id

    def bring_escalation(self, document_id: UUID) -> None:
        """Let people have been asked long ago, so that the escalation of the open request is due."""
        asked: LiteralString = (
            "UPDATE approval_seats SET asked_at = '2000-01-01' WHERE request_id IN"
            " (SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open')"
        )
        due: LiteralString = (
            "UPDATE approval_requests SET escalate_at = now()"
            " WHERE document_id = %s AND status = 'open' AND escalate_at IS NOT NULL"
        )
        for statement in (asked, due):
            self.standing.run(statement, document_id)

    # --- looking ---

    def retry(self, made: Made, by: Caller) -> None:
        """Let a held instance go on, which may have been woken and have gone on by itself."""
        instances = Instances(self.standing.company.database, self.caches(), CompiledCache())
        instance = self.instance(made.instance_id)
        if instance["status"] == "paused":
            instances.retry(by, made.instance_id, instance["version"], "it is mended")
        self.drain()

    def version_of(self, document_id: UUID) -> int:
        (version,) = self.standing.row("SELECT version FROM documents WHERE id = %s", document_id)
        return int(version)

    def status_of(self, document_id: UUID) -> str:
        (status,) = self.standing.row("SELECT status FROM documents WHERE id = %s", document_id)
        return str(status)

    def instance_of(self, document_id: UUID) -> UUID:
        """Return the document's newest instance."""
        query: LiteralString = (
            "SELECT id FROM workflow_instances WHERE entity_id = %s ORDER BY id DESC LIMIT 1"
        )
        (instance_id,) = self.standing.row(query, document_id)
        return UUID(str(instance_id))

    def instance(self, instance_id: UUID) -> dict[str, Any]:
        """Return the instance's row, all columns but `updated_at`."""
        query: LiteralString = "SELECT to_jsonb(i) - 'updated_at' FROM workflow_instances i WHERE id = %s"
        (row,) = self.standing.row(query, instance_id)
        return dict(row)

    def steps(self, instance_id: UUID) -> list[tuple[Any, ...]]:
        """Return (node, token, status) of each step, in order."""
        return self.standing.rows(
            "SELECT node_id, token_id, status FROM workflow_step_executions WHERE instance_id = %s"
            " ORDER BY seq",
            instance_id,
        )

    def whole_steps(self, instance_id: UUID) -> list[Any]:
        query: LiteralString = (
            "SELECT to_jsonb(s) FROM workflow_step_executions s WHERE instance_id = %s ORDER BY seq, id"
        )
        return [row[0] for row in self.standing.rows(query, instance_id)]

    def nodes(self, instance_id: UUID) -> list[str]:
        return [node for node, _, _ in self.steps(instance_id)]

    def requests(self, document_id: UUID) -> list[tuple[Any, ...]]:
        """Return (transition, status) of each request, in order."""
        return self.standing.rows(
            "SELECT transition, status FROM transition_requests WHERE document_id = %s ORDER BY id",
            document_id,
        )

    def triggers(self, instance_id: UUID) -> list[tuple[Any, ...]]:
        """Return (status, attempts) of each trigger, in order."""
        return self.standing.rows(
            "SELECT status, attempts FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id",
            instance_id,
        )

    def make_due(self) -> None:
        """Make triggers that wait for their next try due at once."""
        self.standing.run(
            "UPDATE workflow_events_outbox SET due_at = now() WHERE status IN ('pending', 'failed')"
        )

    def put_back(self, row: Mapping[str, Any]) -> None:
        """Write back an earlier row of the instance without its triggers; its steps stay."""
        self.standing.run("ALTER TABLE workflow_instances DISABLE TRIGGER USER")
        self.standing.run(
            "UPDATE workflow_instances i SET (status, reason, version, entity_version, active_tokens,"
            " current_nodes, edit_window, edit_window_node, context_json, timeout_at, last_step_execution_id,"
            " actor_id, actor_roles, request_id, completed_at, definition_id, definition_version)"
            " = (SELECT status, reason, version,"
            " entity_version, active_tokens, current_nodes, edit_window, edit_window_node, context_json,"
            " timeout_at, last_step_execution_id, actor_id, actor_roles, request_id, completed_at,"
            " definition_id, definition_version FROM jsonb_populate_record(NULL::workflow_instances, %s))"
            " WHERE id = %s",
            Jsonb(row),
            row["id"],
        )
        self.standing.run("ALTER TABLE workflow_instances ENABLE TRIGGER USER")

    def expire_leases(self) -> None:
        """Let the lease of every claimed row run out."""
        for statement in (
            "UPDATE workflow_events_outbox SET lease_until = now() WHERE status = 'processing'",
            "UPDATE workflow_side_effects_outbox SET lease_until = now() WHERE status = 'processing'",
        ):
            self.standing.run(statement)

    def check_rebuild(self, instance_id: UUID) -> None:
        """Rebuild the instance from its steps, and expect the same row (WF-15)."""
        before = self.instance(instance_id)
        assert not rebuild_instance(self.database, CompiledCache(), self.tenant_id, instance_id)
        assert self.instance(instance_id) == before


@contextmanager
def standing_stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_company(server_url) as standing:
        database = Database(as_role(standing.admin_url, "signet_worker"), PoolSettings(size=4))
        try:
            yield WorkflowStage(standing, database)
        finally:
            database.close()
