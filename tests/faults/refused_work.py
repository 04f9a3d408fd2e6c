"""The modules of the engine that open transactions without a route."""

# Tried by test_refused_work.py.
WORKED = frozenset(
    {
        "access.command_line",
        "access.waits",
        "approvals.lost_approvers",
        "audit.export",
        "audit.trail",
        "audit.verify",
        "automations.claimed_starts",
        "dispatch.relay",
        "dispatch.unsettled",
        "documents.persons.hinderers",
        "documents.rules",
        "execution.rebuild",
        "execution.wave",
        "execution.worker",
        "housekeeping.runner",
        "housekeeping.sealing",
        "housekeeping.task_run",
        "housekeeping.verification",
        "instances.dead_effects",
        "integrations.effects",
        "tenants.install",
        "tenants.look_alikes",
        "tenants.tenant_files",
    }
)
