"""Signatures of webhooks, by Standard Webhooks 1.0.0.

They cover the message's id, its moment in seconds, and the body as it is sent. A secret that is being
replaced signs beside the new one, so that a receiver may take either.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected

PREFIX, VERSION = "whsec_", "v1"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64
# The largest difference between the clocks, with the time that a message may be on its way.
TOLERANCE_SECONDS = 300
MAX_ID_CHARACTERS = 200
MAX_SIGNATURES = 10
# What marks the messages that Signet sends. Others have ids with this beginning too, but no effect in it.
OWN_TYPE = "signet.webhook"
_OWN_ID = re.compile(r"msg_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def parse_secret(text: str) -> bytes:
    """Parse a secret as it is handed over: base64 after `whsec_`."""
    try:
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.startswith(PREFIX) or not MIN_SECRET_BYTES <= len(secret) <= MAX_SECRET_BYTES:
        sentence = (
            f"a webhook secret is '{PREFIX}' and {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes in base64"
        )
        raise Rejected("WEBHOOK_SECRET_INVALID", sentence)
    return secret


def sign(secrets: Sequence[bytes], message_id: str, moment: int, body: bytes) -> dict[str, str]:
    """Make the three headers of a signed message."""
    signatures = [f"{VERSION},{_digest(secret, message_id, str(moment), body)}" for secret in secrets]
    return {ID: message_id, TIMESTAMP: str(moment), SIGNATURE: " ".join(signatures)}


def verify(secrets: Sequence[bytes], headers: Mapping[str, str], body: bytes, now: int) -> str:
    """Return the message's id; raise where none of the secrets has just signed the message."""
    message_id, moment = headers.get(ID, ""), headers.get(TIMESTAMP, "")
    if not 0 < len(message_id) <= MAX_ID_CHARACTERS or not message_id.isprintable():
        raise _reject(f"has no {ID}")
    if not (moment.isascii() and moment.isdigit() and len(moment) <= 12):
        raise _reject(f"has no {TIMESTAMP}")
    if abs(int(moment) - now) > TOLERANCE_SECONDS:
        raise _reject(f"was signed more than {TOLERANCE_SECONDS} seconds from now")
    given = [
        signature.removeprefix(f"{VERSION},")
        for signature in headers.get(SIGNATURE, "").split(" ")[:MAX_SIGNATURES]
        if signature.startswith(f"{VERSION},")
    ]
    expected = [_digest(secret, message_id, moment, body) for secret in secrets]
    # All are compared, each in constant time, so that the time reveals nothing about any of them.
    matches = [
        hmac.compare_digest(signature.encode(), other.encode(errors="replace"))
        for signature in expected
        for other in given
    ]
    if not any(matches):
        raise reject_signature()
    return message_id


def write_message_id(effect_id: UUID) -> str:
    return f"msg_{effect_id}"


def is_own(message_id: str, content: Any) -> bool:
    """Return whether a message has the form of those that Signet sends.

    It is signed with a secret of ours, and proves nothing about a sender.
    """
    has_own_type = isinstance(content, Mapping) and content.get("type") == OWN_TYPE
    return has_own_type and _OWN_ID.fullmatch(message_id) is not None


def reject_signature() -> Rejected:
    return _reject("is signed with none of the secrets")


def _digest(secret: bytes, message_id: str, moment: str, body: bytes) -> str:
    content = f"{message_id}.{moment}.".encode() + body
    return base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()


def _reject(sentence: str) -> Rejected:
    return Rejected("WEBHOOK_UNSIGNED", f"the message {sentence}")
