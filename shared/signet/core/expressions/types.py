"""The types of expressions, and the scope that says which names there are.

Values at runtime are plain JSON. A date is 'YYYY-MM-DD', a timestamp 'YYYY-MM-DDTHH:MM:SS[.ffffff]Z' in UTC.
Enums and refs (ids) are strings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from signet.core.expressions.errors import suggest

COMMON_NAMESPACES = ("entity", "actor", "org", "now", "context", "payload", "item", "event")
# `before` and `after` are of the condition of a trigger alone: the document on both sides of a change.
NAMESPACES = (*COMMON_NAMESPACES, "before", "after")
# A ref can be followed only here: the engine loads the records that a document names.
FollowedField = tuple[str, str]
FOLLOWED_NAMESPACE = "entity"
MAX_LISTED_STEPS = 4
MAX_LISTED_NAMES = 5_000
MAX_SHOWN_VALUES = 8


class TypeKind(StrEnum):
    ANY = "any"
    NULL = "null"
    STRING = "string"
    INT = "int"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"
    ENUM = "enum"
    REF = "ref"
    LIST = "list"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Type:
    kind: TypeKind
    values: tuple[str, ...] = ()
    entity_type: str = ""
    fields: Mapping[str, "Type"] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    item: "Type | None" = None

    def __str__(self) -> str:
        if self.kind is TypeKind.ENUM:
            more = ", …" if len(self.values) > MAX_SHOWN_VALUES else ""
            return f"enum of {', '.join(self.values[:MAX_SHOWN_VALUES])}{more}"
        if self.kind is TypeKind.REF:
            return f"ref to {self.entity_type}"
        if self.kind is TypeKind.LIST:
            return f"list of {self.item}"
        return self.kind.value


ANY = Type(TypeKind.ANY)
NULL = Type(TypeKind.NULL)
STRING = Type(TypeKind.STRING)
INT = Type(TypeKind.INT)
BOOL = Type(TypeKind.BOOL)
DATE = Type(TypeKind.DATE)
TIMESTAMP = Type(TypeKind.TIMESTAMP)


def enum_of(*values: str) -> Type:
    return Type(TypeKind.ENUM, values=values)


def list_of(item: Type) -> Type:
    return Type(TypeKind.LIST, item=item)


def object_of(fields: Mapping[str, Type]) -> Type:
    return Type(TypeKind.OBJECT, fields=MappingProxyType(dict(fields)))


def ref_to(entity_type: str, fields: Mapping[str, Type]) -> Type:
    """Return the type of an id, with the fields of its record, which are reachable in one hop."""
    return Type(TypeKind.REF, entity_type=entity_type, fields=MappingProxyType(dict(fields)))


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespaces that an expression may read, with the type of each. `now` is always there."""

    names: Mapping[str, Type] = field(hash=False)

    def __post_init__(self) -> None:
        unknown = set(self.names) - set(NAMESPACES)
        if unknown:
            raise ValueError(f"not a namespace of expressions: {', '.join(sorted(unknown))}")
        object.__setattr__(self, "names", MappingProxyType({"now": TIMESTAMP, **self.names}))


@dataclass(frozen=True, slots=True)
class UnresolvedName:
    """The reason why a name has no type, and the step of its path that failed."""

    code: str
    step: int
    parameters: Mapping[str, str] = field(hash=False)
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedName:
    type: Type
    # The ref field that the name follows, and the field that it reads there.
    followed: FollowedField | None = None


def resolve_name(path: tuple[str, ...], scope: Scope) -> ResolvedName | UnresolvedName:
    root = path[0]
    if root not in scope.names:
        namespaces = ", ".join(scope.names)
        return UnresolvedName(
            "NAMESPACE_ABSENT", 0, {"name": root, "namespaces": namespaces}, suggest(root, scope.names)
        )
    current = scope.names[root]
    followed: FollowedField | None = None
    for step, name in enumerate(path[1:], start=1):
        if current.kind is TypeKind.ANY:
            break
        owner = ".".join(path[:step])
        if current.kind is TypeKind.REF:
            if followed is not None:
                return UnresolvedName("REF_TWO_HOPS", step, {"owner": owner})
            if root != FOLLOWED_NAMESPACE or step != 2:
                return UnresolvedName("REF_NOT_FOLLOWED", step, {"owner": owner})
            followed = path[1], name
        elif current.kind is not TypeKind.OBJECT:
            return UnresolvedName("NO_FIELDS", step, {"owner": owner, "field": name, "type": str(current)})
        if name not in current.fields:
            parameters = {"owner": owner, "field": name, "known": _name_few(current.fields)}
            return UnresolvedName("UNKNOWN_FIELD", step, parameters, suggest(name, current.fields))
        current = current.fields[name]
    return ResolvedName(current, followed)


def _name_few(fields: Mapping[str, Type]) -> str:
    """Name the fields where they are few, as those of the answer to a call."""
    if not 0 < len(fields) <= MAX_SHOWN_VALUES:
        return ""
    return f", which has {', '.join(f'`{name}`' for name in fields)}"


def list_names(scope: Scope) -> dict[str, str]:
    """Return every dotted name that an expression may use, with its type as text, for editors.

    >>> list_names(Scope({"entity": object_of({"total": INT})}))
    {'entity': 'object', 'entity.total': 'int', 'now': 'timestamp'}
    """
    listed: dict[str, str] = {}
    for path, name_type in _walk_names(scope):
        if len(listed) == MAX_LISTED_NAMES:
            break
        listed[".".join(path)] = str(name_type)
    return listed


def _walk_names(scope: Scope) -> Iterator[tuple[tuple[str, ...], Type]]:
    waiting: list[tuple[tuple[str, ...], Type]] = [
        ((root,), scope.names[root]) for root in reversed(NAMESPACES) if root in scope.names
    ]
    while waiting:
        path, current = waiting.pop()
        yield path, current
        if len(path) > MAX_LISTED_STEPS:
            continue
        for name in reversed(list(current.fields)):
            resolved = resolve_name((*path, name), scope)
            if isinstance(resolved, ResolvedName):
                waiting.append(((*path, name), resolved.type))
