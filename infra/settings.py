"""What may differ between environments, and nothing else. Each has a file in `infra/environments/`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

# Of a message of SQS.
LONGEST_DELAY_MINUTES = 15


@dataclass(frozen=True)
class EnvironmentSettings:
    name: str
    region: str
    # Stacks, database and its backups survive a mistaken delete.
    is_protected: bool = False
    # Which of the two that `make build` makes: the local one runs on this machine's interpreter.
    bundle: Literal["lambda", "local"] = "lambda"

    # Who signs the tokens. On deployment API Gateway fetches `<issuer>/.well-known/openid-configuration`.
    jwt_issuer: str = "https://issuer.example/"
    jwt_audiences: tuple[str, ...] = ("signet",)
    jwt_keys_url: str = "https://issuer.example/.well-known/jwks.json"
    operator_role: str | None = None
    # Of the web pages that may call the API; without one no browser may.
    cors_origins: tuple[str, ...] = ()
    api_requests_per_second: int = 50
    api_burst: int = 100
    # The second API, for callers without a JWT; API Gateway checks nothing there.
    machine_requests_per_second: int = 20
    machine_burst: int = 40
    # Domains of one's own need a certificate of this region; the DNS records are made by hand.
    api_domain_name: str | None = None
    machine_domain_name: str | None = None
    certificate_arn: str | None = None

    # IPv6 reaches AWS without them; receivers of webhooks that have IPv4 only are reached through them.
    nat_gateways: int = 0
    has_flow_logs: bool = False
    uses_dual_stack_endpoints: bool = True
    # A function of CDK's own takes the rules of the VPC's default group away: CloudFormation cannot.
    closes_default_group: bool = True

    database_version: str = "18.4"
    # 0 is asleep when nobody works; the first one then waits some 15 seconds.
    database_min_capacity: float = 0
    database_max_capacity: float = 2
    database_readers: int = 0
    # A proxy keeps the database awake.
    has_database_proxy: bool = False
    has_performance_insights: bool = False
    backup_retention_days: int = 1

    log_retention_days: int = 14
    log_level: str = "INFO"
    # Instances of a function at the same time, of those that the account has; others have what is left.
    reserved_concurrency: Mapping[str, int] = field(default_factory=dict)
    # Of the API: it starts from a snapshot, which is paid for while it is kept.
    has_snap_start: bool = False
    # A layer more, with OpenTelemetry and Sentry. Where they report to is said in `environment`.
    has_telemetry: bool = False
    # OTEL_*, SENTRY_DSN, SIGNET_JWT_…_CLAIM and whatever else the functions read.
    environment: Mapping[str, str] = field(default_factory=dict)

    # How often a message may come again before it is set aside. The database alone counts attempts of work.
    max_receive_count: int = 5
    batch_size: int = 10
    # Workers at the same time for each queue; 2 is the least that AWS takes.
    events_concurrency: int = 2
    effects_concurrency: int = 2
    # How often due work is looked for that nobody was woken for, and how often the janitor comes. Where that
    # is more seldom than a message can wait, somebody also looks when something is known to be due.
    sweep_minutes: int = 1
    # How long the bus keeps integration events to be replayed; 0 is not at all.
    archive_days: int = 0

    # The address that mails come from; SES must have verified it or its domain. None: no mail.
    mail_sender: str | None = None
    sends_sms: bool = False

    # How long the seals of the audit trail cannot be deleted; by nobody at all where the mode is COMPLIANCE.
    anchor_mode: Literal["GOVERNANCE", "COMPLIANCE"] = "GOVERNANCE"
    anchor_days: int = 1

    # An alarm topic costs a key of its own each month.
    has_alarm_topic: bool = False
    alarm_emails: tuple[str, ...] = ()
    # Where whoever is woken up reads what to do: an address of your own once the file is somewhere to browse.
    runbook: str = "docs/runbook.md"
    # What is too slow, too late or too many.
    alarm_api_milliseconds: int = 1_000
    alarm_wait_seconds: int = 120
    # An endpoint's rests are an hour at the longest.
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


def override(settings: EnvironmentSettings, context: Mapping[str, Any]) -> EnvironmentSettings:
    """`-c signet:jwt_issuer=…` sets one of them: what belongs to an account need not be in the repo."""
    named = {name.removeprefix("signet:"): value for name, value in context.items()}
    kinds = {one.name: one.type for one in fields(settings)}
    unknown = sorted(named.keys() - kinds.keys())
    if unknown:
        raise SystemExit(f"-c signet: names no setting {', '.join(unknown)}")
    return replace(settings, **{name: _read(kinds[name], value) for name, value in named.items()})


def _read(kind: Any, value: Any) -> Any:
    """What the command line gives is text; a test gives the value itself."""
    if not isinstance(value, str):
        return value
    if kind is bool:
        return value == "true"
    if kind in (int, float):
        return kind(value)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value
