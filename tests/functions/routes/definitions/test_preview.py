"""Definitions tried by HTTP: compiled, drawn, compared, simulated, and their impact foreseen."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from signet.core.previews import simulation_report
from signet.engine.definitions.designer import impact as foreseeing
from signet.engine.definitions.designer import simulate as simulating
from signet.store.database import Database
from tests.functions.routes.definitions.test_definitions import DEFINITIONS, patch
from tests.integration.engine.definitions.test_definitions import create, publish_patch, read_example
from tests.support.company import INVOICE, Company, make_company
from tests.support.http_client import Client, ClientAnswer

# What the examples name is there.
pytestmark = pytest.mark.usefixtures("named_things")

SLOT = "submitted_to_approved"


@pytest.fixture
def draft(client: Client) -> str:
    return str(client.post(DEFINITIONS, patch()).headers["location"])


def save(client: Client, document: dict[str, Any]) -> str:
    return str(client.post(DEFINITIONS, document).headers["location"])


def broken() -> dict[str, Any]:
    wrong = patch()
    wrong["slots"][SLOT]["edges"][0]["condition"] = "entity.grand_totl <= 1"
    wrong["slots"][SLOT]["nodes"][2]["config"]["approvers"] = [{"by": "expression", "expression": "1"}]
    return wrong


def test_compiling_tells_everything_and_writes_nothing(client: Client, draft: str) -> None:
    right = client.post(f"{draft}/compile")
    assert (right.status, right.body["finding_count"], len(right.body["hash"])) == (200, 0, 64)
    assert client.get(draft).body["status"] == "draft"
    published = client.post(f"{draft}/publish", if_match='"1"').body
    assert published["compiled_hash"] == right.body["hash"]
    wrong = client.post(f"{save(client, broken())}/compile").body
    assert (wrong["hash"], wrong["finding_count"]) == (None, 2)
    assert {(one["pointer"], one["code"]) for one in wrong["findings"]} == {
        (f"/slots/{SLOT}/edges/0", "EXPRESSION_INVALID"),
        (f"/slots/{SLOT}/nodes/2/config/approvers/0/expression", "EXPRESSION_WRONG_TYPE"),
    }
    effective = f"{DEFINITIONS}/{published['definition_id']}"
    assert client.post(f"{effective}/compile").code == "DEFINITION_INVALID"


def test_the_graph_of_drafts_and_of_what_is_published(client: Client, draft: str) -> None:
    graph = client.get(f"{draft}/graph").body
    nodes = {one["id"]: one for one in graph["nodes"]}
    assert (nodes[f"usr:{SLOT}:amount"]["slot"], nodes["sys:start"]["slot"]) == (SLOT, None)
    express = next(one for one in graph["edges"] if one["id"].endswith(":edge:express"))
    assert express["condition"] == "entity.grand_total <= 50000 && entity.vendor_id in org.trusted_vendors"
    is_draft = "The definition is a draft: nobody has published it."
    assert is_draft in client.get(f"{draft}/explanation").body["text"]
    published = client.post(f"{draft}/publish", if_match='"1"').body["definition_id"]
    assert is_draft not in client.get(f"{draft}/explanation").body["text"]
    assert client.get(f"{DEFINITIONS}/{published}/graph").body == graph == client.get(f"{draft}/graph").body
    assert client.get(f"{draft}/mermaid").body["mermaid"].startswith("flowchart TD\n")
    assert "Finance manager" in client.get(f"{draft}/explanation").body["text"]
    refused = client.get(f"{save(client, broken())}/graph")
    assert (refused.status, len(refused.body["errors"])) == (422, 2)


def test_an_automation_is_drawn_and_has_no_envelope(client: Client) -> None:
    place = save(client, read_example("royalty/automation.yaml"))
    assert client.get(f"{place}/graph").body["kind"] == "automation"
    assert client.get(f"{place}/explanation").status == 200
    assert client.get(f"{place}/diff").code == "DEFINITION_INVALID"
    assert client.get(f"{place}/diff", query={"against": place.rsplit("/", 1)[1]}).body["slots"] == []


def test_a_diff_is_slot_by_slot(client: Client, draft: str) -> None:
    bare = client.get(f"{draft}/diff").body
    assert {one["slot"] for one in bare["slots"]} >= {SLOT}
    assert (bare["before"]["kind"], bare["after"]["kind"]) == ("envelope", "effective")
    assert bare["counts"]["added"] > 10
    other = patch()
    other["slots"][SLOT]["nodes"][2]["label"] = "The boss"
    against = {"against": draft.rsplit("/", 1)[1]}
    changed = client.get(f"{save(client, other)}/diff", query=against).body
    assert changed["counts"] == {"added": 0, "removed": 0, "modified": 1}
    ((slot,),) = (changed["slots"],)
    (node,) = slot["nodes"]
    assert (node["mark"], node["changes"]) == (
        "modified",
        [{"pointer": "/label", "before": "Finance manager", "after": "The boss"}],
    )
    assert (
        "classDef modified"
        in client.get(f"{save(client, other)}/diff/mermaid", query=against).body["mermaid"]
    )
    assert client.get(f"{draft}/diff", query={"against": str(UUID(int=1))}).code == "DEFINITION_NOT_FOUND"


def simulate(client: Client, place: str, **body: Any) -> ClientAnswer:
    return client.post(f"{place}/simulate", {"document": INVOICE, **body})


def test_a_draft_is_simulated(client: Client, draft: str) -> None:
    waits = simulate(client, draft).body
    assert (waits["status"], waits["document_status"]) == ("running", "draft")
    assert [one["node_id"] for one in waits["waiting"]] == ["sys:state:draft"]
    asked = simulate(client, draft, requests=["submit"]).body
    assert [one["node_id"] for one in asked["asked"]] == [f"usr:{SLOT}:single"]
    through = simulate(client, draft, requests=["submit"], approvals={"*": "approved"}).body
    assert through["document_status"] not in ("draft", "submitted")
    assert all(step["evidence"] is not None for step in through["steps"])
    assert through["hash"] == client.post(f"{draft}/compile").body["hash"]
    short = simulate(client, draft, requests=["submit"], approvals={"*": "approved"}, max_steps=3).body
    assert (len(short["steps"]) >= 3, short["reason"]) == (True, "stopped after 3 steps")
    late_request = simulate(client, draft, requests=["submit", "submit"]).body
    assert late_request["refused"] == ["submit"]
    late = simulate(client, draft, start="2100-01-01T00:00:00Z", permissions=[], requests=["submit"])
    assert late.status == 200


def test_evidence_is_told_up_to_a_size(client: Client, draft: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_report, "MAX_EVIDENCE_BYTES", 50)
    steps = simulate(client, draft, requests=["submit"]).body["steps"]
    assert steps[0]["evidence"] is not None and steps[-1]["evidence"] is None


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"document": {}}, "FIELDS_INVALID", "/document/grand_total"),
        ({"start": "2100-01-02T00:00:00Z"}, "REQUEST_INVALID", "/start"),
        ({"start": "2026-01-01T00:00:00"}, "REQUEST_INVALID", "/start"),
        ({"approvals": {"*": "maybe"}}, "REQUEST_INVALID", "/approvals/*"),
        ({"requests": ["fly"]}, "FIELDS_INVALID", "/requests/0"),
        ({"approvals": {"singel": "approved"}}, "FIELDS_INVALID", "/approvals/singel"),
        ({"max_steps": 1_001}, "REQUEST_INVALID", "/max_steps"),
        ({"permissions": ["all"]}, "REQUEST_INVALID", "/permissions/0"),
    ],
)
def test_a_simulation_wants_what_could_be(
    client: Client, draft: str, body: dict[str, Any], code: str, pointer: str
) -> None:
    refused = simulate(client, draft, **body)
    assert (refused.status, refused.code) == (422, code)
    assert pointer in {one["pointer"] for one in refused.body["errors"]}


def test_a_simulation_wants_an_answer_that_a_receiver_could_give(client: Client) -> None:
    calling = patch()
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "bank", "save_as": "paid"}}
    calling["slots"][SLOT] = {"nodes": [call]}
    draft = save(client, calling)
    refused = simulate(client, draft, outputs={"bank": {"reference": "P-1"}})
    assert (refused.status, refused.code) == (422, "FIELDS_INVALID")
    assert [one["pointer"] for one in refused.body["errors"]] == ["/outputs/bank/status"]
    answer = {"status": 200, "body": {"reference": "P-1"}}
    assert "/outputs/bank" not in str(simulate(client, draft, outputs={"bank": answer}).body)


def test_a_simulation_is_bounded_in_depth_and_size(client: Client, draft: str) -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    assert simulate(client, draft, events={"key": deep}).code == "REQUEST_INVALID"
    large = simulate(client, draft, outputs={"post": "x" * simulating.MAX_SENT_BYTES})
    assert (large.status, large.code) == (413, "BODY_TOO_LARGE")


def test_what_knows_no_amendments_is_not_born_of_one(client: Client, company: Company) -> None:
    company.publish("project_task")
    envelope = client.get(DEFINITIONS, query={"entity_type": "project_task"}).body["items"][0]["id"]
    document = read_example("project_task/contract.yaml")
    given = {name: "a" for name, field in document["fields"].items() if field.get("required")}
    refused = client.post(f"{DEFINITIONS}/{envelope}/simulate", {"document": given, "birth": "amended"})
    assert (refused.status, refused.places[0]) == (422, "/birth")


def test_an_automation_is_simulated(client: Client) -> None:
    place = save(client, read_example("royalty/automation.yaml"))
    answered = client.post(f"{place}/simulate", {"payload": {"nothing": 1}, "document": {"any": "thing"}})
    assert answered.status == 200, answered.text


def test_the_impact_counts_who_stands_where(
    client: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = publish_patch(company)
    made = [create(company, f"R-{number}") for number in range(5)]
    draft = save(client, patch(label="Other"))
    impact = client.get(f"{draft}/impact").body
    (place,) = impact["places"]
    assert (impact["instance_count"], impact["is_complete"]) == (5, True)
    assert (place["definition_id"], place["node_id"], place["token_count"]) == (str(running), "sys:start", 5)
    assert set(place["examples"]) < {str(one.instance_id) for one in made}
    assert (place["state"], place["prospect"], place["obstacles"]) == ("ready", "current", [])
    other = patch()
    other["slots"][SLOT]["nodes"][2]["label"] = "The boss"
    (place,) = client.get(f"{save(client, other)}/impact").body["places"]
    assert (place["prospect"], place["obstacles"]) == ("safe", [])
    company.publish("invoice", version=2)
    newer = patch()
    newer["base"]["envelope_version"] = 2
    assert client.get(f"{save(client, newer)}/impact").body["places"][0]["prospect"] == "safe"
    older = client.get(DEFINITIONS, query={"kind": "envelope"}).body["items"][-1]["id"]
    (place,) = client.get(f"{DEFINITIONS}/{older}/impact").body["places"]
    assert (place["prospect"], place["obstacles"][0]["code"]) == ("blocked", "DEFINITION_NOT_NEWER")
    monkeypatch.setattr(foreseeing, "MAX_COUNTED_INSTANCES", 2)
    cut = client.get(f"{DEFINITIONS}/{running}/impact").body
    assert (cut["instance_count"], cut["is_complete"]) == (2, False)


def test_the_impact_of_an_automation_that_never_ran(client: Client) -> None:
    place = save(client, read_example("royalty/automation.yaml"))
    impact = client.get(f"{place}/impact").body
    assert (impact["instance_count"], impact["places"]) == (0, [])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/compile"),
        ("GET", "/graph"),
        ("GET", "/mermaid"),
        ("GET", "/explanation"),
        ("GET", "/diff"),
        ("GET", "/diff/mermaid"),
        ("GET", "/impact"),
        ("POST", "/simulate"),
    ],
)
def test_each_wants_a_permission_and_its_own_tenant(
    client: Client, database: Database, draft: str, method: str, path: str
) -> None:
    body: dict[str, Any] | None = {} if path == "/simulate" else None
    refused = replace(client, roles=("reader",)).call(method, f"{draft}{path}", body)
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    stranger = replace(client, tenant_id=make_company(database).tenant_id)
    absent = stranger.call(method, f"{draft}{path}", body)
    assert (absent.status, absent.code) == (404, "DEFINITION_NOT_FOUND")
