"""Seals over the audit trail of every tenant, and their anchors out of reach of this database's admins."""

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

# At most so many lines of one anchor.
MAX_ANCHORED = 1_000


class Anchors(Protocol):
    """A store elsewhere, where written lines cannot be changed."""

    def write(self, tenant_id: UUID, first: int, last: int, lines: Sequence[str]) -> None:
        """Write seals `first` to `last`, as `signet audit anchor` prints them. A repeat changes nothing."""
        ...


def seal_tenants(task_run: TaskRun) -> None:
    """Seal each tenant, each seal in a transaction of its own. The loser of two sealers stops quietly."""
    for tenant_id in task_run.walk_tenants("unsealed"):
        task_run.rows += seal_tenant(task_run.database, tenant_id).row_count


def anchor_seals(task_run: TaskRun, anchors: Anchors) -> None:
    """Write anchors first, and keep the cursor then: a run that is cut between writes the same again."""
    for tenant_id in task_run.walk_tenants("unanchored"):
        while not task_run.is_cut:
            with task_run.database.snapshot(tenant_id) as connection:
                after = find_anchored(connection, tenant_id)
                seals = list(islice(walk_seals(connection, tenant_id, after), MAX_ANCHORED))
            if not seals:
                break
            lines = [json.dumps(asdict(seal), sort_keys=True) for seal in seals]
            anchors.write(tenant_id, seals[0].sequence, seals[-1].sequence, lines)
            with task_run.batch(tenant_id) as connection:
                keep_anchored(connection, tenant_id, seals[-1].sequence)
            task_run.rows += len(seals)
            task_run.is_cut = task_run.is_over
