"""Seals over the audit trail of every tenant, and their anchors where this database's admins cannot write."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Protocol
from uuid import UUID

from signet.engine.audit.trail import seal_tenant
from signet.engine.housekeeping.task_run import TaskRun
from signet.store.audit.read import walk_seals
from signet.store.operations.housekeeping import find_anchored, keep_anchored

# Lines of one anchor.
MAX_ANCHORED = 1_000


class Anchors(Protocol):
    """Somewhere else: what is written there stays as it was written."""

    def write(self, tenant_id: UUID, first: int, last: int, lines: Sequence[str]) -> None:
        """Seals `first` to `last`, as `signet audit anchor` prints them. The same again changes nothing."""
        ...


def seal_tenants(turn: TaskRun) -> None:
    """Of two sealers at once the loser stops quietly; each seal is a transaction of its own."""
    for tenant_id in turn.walk_tenants("unsealed"):
        turn.rows += seal_tenant(turn.database, tenant_id).row_count


def anchor_seals(turn: TaskRun, anchors: Anchors) -> None:
    """Written first and noted then: whoever is cut off in between writes the same again."""
    for tenant_id in turn.walk_tenants("unanchored"):
        while not turn.is_cut:
            with turn.database.snapshot(tenant_id) as connection:
                after = find_anchored(connection, tenant_id)
                seals = list(islice(walk_seals(connection, tenant_id, after), MAX_ANCHORED))
            if not seals:
                break
            lines = [json.dumps(asdict(seal), sort_keys=True) for seal in seals]
            anchors.write(tenant_id, seals[0].sequence, seals[-1].sequence, lines)
            with turn.batch(tenant_id) as connection:
                keep_anchored(connection, tenant_id, seals[-1].sequence)
            turn.rows += len(seals)
            turn.is_cut = turn.is_over
