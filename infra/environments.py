"""What differs between environments, and nothing else."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EnvironmentSettings:
    name: str
    database_version: str = "18.1"
    database_min_capacity: float = 0
    database_max_capacity: float = 2
    backup_retention_days: int = 1
    is_protected: bool = False


ENVIRONMENTS = {
    settings.name: settings
    for settings in [
        # Scales to zero when nobody works.
        EnvironmentSettings("dev"),
        EnvironmentSettings(
            "staging", database_min_capacity=0.5, database_max_capacity=4, backup_retention_days=7
        ),
        EnvironmentSettings(
            "prod",
            database_min_capacity=1,
            database_max_capacity=32,
            backup_retention_days=30,
            is_protected=True,
        ),
    ]
}
