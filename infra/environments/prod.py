"""The environment for real work: the database never sleeps, and a mistaken delete takes nothing away."""

from infra.settings import EnvironmentSettings

PROD = EnvironmentSettings(
    name="prod",
    region="eu-central-1",
    is_protected=True,
    wants_account=True,
    api_requests_per_second=500,
    api_burst=1_000,
    machine_requests_per_second=100,
    machine_burst=200,
    nat_gateways=2,
    has_flow_logs=True,
    database_min_capacity=1,
    database_max_capacity=32,
    database_readers=1,
    has_database_proxy=True,
    has_performance_insights=True,
    backup_retention_days=30,
    log_retention_days=365,
    reserved_concurrency={"api": 200, "node_execution": 25, "side_effect_io": 25},
    has_snap_start=True,
    events_concurrency=20,
    effects_concurrency=20,
    archive_days=30,
    anchor_mode="COMPLIANCE",
    anchor_days=3_650,
    has_alarm_topic=True,
    alarm_api_milliseconds=500,
    alarm_connections=1_500,
)
