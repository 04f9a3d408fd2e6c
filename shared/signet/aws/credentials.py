"""Credentials that sign calls, from the environment or from Lambda's own endpoint (SnapStart)."""

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from signet.aws.signing import Credentials
from signet.aws_settings import CredentialsPlace
from signet.core.errors import Transient

TIMEOUT_SECONDS = 2.0
MAX_ANSWER_BYTES = 16_384
# New ones are fetched before the old ones end, because a call in transit must still be valid.
RENEWED_BEFORE = timedelta(minutes=5)

Clock = Callable[[], datetime]
GetCredentials = Callable[[], Credentials]


@dataclass(slots=True)
class FetchedCredentials:
    """Credentials of the container, fetched when they are needed and kept until shortly before they end."""

    place: CredentialsPlace
    clock: Clock
    _kept: tuple[Credentials, datetime] | None = None

    def __call__(self) -> Credentials:
        fetched = self._kept
        if fetched is None or self.clock() >= fetched[1] - RENEWED_BEFORE:
            try:
                fetched = self._kept = _fetch(self.place)
            except Transient:
                # New credentials may be late while the old ones are valid.
                if fetched is None or self.clock() >= fetched[1]:
                    raise
        return fetched[0]


def _fetch(place: CredentialsPlace) -> tuple[Credentials, datetime]:
    parts = urlsplit(place.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port or 80, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", parts.path or "/", headers={"authorization": place.token or ""})
        answer = connection.getresponse()
        body = answer.read(MAX_ANSWER_BYTES)
        if answer.status != http.client.OK:
            raise _unavailable()
        said = json.loads(body)
        ends_at = datetime.fromisoformat(said["Expiration"].replace("Z", "+00:00"))
        return Credentials(said["AccessKeyId"], said["SecretAccessKey"], said["Token"]), ends_at
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        raise _unavailable() from error
    finally:
        connection.close()


def _unavailable() -> Transient:
    return Transient("CREDENTIALS_UNAVAILABLE", "nothing can be signed: no credentials were answered")
