"""The mistakes in the settings of an environment: all are found at once, before anything is synthesized."""

from collections.abc import Iterator
from pathlib import Path

from infra.settings import EnvironmentSettings

CERTIFICATES = Path(__file__).resolve().parent / "certificates"
_ACCOUNT_DIGITS = 12


def list_mistakes(settings: EnvironmentSettings) -> list[str]:
    """Return a sentence for each value that no deployment could work with."""
    return [*_check_region(settings), *_check_issuer(settings), *_check_counts(settings)]


def list_missing(settings: EnvironmentSettings) -> list[str]:
    """Return a sentence for each setting that a deployment wants, and that nobody has given."""
    return [f"{name} is not given: {why}" for name, why in _find_missing(settings)]


def _check_region(settings: EnvironmentSettings) -> Iterator[str]:
    # The emulator makes its own certificates.
    is_real = settings.bundle == "lambda"
    if is_real and not (CERTIFICATES / f"rds-{settings.region}.pem").is_file():
        yield (
            f"region: infra/certificates has no rds-{settings.region}.pem, without which no function"
            " connects to the database; infra/certificates/README.md says where it is from"
        )
    account = settings.account
    if account is not None and not (account.isdecimal() and len(account) == _ACCOUNT_DIGITS):
        yield f"account: must be the {_ACCOUNT_DIGITS} digits of an account, not {account!r}"


def _check_issuer(settings: EnvironmentSettings) -> Iterator[str]:
    for name in ("jwt_issuer", "jwt_keys_url"):
        value = getattr(settings, name)
        if settings.bundle == "lambda" and value is not None and not value.startswith("https://"):
            yield f"{name}: must be an https address, not {value!r}"
    if not settings.jwt_audiences:
        yield "jwt_audiences: must name at least one audience"
    if settings.operator_role is not None and ":" not in settings.operator_role:
        yield f"operator_role: must have a colon, such as signet:operator, not {settings.operator_role!r}"


def _check_counts(settings: EnvironmentSettings) -> Iterator[str]:
    if settings.database_min_capacity > settings.database_max_capacity:
        yield "database_min_capacity: is above database_max_capacity"
    for name, concurrency in (
        ("node_execution", settings.events_concurrency),
        ("side_effect_io", settings.effects_concurrency),
    ):
        reserved = settings.reserved_concurrency.get(name)
        if reserved is not None and reserved < concurrency:
            yield f"reserved_concurrency: {name} reserves {reserved}, and its queue starts {concurrency}"
    if (settings.api_domain_name or settings.machine_domain_name) and settings.certificate_arn is None:
        yield "certificate_arn: a domain name wants a certificate of its region"
    wrong = [address for address in settings.alarm_emails if "@" not in address]
    if wrong:
        yield f"alarm_emails: must be mail addresses, not {', '.join(wrong)}"


def _find_missing(settings: EnvironmentSettings) -> Iterator[tuple[str, str]]:
    if settings.jwt_issuer is None:
        yield "jwt_issuer", "nobody's token would be taken"
    if settings.jwt_keys_url is None:
        yield (
            "jwt_keys_url",
            "every token would be refused; it is `jwks_uri` in <jwt_issuer>/.well-known/openid-configuration",
        )
    if settings.operator_role is None:
        yield "operator_role", "nobody could install a tenant"
    if settings.has_alarm_topic and not settings.alarm_emails:
        yield "alarm_emails", "alarms would go to a topic that tells nobody"
    if settings.wants_account and settings.account is None:
        yield "account", f"credentials of another account would deploy {settings.name} there"
