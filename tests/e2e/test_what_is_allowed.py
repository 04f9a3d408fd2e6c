"""Each function with the credentials of its own role: calls that the templates do not allow are refused."""

from collections.abc import Callable
from typing import Any

import boto3
import psycopg
import pytest
from botocore.exceptions import ClientError

from infra.emulator.stack import PREFIX
from tests.support.cloud.stacks import Deployed


@pytest.fixture(scope="module")
def api(deployed: Deployed) -> Callable[[str], Any]:
    """Return clients with the API's own credentials."""
    deployed.as_person("carl").get("/v1/approvals").expect(200)
    environment = deployed.read_environment("api")
    session = boto3.Session(
        environment["AWS_ACCESS_KEY_ID"],
        environment["AWS_SECRET_ACCESS_KEY"],
        environment["AWS_SESSION_TOKEN"],
        environment["AWS_REGION"],
    )
    return lambda name: session.client(name, endpoint_url=environment["AWS_ENDPOINT_URL"])


def test_the_api_may_wake_somebody_and_not_take_wake_ups(
    deployed: Deployed, api: Callable[[str], Any]
) -> None:
    queue = deployed.queue_url("effects")
    message = f'{{"tenant": "{deployed.tenant_id}", "kind": "effects"}}'
    assert api("sqs").send_message(QueueUrl=queue, MessageBody=message)["MessageId"]
    with pytest.raises(ClientError, match="AccessDenied"):
        api("sqs").receive_message(QueueUrl=queue)


def test_the_api_reads_tenants_secrets_and_not_the_admins(
    deployed: Deployed, api: Callable[[str], Any]
) -> None:
    client = deployed.stack.client("secretsmanager")
    name = f"{PREFIX.replace('-', '/')}/{deployed.tenant_id}/of_a_tenant"
    client.create_secret(Name=name, SecretString="theirs")
    assert api("secretsmanager").get_secret_value(SecretId=name)["SecretString"] == "theirs"
    admin = next(one["Name"] for one in client.list_secrets()["SecretList"] if one["Name"].startswith("rds!"))
    with pytest.raises(ClientError, match="AccessDenied"):
        api("secretsmanager").get_secret_value(SecretId=admin)


def test_the_api_puts_nothing_on_the_bus_and_no_seal(deployed: Deployed, api: Callable[[str], Any]) -> None:
    entry = {"Source": "somebody", "DetailType": "x", "Detail": "{}", "EventBusName": PREFIX}
    with pytest.raises(ClientError, match="AccessDenied"):
        api("events").put_events(Entries=[entry])
    bucket = next(
        one["Name"]
        for one in deployed.stack.client("s3").list_buckets()["Buckets"]
        if "anchors" in one["Name"]
    )
    with pytest.raises(ClientError, match="AccessDenied"):
        api("s3").put_object(Bucket=bucket, Key="seal", Body=b"")


def test_a_token_of_the_api_opens_the_database_as_the_api_alone(
    deployed: Deployed, api: Callable[[str], Any]
) -> None:
    """A token names its role, and must be signed by credentials that may be that role."""
    plan = deployed.stack.emulator.plan
    cluster = deployed.stack.client("rds").describe_db_clusters()["DBClusters"][0]
    host, port = cluster["Endpoint"], cluster["Port"]

    def connect(role: str, token: str) -> str:
        with psycopg.connect(
            host=host,
            hostaddr="127.0.0.1",
            port=port,
            user=role,
            password=token,
            dbname="signet",
            sslmode="verify-full",
            sslrootcert=str(plan.authority),
        ) as connection:
            row = connection.execute("SELECT current_user").fetchone()
            assert row is not None
            return str(row[0])

    own = api("rds").generate_db_auth_token(host, port, "signet_api")
    assert connect("signet_api", own) == "signet_api"
    with pytest.raises(psycopg.OperationalError, match="InvalidToken"):
        connect("signet_worker", own)
    workers = api("rds").generate_db_auth_token(host, port, "signet_worker")
    with pytest.raises(psycopg.OperationalError, match="may not rds-db:connect"):
        connect("signet_worker", workers)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect("signet_api", "a password")


def test_nothing_goes_over_the_wire_in_plain_text(deployed: Deployed) -> None:
    cluster = deployed.stack.client("rds").describe_db_clusters()["DBClusters"][0]
    with pytest.raises(psycopg.OperationalError, match="speaks TLS only"):
        psycopg.connect(
            host=cluster["Endpoint"],
            hostaddr="127.0.0.1",
            port=cluster["Port"],
            user="signet_api",
            dbname="signet",
            sslmode="disable",
        )
