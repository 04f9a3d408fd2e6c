"""The functions, their callers, and the migration that runs before them."""

from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path

from aws_cdk import Aws, CfnOutput, CustomResource, Duration, RemovalPolicy, aws_apigatewayv2, aws_lambda
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from infra.build_id import read_build_id
from infra.constructs.http_front import FrontLimits, HttpFront
from infra.constructs.scheduled_start import PlannedSweeps, ScheduledStart
from infra.constructs.signet_function import RUNTIME, FunctionParts, SignetFunction
from infra.constructs.signet_stack import SignetStack
from infra.constructs.work_queue import WorkQueue
from infra.findings import explain
from infra.schema_digest import MIGRATIONS, digest_of
from infra.settings import EnvironmentSettings
from infra.stacks.data import DataStack
from infra.stacks.messaging import NODE_EXECUTION_SECONDS, SIDE_EFFECT_SECONDS, MessagingStack
from infra.stacks.network import NetworkStack

# API Gateway gives up after 30 seconds.
_API_SECONDS = 29
# Of the instances of the API that are reserved, one in four at most waits for a workflow.
_WAITING_SHARE = 4
_RELAY_SECONDS = 50
# A sleeping database takes some 15 seconds to wake up. A function that gives up sooner never finds it awake,
# because it sleeps again before the clock's next start. An answer of the API must still come in time.
_WAKING_SECONDS = 20
_JANITOR_SECONDS = 300
_MIGRATOR_SECONDS = 900
_GET, _HEAD, _OPTIONS, _ANY = (
    aws_apigatewayv2.HttpMethod.GET,
    aws_apigatewayv2.HttpMethod.HEAD,
    aws_apigatewayv2.HttpMethod.OPTIONS,
    aws_apigatewayv2.HttpMethod.ANY,
)
_CHECKED_INSIDE = "API keys and signed messages are no JWTs: the function checks each request itself."
_PUBLIC = "What the API can do is public; it names no tenant and reads no row."
# The name that CDK gives to a value that one stack takes from another.
_EXPORTED_ANCHORS = "ExportsOutputFnGetAttAnchorsE78985FDArnBC8F3FC9"
# Templates can be looked at without an issuer; a deployment refuses to begin.
NOBODY = "https://issuer.example/"
_PREFLIGHT = "A browser asks without a token whether it may send one; the function answers from its settings."


@dataclass(frozen=True)
class Neighbours:
    network: NetworkStack
    data: DataStack
    messaging: MessagingStack


class AppStack(SignetStack):
    def __init__(
        self, scope: Construct, settings: EnvironmentSettings, others: Neighbours, bundle: Path
    ) -> None:
        super().__init__(scope, "app", settings)
        self._others = others
        self._parts = self._make_parts(bundle)
        self._wakes = {
            "SIGNET_EVENTS_QUEUE_URL": others.messaging.events.queue.queue_url,
            "SIGNET_EFFECTS_QUEUE_URL": others.messaging.effects.queue.queue_url,
        }
        self._prefix = f"signet/{settings.name}"
        self.migrator = self._add_migrator()
        self.api = self._add_api()
        self.outbox_relay = self._add_function("outbox_relay", "signet_worker", _RELAY_SECONDS, 512, {})
        self.node_execution = self._add_function(
            "node_execution", "signet_worker", NODE_EXECUTION_SECONDS, 1_024, {}
        )
        self.side_effect_io = self._add_side_effect_io()
        self.janitor = self._add_janitor()
        if settings.plans_sweeps:
            self._plan_sweeps()
        self._add_starts()
        self.front = self._add_front()
        self.machines = self._add_machines()
        self._migrate_before()

    @property
    def functions(self) -> list[SignetFunction]:
        return [
            self.api,
            self.outbox_relay,
            self.node_execution,
            self.side_effect_io,
            self.janitor,
            self.migrator,
        ]

    def _make_parts(self, bundle: Path) -> FunctionParts:
        settings = self.settings
        layers = [self._add_layer(bundle, "layer", "Signet, what it needs, and its migrations")]
        if settings.has_telemetry:
            layers.append(self._add_layer(bundle, "telemetry", "OpenTelemetry and Sentry"))
        environment = {
            **settings.environment,
            "SIGNET_ENVIRONMENT": settings.name,
            # It makes a new version of each function, and each answer names it.
            "SIGNET_BUILD": read_build_id(bundle),
            "SIGNET_DATABASE_AUTH": "iam",
            "SIGNET_LOG_LEVEL": settings.log_level,
            "POWERTOOLS_METRICS_NAMESPACE": settings.metrics_namespace,
        }
        if not settings.database_min_capacity:
            environment["SIGNET_DATABASE_WAIT_SECONDS"] = str(_WAKING_SECONDS)
        if settings.uses_dual_stack_endpoints:
            # Without a NAT gateway AWS is reached by IPv6 alone.
            environment["AWS_USE_DUALSTACK_ENDPOINT"] = "true"
        return FunctionParts(
            settings=settings,
            code=aws_lambda.Code.from_asset(str(bundle / "functions.zip")),
            layers=layers,
            vpc=self._others.network.vpc,
            group=self._others.network.function_group,
            environment=environment,
        )

    def _add_layer(self, bundle: Path, name: str, description: str) -> aws_lambda.LayerVersion:
        return aws_lambda.LayerVersion(
            self,
            name.title(),
            layer_version_name=f"{self.settings.prefix}-{name}",
            code=aws_lambda.Code.from_asset(str(bundle / f"{name}.zip")),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[aws_lambda.Architecture.ARM_64],
            description=description,
        )

    def _add_function(
        self,
        name: str,
        role: str,
        seconds: int,
        megabytes: int,
        environment: dict[str, str],
        *,
        has_snap_start: bool = False,
    ) -> SignetFunction:
        """Add a function that works on the database as `role` and may send wake-ups."""
        data, messaging = self._others.data, self._others.messaging
        database = {"SIGNET_DATABASE_URL": data.url_of(role)}
        function = SignetFunction(
            self,
            "".join(word.title() for word in name.split("_")),
            self._parts,
            name=name,
            seconds=seconds,
            megabytes=megabytes,
            environment={**database, **self._wakes, **environment},
            has_snap_start=has_snap_start,
        )
        function.allow(["rds-db:connect"], [data.user_arn(role)])
        queues = [messaging.events.queue.queue_arn, messaging.effects.queue.queue_arn]
        function.allow(["sqs:SendMessage"], queues)
        return function

    def _add_migrator(self) -> SignetFunction:
        data = self._others.data
        migrator = SignetFunction(
            self,
            "Migrator",
            self._parts,
            name="migrator",
            seconds=_MIGRATOR_SECONDS,
            megabytes=512,
            environment={
                # The admin has a password that RDS renews. The other roles sign in by tokens, which the admin
                # allows.
                "SIGNET_DATABASE_URL": data.admin_url(),
                "SIGNET_ADMIN_SECRET": data.admin_secret_arn,
            },
        )
        migrator.allow(["secretsmanager:GetSecretValue"], [data.admin_secret_arn])
        return migrator

    def _add_api(self) -> SignetFunction:
        settings = self.settings
        environment = {
            "SIGNET_JWT_ISSUER": settings.jwt_issuer or NOBODY,
            "SIGNET_JWT_AUDIENCE": ",".join(settings.jwt_audiences),
            "SIGNET_JWT_KEYS_URL": settings.jwt_keys_url or f"{NOBODY}jwks.json",
            "SIGNET_SECRETS_PREFIX": self._prefix,
        }
        if settings.operator_role is not None:
            environment["SIGNET_OPERATOR_ROLE"] = settings.operator_role
        reserved = settings.reserved_concurrency.get("api")
        if reserved is not None:
            # A request that waits keeps an instance of the function, which serves nobody else.
            environment["SIGNET_MAX_WAITS"] = str(reserved // _WAITING_SHARE)
        if settings.cors_origins:
            environment["SIGNET_CORS_ORIGINS"] = ",".join(settings.cors_origins)
        api = self._add_function(
            "api",
            "signet_api",
            _API_SECONDS,
            1_024,
            environment,
            has_snap_start=settings.has_snap_start,
        )
        self._allow_secrets(api)
        return api

    def _add_side_effect_io(self) -> SignetFunction:
        bus = self._others.messaging.bus
        environment = {"SIGNET_SECRETS_PREFIX": self._prefix, "SIGNET_BUS_NAME": bus.event_bus_name}
        if self.settings.mail_sender is not None:
            environment["SIGNET_MAIL_SENDER"] = self.settings.mail_sender
        if self.settings.sends_sms:
            environment["SIGNET_TEXT_MESSAGES"] = "on"
        function = self._add_function(
            "side_effect_io", "signet_worker", SIDE_EFFECT_SECONDS, 512, environment
        )
        self._allow_secrets(function)
        function.allow(["events:PutEvents"], [bus.event_bus_arn])
        if self.settings.mail_sender is not None:
            self._allow_mail(function, self.settings.mail_sender)
        if self.settings.sends_sms:
            # A telephone number is no resource that could be named. Topics are, and none of them is ours.
            function.allow_all_but(["sns:Publish"], [f"arn:{Aws.PARTITION}:sns:*:*:*"])
        return function

    def _add_janitor(self) -> SignetFunction:
        anchors = self._others.data.anchors
        janitor = self._add_function(
            "janitor",
            "signet_janitor",
            _JANITOR_SECONDS,
            512,
            {"SIGNET_ANCHORS_BUCKET": anchors.bucket_name},
        )
        janitor.allow(["s3:PutObject"], [anchors.arn_for_objects("*")])
        explain(
            janitor.role,
            f"IAM5[Resource::{self._others.data.stack_name}:{_EXPORTED_ANCHORS}/*]",
            "Each seal is an object of its own, under a key that is not known before.",
        )
        return janitor

    def _allow_secrets(self, function: SignetFunction) -> None:
        name = f"{self._prefix}/*/*"
        arn = f"arn:{Aws.PARTITION}:secretsmanager:{self.region}:{Aws.ACCOUNT_ID}:secret:{name}"
        function.allow(["secretsmanager:GetSecretValue"], [arn])
        shown = f"arn:<AWS::Partition>:secretsmanager:{self.region}:<AWS::AccountId>:secret:{name}"
        explain(
            function.role,
            f"IAM5[Resource::{shown}]",
            "Tenants and their secrets come and go without a deployment; the prefix is this environment's.",
        )

    def _allow_mail(self, function: SignetFunction, sender: str) -> None:
        """Allow mail from the sender.

        SES checks the identity it verified: the address or its domain, without a name.
        """
        sender = parseaddr(sender)[1]
        base = f"arn:{Aws.PARTITION}:ses:{self.region}:{Aws.ACCOUNT_ID}:identity"
        identities = [f"{base}/{sender}", f"{base}/{sender.rpartition('@')[2]}"]
        function.allow(["ses:SendEmail"], identities, {"StringEquals": {"ses:FromAddress": sender}})

    def _add_starts(self) -> None:
        messaging, settings = self._others.messaging, self.settings
        self._read(self.node_execution, messaging.events, settings.events_concurrency)
        self._read(self.side_effect_io, messaging.effects, settings.effects_concurrency)
        for started in (self.outbox_relay, self.janitor):
            ScheduledStart(
                self,
                f"{started.node.id}Schedule",
                started=started,
                minutes=settings.sweep_minutes,
                missed=messaging.missed,
            )

    def _plan_sweeps(self) -> None:
        """Let every function that writes work due later plan a sweep; the relay writes none."""
        sweeps = PlannedSweeps(self, "Sweeps", self.settings, self.outbox_relay)
        for function in (self.api, self.node_execution, self.side_effect_io, self.janitor):
            sweeps.let_plan(function)

    def _read(self, worker: SignetFunction, queue: WorkQueue, concurrency: int) -> None:
        worker.function.add_event_source(
            SqsEventSource(
                queue.queue,
                batch_size=self.settings.batch_size,
                max_concurrency=concurrency,
                report_batch_item_failures=True,
            )
        )

    def _add_front(self) -> HttpFront:
        """Add the API for people, who bring tokens of the issuer."""
        settings = self.settings
        front = HttpFront(
            self,
            "Front",
            name=settings.prefix,
            settings=settings,
            function=self.api.invoked,
            limits=FrontLimits(settings.api_requests_per_second, settings.api_burst),
            domain_name=settings.api_domain_name,
        )
        authorizer = HttpJwtAuthorizer(
            "Tokens", settings.jwt_issuer or NOBODY, jwt_audience=[*settings.jwt_audiences]
        )
        front.add_routes("/v1/{proxy+}", [_ANY], authorizer)
        front.add_routes("/v1/{proxy+}", [_OPTIONS], why_open=_PREFLIGHT)
        for path in ("/openapi.json", "/reference"):
            front.add_routes(path, [_GET, _HEAD, _OPTIONS], why_open=_PUBLIC)
        CfnOutput(self, "ApiUrl", value=_address(front, settings.api_domain_name))
        return front

    def _add_machines(self) -> HttpFront:
        """Add the API for API keys, signed messages and collectors of metrics, none of which are JWTs."""
        settings = self.settings
        machines = HttpFront(
            self,
            "Machines",
            name=f"{settings.prefix}-machines",
            settings=settings,
            function=self.api.invoked,
            limits=FrontLimits(settings.machine_requests_per_second, settings.machine_burst),
            domain_name=settings.machine_domain_name,
        )
        machines.add_routes("/v1/{proxy+}", [_ANY], why_open=_CHECKED_INSIDE)
        machines.add_routes("/metrics", [_GET], why_open=_CHECKED_INSIDE)
        CfnOutput(self, "MachinesUrl", value=_address(machines, settings.machine_domain_name))
        return machines

    def _migrate_before(self) -> None:
        """Migrate before the functions switch. On the way back the migrator is given the older folder."""
        migration = CustomResource(
            self,
            "Migration",
            resource_type="Custom::Migration",
            service_token=self.migrator.function.function_arn,
            service_timeout=Duration.seconds(_MIGRATOR_SECONDS),
            properties={"Migrations": digest_of(MIGRATIONS)},
            # Deleting the stack takes no data away, so the migrator has nothing to do then.
            removal_policy=RemovalPolicy.RETAIN,
        )
        for function in self.functions:
            if function is not self.migrator:
                function.resource.node.add_dependency(migration)


def _address(front: HttpFront, domain_name: str | None) -> str:
    return f"https://{domain_name}" if domain_name else front.api.api_endpoint
