"""A contract that is weaker than the published one says so, to who saves it and to who publishes it."""

from typing import Any

import pytest

from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, put_forward

PLACE = "/v1/contracts/invoice/versions/2"
WIDER = {"may_decide": ["creator", "editor", "requester"]}


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


def second_version(**changes: Any) -> dict[str, Any]:
    return {**read_example("invoice/contract.yaml"), "version": 2, "label": "typo corrected", **changes}


def codes_of(answer: ClientAnswer) -> list[Any]:
    return [finding["code"] for finding in answer.body["findings"] if finding["code"].endswith("WIDER")]


def test_a_weaker_contract_is_named_when_it_is_saved_compared_and_published(
    two: TwoPeople, connie: Client
) -> None:
    paul = two.people["paul"]
    saved = connie.post("/v1/contracts", second_version(separation_of_duties=WIDER))
    assert (saved.status, codes_of(saved)) == (201, ["MAY_DECIDE_WIDER"])
    compared = paul.get(f"{PLACE}/diff")
    assert (compared.status, compared.body["against"], codes_of(compared)) == (200, 1, ["MAY_DECIDE_WIDER"])
    pointers = {difference["pointer"] for difference in compared.body["differences"]}
    assert {"/label", "/separation_of_duties/may_decide"} <= pointers
    put_forward(connie, PLACE, saved.headers["etag"])
    published = paul.post(f"{PLACE}/publish", if_match=saved.headers["etag"])
    assert (published.status, codes_of(published)) == (200, ["MAY_DECIDE_WIDER"])
    assert codes_of(paul.get(f"{PLACE}/diff", query={"against": 1})) == ["MAY_DECIDE_WIDER"]
    assert paul.get(f"{PLACE}/diff").body["differences"] == []


def test_a_contract_that_is_no_weaker_has_no_such_finding(two: TwoPeople, connie: Client) -> None:
    saved = connie.post("/v1/contracts", second_version())
    assert (saved.status, codes_of(saved)) == (201, [])
    put_forward(connie, PLACE, saved.headers["etag"])
    published = two.people["paul"].post(f"{PLACE}/publish", if_match=saved.headers["etag"])
    assert (published.status, codes_of(published)) == (200, [])


def test_a_version_that_is_not_there_is_compared_with_nothing(connie: Client) -> None:
    assert connie.get(f"{PLACE}/diff").code == "ENTITY_TYPE_UNKNOWN"
    one = "/v1/contracts/invoice/versions/1/diff"
    assert connie.get(one, query={"against": 9}).code == "ENTITY_TYPE_UNKNOWN"
    first = {**read_example("invoice/contract.yaml"), "contract": "receipt"}
    assert connie.post("/v1/contracts", first).status == 201
    alone = connie.get("/v1/contracts/receipt/versions/1/diff")
    assert (alone.body["against"], alone.body["differences"]) == (None, [])
