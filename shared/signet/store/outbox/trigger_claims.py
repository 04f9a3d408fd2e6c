"""Claims of triggers that are one message with their commit, and say whether more is due.

A worker that knows what is left does not look again in vain. The answer of such a claim may be lost after its
commit; then `list_claimed` tells what it holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.store.database import Connection
from signet.store.outbox.queue import EVENTS, MAX_ROWS, ClaimedTrigger, claim_due, fill, parse_claimed
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)
_COLUMNS = [field.name for field in fields(ClaimedTrigger)]
CLAIM = _SQL.claim_and_look.replace("{claimed}", ", ".join(f"(c.claimed).{name}" for name in _COLUMNS))
_ID = _COLUMNS.index("id")


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """The triggers of a claim, and what else it has seen of the tenant."""

    triggers: Sequence[ClaimedTrigger]
    # More is due than was claimed.
    has_more: bool
    # A lease has run out: its worker did not come back. It is not looked for where more is due.
    has_expired: bool


def claim_and_look(
    *, at_most: int, lease_seconds: float, claim_id: UUID, since: datetime, looks_at_leases: bool
) -> DeferredStatement:
    """Claim triggers of the transaction's tenant, due since then; `parse_answer` reads the rows.

    What another one claims at this moment counts neither as claimed nor as more.
    """
    due = claim_due(EVENTS, at_most=at_most, lease_seconds=lease_seconds, claim_id=claim_id, since=since)
    return DeferredStatement(CLAIM, {**due.values, "looks_at_leases": looks_at_leases})


def parse_answer(rows: Sequence[tuple[Any, ...]]) -> ClaimAnswer:
    triggers = [ClaimedTrigger(*row[:-2]) for row in rows if row[_ID] is not None]
    return ClaimAnswer(triggers, any(row[-2] for row in rows), any(row[-1] for row in rows))


def list_claimed(connection: Connection, tenant_id: UUID, claim_id: UUID) -> list[ClaimedTrigger]:
    """List the triggers that a claim holds."""
    values = {"tenant_id": tenant_id, "claim_id": claim_id, "limit": MAX_ROWS}
    return parse_claimed(EVENTS, connection.execute(fill(_SQL.list_claimed, EVENTS), values).fetchall())
