"""`Idempotency-Key`: a POST happens once, and its repetition gets the answer of the first.

The key, everything that the request writes, and the answer are one transaction: whoever was cut off may
repeat without knowing how far it had come. What was rejected has written nothing, and leaves the key free.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import orjson

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.message import to_json
from signet.core.canonical_json import hash_bytes
from signet.core.errors import Rejected
from signet.store.documents.idempotency_keys import keep_outcome, take_key

MAX_KEY_CHARACTERS = 255
KEY_PATTERN = rf"[\x21-\x7e]{{1,{MAX_KEY_CHARACTERS}}}"
_KEY = re.compile(KEY_PATTERN)


def answer_once(
    call: Call,
    key: str,
    request: Sequence[str],
    act: Callable[[], HttpAnswer],
    once_shown: Collection[str] = (),
) -> HttpAnswer:
    """What is shown only once is null in what is kept: a secret stands in no row."""
    if _KEY.fullmatch(key) is None:
        sentence = f"an idempotency key has 1 to {MAX_KEY_CHARACTERS} visible characters"
        raise Rejected("REQUEST_INVALID", sentence)
    tenant_id = call.principal.tenant_id
    # Also of whom it comes from: nobody learns by guessing a key what somebody else did.
    asked = json.dumps([call.principal.subject, *request])
    request_hash = hash_bytes(asked.encode(errors="surrogatepass"))
    with call.use.database.shared_transaction(tenant_id) as connection:
        taken = take_key(connection, tenant_id, key, request_hash)
        if taken.request_hash != request_hash:
            raise Rejected(
                "IDEMPOTENCY_KEY_REUSED",
                "this idempotency key was used for another request",
                remedy="Make a new key for each thing that is to happen once.",
            )
        if taken.outcome is not None:
            return _read_answer(taken.outcome)
        answer = act()
        keep_outcome(connection, tenant_id, key, _write_answer(answer, once_shown))
    return answer


def _write_answer(answer: HttpAnswer, once_shown: Collection[str]) -> dict[str, Any]:
    body = orjson.loads(to_json(answer.body))
    for name in once_shown:
        body[name] = None
    return {
        "body": body,
        "status": answer.status,
        "version": answer.version,
        "location": answer.location,
        "headers": dict(answer.headers),
    }


def _read_answer(kept: Any) -> HttpAnswer:
    if not isinstance(kept, dict) or "status" not in kept:
        raise Rejected("IDEMPOTENCY_KEY_REUSED", "this idempotency key was used for another request")
    return HttpAnswer(**kept)
