"""Names of schemas in the OpenAPI document, which generators of clients make classes of.

A name is unique, and it is the schema's title. Pydantic calls the page of a record
`Page_DocumentRecord_`, and gives every page one title.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from signet.core.errors import Defect

_REFERENCE = "#/components/schemas/"
_GENERIC = re.compile(r"(?P<of>[A-Za-z]+)_(?P<one>[A-Za-z]+)_")
_ENDINGS = re.compile(r"(Record|Summary)$")


def name_schemas(document: dict[str, Any]) -> None:
    """Give each schema one name and that title, wherever the document refers to it."""
    schemas = document["components"]["schemas"]
    names = {name: _name(name) for name in schemas}
    if len(set(names.values())) < len(names):
        raise Defect("SCHEMA_NAME_TAKEN", f"two schemas have one name: {sorted(names.values())}")
    document["components"]["schemas"] = {
        names[name]: {**schema, "title": names[name]} for name, schema in schemas.items()
    }
    _rename(document, names)


def _name(name: str) -> str:
    generic = _GENERIC.fullmatch(name)
    return name if generic is None else _ENDINGS.sub("", generic["one"]) + generic["of"]


def _rename(part: Any, names: Mapping[str, str]) -> None:
    if isinstance(part, list):
        for one in part:
            _rename(one, names)
    if not isinstance(part, dict):
        return
    if "x-schema" in part:
        shared = part.pop("x-schema")
        part.clear()
        part["$ref"] = _REFERENCE + shared
        return
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith(_REFERENCE):
        part["$ref"] = _REFERENCE + names[reference.removeprefix(_REFERENCE)]
    for one in part.values():
        _rename(one, names)


def open_answers(document: dict[str, Any]) -> None:
    """Leave schemas closed that requests have. Those of answers alone may grow."""
    schemas = document["components"]["schemas"]
    asked: set[str] = set()
    waiting = [
        operation.get("requestBody")
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    while waiting:
        found = set(_list_references(waiting.pop())) - asked
        asked |= found
        waiting += [schemas[name] for name in found]
    for name, schema in schemas.items():
        if name not in asked and schema.get("additionalProperties") is False:
            del schema["additionalProperties"]


def _list_references(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _list_references(one)
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(_REFERENCE)
        for one in part.values():
            yield from _list_references(one)
