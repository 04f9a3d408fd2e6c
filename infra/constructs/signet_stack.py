"""The base of all stacks: the region, the protection and the name of their environment."""

from aws_cdk import Environment, Stack
from constructs import Construct

from infra.settings import EnvironmentSettings


class SignetStack(Stack):
    def __init__(self, scope: Construct, part: str, settings: EnvironmentSettings) -> None:
        super().__init__(
            scope,
            f"{settings.prefix}-{part}",
            env=Environment(region=settings.region),
            description=f"Signet, {settings.name}: {part}",
            termination_protection=settings.is_protected,
        )
        self.settings = settings
