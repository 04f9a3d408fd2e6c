"""The migrator as a deployment calls it: it migrates the schema and always answers.

Without an answer the stack would wait for an hour.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.migrator.handler import handler
from signet.store.schema.migrations import migrate_up, read_migration_status, read_migrations
from signet.store.schema.needed_migration import NEEDED_MIGRATION
from signet.wiring import migration as migration_wiring
from signet.wiring import process
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.support.database.server import describe_url
from tests.support.services.aws_service import Speaker, speaking
from tests.support.services.deployed_functions import Context

ADMIN_SECRET = "arn:aws:secretsmanager:eu-central-1:000000000000:secret:admin"


@pytest.fixture
def cloud_formation() -> Iterator[Speaker]:
    with speaking() as made:
        yield made


@pytest.fixture
def _environment(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SIGNET_ENVIRONMENT", "local")
    monkeypatch.setenv("SIGNET_DATABASE_URL", empty_database_url)
    process.get_settings.cache_clear()
    yield
    process.get_settings.cache_clear()


def ask(cloud_formation: Speaker, request_type: str = "Create") -> dict[str, Any]:
    """Call the handler; return the answer that CloudFormation received."""
    event = {
        "RequestType": request_type,
        "ResponseURL": f"{cloud_formation.url}/answer?X-Amz-Signature=abc",
        "StackId": "arn:aws:cloudformation:eu-central-1:000000000000:stack/signet-dev-app/1",
        "RequestId": "a-request",
        "LogicalResourceId": "Migration",
        "ResourceType": "Custom::Migration",
        "ServiceToken": "arn:aws:lambda:eu-central-1:000000000000:function:signet-dev-migrator",
        "ResourceProperties": {"Migrations": "digest"},
    }
    handler(event, cast(LambdaContext, Context()))
    heard = cloud_formation.heard[-1]
    assert heard.path == "/answer?X-Amz-Signature=abc"
    return dict(heard.body)


def count_applied(url: str) -> int:
    return sum(entry.applied_at is not None for entry in read_migration_status(url, _migrations()))


def _migrations() -> tuple[Any, ...]:
    return read_migrations(MIGRATIONS_FOLDER)


@pytest.mark.usefixtures("_environment")
def test_an_empty_database_gets_its_schema_and_the_next_time_nothing(
    cloud_formation: Speaker, empty_database_url: str
) -> None:
    answer = ask(cloud_formation)
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "signet-schema")
    assert (answer["StackId"], answer["RequestId"], answer["LogicalResourceId"]) == (
        "arn:aws:cloudformation:eu-central-1:000000000000:stack/signet-dev-app/1",
        "a-request",
        "Migration",
    )
    assert count_applied(empty_database_url) == len(_migrations())
    assert ask(cloud_formation, "Update")["Reason"] == "0 migrations applied"


@pytest.mark.usefixtures("_environment")
def test_a_deployment_that_is_rolled_back_meets_a_newer_schema(
    cloud_formation: Speaker, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate_up(empty_database_url, _migrations(), say=lambda text: None)
    older = _migrations()[:-2]
    monkeypatch.setattr(migration_wiring, "read_migrations", lambda folder: older)
    monkeypatch.setattr(migration_wiring, "NEEDED_MIGRATION", len(older))
    assert ask(cloud_formation, "Update")["Status"] == "SUCCESS"
    assert count_applied(empty_database_url) == len(_migrations())


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("is_migrated", [False, True])
def test_a_bundle_without_migrations_stops_the_deployment(
    cloud_formation: Speaker, empty_database_url: str, monkeypatch: pytest.MonkeyPatch, is_migrated: bool
) -> None:
    if is_migrated:
        migrate_up(empty_database_url, _migrations(), say=lambda text: None)
    monkeypatch.setattr(migration_wiring, "read_migrations", lambda folder: ())
    answer = ask(cloud_formation, "Update")
    assert answer["Status"] == "FAILED"
    assert "the bundle is not whole" in answer["Reason"]


@pytest.mark.usefixtures("_environment")
def test_a_contract_before_what_the_code_needs_stops_the_deployment(
    cloud_formation: Speaker, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    *older, last = _migrations()
    migrate_up(empty_database_url, older, say=lambda text: None)
    contracting = replace(last, phase="contract", up="SELECT 1;")
    needed = replace(last, number=last.number + 1, phase="expand", up="SELECT 1;")
    monkeypatch.setattr(migration_wiring, "read_migrations", lambda folder: (*older, contracting, needed))
    monkeypatch.setattr(migration_wiring, "NEEDED_MIGRATION", needed.number)
    answer = ask(cloud_formation, "Update")
    assert answer["Status"] == "FAILED"
    assert f"needs the migration {needed.number:04}" in answer["Reason"]
    assert f"up to {len(older):04}" in answer["Reason"]
    # What the sentence advises helps.
    migrate_up(empty_database_url, (*older, contracting, needed), say=lambda text: None)
    assert ask(cloud_formation, "Update")["Status"] == "SUCCESS"


def test_the_code_needs_the_last_migration_that_fits_the_code_before() -> None:
    assert max(m.number for m in _migrations() if m.phase == "expand") == NEEDED_MIGRATION


@pytest.mark.usefixtures("_environment")
def test_a_schema_whose_files_were_edited_stops_the_deployment(
    cloud_formation: Speaker, empty_database_url: str
) -> None:
    migrate_up(empty_database_url, _migrations(), say=lambda text: None)
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("UPDATE signet_migrations SET checksum = repeat('0', 64) WHERE number = 1")
        # A row that this release does not know does not excuse the changed checksum.
        connection.execute("INSERT INTO signet_migrations VALUES (99, 'create_other', repeat('0', 64))")
    answer = ask(cloud_formation, "Update")
    assert answer["Status"] == "FAILED"
    assert "was edited after it was applied" in answer["Reason"]


@pytest.mark.usefixtures("_environment")
def test_a_stack_that_is_deleted_leaves_the_data(cloud_formation: Speaker, empty_database_url: str) -> None:
    ask(cloud_formation)
    assert ask(cloud_formation, "Delete")["Status"] == "SUCCESS"
    assert count_applied(empty_database_url) == len(_migrations())


@pytest.mark.usefixtures("_environment")
def test_a_migration_that_fails_is_told_and_the_stack_goes_back(
    cloud_formation: Speaker, empty_database_url: str
) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE tenants (id integer)")
    answer = ask(cloud_formation)
    assert answer["Status"] == "FAILED"
    assert "tenants" in answer["Reason"]


def test_an_unreachable_database_is_told(
    cloud_formation: Speaker, monkeypatch: pytest.MonkeyPatch, _environment: None
) -> None:
    monkeypatch.setenv("SIGNET_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    process.get_settings.cache_clear()
    assert ask(cloud_formation)["Status"] == "FAILED"


@pytest.mark.usefixtures("_environment")
def test_the_admins_name_and_password_are_a_secret(
    cloud_formation: Speaker, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = describe_url(empty_database_url)
    secret = {"username": parts["user"], "password": parts.get("password", "none"), "engine": "postgres"}
    with speaking() as secrets_manager:
        secrets_manager.say({"SecretString": json.dumps(secret)})
        host, port, name = parts["host"], parts["port"], parts["dbname"]
        for variable, value in {
            "SIGNET_DATABASE_URL": f"postgresql:///{name}?host={host}&port={port}",
            "SIGNET_DATABASE_AUTH": "iam",
            "SIGNET_ADMIN_SECRET": ADMIN_SECRET,
            "AWS_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_ENDPOINT_URL": secrets_manager.url,
        }.items():
            monkeypatch.setenv(variable, value)
        process.get_settings.cache_clear()
        answer = ask(cloud_formation)
    assert answer["Status"] == "SUCCESS", answer
    assert [one.body for one in secrets_manager.heard] == [{"SecretId": ADMIN_SECRET}]


@pytest.mark.usefixtures("_environment")
def test_where_iam_stands_for_passwords_the_roles_log_in_by_it(
    cloud_formation: Speaker, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Create Aurora's role `rds_iam`, which no other server has."""
    monkeypatch.setenv("SIGNET_DATABASE_AUTH", "iam")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    process.get_settings.cache_clear()
    member = "SELECT pg_has_role('signet_worker', 'rds_iam', 'MEMBER')"
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE rds_iam NOLOGIN")
        try:
            assert ask(cloud_formation)["Status"] == "SUCCESS"
            assert connection.execute(member).fetchone() == (True,)
        finally:
            connection.execute("DROP ROLE rds_iam")
