"""For trying things out. Next to free while nobody works: the database sleeps, and is woken once an hour."""

from infra.settings import EnvironmentSettings

DEV = EnvironmentSettings(
    name="dev",
    region="eu-central-1",
    sweep_minutes=60,
    log_level="DEBUG",
)
