"""The API as `signet run` has it, in a process of its own that may be killed at any moment.

python -m tests.chaos.api URL PORT SECRET
"""

import sys

from signet.local.gateway import open_gateway
from signet.local.runner import Runtime, _load_handler
from signet.store.schema.server import act_as

HOST = "127.0.0.1"


def main(url: str, port: int, secret: str) -> None:
    handler = _load_handler(Runtime(act_as(url, "signet_api"), secret))
    with open_gateway(HOST, port) as gateway:
        gateway.start(handler)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
