"""Answers to CloudFormation, which waits for one after each request, in success and in failure."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from signet.core.errors import Transient

TIMEOUT_SECONDS = 10.0
MAX_REASON_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class ResourceOutcome:
    is_done: bool
    reason: str = ""


def answer_request(request: Mapping[str, Any], physical_id: str, outcome: ResourceOutcome) -> None:
    """Send the answer to the request's own address, which is signed and valid for this answer only."""
    body = json.dumps(
        {
            "Status": "SUCCESS" if outcome.is_done else "FAILED",
            "Reason": outcome.reason[:MAX_REASON_CHARACTERS] or "done",
            "PhysicalResourceId": physical_id,
            "StackId": request["StackId"],
            "RequestId": request["RequestId"],
            "LogicalResourceId": request["LogicalResourceId"],
        }
    ).encode()
    parts = urlsplit(request["ResponseURL"])
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=TIMEOUT_SECONDS)
    try:
        # Without a content type: it is part of what was signed.
        connection.request("PUT", f"{parts.path}?{parts.query}", body, {"content-type": ""})
        answered = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise Transient(
            "ANSWER_NOT_TAKEN", f"CloudFormation was not reached: {type(error).__name__}"
        ) from error
    finally:
        connection.close()
    if not 200 <= answered < 300:
        raise Transient("ANSWER_NOT_TAKEN", f"CloudFormation's place for the answer said {answered}")
