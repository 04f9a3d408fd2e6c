"""Invoices with approval requests, written as a wave writes them, and people who decide them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from signet.core.approvals.pins import hash_pins
from signet.core.approvals.policy import Policy, hash_policy
from signet.core.compiler.node_configurations import Vote
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Applied, Create, Update
from signet.ids import make_id
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.asked_definitions import CHAIN, NODE, ask_by_definition, publish_policy
from tests.support.company import INVOICE, Company
from tests.support.core.approval_policies import make_policy, make_stage
from tests.support.shared_company import Admin

# The requester holds no seat and created no document.
REQUESTER = "rita"
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "carl": ("clerk", "admin"),
    "rita": ("clerk",),
    "anna": ("approver",),
    "ben": ("approver", "finance"),
    "cleo": ("finance",),
    "dora": (),
    "emil": (),
}


@dataclass(frozen=True)
class Asking:
    company: Company
    admin: Admin
    approvals: Approvals

    @property
    def tenant_id(self) -> UUID:
        return self.company.tenant_id

    def hire(self, people: Mapping[str, Sequence[str]] = PEOPLE) -> None:
        roles = sorted({role for held in people.values() for role in held} - {"clerk", "admin"})
        members = [
            Member(user_id=name, display_name=name, roles=tuple(held)) for name, held in people.items()
        ]
        with self.company.database.transaction(self.tenant_id) as connection:
            save_roles(
                connection,
                self.tenant_id,
                tuple(Role(role=role, permissions=("*:approve",)) for role in roles),
                COMMAND_LINE,
            )
            save_members(connection, self.tenant_id, tuple(members), COMMAND_LINE)

    def create(self, user_id: str = "carl", **changes: Any) -> Applied:
        data = {**INVOICE, "number": f"R-{make_id()}", **changes}
        return self.company.documents.mutate(self.company.caller(user_id), Create("invoice", data))

    def edit(self, made: Applied, version: int, user_id: str = "carl", **patch: Any) -> Applied:
        operation = Update(made.document_id, version, patch or {"cost_center": f"C-{version}"})
        return self.company.documents.mutate(self.company.caller(user_id), operation)

    def ask(
        self, *holders: str, made: Applied | None = None, policy: Policy | None = None, **stage: Any
    ) -> UUID:
        """Write a request about the document's present version; a holder that begins with @ is a role."""
        made = made or self.create()
        policy = policy or one_stage(*holders, **stage)
        assert made.instance_id is not None
        request_id, step_id, text = make_id(), make_id(), policy.to_text()
        definition_hash = ask_by_definition(self.admin, self.tenant_id, made.instance_id, step_id)
        self.run(
            "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id,"
            " document_id, document_version, snapshot_version_id, snapshot_hash, definition_hash, policy,"
            " policy_hash, chain_name, chain_version, requester_id, created_at, voter_permissions, pins,"
            " pins_hash)"
            " SELECT d.tenant_id, %s, %s, %s, %s, d.id, d.version, v.id, v.hash, %s, %s, %s, %s, %s, %s,"
            " now(), %s, '{}', %s"
            " FROM documents d JOIN document_versions v ON v.document_id = d.id AND v.version = d.version"
            " WHERE d.id = %s",
            request_id,
            made.instance_id,
            step_id,
            NODE,
            definition_hash,
            text,
            hash_policy(text),
            CHAIN,
            publish_policy(self.admin, self.tenant_id, policy),
            REQUESTER,
            [] if policy.permission is None else [policy.permission],
            hash_pins({}),
            made.document_id,
        )
        self.seat(request_id, *holders)
        return request_id

    def seat(self, request_id: UUID, *holders: str, stage: int = 1, origin: str = "resolved") -> None:
        for holder in holders:
            self.run(
                "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id,"
                " holder_role, origin, asked_at) SELECT %s, %s, %s, count(*) + 1, %s, %s, %s,"
                " coalesce(min(asked_at), now()) FROM approval_seats WHERE request_id = %s AND stage = %s",
                self.tenant_id,
                request_id,
                stage,
                None if holder.startswith("@") else holder,
                holder[1:] if holder.startswith("@") else None,
                origin,
                request_id,
                stage,
            )

    def decide(
        self, request_id: UUID, user_id: str, vote: Vote = "approved", reason: str | None = None
    ) -> Any:
        return self.approvals.decide(self.company.caller(user_id, "approver"), request_id, vote, reason)

    def delegate(self, user_id: str, delegate_id: str, entity_type: str | None = None) -> UUID:
        """Write a delegation that began an hour ago and lasts for a day."""
        delegation_id = make_id()
        self.run(
            "INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, entity_type, from_time,"
            " to_time, created_by, created_at) VALUES (%s, %s, %s, %s, %s, now() - interval '1 hour',"
            " now() + interval '1 day', %s, now())",
            self.tenant_id,
            delegation_id,
            user_id,
            delegate_id,
            entity_type,
            user_id,
        )
        return delegation_id

    # --- looking ---

    def seats(self, request_id: UUID) -> list[tuple[Any, ...]]:
        """Return (status, decided by, on behalf of) for each seat, by stage and position."""
        return self.rows(
            "SELECT status, decided_by, on_behalf_of FROM approval_seats WHERE request_id = %s"
            " ORDER BY stage, position",
            request_id,
        )

    def request(self, request_id: UUID) -> tuple[Any, ...]:
        """Return (status, applied, whether it has ended)."""
        (row,) = self.rows(
            "SELECT status, applied, ended_at IS NOT NULL FROM approval_requests WHERE id = %s", request_id
        )
        return row

    def triggers(self) -> list[Any]:
        """Return the payloads of the triggers that decisions wrote, without their cause."""
        found = self.rows(
            "SELECT payload_json - 'cause_id' FROM workflow_events_outbox"
            " WHERE event_type = 'approval_decided' ORDER BY id"
        )
        return [payload for (payload,) in found]

    def written(self) -> tuple[Any, ...]:
        """Return the counts and rows that a decision would change."""
        (row,) = self.rows(
            "SELECT (SELECT count(*) FROM approval_decisions), (SELECT count(*) FROM audit_log),"
            " (SELECT count(*) FROM workflow_events_outbox),"
            " (SELECT json_agg(s ORDER BY request_id, stage, position)::text FROM approval_seats s),"
            " (SELECT json_agg(r ORDER BY id)::text FROM approval_requests r)"
        )
        return row

    def run(self, statement: LiteralString, *values: Any) -> None:
        self.admin.execute(statement, values)

    def rows(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        return self.admin.execute(query, values).fetchall()


def one_stage(*holders: str, **stage: Any) -> Policy:
    approvers = [
        {"by": "role", "role": holder[1:]} if holder.startswith("@") else {"by": "user", "user": holder}
        for holder in holders
    ]
    return make_policy(make_stage(*approvers, **stage))
