"""Bodies that are made to break a reader, sent to every route of the table (A23): none is answered by 5xx."""

import json
from collections.abc import Iterator
from uuid import uuid4

import pytest

from signet.api.http.message import MAX_BODY_BYTES, MAX_DEPTH
from signet.api.routes.index import RouteEntry, read_index
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


@pytest.mark.parametrize("entry", read_index(), ids=lambda entry: f"{entry.method} {entry.path}")
def test_a23_no_body_breaks_a_route(client: Client, entry: RouteEntry) -> None:
    for body, is_too_deep in HOSTILE:
        answered = client.call(entry.method, fill(entry), body, if_match='"1"')
        about = f"{body[:60]}… of {len(body)}: {answered.text[:300]}"
        assert answered.status < 500, about
        if is_too_deep and not entry.wants_metrics_token:
            assert (answered.status, answered.code) == (400, "BODY_TOO_DEEP"), about
        elif is_too_deep:
            assert answered.status == 401
        else:
            assert answered.status < 400 or answered.code != "BODY_TOO_DEEP", about


def test_a23_brackets_in_texts_are_no_depth(client: Client) -> None:
    body = json.dumps({"entity_type": "invoice", "data": {"number": '[{"' * 1_000}})
    assert client.post("/v1/documents", body).code == "FIELDS_INVALID"
