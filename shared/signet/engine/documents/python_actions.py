"""Calls of authors' functions. Every error in one of them becomes a failure of its action, with the reason.

A failure is a value, like a rejection: a batch or a wave goes on without the document whose action failed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from signet.authoring.actions import (
    MAX_CREATED_DOCUMENTS,
    MAX_OUTPUT_BYTES,
    ActionFunction,
    ActionInput,
    ActionResult,
    NewDocument,
    name_function,
)
from signet.core.contracts.field_values import MAX_FIELD_ERRORS, validate_fields
from signet.core.contracts.fields import Fields
from signet.core.documents.merge_patch import MAX_PATCH_DEPTH, apply_merge_patch
from signet.core.documents.personal_data import mask_text
from signet.core.errors import Failed, FieldError
from signet.core.explain.vocabulary import escape
from signet.engine.documents.change import MutationContext

MAX_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class ActionAnswer:
    """The checked result of a function; `data` is None where the document stays as it is."""

    data: Mapping[str, Any] | None
    creates: Sequence[NewDocument]
    output: Mapping[str, Any]


class _Invalid(Exception):
    """A result that the contract does not allow."""

    def __init__(self, reason: str, fields: tuple[FieldError, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fields = fields


def call_function(
    function: ActionFunction, context: MutationContext, action: str, make_input: Callable[[], ActionInput]
) -> ActionAnswer | Failed:
    try:
        return _read(function(make_input()), context, action)
    except _Invalid as invalid:
        return _fail(function, context, action, invalid.reason, invalid.fields)
    except (Exception, SystemExit) as error:
        failed = _fail(function, context, action, f"raised {_describe(error)}")
        failed.__cause__ = error
        return failed


def _fail(
    function: ActionFunction,
    context: MutationContext,
    action: str,
    reason: str,
    fields: tuple[FieldError, ...] = (),
) -> Failed:
    """Make a failure without personal values: it is kept where nothing can be erased."""
    personal = [context.data.get(name) for name in context.contract.personal_fields]
    masked = escape(mask_text(reason, personal))[:MAX_REASON_CHARACTERS]
    place = name_function(function)
    return Failed(
        "ACTION_FAILED",
        f"the action '{action}' failed: {place} {masked}",
        fields=fields,
        details={"action": action, "function": place},
    )


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its text is the author's code too
        return type(error).__name__


def _read(returned: Any, context: MutationContext, action: str) -> ActionAnswer:
    if not isinstance(returned, ActionResult):
        raise _Invalid(f"returned a {type(returned).__name__}, not an ActionResult")
    contract = context.contract.contract
    changes, data = _read_object(returned.changes, "changes"), None
    if changes:
        data = _check(contract.fields, apply_merge_patch(context.data, changes), "changes")
    output = _check(contract.actions[action].output, _read_object(returned.output, "output"), "output")
    size = len(orjson.dumps(output))
    if size > MAX_OUTPUT_BYTES:
        raise _Invalid(f"gives back {size} bytes, at most {MAX_OUTPUT_BYTES}")
    return ActionAnswer(data, _read_creates(returned.creates), output)


def _read_creates(creates: Any) -> list[NewDocument]:
    if not isinstance(creates, list | tuple):
        raise _Invalid(f"has a {type(creates).__name__} in 'creates', not a list")
    if len(creates) > MAX_CREATED_DOCUMENTS:
        raise _Invalid(f"makes {len(creates)} documents, at most {MAX_CREATED_DOCUMENTS}")
    documents = []
    for index, new in enumerate(creates):
        if not isinstance(new, NewDocument) or not isinstance(new.entity_type, str):
            raise _Invalid(f"has a {type(new).__name__} in 'creates', not a NewDocument")
        documents.append(NewDocument(new.entity_type, _read_object(new.data, f"creates/{index}/data")))
    return documents


def _read_object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _Invalid(f"has a {type(value).__name__} as '{place}', not an object")
    read: dict[str, Any] = _thaw(value, place, 0)
    return read


def _thaw(value: Any, place: str, depth: int) -> Any:
    """Copy objects and lists, also frozen ones of the input; the contract judges all other values."""
    if depth > MAX_PATCH_DEPTH:
        raise _Invalid(f"has something in '{place}' that is nested deeper than {MAX_PATCH_DEPTH} levels")
    if isinstance(value, Mapping):
        return {name: _thaw(inner, place, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_thaw(item, place, depth + 1) for item in value]
    # A member of an enum is a text or a number with more to it.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value


def _check(fields: Fields, values: Mapping[str, Any], place: str) -> dict[str, Any]:
    checked, mistakes = validate_fields(fields, values)
    if checked is None:
        placed = [FieldError(f"/{place}{m.pointer}", m.code, m.message) for m in mistakes]
        first = placed[0]
        reason = f"returned {place} that the contract does not allow: {first.pointer} {first.message}"
        raise _Invalid(reason, tuple(placed[:MAX_FIELD_ERRORS]))
    return checked
