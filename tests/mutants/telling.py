"""What fails is told: each promise of that, broken on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
WAVE = f"{SIGNET}/engine/execution/wave.py"
TELLS = "migrations/0042_tell_of_incidents.sql"
INCIDENTS = "tests/integration/engine/incidents"
COUNTS = f"{INCIDENTS}/test_counts.py::test_"
FIGURES = "tests/integration/telemetry/test_approval_figures.py::test_"

NOTICES = f"{INCIDENTS}/test_notices.py::test_"

TELLING: Sequence[Mutation] = (
    Mutation(
        "a branch that is held beside a running one is counted by nobody",
        15,
        WAVE,
        "                if change.is_new:\n",
        '                if change.is_new and execution.projection.status == "paused":\n',
        (f"{FIGURES}a_branch_without_people_is_counted_while_another_runs",),
    ),
    Mutation(
        "closed incidents are counted as open",
        15,
        TELLS,
        "WHERE i.closed_at IS NULL LIMIT 100000",
        "LIMIT 100000",
        (f"{COUNTS}open_incidents_are_counted_until_they_close",),
    ),
    Mutation(
        "an incident that a person acknowledged still counts as overlooked",
        15,
        TELLS,
        "counted.opened_at < now() - long AND counted.acknowledged_at IS NULL",
        "counted.opened_at < now() - long",
        (f"{COUNTS}one_that_is_old_is_overlooked_until_a_person_acknowledges_it",),
    ),
    Mutation(
        "every incident of one cause is told",
        15,
        TELLS,
        "o.requester_id = NEW.requester_id AND o.cause = NEW.cause\n",
        "o.requester_id = NEW.requester_id AND false\n",
        (f"{NOTICES}a_cause_that_was_read_is_not_told_again_while_it_is_open",),
    ),
    Mutation(
        "what is unread is told again",
        15,
        TELLS,
        "    ON CONFLICT DO NOTHING;\n    RETURN NULL;",
        "    ON CONFLICT (tenant_id, id) DO NOTHING;\n    RETURN NULL;",
        (f"{NOTICES}waves_at_one_time_tell_once",),
    ),
    Mutation(
        "people who have left are told",
        15,
        TELLS,
        "m.tenant_id = NEW.tenant_id AND m.status = 'active'",
        "m.tenant_id = NEW.tenant_id",
        (f"{NOTICES}a_person_who_has_left_is_not_told",),
    ),
)
