"""The typed fields of contracts, payloads and outputs.

A value is plain JSON; money is integer minor units.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field as Constraint
from pydantic import JsonValue

from signet.core.validation.strict_model import MAX_SAFE_INTEGER as MAX_SAFE_INTEGER
from signet.core.validation.strict_model import Label, Name, Strict

MAX_FIELDS = 200
MAX_ENUM_VALUES = 500
MAX_TEXT_CHARACTERS = 100_000
MAX_LIST_ITEMS = 1_000
# The number of fast columns that a document row has for fields marked `indexed` (design §3).
INDEXED_COLUMN_LIMITS = {"text": 4, "number": 4, "time": 2}

SafeInteger = Annotated[int, Constraint(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]


class AnyField(Strict):
    """The flags and the label that every field may have."""

    label: Label = ""
    required: bool = False
    indexed: bool = False
    unique: bool = False
    personal: bool = False
    default: JsonValue = None


class StringField(AnyField):
    type: Literal["string"]
    min_length: Annotated[int, Constraint(ge=0, le=MAX_TEXT_CHARACTERS)] = 0
    max_length: Annotated[int, Constraint(ge=1, le=MAX_TEXT_CHARACTERS)] = 1_000


class IntField(AnyField):
    type: Literal["int"]
    minimum: SafeInteger = -MAX_SAFE_INTEGER
    maximum: SafeInteger = MAX_SAFE_INTEGER


class DecimalField(AnyField):
    """A decimal number kept as an integer of its smallest units: 12.34 with scale 2 is 1234."""

    type: Literal["decimal"]
    scale: Annotated[int, Constraint(ge=0, le=9)] = 2
    minimum: SafeInteger = -MAX_SAFE_INTEGER
    maximum: SafeInteger = MAX_SAFE_INTEGER


class BoolField(AnyField):
    type: Literal["bool"]


class DateField(AnyField):
    type: Literal["date"]


class TimestampField(AnyField):
    type: Literal["timestamp"]


class EnumField(AnyField):
    type: Literal["enum"]
    values: Annotated[
        tuple[Annotated[str, Constraint(max_length=100)], ...],
        Constraint(min_length=1, max_length=MAX_ENUM_VALUES),
    ]


class RefField(AnyField):
    """The id of another document. `reads` names its fields that expressions may follow, one hop."""

    type: Literal["ref"]
    entity_type: Name
    reads: Annotated[Mapping[Name, "ScalarField"], Constraint(max_length=MAX_FIELDS)] = {}


class ListField(AnyField):
    type: Literal["list"]
    of: "ItemField"
    max_items: Annotated[int, Constraint(ge=1, le=MAX_LIST_ITEMS)] = MAX_LIST_ITEMS


class ObjectField(AnyField):
    type: Literal["object"]
    fields: Annotated[Mapping[Name, "ItemField"], Constraint(min_length=1, max_length=MAX_FIELDS)]


_BY_TYPE = Constraint(discriminator="type")
ScalarField = Annotated[
    StringField | IntField | DecimalField | BoolField | DateField | TimestampField | EnumField, _BY_TYPE
]
# Objects inside lists but no lists inside lists, because a form and a table can show no more.
ItemField = Annotated[
    StringField
    | IntField
    | DecimalField
    | BoolField
    | DateField
    | TimestampField
    | EnumField
    | RefField
    | ObjectField,
    _BY_TYPE,
]
Field = Annotated[
    StringField
    | IntField
    | DecimalField
    | BoolField
    | DateField
    | TimestampField
    | EnumField
    | RefField
    | ListField
    | ObjectField,
    _BY_TYPE,
]
Fields = Annotated[Mapping[Name, Field], Constraint(max_length=MAX_FIELDS)]
RefField.model_rebuild()
ListField.model_rebuild()
ObjectField.model_rebuild()
