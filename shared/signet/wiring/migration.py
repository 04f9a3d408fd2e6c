"""Composition root of migrations and logins, which a deployment runs before it switches its functions."""

from collections.abc import Callable
from contextlib import closing

import orjson

from signet.aws.calls import SignedCalls
from signet.aws_settings import AwsSettings
from signet.core.errors import Defect, Rejected
from signet.settings import Settings
from signet.store.schema.migrations import count_reached, migrate_up, read_migrations
from signet.store.schema.needed_migration import NEEDED_MIGRATION
from signet.store.schema.server import let_log_in_by_iam, replace_credentials
from signet.wiring.process import MIGRATIONS_FOLDER, get_settings, make_credentials, read_clock


def migrate_database(say: Callable[[str], None]) -> int:
    """Apply the migrations that also fit the old code, and return how many.

    Those that only fit the new code wait until after the switch. A deployment that is rolled back meets a
    newer schema. Migrations of `expand` fit the older code too, so nothing has to be done. Where the
    database has not reached what this code needs, it must not be switched to.
    """
    settings = get_settings()
    url = read_admin_url(settings)
    migrations = read_migrations(MIGRATIONS_FOLDER)
    _require_carried(len(migrations))
    try:
        count = migrate_up(url, migrations, phase="expand", say=say)
    except Defect as defect:
        if defect.code != "MIGRATION_UNKNOWN":
            raise
        say(str(defect))
        count = 0
    _require_reached(count_reached(url))
    if settings.database_auth == "iam":
        let_log_in_by_iam(url)
    return count


def _require_carried(newest: int) -> None:
    """Refuse a bundle without the migrations that its own code needs."""
    if newest < NEEDED_MIGRATION:
        raise Defect(
            "MIGRATION_MISSING",
            f"this code needs the migration {NEEDED_MIGRATION:04}, and {MIGRATIONS_FOLDER} has them up to"
            f" {newest:04}: the bundle is not whole. Build it again with `make build`.",
        )


def _require_reached(reached: int) -> None:
    """Refuse a database that lacks a migration which this code needs."""
    if reached < NEEDED_MIGRATION:
        raise Defect(
            "MIGRATION_NOT_REACHED",
            f"this code needs the migration {NEEDED_MIGRATION:04}, and the database has them up to"
            f" {reached:04}. The next one is of the phase `contract`, which a deployment applies only after"
            " its switch: apply it with `signet migrate up`, and deploy again.",
        )


def read_admin_url(settings: Settings) -> str:
    """Read the database's URL with the admin's name and password, which are in a secret."""
    aws = settings.aws
    if aws is None or aws.admin_secret is None:
        return settings.database_url
    secret = orjson.loads(_read_secret(aws, aws.admin_secret))
    return replace_credentials(settings.database_url, secret["username"], secret["password"])


def _read_secret(aws: AwsSettings, name: str) -> str:
    with closing(SignedCalls("secretsmanager", aws, make_credentials(aws), read_clock)) as calls:
        text = calls.call("GetSecretValue", {"SecretId": name}).get("SecretString")
    if not isinstance(text, str):
        raise Rejected("SETTINGS_INVALID", "SIGNET_ADMIN_SECRET names a secret without text")
    return text
