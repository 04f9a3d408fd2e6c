"""Actions written in Python: pure functions from a document and a payload to changes.

    from signet.authoring.actions import ActionInput, ActionResult, action

    @action("invoice", "reserve")
    def reserve(given: ActionInput) -> ActionResult:
        return ActionResult(changes={"stock": "reserved"}, output={"reserved": True})

The contract declares the action with `kind: python`. A function has no database and no clock: all that it may
know is in its input. Its result is checked against the contract before anything is written. It may be called
again for the same step, so it must have no effects of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import UUID

MAX_CREATED_DOCUMENTS = 20
MAX_OUTPUT_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class ActionDocument:
    id: UUID
    entity_type: str
    status: str
    version: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionActor:
    user_id: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionInput:
    """The input of a function; it is immutable: objects are read-only mappings, lists are tuples."""

    document: ActionDocument
    payload: Mapping[str, Any]
    actor: ActionActor
    # The tenant's settings, its id and its name, as `org.*` in expressions.
    org: Mapping[str, Any]
    # The transaction's time.
    now: datetime
    # The variables of the workflow whose step runs the action; empty when a person does.
    context: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewDocument:
    entity_type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of a function; `changes` is a JSON merge patch, and an empty one changes nothing."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    creates: Sequence[NewDocument] = ()
    output: Mapping[str, Any] = field(default_factory=dict)


ActionFunction = Callable[[ActionInput], ActionResult]
_F = TypeVar("_F", bound=ActionFunction)


class ActionRegistry:
    """The function of each action, registered by importing the modules that define them."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, str], ActionFunction] = {}
        # The modules that SIGNET_EXTENSIONS named.
        self.modules: tuple[str, ...] = ()

    def action(self, entity_type: str, name: str) -> Callable[[_F], _F]:
        """Register a function for the action of this name in the contract of this entity type."""

        def register(function: _F) -> _F:
            registered = self._functions.setdefault((entity_type, name), function)
            # The same name again means that the same module was imported once more.
            if name_function(registered) != name_function(function):
                both = f"{name_function(registered)} and {name_function(function)}"
                raise ValueError(f"two functions for the action '{name}' of '{entity_type}': {both}")
            self._functions[(entity_type, name)] = function
            return function

        return register

    def find(self, entity_type: str, name: str) -> ActionFunction | None:
        return self._functions.get((entity_type, name))


REGISTRY = ActionRegistry()
action = REGISTRY.action


def name_function(function: ActionFunction) -> str:
    """Return the module of the function and its name there."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def freeze(value: Any) -> Any:
    """Return JSON that nobody can change."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: freeze(inner) for name, inner in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value
