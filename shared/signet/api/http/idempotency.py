"""`Idempotency-Key`: a POST happens once, and a repetition gets its first answer.

The key, all that the request writes, and the answer are one transaction. So a caller who was cut off may
repeat the request, however far it had come. A rejected request has written nothing, and leaves the key free.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import orjson

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.message import to_json
from signet.api.http.problems import reject_request
from signet.core.canonical_json import hash_bytes
from signet.core.errors import FieldError, Rejected
from signet.store.documents.idempotency_keys import keep_outcome, take_key

MAX_KEY_CHARACTERS = 255
REPLAYED = "idempotency-replayed"
KEY_PATTERN = rf"[\x21-\x7e]{{1,{MAX_KEY_CHARACTERS}}}"
_KEY = re.compile(KEY_PATTERN)


def answer_once(
    call: Call,
    key: str,
    request: Sequence[str],
    act: Callable[[], HttpAnswer],
    once_shown: Collection[str] = (),
) -> HttpAnswer:
    """Answer the first request under a key, and repeat that answer later.

    Fields in `once_shown` are null in the kept answer, because no row holds a secret.
    """
    if _KEY.fullmatch(key) is None:
        sentence = f"wants 1 to {MAX_KEY_CHARACTERS} visible characters"
        field = FieldError("", "FIELD_PATTERN", sentence, within="header", name="Idempotency-Key")
        raise reject_request((field,))
    tenant_id = call.principal.tenant_id
    # The caller is part of the hash, so that guessing a key reveals nothing about another caller.
    identity = json.dumps([call.principal.subject, *request])
    request_hash = hash_bytes(identity.encode(errors="surrogatepass"))
    with call.use.database.shared_transaction(tenant_id) as connection:
        row = take_key(connection, tenant_id, key, request_hash)
        if row.request_hash != request_hash:
            raise Rejected(
                "IDEMPOTENCY_KEY_REUSED",
                "this idempotency key was used for another request",
                remedy="Make a new key for each thing that is to happen once.",
            )
        if row.outcome is not None:
            first = _parse_answer(row.outcome)
            return replace(first, headers={**first.headers, REPLAYED: "true"})
        answer = act()
        keep_outcome(connection, tenant_id, key, _write_answer(answer, once_shown))
    return answer


def _write_answer(answer: HttpAnswer, once_shown: Collection[str]) -> dict[str, Any]:
    # What is a text already is kept as one, and not read.
    body = answer.body if answer.is_text else orjson.loads(to_json(answer.body))
    for name in once_shown:
        body[name] = None
    return {
        "body": body,
        "is_text": answer.is_text,
        "status": answer.status,
        "version": answer.version,
        "location": answer.location,
        "headers": dict(answer.headers),
    }


def _parse_answer(outcome: Any) -> HttpAnswer:
    if not isinstance(outcome, dict) or "status" not in outcome:
        raise Rejected("IDEMPOTENCY_KEY_REUSED", "this idempotency key was used for another request")
    return HttpAnswer(**outcome)
