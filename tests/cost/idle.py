"""The cost of an environment in a month without any work, from its settings."""

from infra.settings import EnvironmentSettings
from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping.tasks import HOUR, list_tasks
from tests.cost import prices
from tests.cost.prices import HOURS, MINUTES, SECONDS

# The metrics of an environment's alarms; `tests/infra` counts them in the templates.
ALARM_METRICS = 41
DASHBOARDS = 2
QUEUES = 2
# AWS documents five pollers at a time, and no fewer with a maximum concurrency. A poll waits 20 s.
POLLERS = 5
POLLS_A_MINUTE = 3
SCHEDULED = 2
# An assumption for a start with nothing to do, with 512 MB.
START_GB_SECONDS = 0.1 * 0.5
START_LOG_BYTES = 4_000
# A proxy costs as if the database had eight.
PROXY_CAPACITY = 8
# The time that the database stays awake after each sweep, with the least capacity that it can have then.
AWAKE_HOURS = 5 / 60
AWAKE_CAPACITY = 0.5
SNAPSHOT_GB = 1.0
METRICS_A_TASK = 4
# This task exists only where seals can be anchored, as on AWS.
ANCHORING = "anchor_seals"
METRICS_OF_SWEEPS = 4
# Those of one code are written while an incident of that code is open.
METRICS_OF_INCIDENTS = 1


def list_idle_costs(settings: EnvironmentSettings) -> dict[str, float]:
    starts = SCHEDULED * MINUTES / settings.sweep_minutes
    return {
        "database": prices.CAPACITY.of(_count_capacity_hours(settings)),
        "proxy": prices.PROXY.of(PROXY_CAPACITY * HOURS * settings.has_database_proxy),
        "NAT gateways and their addresses": (prices.NAT.dollars + prices.ADDRESS.dollars)
        * HOURS
        * settings.nat_gateways,
        "custom metrics": prices.METRIC.of(_count_metrics()),
        "dashboards": prices.DASHBOARD.of(DASHBOARDS),
        "alarms": prices.ALARM.of(ALARM_METRICS),
        "snapshot of the API": prices.SNAPSHOT.of(SNAPSHOT_GB * SECONDS * settings.has_snap_start),
        "polls of empty queues": prices.QUEUE_REQUEST.of(QUEUES * POLLERS * POLLS_A_MINUTE * MINUTES),
        "schedules, their calls and logs": prices.START.of(starts)
        + prices.CALL.of(starts)
        + prices.GB_SECOND.of(starts * START_GB_SECONDS)
        + prices.LOG_BYTE.of(starts * START_LOG_BYTES),
        "secret and key": prices.SECRET.dollars + prices.KEY.of(settings.has_alarm_topic),
    }


def _count_capacity_hours(settings: EnvironmentSettings) -> float:
    if settings.database_min_capacity:
        return settings.database_min_capacity * (1 + settings.database_readers) * HOURS
    sweeps = MINUTES / settings.sweep_minutes
    return sweeps * AWAKE_HOURS * AWAKE_CAPACITY


def _count_metrics() -> int:
    """Return the number of hourly metrics; a metric is paid for by the hours in which it is written."""
    tasks = [task.name for task in list_tasks(Retentions()) if task.every_seconds <= HOUR]
    return METRICS_OF_SWEEPS + METRICS_OF_INCIDENTS + METRICS_A_TASK * len([*tasks, ANCHORING])
