"""Large bodies, on every route that takes one: who may not use it learns so before their body is parsed."""

from uuid import uuid4

import pytest

from signet.api.application import make_resolver
from signet.api.http.bodies import ANYBODY, LARGE_BODY_BYTES, OPERATORS
from signet.api.http.message import MAX_BODY_BYTES
from signet.api.http.routing import Declared
from signet.api.routes.table import load_all_groups
from tests.functions.routes.test_hostile_bodies import NAMES
from tests.support.api_application import OPERATOR, wire
from tests.support.company import Company
from tests.support.http_client import Client, ClientAnswer

# It is no JSON: a route that has parsed it says so.
UNPARSED = "{" + " " * LARGE_BODY_BYTES
EMPTY_DOCUMENTS = '{"documents": [' + ",".join(["{}"] * 100_000) + "]}"


def load_routes() -> list[Declared]:
    resolver = make_resolver()
    load_all_groups(resolver)
    routes = [route for declared in resolver.declared.values() for route in declared]
    return [route for route in routes if route.takes_body and not route.is_signed]


ROUTES = load_routes()
GUARDED = [route for route in ROUTES if route.large_bodies_want not in (None, ANYBODY)]


def name(route: Declared) -> str:
    return f"{route.method} {route.path}"


def send(client: Client, route: Declared, body: str) -> ClientAnswer:
    parts = [
        part
        if not part.startswith("<")
        else "1"
        if part == "<version>"
        else "a"
        if part[1:-1] in NAMES
        else str(uuid4())
        for part in route.path.split("/")
    ]
    return client.call(route.method, "/".join(parts), body, if_match='"1"')


@pytest.fixture
def nobody(client: Client) -> Client:
    return Client(client.application, client.tenant_id, subject="nobody", roles=())


@pytest.mark.parametrize("route", GUARDED, ids=name)
def test_who_may_not_is_told_before_the_body_is_parsed(nobody: Client, route: Declared) -> None:
    answered = send(nobody, route, UNPARSED)
    assert (answered.status, answered.code) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize("route", GUARDED, ids=name)
def test_who_may_is_told_what_is_wrong_with_it(client: Client, route: Declared) -> None:
    roles = (OPERATOR,) if route.large_bodies_want == OPERATORS else ("admin",)
    sender = Client(client.application, client.tenant_id, subject="ada", roles=roles)
    answered = send(sender, route, UNPARSED)
    assert (answered.status, answered.code) == (400, "BODY_MALFORMED")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.large_bodies_want is None], ids=name)
def test_other_routes_take_none(client: Client, route: Declared) -> None:
    answered = send(client, route, UNPARSED)
    assert (answered.status, answered.code) == (413, "BODY_TOO_LARGE")


def test_a_route_without_a_body_reads_no_large_one(client: Client) -> None:
    answered = client.get("/v1/health", body=UNPARSED)
    assert (answered.status, answered.code) == (400, "BODY_MALFORMED")
    assert "takes no body" in answered.body["detail"]
    assert client.get("/v1/health", body="{" + " " * 10).body["detail"] != answered.body["detail"]


def test_a_small_body_is_validated_first(nobody: Client) -> None:
    assert nobody.post("/v1/documents/bulk", {"documents": []}).code == "REQUEST_INVALID"


def test_a_list_that_is_too_long_is_one_mistake(client: Client) -> None:
    answered = client.post("/v1/documents/bulk", EMPTY_DOCUMENTS)
    assert (answered.status, answered.places) == (422, ["/documents"])


def test_many_unknown_members_are_one_mistake(client: Client) -> None:
    members = ",".join(f'"m{number}": 1' for number in range(50_000))
    assert len(members) < MAX_BODY_BYTES
    answered = client.post("/v1/documents/bulk", "{" + members + "}")
    assert (answered.status, answered.places) == (422, [""])
    assert "too many to list" in answered.body["errors"][0]["detail"]


def test_another_role_is_asked_for_what_it_may(client: Client, company: Company) -> None:
    """Refuse also those who may do something else."""
    client.put("/v1/roles/reader", {"permissions": ["invoice:read", "member:*"]})
    reader = Client(wire(company.database), client.tenant_id, subject="rita", roles=("reader",))
    assert reader.post("/v1/documents/bulk", UNPARSED).code == "PERMISSION_DENIED"
    client.put("/v1/roles/maker", {"permissions": ["invoice:create"]})
    maker = Client(reader.application, client.tenant_id, subject="max", roles=("maker",))
    assert maker.post("/v1/documents/bulk", UNPARSED).code == "BODY_MALFORMED"
