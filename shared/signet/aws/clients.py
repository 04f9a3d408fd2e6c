"""Clients of AWS, all made here: few attempts, explicit time limits, no proxies.

boto3 finds the credentials, and addresses other than those of AWS: AWS_ENDPOINT_URL, or
AWS_ENDPOINT_URL_<SERVICE> for one service. Importing this module imports boto3, which costs a tenth of a
second: import it where it is used.
"""

from threading import Lock
from typing import Any

import boto3
from botocore.config import Config

CONNECT_SECONDS = 2.0
READ_SECONDS = 8.0
# For one call, the first included. The caller has a row in a queue, which is tried again.
MAX_ATTEMPTS = 2
# The longest pause of boto3's standard mode between two attempts.
PAUSE_SECONDS = 1.0
# The longest that one call can take.
CALL_SECONDS = MAX_ATTEMPTS * (CONNECT_SECONDS + READ_SECONDS) + (MAX_ATTEMPTS - 1) * PAUSE_SECONDS
# For one client; a process makes at most so many calls at once.
MAX_CONNECTIONS = 16

_CONFIG = Config(
    connect_timeout=CONNECT_SECONDS,
    read_timeout=READ_SECONDS,
    retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
    max_pool_connections=MAX_CONNECTIONS,
    proxies={},
)


class Clients:
    """Clients by service, each made at its first use; threads share them, and one at a time makes one."""

    def __init__(self, region: str | None = None) -> None:
        self._region = region
        self._lock = Lock()
        self._made: dict[str, Any] = {}

    def get(self, service: str) -> Any:
        with self._lock:
            if service not in self._made:
                self._made[service] = boto3.session.Session().client(service, self._region, config=_CONFIG)
            return self._made[service]
