"""The start of a function: it wires itself in Lambda, and a snapshot contains everything."""

import subprocess
import sys

import pytest

HANDLERS = ("api", "outbox_relay", "node_execution", "side_effect_io", "janitor")
# The environment as the stacks set it, with a database that nothing may call.
ENVIRON = {
    "SIGNET_ENVIRONMENT": "dev",
    "SIGNET_DATABASE_URL": "postgresql://signet_api@db.invalid/signet",
    "SIGNET_DATABASE_AUTH": "iam",
    "SIGNET_EVENTS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/000000000000/events",
    "SIGNET_EFFECTS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/000000000000/effects",
    "SIGNET_SECRETS_PREFIX": "signet/dev",
    "AWS_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "SIGNET_JWT_ISSUER": "https://issuer.example/",
    "SIGNET_JWT_AUDIENCE": "signet",
    "SIGNET_JWT_KEYS_URL": "https://issuer.example/.well-known/jwks.json",
    "PATH": "/usr/bin:/bin",
}
WATCHED = """
import socket, sys
def refuse(*arguments, **named):
    raise AssertionError("a connection while it starts")
socket.getaddrinfo = socket.create_connection = refuse
socket.socket.connect = refuse
import functions.{name}.handler
from signet.wiring import process
print("wired" if process.get_settings.cache_info().currsize else "not wired")
import gc
assert (gc.get_freeze_count() > 0) == ("AWS_LAMBDA_INITIALIZATION_TYPE" in __import__("os").environ)
print("everything" if "signet.api.routes.definitions.preview" in sys.modules else "not everything")
"""


def start(name: str, **environment: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED.format(name=name)],
        env={**ENVIRON, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("\n")[:2]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_function_wires_itself_while_it_starts(name: str) -> None:
    assert start(name, AWS_LAMBDA_INITIALIZATION_TYPE="on-demand") == ["wired", "not everything"]


def test_a_snapshot_holds_everything() -> None:
    place = {
        "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:9001/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "token",
        "AWS_ACCESS_KEY_ID": "",
        "AWS_SECRET_ACCESS_KEY": "",
    }
    assert start("api", **place) == ["wired", "everything"]


@pytest.mark.parametrize("name", HANDLERS)
def test_elsewhere_whoever_imports_it_needs_no_environment(name: str) -> None:
    assert start(name, SIGNET_DATABASE_URL="") == ["not wired", "not everything"]
