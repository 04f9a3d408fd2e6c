"""The settings that differ between environments, each with a file in `infra/environments/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_origin

from pydantic import TypeAdapter, ValidationError

# The longest delay of a message in SQS.
LONGEST_DELAY_MINUTES = 15


@dataclass(frozen=True)
class EnvironmentSettings:
    name: str
    region: str
    # The account that this environment is deployed to; None is that of the credentials.
    account: str | None = None
    # Others rely on it, so that it is deployed to a named account alone.
    wants_account: bool = False
    # The stacks, the database and its backups survive a mistaken delete.
    is_protected: bool = False
    # One of the two bundles of `make build`; the local one runs on this machine's interpreter.
    bundle: Literal["lambda", "local"] = "lambda"

    # The issuer signs the tokens. On deployment API Gateway fetches
    # `<issuer>/.well-known/openid-configuration`.
    jwt_issuer: str | None = None
    jwt_audiences: tuple[str, ...] = ("signet",)
    # What `<issuer>/.well-known/openid-configuration` names as `jwks_uri`.
    jwt_keys_url: str | None = None
    operator_role: str | None = None
    # The origins of web pages that may call the API; without one no browser may.
    cors_origins: tuple[str, ...] = ()
    api_requests_per_second: int = 50
    api_burst: int = 100
    # The limits of the second API, for callers without a JWT; API Gateway checks nothing there.
    machine_requests_per_second: int = 20
    machine_burst: int = 40
    # A custom domain needs a certificate of this region; its DNS records are made by hand.
    api_domain_name: str | None = None
    machine_domain_name: str | None = None
    certificate_arn: str | None = None

    # Only receivers of webhooks that have IPv4 alone need gateways; AWS is reached by IPv6.
    nat_gateways: int = 0
    has_flow_logs: bool = False
    uses_dual_stack_endpoints: bool = True
    # A function of CDK's own removes the rules of the VPC's default group, which CloudFormation cannot.
    closes_default_group: bool = True

    database_version: str = "18.4"
    # At 0 the database sleeps when nobody works; the first call then waits some 15 seconds.
    database_min_capacity: float = 0
    database_max_capacity: float = 2
    database_readers: int = 0
    # A proxy keeps the database awake.
    has_database_proxy: bool = False
    has_performance_insights: bool = False
    backup_retention_days: int = 1

    log_retention_days: int = 14
    log_level: str = "INFO"
    # The instances of a function at the same time, taken from the account's; others have the rest.
    reserved_concurrency: Mapping[str, int] = field(default_factory=dict)
    # The API starts from a snapshot, which is paid for while it is kept.
    has_snap_start: bool = False
    # One more layer, with OpenTelemetry and Sentry. `environment` says where they report to.
    has_telemetry: bool = False
    # Any variables that the functions read: OTEL_*, SENTRY_DSN, SIGNET_JWT_…_CLAIM.
    environment: Mapping[str, str] = field(default_factory=dict)

    # A message is set aside after so many receives. The database alone counts attempts of work.
    max_receive_count: int = 5
    batch_size: int = 10
    # The workers at the same time for each queue; 2 is the least that AWS takes.
    events_concurrency: int = 2
    effects_concurrency: int = 2
    # The relay looks this often for due work that no wake-up was sent for, and the janitor comes as often. If
    # that is longer than a message can wait, sweeps are also planned for moments when work is known to be
    # due.
    sweep_minutes: int = 1
    # The days that the bus keeps integration events to be replayed; 0 keeps none.
    archive_days: int = 0

    # The address that mails come from; SES must have verified it or its domain. None: no mail.
    mail_sender: str | None = None
    sends_sms: bool = False

    # The seals of the audit trail cannot be deleted for so many days; in the mode COMPLIANCE by nobody at
    # all.
    anchor_mode: Literal["GOVERNANCE", "COMPLIANCE"] = "GOVERNANCE"
    anchor_days: int = 1

    # An alarm topic costs a key of its own each month.
    has_alarm_topic: bool = False
    alarm_emails: tuple[str, ...] = ()
    # The address of the runbook in alarms: one of your own once the file can be browsed somewhere.
    runbook: str = "docs/runbook.md"
    # The limits beyond which alarms are raised.
    alarm_api_milliseconds: int = 1_000
    alarm_wait_seconds: int = 120
    # An endpoint rests for an hour at the longest.
    alarm_overdue_seconds: int = 900
    alarm_connections: int = 150

    @property
    def prefix(self) -> str:
        return f"signet-{self.name}"

    @property
    def plans_sweeps(self) -> bool:
        return self.sweep_minutes > LONGEST_DELAY_MINUTES

    @property
    def metrics_namespace(self) -> str:
        return f"Signet/{self.name}"


class SettingsRefused(SystemExit):
    """The mistakes in the settings of an environment, a line each; it ends the command with them."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__("\n".join(["The settings are refused:", *(f"  {mistake}" for mistake in mistakes)]))


def override(settings: EnvironmentSettings, context: Mapping[str, Any]) -> EnvironmentSettings:
    """Return the settings with values of `-c signet:jwt_issuer=…`, which need not be in the repository."""
    named = {name.removeprefix("signet:"): value for name, value in context.items()}
    kinds = {setting.name: setting.type for setting in fields(settings)}
    mistakes = [f"{name}: is no setting" for name in sorted(named.keys() - kinds.keys())]
    values: dict[str, Any] = {}
    for name in sorted(named.keys() & kinds.keys()):
        try:
            values[name] = _read(kinds[name], named[name])
        except ValueError as error:
            mistakes.append(f"{name}: {error}")
    if mistakes:
        raise SettingsRefused(mistakes)
    return replace(settings, **values)


def _read(kind: Any, value: Any) -> Any:
    """Return the value as this type. The command line gives text; a test gives the value itself."""
    if not isinstance(value, str):
        return value
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if kind is bool and value not in ("true", "false"):
        raise ValueError(f"must be true or false, not {value!r}")
    adapter = TypeAdapter(kind)
    try:
        if kind in (bool, int, float) or get_origin(kind) is Mapping:
            return adapter.validate_json(value)
        return adapter.validate_python(value)
    except ValidationError as error:
        raise ValueError(f"{error.errors()[0]['msg'].lower()}, not {value!r}") from error
