"""Bodies that are made to break a reader, sent to every route of the table (A23): none is answered by 5xx.

Each kind of route gets all of them, spread over its routes. With SIGNET_TEST_CAMPAIGN=1 each route gets all.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from uuid import uuid4

import pytest

from signet.api.application import make_resolver
from signet.api.http.bodies import LARGE_BODY_BYTES
from signet.api.http.message import MAX_BODY_BYTES, MAX_DEPTH
from signet.api.http.routing import Declared
from signet.api.routes.index import RouteEntry, read_index
from signet.api.routes.table import load_all_groups
from tests.support.http_client import Client

DEPTHS = (10, MAX_DEPTH, MAX_DEPTH + 1, 1_000, 100_000)
VALUES = {"version": "1", "other_version": "2", "entity_type": "invoice"}
# Names of a path that are no ids.
NAMES = frozenset("action name role rule endpoint template node_id account_id quota_name user_id".split())


def fill(entry: RouteEntry) -> str:
    parts = []
    for part in entry.path.split("/"):
        name = part[1:-1] if part.startswith("<") else None
        parts.append(part if name is None else VALUES.get(name, "one" if name in NAMES else str(uuid4())))
    return "/".join(parts)


def nest(opening: str, closing: str, depth: int) -> str:
    return opening * depth + closing * depth


def nest_objects(depth: int) -> str:
    return '{"data": ' * (depth - 1) + "{}" + "}" * (depth - 1)


def list_hostile() -> Iterator[tuple[str, bool]]:
    """List bodies, and whether each is deeper than any route takes."""
    for depth in DEPTHS:
        yield nest("[", "]", depth), depth > MAX_DEPTH
        yield nest_objects(depth), depth > MAX_DEPTH
        # One that never ends.
        yield "[" * depth, depth > MAX_DEPTH
    yield '{"data": {"a": 1, "a": 2}, "data": {}}', False
    yield '{"reason": "a\\u0000b", "\\u0000": "\\u0000"}', False
    yield '{"reason": "\\ud800"}', False
    yield json.dumps("[" * 1_000), False
    yield '{"a": ' + "9" * 5_000 + "}", False
    most = (MAX_BODY_BYTES - 2) // 3
    yield "[" + ",".join(["{}"] * most) + "]", False


HOSTILE = list(list_hostile())
IS_CAMPAIGN = bool(os.environ.get("SIGNET_TEST_CAMPAIGN"))
# Of what is too deep. A large one is refused before it is parsed where the route takes none from this person.
REFUSED = (
    (400, "BODY_TOO_DEEP"),
    (400, "BODY_MALFORMED"),
    (413, "BODY_TOO_LARGE"),
    (403, "PERMISSION_DENIED"),
)
# Every route gets at least so many.
LEAST = 3
Place = tuple[str, str]


def list_kinds() -> Sequence[Sequence[Place]]:
    """Group the routes by everything that decides who reads a body, and with what."""
    resolver = make_resolver()
    load_all_groups(resolver)
    kinds = defaultdict(list)
    for routes in resolver.declared.values():
        for route in routes:
            kinds[_kind_of(route)].append((route.method, route.path))
    return [kinds[kind] for kind in sorted(kinds)]


def _kind_of(route: Declared) -> tuple[object, ...]:
    admitted = (route.is_public, route.is_signed, route.wants_metrics_token, route.is_for_operators)
    read = (route.takes_body, route.body_model is not None, route.takes_merge_patch)
    return (route.method, *admitted, *read)


@cache
def spread() -> Mapping[Place, frozenset[int]]:
    """Give each route some of the bodies, so that each kind of route gets all of them."""
    shares: dict[Place, frozenset[int]] = {}
    for places in list_kinds():
        share = max(-(-len(HOSTILE) // len(places)), LEAST)
        for index, place in enumerate(places):
            shares[place] = frozenset((index * share + step) % len(HOSTILE) for step in range(share))
    return shares


def list_sent(entry: RouteEntry) -> list[tuple[str, bool]]:
    if IS_CAMPAIGN:
        return HOSTILE
    return [HOSTILE[number] for number in sorted(spread()[entry.method, entry.path])]


def test_each_kind_of_route_gets_each_body() -> None:
    assert spread().keys() == {(entry.method, entry.path) for entry in read_index()}
    for places in list_kinds():
        sent = frozenset[int]().union(*(spread()[place] for place in places))
        assert len(sent) == len(HOSTILE), places


@pytest.mark.parametrize("entry", read_index(), ids=lambda entry: f"{entry.method} {entry.path}")
def test_a23_no_body_breaks_a_route(client: Client, entry: RouteEntry) -> None:
    for body, is_too_deep in list_sent(entry):
        answered = client.call(entry.method, fill(entry), body, if_match='"1"')
        about = f"{body[:60]}… of {len(body)}: {answered.text[:300]}"
        assert answered.status < 500, about
        if is_too_deep and not entry.wants_metrics_token:
            assert (answered.status, answered.code) in REFUSED, about
            assert len(body) > LARGE_BODY_BYTES or answered.code == "BODY_TOO_DEEP", about
        elif is_too_deep:
            assert answered.status == 401
        else:
            assert answered.status < 400 or answered.code != "BODY_TOO_DEEP", about


def test_a23_brackets_in_texts_are_no_depth(client: Client) -> None:
    body = json.dumps({"entity_type": "invoice", "data": {"number": '[{"' * 1_000}})
    assert client.post("/v1/documents", body).code == "FIELDS_INVALID"
