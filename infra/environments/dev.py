"""The environment for trying things out.

It costs next to nothing while nobody works: the database sleeps and is woken once an hour.
"""

from infra.settings import EnvironmentSettings

DEV = EnvironmentSettings(
    name="dev",
    region="eu-central-1",
    sweep_minutes=60,
    log_level="DEBUG",
)
