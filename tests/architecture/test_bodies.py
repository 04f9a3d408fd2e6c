"""Bodies of requests: their lists have a length that is checked before their items, on every route.

A list that is parsed whole before it is refused costs the process the time of everybody else.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter

from signet.api.application import make_resolver
from signet.api.http.bodies import ANYBODY, LARGE_BODY_BYTES, OPERATORS
from signet.api.http.routing import Declared, Resolver
from signet.api.routes.table import load_all_groups
from signet.core.tenants.permissions import OWN_RESOURCES

_OPEN_ENDED = ("tuple", "set", "frozenset", "generator")
# What pydantic's schemas hold beside schemas.
_NO_SCHEMAS = ("cls", "ctx", "default", "function", "metadata", "serialization")


def load_routes() -> Resolver:
    resolver = make_resolver()
    load_all_groups(resolver)
    return resolver


RESOLVER = load_routes()
ROUTES: Sequence[Declared] = [
    route for routes in RESOLVER.declared.values() for route in routes if route.takes_body
]


def read_schemas(route: Declared) -> Iterator[Any]:
    powertools = next(
        one
        for one in RESOLVER._static_routes + RESOLVER._dynamic_routes
        if (one.method, one.path) == (route.method, route.path)
    )
    for field in powertools.dependant.body_params:
        yield field._type_adapter.core_schema


def walk(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Walk all schemas within a schema of pydantic."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "tagged-union" and "NoneType" in schema["choices"]:
            yield {"type": "any"}  # JSON of any form
            return
        if isinstance(schema.get("type"), str):
            yield schema
        for name, inner in schema.items():
            if name not in _NO_SCHEMAS:
                yield from walk(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from walk(inner)


def find_open_lists(schema: Any) -> list[str]:
    """Find lists that build their items before their length is known."""
    found = []
    for part in walk(schema):
        is_fixed = part["type"] == "tuple" and "variadic_item_index" not in part
        if part["type"] == "list" and "max_length" not in part:
            found.append("a list without max_length")
        if (
            part["type"] in _OPEN_ENDED
            and not is_fixed
            and not (part.get("fail_fast") and "max_length" in part)
        ):
            found.append(f"a {part['type']} that counts its items after it has built them: use list[…]")
    return found


def takes_free_json(route: Declared) -> bool:
    return any(part["type"] in ("any", "dict") for schema in read_schemas(route) for part in walk(schema))


def name(route: Declared) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_a_list_is_refused_by_its_length_before_its_items_are_built(route: Declared) -> None:
    # Operators of the deployment install a tenant by the model of its file.
    if route.large_bodies_want != OPERATORS:
        assert [found for schema in read_schemas(route) for found in find_open_lists(schema)] == []


@pytest.mark.parametrize(
    "model",
    [
        list[str],
        Annotated[tuple[str, ...], Field(max_length=3)],
        Annotated[Sequence[str], Field(max_length=3)],
        Annotated[set[str], Field(max_length=3)],
        Annotated[list[list[str]], Field(max_length=3)],
    ],
)
def test_other_lists_would_be_found(model: Any) -> None:
    assert find_open_lists(TypeAdapter(model).core_schema) != []


@pytest.mark.parametrize(
    "model", [Annotated[list[str], Field(max_length=3)], tuple[int, int], Mapping[str, str]]
)
def test_a_list_with_a_length_is_right(model: Any) -> None:
    assert find_open_lists(TypeAdapter(model).core_schema) == []


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_who_may_send_a_large_body_is_declared(route: Declared) -> None:
    wanted = route.large_bodies_want
    if wanted is None:
        assert route.is_signed or not takes_free_json(route), (
            f"declare who may send it more than {LARGE_BODY_BYTES} bytes"
        )
    elif wanted not in (ANYBODY, OPERATORS):
        assert wanted.partition(":")[0] in {*OWN_RESOURCES, "*"}
    assert (wanted == OPERATORS) == (route.is_for_operators and wanted is not None)


def test_only_votes_are_taken_at_any_length_from_anybody() -> None:
    """Let no other route take a large body from a person without any permission."""
    assert [name(route) for route in ROUTES if route.large_bodies_want == ANYBODY] == [
        "POST /v1/approvals/decisions"
    ]
