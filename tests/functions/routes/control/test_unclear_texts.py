"""Letters that look alike in the control: who publishes, reads or confirms it is told what it really says."""

from typing import Any

import pytest

from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm, put_forward

ALIKE = {"another script": "extern\u0430l", "nothing to see": "external\u200b"}


def asks_where(word: str) -> dict[str, Any]:
    """Return a patch that asks a person about documents of one cost center."""
    nodes = [
        {"id": "which", "type": "condition"},
        {"id": "me", "type": "approval", "config": {"approvers": [{"by": "user", "user": "quinn"}]}},
    ]
    edges = [
        {"source": "which", "target": "me", "condition": f"entity.cost_center == '{word}'"},
        {"source": "which", "target": "out"},
        {"source": "me", "target": "out"},
    ]
    slot = {"nodes": nodes, "edges": edges, "exit": "join"}
    base = {"entity_type": "invoice", "envelope_version": 1}
    return {"patch": "mine", "base": base, "slots": {"submitted_to_approved": slot}}


def rejects(word: str) -> dict[str, Any]:
    condition = {"expression": f"entity.cost_center == '{word}'"}
    return {"phase": "before", "condition": condition, "actions": [{"kind": "reject", "message": "no"}]}


def unclear(answer: ClientAnswer) -> list[Any]:
    return [found for found in answer.body["findings"] if found["code"] == "TEXT_UNCLEAR"]


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


@pytest.mark.parametrize("word", ALIKE.values(), ids=ALIKE)
def test_a_condition_that_reads_otherwise_is_published_by_its_code_alone(
    two: TwoPeople, connie: Client, word: str
) -> None:
    saved = connie.post("/v1/definitions", asks_where(word))
    place, etag = put_forward(connie, saved.headers["location"], saved.headers["etag"])
    paul = two.people["paul"]
    (found,) = unclear(paul.post(f"{place}/compile"))
    assert found["pointer"] == "/slots/submitted_to_approved/edges/0/condition"
    assert ascii(word)[1:-1] in found["sentence"]
    refused = paul.post(f"{place}/publish", if_match=etag)
    assert (refused.status, refused.code) == (409, "FINDINGS_NOT_ACCEPTED"), refused.text
    assert "TEXT_UNCLEAR" in refused.body["remedy"]
    told = paul.get(f"{place}/explanation").body["text"]
    assert "ATTENTION" in told and ascii(word)[1:-1] in told.replace("\n", " ")
    published = paul.post(f"{place}/publish", {"accept": ["TEXT_UNCLEAR"]}, if_match=etag)
    assert (published.status, len(unclear(published))) == (200, 1), published.text


@pytest.mark.parametrize("word", ["external", "Мария", "Müller & Söhne"])
def test_a_text_of_one_script_needs_no_acceptance(two: TwoPeople, connie: Client, word: str) -> None:
    saved = connie.post("/v1/definitions", asks_where(word))
    place, etag = put_forward(connie, saved.headers["location"], saved.headers["etag"])
    paul = two.people["paul"]
    assert "ATTENTION" not in paul.get(f"{place}/explanation").body["text"]
    published = paul.post(f"{place}/publish", if_match=etag)
    assert (published.status, unclear(published)) == (200, []), published.text


@pytest.mark.parametrize("word", ALIKE.values(), ids=ALIKE)
def test_who_confirms_a_rule_or_a_setting_is_told_where(two: TwoPeople, connie: Client, word: str) -> None:
    paul = two.people["paul"]
    proposed = connie.put("/v1/rules/invoice/stop", rejects(word))
    assert proposed.status == 202, proposed.text
    assert paul.get(proposed.headers["location"]).body["unclear"] == ["condition.expression"]
    custom = {"custom": {"trusted": {"type": "list of string", "value": ["V-1", word]}}}
    etag = connie.get("/v1/tenant").headers["etag"]
    setting = connie.patch("/v1/tenant", custom, if_match=etag)
    assert setting.body["unclear"] == ["custom.trusted.value.1"]
    clear = connie.put("/v1/rules/invoice/stop", rejects("external"))
    assert paul.get(clear.headers["location"]).body["unclear"] == []
    assert confirm(paul, clear).status == 200


def test_a_contract_names_such_a_text_when_it_is_saved(connie: Client) -> None:
    document = read_example("invoice/contract.yaml")
    conditions = {"invoice:submit": "entity.cost_center != 'extern\u0430l'"}
    saved = connie.post("/v1/contracts", {**document, "version": 2, "conditions": conditions})
    (found,) = unclear(saved)
    assert found["pointer"] == "/conditions/invoice:submit"
    assert unclear(connie.post("/v1/contracts", {**document, "version": 3})) == []


def test_an_automation_names_such_a_text_too(connie: Client) -> None:
    node = {"id": "pause", "type": "wait_timer", "label": "p\u0430use", "config": {"for": "P1D"}}
    document = {"automation": "nightly", "trigger": {"on": "cron", "cron": "0 6 1 * *"}, "nodes": [node]}
    saved = connie.post("/v1/definitions", {**document, "edges": [{"source": "pause", "target": "out"}]})
    (found,) = unclear(connie.post(f"{saved.headers['location']}/compile"))
    assert found["pointer"] == "/nodes/0/label"
