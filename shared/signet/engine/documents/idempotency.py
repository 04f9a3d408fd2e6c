"""Idempotency keys: a request with a key happens once, and repeating it returns the first outcome."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from signet.core.canonical_json import hash_bytes
from signet.core.errors import Failed, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.validation.text import find_text_problem
from signet.engine.documents.commands import Applied, Operation, Outcome
from signet.store.database import Connection
from signet.store.documents.idempotency_keys import keep_outcome, take_key

MAX_KEY_CHARACTERS = 255


def apply_once(
    connection: Connection, tenant_id: UUID, key: str, request_hash: str, apply: Callable[[], list[Outcome]]
) -> list[Outcome]:
    taken = take_key(connection, tenant_id, key, request_hash)
    if taken.request_hash != request_hash:
        raise Rejected("IDEMPOTENCY_KEY_REUSED", "this idempotency key was used for another request")
    if taken.outcome is not None:
        return [_parse_outcome(outcome) for outcome in taken.outcome]
    outcomes = apply()
    if any(isinstance(outcome, Applied) for outcome in outcomes):
        keep_outcome(connection, tenant_id, key, [_write_outcome(outcome) for outcome in outcomes])
    return outcomes


def hash_request(caller: Caller, operations: Sequence[Operation], mode: str) -> str:
    """Hash the request together with its caller: a guessed key must not show another caller's outcome."""
    try:
        request = [
            caller.principal.subject,
            mode,
            [[type(operation).__name__, asdict(operation)] for operation in operations],
        ]
        # Not canonical JSON: values that no document can hold must reach their own rejection.
        return hash_bytes(json.dumps(request, sort_keys=True, default=str).encode())
    except (TypeError, ValueError, RecursionError):
        raise Rejected("REQUEST_INVALID", "the request is deeper or larger than JSON should be") from None


def require_key(key: str) -> str:
    if not 0 < len(key) <= MAX_KEY_CHARACTERS or find_text_problem(key) is not None:
        raise Rejected("REQUEST_INVALID", f"an idempotency key has 1 to {MAX_KEY_CHARACTERS} characters")
    return key


def _write_outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Applied):
        return {"applied": {name: _to_json_value(value) for name, value in asdict(outcome).items()}}
    fields = [asdict(mistake) for mistake in outcome.fields]
    refusal = {"code": outcome.code, "message": outcome.message, "remedy": outcome.remedy}
    kind = "failed" if isinstance(outcome, Failed) else "rejected"
    return {kind: refusal, "fields": fields, "details": dict(outcome.details)}


def _to_json_value(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _parse_outcome(stored: Mapping[str, Any]) -> Outcome:
    if "applied" in stored:
        values = dict(stored["applied"])
        for name in ("document_id", "original_id", "request_id", "instance_id"):
            values[name] = values[name] and UUID(values[name])
        return Applied(**values)
    fields = tuple(FieldError(**mistake) for mistake in stored["fields"])
    if "failed" in stored:
        return Failed(**stored["failed"], fields=fields, details=stored["details"])
    return Rejected(**stored["rejected"], fields=fields, details=stored["details"])
