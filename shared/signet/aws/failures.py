"""Failures of calls to AWS: the code, whether to retry, and nothing of what was sent."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from signet.outbound.connector import Delivery

MAX_SENTENCE_CHARACTERS = 300
# Addresses of people, which services repeat in their sentences.
_ADDRESS = re.compile(r"[^\s<>,;:\"']+@[^\s<>,;:\"']+")
_NUMBER = re.compile(r"\+?\d{7,}")


def try_call(call: Callable[[], Mapping[str, Any]], final: Collection[str]) -> Mapping[str, Any] | Delivery:
    """Call a service; return its answer, or a failed delivery, final if its code is among the `final`."""
    try:
        return call()
    except ClientError as error:
        return _read_refusal(error, final)
    except (ConnectTimeoutError, ReadTimeoutError):
        return Delivery(None, "TIMED_OUT: the service took too long")
    except NoCredentialsError:
        return Delivery(None, "CREDENTIALS_MISSING: nothing says who calls the service", has_left=False)
    except ParamValidationError:
        # Its sentence repeats what was sent.
        return Delivery(None, "CALL_INVALID: the service has no such call", is_final=True, has_left=False)
    except BotoCoreError as error:
        return Delivery(None, f"NOT_REACHED: {type(error).__name__}")


def strip_people(sentence: str) -> str:
    """Remove addresses and numbers of people; the rest tells what is wrong."""
    stripped = _NUMBER.sub("(number)", _ADDRESS.sub("(address)", sentence))
    return stripped[:MAX_SENTENCE_CHARACTERS]


def _read_refusal(error: ClientError, final: Collection[str]) -> Delivery:
    refusal = error.response.get("Error", {})
    meta = error.response.get("ResponseMetadata", {})
    code = str(refusal.get("Code", "Unknown"))
    sentence = strip_people(str(refusal.get("Message", "")))
    evidence = {"code": code, "request_id": meta.get("RequestId")}
    status = meta.get("HTTPStatusCode")
    return Delivery(status, f"REFUSED: {code}: {sentence}", evidence, is_final=code in final)
