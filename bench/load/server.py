"""The API as the local stack serves it, in a process of its own; beside it, a handler that only answers."""

import sys
from typing import Any

from signet.api.application import Application, Dependencies
from signet.api.auth.tokens import make_tokens
from signet.engine.access.quotas import RequestQuotas
from signet.local.gateway import Handler, open_gateway
from signet.store.database import Database, PoolSettings
from signet.wiring.api import make_authentication, make_use_cases

CONNECTIONS = 16


def answer_bare(event: dict[str, Any], context: object) -> dict[str, Any]:
    return {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "cookies": [],
        "body": "{}",
        "isBase64Encoded": False,
    }


def make_api(url: str, secret: str) -> Handler:
    database = Database(url, PoolSettings(size=CONNECTIONS, idle_count=CONNECTIONS))
    use = make_use_cases(database)
    return Application(
        Dependencies(use, make_authentication(use, make_tokens(secret)), RequestQuotas(database))
    )


def main() -> None:
    """Print the address and serve until standard input is closed."""
    kind, url, secret = sys.argv[1:]
    handler = answer_bare if kind == "bare" else make_api(url, secret)
    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(handler)
        print(gateway.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
