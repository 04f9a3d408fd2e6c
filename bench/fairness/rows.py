"""The rows of the table of fairness: what one person does, and what another one does meanwhile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from bench.fairness.client import PlannedRequest
from bench.fairness.load import PersonLoad
from bench.fairness.stage import TYPE, BenchedTenant
from signet.local.gateway import MAX_CONNECTIONS

SECONDS = 8.0
BOUND, FLOOR_MS = 2.0, 20.0
WAITS = MAX_CONNECTIONS + 2
LARGE_TEXT = "x" * 30_000
BULK = 3_000
Others = Callable[[BenchedTenant], Iterator[PlannedRequest]]


@dataclass(frozen=True)
class FairnessRow:
    """A load, and what the others ask for; a sample is one of their requests."""

    name: str
    load: Callable[[BenchedTenant], PersonLoad]
    others: Others
    # The 95th percentile of the others is at most so many times that without the load, or the floor. With
    # None it is only shown. In any row, nobody else is refused.
    bound: float | None = BOUND
    # How often the others ask, and when they begin to, after the load.
    pause_seconds: float = 0.03
    after_load: bool = False


def look(tenant: BenchedTenant) -> Iterator[PlannedRequest]:
    request = tenant.plan("anna", "clerk", "GET", "/v1/me")
    while True:
        yield request


def submit(tenant: BenchedTenant) -> Iterator[PlannedRequest]:
    """Ask for a transition and wait for it, each time of another document."""
    for batch in count():
        for path in tenant.make_documents(f"anna{batch}", 100):
            yield _ask(tenant, "anna", path, "submit")


def _ask(tenant: BenchedTenant, person: str, document: str, transition: str) -> PlannedRequest:
    headers = {"if-match": '"1"', "prefer": "wait=10"}
    return tenant.plan(person, "clerk", "POST", f"{document}/requests", {"transition": transition}, headers)


def _loop(tenant: BenchedTenant, request: PlannedRequest, connections: int) -> PersonLoad:
    return PersonLoad([[request]] * connections, SECONDS)


def _wait(tenant: BenchedTenant) -> PersonLoad:
    sleeping = {"approvers": [{"by": "user", "user": "sleepy"}]}
    tenant.publish(_patch("looking", [{"id": "look", "type": "approval", "config": sleeping}]))
    documents = tenant.make_documents("carl", WAITS)
    return PersonLoad([[_ask(tenant, "carl", path, "look")] for path in documents], SECONDS, repeats=False)


def _send_bulk(size: int, connections: int) -> Callable[[BenchedTenant], PersonLoad]:
    def load(tenant: BenchedTenant) -> PersonLoad:
        body = b'{"documents": [' + b",".join([b"{}"] * (size // 3)) + b"]}"
        return _loop(tenant, tenant.plan("nick", "none", "POST", "/v1/documents/bulk", body), connections)

    return load


def _send_unknown(tenant: BenchedTenant) -> PersonLoad:
    members = ",".join(f'"m{number:07}": 1' for number in range(1_200_000 // 14))
    request = tenant.plan("nick", "none", "POST", "/v1/documents", b"{" + members.encode() + b"}")
    return _loop(tenant, request, 1)


def _simulate(tenant: BenchedTenant) -> PersonLoad:
    config = {"channel": "in_app", "to": [{"by": "user", "user": "sleepy"}], "text": "{entity.txt}" * 833}
    place = tenant.make_draft(_patch("telling", [{"id": "tell", "type": "notification", "config": config}]))
    asked = {"document": {"number": "1", "txt": LARGE_TEXT}, "requests": ["tell"]}
    return _loop(tenant, tenant.plan("dora", "designer", "POST", f"{place}/simulate", asked), 1)


def _tell(tenant: BenchedTenant) -> PersonLoad:
    config = {"event": "com.example.told", "payload": {"text": "{entity.txt}" * 750}}
    tenant.publish(_patch("telling", [{"id": "tell", "type": "webhook_out", "config": config}]))
    documents = tenant.make_documents("carl", 6, txt=LARGE_TEXT)
    asked = [
        tenant.plan("carl", "clerk", "POST", f"{path}/requests", {"transition": "tell"}, {"if-match": '"1"'})
        for path in documents
    ]
    return PersonLoad([[request] for request in asked], SECONDS, repeats=False)


def _compile(tenant: BenchedTenant) -> PersonLoad:
    nodes = [{"id": f"c{number}", "type": "condition"} for number in range(300)]
    edges: list[Mapping[str, Any]] = []
    for number in range(300):
        then = f"c{number + 1}" if number < 299 else "out"
        edges.append({"source": f"c{number}", "target": "out", "condition": f"entity.amount > {number}"})
        edges.append({"source": f"c{number}", "target": then, "id": f"e{number}"})
    place = tenant.make_draft(_patch("looking", nodes, edges))
    return _loop(tenant, tenant.plan("dora", "designer", "POST", f"{place}/compile"), 3)


def _ask_who_one_is(tenant: BenchedTenant) -> PersonLoad:
    return _loop(tenant, tenant.plan("nick", "none", "GET", "/v1/me"), 4)


def _make_many(tenant: BenchedTenant) -> PersonLoad:
    """Make documents, whose workflows begin while the others ask."""
    requests = []
    for begin in range(0, BULK, 1_000):
        documents = [
            {"entity_type": TYPE, "data": {"number": f"b-{number}"}} for number in range(begin, begin + 1_000)
        ]
        requests.append(tenant.plan("carl", "clerk", "POST", "/v1/documents/bulk", {"documents": documents}))
    return PersonLoad([requests], SECONDS, repeats=False)


def _patch(
    slot: str, nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    inside: dict[str, Any] = {"nodes": list(nodes)}
    if edges:
        inside["edges"] = list(edges)
    return {"patch": "fair", "base": {"entity_type": TYPE, "envelope_version": 1}, "slots": {slot: inside}}


ROWS: Sequence[FairnessRow] = (
    FairnessRow(f"{WAITS} requests that wait for 10 s", _wait, look),
    FairnessRow("bulk of 300 KB of {}, no rights", _send_bulk(300_000, 1), look),
    FairnessRow("bulk of 1 MB of {}, no rights, 2 at once", _send_bulk(1_040_000, 2), look),
    FairnessRow("1.2 MB of unknown members, no rights", _send_unknown, look),
    FairnessRow("simulate a template of 833 × 30 kB", _simulate, look),
    FairnessRow("6 documents with events of 750 × 30 kB", _tell, submit, pause_seconds=0.1),
    FairnessRow("compile 300 conditions, 3 at once", _compile, look),
    FairnessRow("GET /v1/me, 4 connections, no rights", _ask_who_one_is, look, None),
    FairnessRow(f"bulk of {BULK:,} documents, then a submit", _make_many, submit, 4.0, 0.1, after_load=True),
)
