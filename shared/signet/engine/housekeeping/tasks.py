"""The table of housekeeping tasks, one line each. Row, lease and metrics come with the name."""

from collections.abc import Sequence
from functools import partial

from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping import deleted_documents, partitions, pruning, safety_net, sealing
from signet.engine.housekeeping.sealing import Anchors
from signet.engine.housekeeping.task import Task

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


def list_tasks(kept: Retentions, anchors: Anchors | None = None) -> Sequence[Task]:
    """List the tasks. The one that has been due for longest runs first; the order here has no meaning."""
    tasks = [
        Task("free_events", MINUTE, safety_net.release_events),
        Task("free_effects", MINUTE, safety_net.release_effects),
        Task("wake_overdue", MINUTE, safety_net.wake_overdue),
        Task("wake_unpinned", 6 * HOUR, safety_net.wake_unpinned),
        Task("seal_audit", MINUTE, sealing.seal_tenants),
        Task("find_stuck", 10 * MINUTE, safety_net.find_stuck),
        Task("count_incidents", 5 * MINUTE, safety_net.count_incidents),
        Task("make_partitions", DAY, partitions.make_partitions),
        Task("prune_events", HOUR, partial(pruning.prune_events, kept_days=kept.outbox_days)),
        Task("prune_effects", HOUR, partial(pruning.prune_effects, kept_days=kept.outbox_days)),
        Task("drop_months", DAY, partial(partitions.drop_outbox_months, kept_days=kept.outbox_days)),
        Task("prune_receipts", 7 * DAY, partial(pruning.prune_ended_receipts, kept_days=kept.receipts_days)),
        Task("prune_keys", HOUR, partial(pruning.prune_keys, kept_days=kept.idempotency_days)),
        Task("prune_inbound", HOUR, pruning.prune_expired_inbound),
        Task(
            "prune_notifications",
            DAY,
            partial(pruning.prune_read_notifications, kept_days=kept.notifications_days),
        ),
        Task("prune_incidents", DAY, partial(pruning.prune_closed_incidents, kept_days=kept.incidents_days)),
        Task("prune_meters", DAY, pruning.prune_meters),
        Task("prune_eligibility", DAY, partial(pruning.prune_eligibility, kept_days=kept.eligibility_days)),
        Task(
            "purge_documents",
            DAY,
            partial(deleted_documents.purge_deleted, kept_days=kept.deleted_documents_days),
        ),
    ]
    if kept.history_days is not None:
        tasks.append(Task("drop_history", DAY, partial(partitions.drop_history, kept_days=kept.history_days)))
    if anchors is not None:
        tasks.append(Task("anchor_seals", 5 * MINUTE, partial(sealing.anchor_seals, anchors=anchors)))
    return tasks
