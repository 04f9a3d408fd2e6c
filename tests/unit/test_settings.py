"""Settings: all errors at once, each with its variable's name."""

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.retention import Retentions
from signet.settings import ClaimNames, read_settings

GOOD = {"SIGNET_DATABASE_URL": "postgresql:///signet"}


def test_defaults_are_those_of_a_lambda() -> None:
    settings = read_settings(GOOD)
    assert (settings.environment, settings.database_pool_size, settings.development_secret) == (
        "prod",
        1,
        None,
    )


def test_all_mistakes_are_told_together() -> None:
    with pytest.raises(Rejected) as caught:
        read_settings(
            {"SIGNET_ENVIRONMENT": "moon", "SIGNET_DATABASE_POOL_SIZE": "0", "SIGNET_DEVELOPMENT_SECRET": "x"}
        )
    message = str(caught.value)
    assert all(
        name in message
        for name in [
            "SIGNET_ENVIRONMENT",
            "SIGNET_DATABASE_POOL_SIZE",
            "SIGNET_DATABASE_URL",
            "SIGNET_DEVELOPMENT_SECRET",
        ]
    )


@pytest.mark.parametrize("text", ["", "-1", "1.5", "٣", "101", "one"])
def test_nonsense_numbers(text: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_DATABASE_POOL_SIZE"):
        read_settings({**GOOD, "SIGNET_DATABASE_POOL_SIZE": text})


def test_a_development_secret_stays_at_home() -> None:
    local = {**GOOD, "SIGNET_ENVIRONMENT": "local", "SIGNET_DEVELOPMENT_SECRET": "s" * 32}
    assert read_settings(local).development_secret == "s" * 32
    with pytest.raises(Rejected, match="local only"):
        read_settings({**local, "SIGNET_ENVIRONMENT": "dev"})


def test_extensions_are_modules_separated_by_commas() -> None:
    assert read_settings(GOOD).extensions == ()
    named = {**GOOD, "SIGNET_EXTENSIONS": " acme.actions, acme_more ,"}
    assert read_settings(named).extensions == ("acme.actions", "acme_more")


@pytest.mark.parametrize("text", ["a b", "a;b", "a..b", ".a", "a.b.", "1a", "../a", "a/b", "for"])
def test_what_is_no_module_is_no_extension(text: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_EXTENSIONS"):
        read_settings({**GOOD, "SIGNET_EXTENSIONS": f"acme.actions,{text}"})


def test_what_watches_is_off_unless_it_is_named() -> None:
    settings = read_settings(GOOD)
    assert (settings.metrics_token, settings.metrics_namespace, settings.sentry_dsn) == (None, None, None)
    assert (settings.traces_exporter, settings.service, settings.log_level) == (None, "signet", "INFO")


OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}


@pytest.mark.parametrize(
    ("named", "exporter"),
    [
        (OTLP, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({**OTLP, "OTEL_TRACES_EXPORTER": "none"}, None),
        ({**OTLP, "OTEL_SDK_DISABLED": "True"}, None),
    ],
)
def test_traces_go_where_opentelemetry_says(named: dict[str, str], exporter: str | None) -> None:
    assert read_settings({**GOOD, **named}).traces_exporter == exporter


@pytest.mark.parametrize(
    "named",
    [
        {"OTEL_TRACES_EXPORTER": "zipkin"},
        {"SIGNET_LOG_LEVEL": "LOUD"},
        {"SIGNET_METRICS_TOKEN": "s" * 31},
    ],
)
def test_what_watches_and_cannot_be_meant(named: dict[str, str]) -> None:
    (name,) = named
    with pytest.raises(Rejected, match=name):
        read_settings({**GOOD, **named})


ISSUER = {
    **GOOD,
    "SIGNET_JWT_ISSUER": "https://login.example.com/",
    "SIGNET_JWT_AUDIENCE": "signet, console",
    "SIGNET_JWT_KEYS_URL": "https://login.example.com/.well-known/jwks.json",
}


def test_an_issuer_is_named_with_its_audience_and_its_keys() -> None:
    assert read_settings(GOOD).issuer is None
    claims = {
        "SIGNET_JWT_ROLES_CLAIM": "realm_access.roles",
        "SIGNET_JWT_TENANT_CLAIM": "https://a.example/t",
    }
    issuer = read_settings({**ISSUER, **claims}).issuer
    assert issuer is not None
    assert (issuer.audiences, issuer.claims) == (
        ("signet", "console"),
        ClaimNames("sub", "https://a.example/t", "realm_access.roles"),
    )
    for name in ("SIGNET_JWT_ISSUER", "SIGNET_JWT_AUDIENCE", "SIGNET_JWT_KEYS_URL"):
        with pytest.raises(Rejected, match=f"{name} is not set"):
            read_settings({**ISSUER, name: ""})


@pytest.mark.parametrize(
    ("url", "is_local", "is_good"),
    [
        ("http://127.0.0.1:9000/keys", True, True),
        ("http://localhost/keys", True, True),
        ("http://127.0.0.1:9000/keys", False, False),
        ("http://login.example.com/keys", True, False),
        ("http://169.254.169.254/latest", True, False),
        ("http://127.0.0.1@login.example.com/keys", True, False),
        ("https://user@login.example.com/keys", False, False),
        ("https://login.example.com:99999/keys", False, False),
        ("https://login.example.com/keys#part", False, False),
        ("https://login.example.com/a b", False, False),
        ("https:///keys", False, False),
        ("file:///etc/passwd", True, False),
        ("ftp://127.0.0.1/keys", True, False),
    ],
)
def test_keys_come_by_https(url: str, is_local: bool, is_good: bool) -> None:
    environ = {**ISSUER, "SIGNET_JWT_KEYS_URL": url, "SIGNET_ENVIRONMENT": "local" if is_local else "prod"}
    if is_good:
        assert read_settings(environ).issuer is not None
        return
    with pytest.raises(Rejected, match="SIGNET_JWT_KEYS_URL must be an https URL"):
        read_settings(environ)


@pytest.mark.parametrize("claim", ["", ".", "a..b", "a.", "x" * 201, "a\n"])
def test_a_claim_has_a_name(claim: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_JWT_ROLES_CLAIM"):
        read_settings({**ISSUER, "SIGNET_JWT_ROLES_CLAIM": claim})


def test_an_operators_role_is_none_that_a_tenant_can_make() -> None:
    assert (
        read_settings({**GOOD, "SIGNET_OPERATOR_ROLE": "signet:operator"}).operator_role == "signet:operator"
    )
    for role in ("operator", "", "a b:c", ":"):
        with pytest.raises(Rejected, match="SIGNET_OPERATOR_ROLE"):
            read_settings({**GOOD, "SIGNET_OPERATOR_ROLE": role})


REGION = {**GOOD, "AWS_REGION": "eu-central-1"}


def test_nothing_but_webhooks_leaves_unless_it_is_named() -> None:
    leaving = read_settings(GOOD).leaving
    assert (leaving.mail_sender, leaving.bus_name, leaving.sends_text_messages) == (None, None, False)
    assert leaving.webhook_addresses == frozenset()


def test_what_leaves_is_named() -> None:
    named = {
        **REGION,
        "SIGNET_MAIL_SENDER": "Signet <signet@a.example>",
        "SIGNET_BUS_NAME": "signet",
        "SIGNET_EVENT_SOURCE": "com.example.signet",
        "SIGNET_TEXT_MESSAGES": "on",
    }
    leaving = read_settings(named).leaving
    assert (leaving.mail_sender, leaving.bus_name) == ("Signet <signet@a.example>", "signet")
    assert (leaving.event_source, leaving.sends_text_messages) == ("com.example.signet", True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SIGNET_MAIL_SENDER", "signet"),
        ("SIGNET_MAIL_SENDER", "signet@a.example\r\nBcc: eve@a.example"),
        ("SIGNET_EVENT_SOURCE", "aws.events"),
        ("SIGNET_EVENT_SOURCE", "a b"),
        ("SIGNET_TEXT_MESSAGES", "yes"),
    ],
)
def test_what_leaves_must_be_named_rightly(name: str, text: str) -> None:
    with pytest.raises(Rejected, match=name):
        read_settings({**REGION, name: text})


@pytest.mark.parametrize("name", ["SIGNET_MAIL_SENDER", "SIGNET_BUS_NAME", "SIGNET_TEXT_MESSAGES"])
def test_what_leaves_by_aws_needs_a_region(name: str) -> None:
    text = {"SIGNET_MAIL_SENDER": "a@a.example", "SIGNET_TEXT_MESSAGES": "on"}.get(name, "signet")
    with pytest.raises(Rejected, match="AWS_REGION"):
        read_settings({**GOOD, name: text})
    assert read_settings({**REGION, name: text}).leaving


@pytest.mark.parametrize("environment", ["local", "dev"])
def test_addresses_are_let_through_where_nothing_is_at_stake(environment: str) -> None:
    named = {**GOOD, "SIGNET_ENVIRONMENT": environment, "SIGNET_WEBHOOK_ADDRESSES": "127.0.0.1, 0:0::1"}
    assert read_settings(named).leaving.webhook_addresses == {"127.0.0.1", "::1"}


@pytest.mark.parametrize("environment", ["staging", "prod"])
def test_addresses_are_let_through_nowhere_else(environment: str) -> None:
    named = {**GOOD, "SIGNET_ENVIRONMENT": environment, "SIGNET_WEBHOOK_ADDRESSES": "127.0.0.1"}
    with pytest.raises(Rejected, match="SIGNET_WEBHOOK_ADDRESSES") as raised:
        read_settings(named)
    assert raised.value.code == "SETTINGS_INVALID"


@pytest.mark.parametrize("text", ["localhost", "127.0.0.0/8", "127.1", "127.0.0.1:80", "*"])
def test_what_is_no_address_lets_nothing_through(text: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_WEBHOOK_ADDRESSES"):
        read_settings({**GOOD, "SIGNET_ENVIRONMENT": "local", "SIGNET_WEBHOOK_ADDRESSES": text})


def test_what_is_kept_and_for_how_long() -> None:
    assert read_settings(GOOD).retentions == Retentions(90, 90, 7, 90, 365, 365, None)
    named = {"OUTBOX": "30", "IDEMPOTENCY": "1", "HISTORY": "400"}
    kept = read_settings({**GOOD, **{f"SIGNET_RETENTION_{name}_DAYS": days for name, days in named.items()}})
    assert kept.retentions == Retentions(30, 90, 1, 90, 365, 365, 400)


@pytest.mark.parametrize(
    ("name", "days"),
    [("OUTBOX", "0"), ("RECEIPTS", "-1"), ("HISTORY", "29"), ("HISTORY", ""), ("DELETED_DOCUMENTS", "36501")],
)
def test_a_retention_that_cannot_be_meant(name: str, days: str) -> None:
    with pytest.raises(Rejected, match=f"SIGNET_RETENTION_{name}_DAYS"):
        read_settings({**GOOD, f"SIGNET_RETENTION_{name}_DAYS": days})


@pytest.mark.parametrize(
    ("name", "field"), [("SIGNET_ANCHORS_BUCKET", "anchors_bucket"), ("SIGNET_ADMIN_SECRET", "admin_secret")]
)
def test_what_is_named_of_aws_needs_a_region(name: str, field: str) -> None:
    with pytest.raises(Rejected, match="AWS_REGION"):
        read_settings({**GOOD, name: "named"})
    assert getattr(read_settings({**REGION, name: "named"}).aws, field) == "named"


AWS = {
    "SIGNET_ENVIRONMENT": "prod",
    "SIGNET_DATABASE_URL": "postgresql://signet_api@db.example/signet",
    "SIGNET_DATABASE_AUTH": "iam",
    "SIGNET_EVENTS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/events",
    "SIGNET_EFFECTS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/effects",
    "SIGNET_SECRETS_PREFIX": "signet/prod",
    "AWS_REGION": "eu-central-1",
}


def test_what_is_of_aws_is_read_by_the_names_that_all_of_its_tools_know() -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": "AKID",
        "AWS_SECRET_ACCESS_KEY": "the-secret-key",
        "AWS_SESSION_TOKEN": "the-session-token",
    }
    endpoints = {
        "AWS_ENDPOINT_URL": "http://all",
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://secrets",
        "AWS_ENDPOINT_URL_SQS": "",
    }
    settings = read_settings({**AWS, **keys, **endpoints, "AWS_USE_DUALSTACK_ENDPOINT": "true"})
    assert settings.database_auth == "iam"
    aws = settings.aws
    assert aws is not None
    assert (aws.region, aws.key_id, aws.secrets_prefix) == ("eu-central-1", "AKID", "signet/prod")
    assert [aws.find_endpoint(name) for name in ("secretsmanager", "sqs")] == ["http://secrets", "http://all"]
    assert aws.is_dual_stack
    shown = repr(settings)
    assert "the-secret-key" not in shown
    assert "the-session-token" not in shown


def test_credentials_of_a_snapshot_are_asked_for_where_lambda_says() -> None:
    place = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:9001/2021-01-15/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "the-place-token",
    }
    aws = read_settings({**AWS, **place}).aws
    assert aws is not None
    assert aws.credentials_place is not None
    assert aws.credentials_place.url == "http://127.0.0.1:9001/2021-01-15/credentials"
    assert "the-place-token" not in repr(aws)


@pytest.mark.parametrize(
    "name",
    ["SIGNET_EVENTS_QUEUE_URL", "SIGNET_EFFECTS_QUEUE_URL", "SIGNET_SECRETS_PREFIX", "SIGNET_DATABASE_AUTH"],
)
def test_what_is_of_aws_wants_a_region(name: str) -> None:
    without = {
        key: value for key, value in AWS.items() if not key.startswith(("AWS_", "SIGNET_E", "SIGNET_S"))
    }
    environ = {**without, "SIGNET_ENVIRONMENT": "prod", "SIGNET_DATABASE_AUTH": "url", name: AWS[name]}
    with pytest.raises(Rejected, match="AWS_REGION"):
        read_settings(environ)


@pytest.mark.parametrize("auth", ["password", "IAM", ""])
def test_a_database_takes_the_urls_password_or_iam(auth: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_DATABASE_AUTH must be url or iam"):
        read_settings({**AWS, "SIGNET_DATABASE_AUTH": auth})


def test_elsewhere_nothing_is_of_aws() -> None:
    settings = read_settings({"SIGNET_DATABASE_URL": "postgresql:///signet"})
    assert (settings.aws, settings.database_auth) == (None, "url")
