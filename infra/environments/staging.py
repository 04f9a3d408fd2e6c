"""The environment built as production is, but smaller."""

from infra.settings import EnvironmentSettings

STAGING = EnvironmentSettings(
    name="staging",
    region="eu-central-1",
    wants_account=True,
    nat_gateways=1,
    database_min_capacity=0.5,
    database_max_capacity=4,
    has_database_proxy=True,
    has_performance_insights=True,
    backup_retention_days=7,
    log_retention_days=30,
    has_snap_start=True,
    events_concurrency=5,
    effects_concurrency=5,
    anchor_days=30,
    has_alarm_topic=True,
    alarm_connections=600,
)
