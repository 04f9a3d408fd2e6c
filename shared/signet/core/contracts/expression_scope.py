"""Types of everything that an expression may read: fields, settings, and the scope made of them."""

from collections.abc import Mapping
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.contracts.fields import (
    AnyField,
    BoolField,
    DateField,
    DecimalField,
    EnumField,
    IntField,
    ListField,
    ObjectField,
    RefField,
    StringField,
    TimestampField,
)
from signet.core.expressions import (
    ANY,
    BOOL,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    ExpressionError,
    Scope,
    Type,
    enum_of,
    list_of,
    list_variables,
    object_of,
    parse_expression,
    ref_to,
)
from signet.core.tenants.tenant_file import TenantSettings

_SCALARS: Mapping[type[AnyField], Type] = {
    StringField: STRING,
    IntField: INT,
    DecimalField: INT,
    BoolField: BOOL,
    DateField: DATE,
    TimestampField: TIMESTAMP,
}
_SETTINGS = {
    "string": STRING,
    "int": INT,
    "bool": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "list of string": list_of(STRING),
    "list of int": list_of(INT),
}
ACTOR = object_of({"user_id": STRING, "roles": list_of(STRING)})


def type_of_field(declared: AnyField) -> Type:
    match declared:
        case EnumField():
            return enum_of(*declared.values)
        case RefField():
            return ref_to(declared.entity_type, type_of_fields(declared.reads).fields)
        case ListField():
            return list_of(type_of_field(declared.of))
        case ObjectField():
            return type_of_fields(declared.fields)
        case _:
            return _SCALARS[type(declared)]


def type_of_fields(fields: Mapping[str, Any]) -> Type:
    return object_of({name: type_of_field(declared) for name, declared in fields.items()})


def type_of_entity(contract: Contract | None) -> Type:
    """Return the type of the document's fields, with those that every document has."""
    if contract is None:
        return ANY
    return object_of(
        {
            **type_of_fields(contract.fields).fields,
            "id": STRING,
            "status": enum_of(*contract.states, "amended")
            if contract.amendment
            else enum_of(*contract.states),
            "version": INT,
            "creator": STRING,
            "created_at": TIMESTAMP,
            "updated_at": TIMESTAMP,
        }
    )


def type_of_settings(settings: TenantSettings) -> Type:
    """Return the type of `org`: the settings that every tenant has, and its own by their declared types."""
    fixed = {"id": STRING, "name": STRING, "currency": STRING, "time_zone": STRING, "language": STRING}
    own = {name: _SETTINGS[setting.type] for name, setting in settings.custom.items()}
    return object_of({**own, **fixed})


def make_scope(
    entity: Type, org: Type, context: Type, payload: Type | None = None, item: Type | None = None
) -> Scope:
    names = {"entity": entity, "actor": ACTOR, "org": org, "context": context}
    if payload is not None:
        names["payload"] = payload
    if item is not None:
        names["item"] = item
    return Scope(names)


def reads_actor(text: str) -> bool:
    """Return whether an expression asks who acts; one that does not parse reads nothing."""
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        return False
    return any(name.path[0] == "actor" for name in list_variables(parsed))
