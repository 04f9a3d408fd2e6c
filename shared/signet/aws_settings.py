"""The part of the environment that is about AWS: the names that all of its tools know, and Signet's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_OF_AWS = (
    "SIGNET_EVENTS_QUEUE_URL",
    "SIGNET_EFFECTS_QUEUE_URL",
    "SIGNET_SECRETS_PREFIX",
    "SIGNET_ANCHORS_BUCKET",
    "SIGNET_ADMIN_SECRET",
)


@dataclass(frozen=True)
class CredentialsPlace:
    """The address that gives a container its credentials (Lambda with SnapStart)."""

    url: str
    token: str | None = field(repr=False)


@dataclass(frozen=True)
class SweepSettings:
    """EventBridge Scheduler: the function that it calls, its role, and the group of its schedules."""

    group: str
    relay_arn: str
    role_arn: str


@dataclass(frozen=True)
class AwsSettings:
    """Settings by the names that every tool of AWS knows, with the queues that are Signet's own."""

    region: str
    key_id: str | None = None
    secret: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    credentials_place: CredentialsPlace | None = None
    # One for each service; "" stands for all others.
    endpoints: Mapping[str, str] = field(default_factory=dict)
    is_dual_stack: bool = False
    # Wake-ups go to these queues. Without one nobody is woken, and the relay finds what is due.
    events_queue_url: str | None = None
    effects_queue_url: str | None = None
    # Tenants' secrets in Secrets Manager are below it.
    secrets_prefix: str | None = None
    # Calls the relay when something is known to be due, where the relay runs seldom.
    sweeps: SweepSettings | None = None
    # Name and password of the database's admin; for the migrator alone.
    admin_secret: str | None = None
    # A bucket with object lock, which keeps seals out of reach of the database's admins.
    anchors_bucket: str | None = None

    def find_endpoint(self, service: str) -> str:
        given = self.endpoints.get(service) or self.endpoints.get("")
        if given:
            return given
        domain = f"{self.region}.api.aws" if self.is_dual_stack else f"{self.region}.amazonaws.com"
        return f"https://{service}.{domain}"


def read_aws(environ: Mapping[str, str], mistakes: list[str]) -> AwsSettings | None:
    region = read_region(environ)
    events_queue_url, effects_queue_url, secrets_prefix, anchors_bucket, admin_secret = (
        environ.get(name) or None for name in _OF_AWS
    )
    if region is None:
        is_iam = environ.get("SIGNET_DATABASE_AUTH") == "iam"
        if is_iam or any(environ.get(name) for name in _OF_AWS):
            mistakes.append("AWS_REGION is not set, but something of AWS is")
        return None
    place_url = environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    place = (
        CredentialsPlace(place_url, environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")) if place_url else None
    )
    prefix = "AWS_ENDPOINT_URL"
    return AwsSettings(
        region=region,
        key_id=environ.get("AWS_ACCESS_KEY_ID") or None,
        secret=environ.get("AWS_SECRET_ACCESS_KEY") or None,
        session_token=environ.get("AWS_SESSION_TOKEN") or None,
        credentials_place=place,
        endpoints={
            name.removeprefix(prefix).removeprefix("_").lower().replace("_", ""): url
            for name, url in environ.items()
            if (name == prefix or name.startswith(f"{prefix}_")) and url
        },
        is_dual_stack=environ.get("AWS_USE_DUALSTACK_ENDPOINT", "").lower() == "true",
        events_queue_url=events_queue_url,
        effects_queue_url=effects_queue_url,
        secrets_prefix=secrets_prefix,
        sweeps=_read_sweeps(environ, mistakes),
        admin_secret=admin_secret,
        anchors_bucket=anchors_bucket,
    )


def read_region(environ: Mapping[str, str]) -> str | None:
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")


def _read_sweeps(environ: Mapping[str, str], mistakes: list[str]) -> SweepSettings | None:
    names = ("SIGNET_SWEEP_GROUP", "SIGNET_SWEEP_RELAY_ARN", "SIGNET_SWEEP_ROLE_ARN")
    group, relay_arn, role_arn = (environ.get(name, "") for name in names)
    if not (group or relay_arn or role_arn):
        return None
    mistakes += [
        f"{name} is not set, but others of {', '.join(names)} are" for name in names if not environ.get(name)
    ]
    return SweepSettings(group, relay_arn, role_arn)
