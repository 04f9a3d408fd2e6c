"""The rows that documents leave behind on their way through the benchmark's workflow, without an engine."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.audit.trail import AuditEntry, Head, Transaction, VersionMark, chain
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.runtime.idempotency_keys import step_key
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.simulation import SimulatedStep
from signet.ids import created_at_of, make_id

# The transaction that will write an audit row is not known yet. One with as many digits stands for it.
_SOME_TRANSACTION = Transaction(epoch=1, xid=100_000)
# The entries of an instance that begins and ends in one pass.
HISTORY = ("started", "completed")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WaitingDocument:
    """A document that was just created, with its instance and the trigger that wakes it."""

    tenant_id: UUID
    document_id: UUID
    actor_id: str
    instance_id: UUID
    event_id: UUID
    event_created_at: datetime
    snapshot: str
    snapshot_hash: str
    audit_hash: str


@dataclass(slots=True)
class Rows:
    """Rows by the table that they are written to."""

    receipts: list[Row] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    # The ends of gates' steps, which were first written as running.
    ended_gates: list[Row] = field(default_factory=list)
    # Each is written once in its final form; every version before it has a row of its own.
    documents: list[Row] = field(default_factory=list)
    versions: list[Row] = field(default_factory=list)
    audit: list[Row] = field(default_factory=list)
    instances: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class _DocumentPassage:
    """A document on its way, with its chain so far."""

    document: WaitingDocument
    snapshot: dict[str, Any]
    mark: VersionMark
    head: Head


class BenchRowMaker:
    """A collector of the rows of a batch of documents of one tenant."""

    def __init__(self, workflow: Workflow, steps: Sequence[SimulatedStep], now: datetime) -> None:
        self._workflow = workflow
        self._steps = steps
        self._now = now
        self.rows = Rows()

    def add(self, document: WaitingDocument) -> None:
        mark, head = VersionMark(1, document.snapshot_hash), Head(1, document.audit_hash)
        passage = _DocumentPassage(document, json.loads(document.snapshot), mark, head)
        variables: dict[str, Any] = {}
        for simulated in self._steps:
            node, step_id = self._workflow.nodes[simulated.step.node], make_id()
            self._add_step(document, simulated, node, step_id)
            variables |= simulated.step.variables
            if node.type.name == "lifecycle_gate":
                self._add_mutation(passage, node, simulated.step.version_after, step_id)
        end, snapshot = self._steps[-1].step, passage.snapshot
        self.rows.documents.append(
            {"id": document.document_id, "status": snapshot["status"], "version": snapshot["version"]}
        )
        self.rows.instances.append(
            {
                "id": document.instance_id,
                "version": end.seq,
                "entity_version": end.version_after,
                "context": variables,
                "last_step_id": step_id,
            }
        )
        self.rows.history.extend(_make_history_row(document, entry, step_id) for entry in HISTORY)
        self.rows.events.append({"id": document.event_id, "created_at": document.event_created_at})

    def _add_step(
        self, document: WaitingDocument, simulated: SimulatedStep, node: WorkflowNode, step_id: UUID
    ) -> None:
        step, created_at = simulated.step, created_at_of(step_id)
        key = f"\\x{step_key(document.instance_id, step.node, step.token, step.version).hex()}"
        self.rows.receipts.append({"instance_id": document.instance_id, "key": key, "step_id": step_id})
        output = step.to_output()
        is_gate = node.type.name == "lifecycle_gate"
        row = {
            "id": step_id,
            "created_at": created_at,
            "instance_id": document.instance_id,
            "seq": step.seq,
            "end_seq": None if is_gate else step.end_seq,
            "node_id": step.node,
            "node_type": node.type.name,
            "token_id": step.token,
            "entity_version": step.version,
            "version_after": step.version if is_gate else step.version_after,
            "status": "running" if is_gate else step.status,
            "key": key,
            "output": None if is_gate else output,
            "actor_id": document.actor_id,
        }
        self.rows.steps.append(row)
        if is_gate:
            self.rows.ended_gates.append(
                {
                    "id": step_id,
                    "created_at": created_at,
                    "end_seq": step.end_seq,
                    "version_after": step.version_after,
                    "output": output,
                }
            )

    def _add_mutation(
        self, passage: _DocumentPassage, gate: WorkflowNode, version: int, step_id: UUID
    ) -> None:
        document, status = passage.document, gate.config["to"]
        passage.snapshot |= {"status": status, "version": version}
        snapshot = canonical_bytes(passage.snapshot)
        after = VersionMark(version, hash_bytes(snapshot))
        self.rows.versions.append(
            {
                "document_id": document.document_id,
                "version": version,
                "id": make_id(),
                "snapshot": snapshot.decode(),
                "hash": after.hash,
            }
        )
        entry = AuditEntry(
            tenant_id=document.tenant_id,
            id=make_id(),
            subject_type="document",
            subject_id=str(document.document_id),
            action=f"transition:{gate.config['transition']}",
            actor_id=document.actor_id,
            via="workflow",
            at=self._now,
            before=passage.mark,
            after=after,
            instance_id=document.instance_id,
            step_id=step_id,
            detail={"status": status},
        )
        row = chain(passage.head, entry, _SOME_TRANSACTION)
        self.rows.audit.append({name: getattr(row, name) for name in _AUDIT_COLUMNS})
        passage.mark, passage.head = after, Head(passage.head.seq + 1, row.hash)


def _make_history_row(document: WaitingDocument, entry: str, step_id: UUID) -> Row:
    identifier = make_id()
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": document.instance_id,
        "entry": entry,
        "actor_id": document.actor_id,
        "step_id": step_id,
    }


_AUDIT_COLUMNS = ("id", "subject_id", "seq", "previous_hash", "hash", "content", "action", "actor_id")
