"""Passwords of the database that IAM stands for: signed here, for a quarter of an hour, kept by nobody."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import unquote, urlsplit

from signet.aws.credentials import GetCredentials
from signet.aws.signing import SignatureScope, presign

# The longest that a token may last; a connection that was made with it lasts on.
LASTS_SECONDS = 900
POSTGRES_PORT = 5432


def make_database_token(
    url: str, region: str, credentials: GetCredentials, clock: Callable[[], datetime]
) -> str:
    """For the role and the server that `url` names."""
    parts = urlsplit(url)
    host = f"{parts.hostname}:{parts.port or POSTGRES_PORT}"
    query = {"Action": "connect", "DBUser": unquote(parts.username or "")}
    return presign(credentials(), SignatureScope(region, "rds-db", clock()), host, query, LASTS_SECONDS)
