"""Passwords of the database by IAM: signed here, valid for a quarter of an hour, kept nowhere."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import unquote, urlsplit

from signet.aws.credentials import GetCredentials
from signet.aws.signing import SignatureScope, presign

# The longest that a token may last; a connection made with it lasts longer.
LASTS_SECONDS = 900
POSTGRES_PORT = 5432


def make_database_token(
    url: str, region: str, credentials: GetCredentials, clock: Callable[[], datetime]
) -> str:
    """Make a token for the role and server of `url`."""
    parts = urlsplit(url)
    host = f"{parts.hostname}:{parts.port or POSTGRES_PORT}"
    query = {"Action": "connect", "DBUser": unquote(parts.username or "")}
    return presign(credentials(), SignatureScope(region, "rds-db", clock()), host, query, LASTS_SECONDS)
