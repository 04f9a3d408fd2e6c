"""The base of all stacks: the region, the protection and the name of their environment."""

from aws_cdk import Environment, Fn, Stack
from constructs import Construct

from infra.settings import EnvironmentSettings

# The database and the functions are in so many.
ZONES = 2


class SignetStack(Stack):
    def __init__(self, scope: Construct, part: str, settings: EnvironmentSettings) -> None:
        super().__init__(
            scope,
            f"{settings.prefix}-{part}",
            env=Environment(account=settings.account, region=settings.region),
            description=f"Signet, {settings.name}: {part}",
            termination_protection=settings.is_protected,
        )
        self.settings = settings

    @property
    def availability_zones(self) -> list[str]:
        """Return the zones by their place in the region, so that no synthesis asks an account for them."""
        return [Fn.select(place, Fn.get_azs()) for place in range(ZONES)]
