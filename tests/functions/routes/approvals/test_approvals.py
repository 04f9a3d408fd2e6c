"""Approvals by HTTP: the inbox, requests, decisions; delegations, chains, notifications."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.engine.approvals.inbox import Approvals
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.approval_requests import Asking
from tests.support.company import Company
from tests.support.http_client import Client

CHAIN = {
    "name": "large",
    "label": "Large invoices",
    "steps": [
        {"approvers": [{"by": "user", "user": "anna"}]},
        {"approvers": [{"by": "role", "role": "finance"}]},
    ],
}


@pytest.fixture
def asking(company: Company, admin: psycopg.Connection[Any]) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made


@pytest.fixture
def people(database: Database, company: Company, asking: Asking) -> dict[str, Client]:
    application = wire(database)
    people = {
        name: Client(application, company.tenant_id, name, roles)
        for name, roles in {
            "anna": ("approver",),
            "ben": ("approver",),
            "dora": (),
            "carl": ("admin",),
        }.items()
    }
    return people | {"stranger": Client(application, uuid4(), "anna", ("admin",))}


def test_the_inbox_shows_what_waits_page_by_page(people: dict[str, Client], asking: Asking) -> None:
    wanted = [str(asking.ask("anna")) for _ in range(5)]
    asking.ask("ben")
    seen, cursor = [], None
    for _ in range(3):
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = people["anna"].call("GET", "/v1/approvals", query=query).body
        seen += [item["request_id"] for item in page["items"]]
        # A request made meanwhile comes last, and shifts nothing.
        cursor = page["next_cursor"]
    assert seen == wanted
    assert cursor is None
    assert people["dora"].get("/v1/approvals").body == {"items": [], "next_cursor": None}


@pytest.mark.parametrize("cursor", ["x", "AAAA", "W10", "WyJhIl0", "ü", "a" * 1_999])
def test_a_cursor_of_nothing_is_refused(people: dict[str, Client], cursor: str) -> None:
    refused = people["anna"].call("GET", "/v1/approvals", query={"cursor": cursor})
    assert (refused.status, refused.code) == (400, "CURSOR_INVALID")


def test_a_request_shows_what_it_is_about(people: dict[str, Client], asking: Asking) -> None:
    made = asking.create(grand_total=7)
    request_id = asking.ask("anna", made=made)
    asking.edit(made, 1, grand_total=8)
    shown = people["anna"].get(f"/v1/approvals/{request_id}").body
    assert (shown["status"], shown["document"]["data"]["grand_total"]) == ("open", 7)
    assert (shown["document_version"], shown["current_version"]) == (1, 2)
    assert [seat["holder_user_id"] for seat in shown["seats"]] == ["anna"]
    assert shown["policy"]["stages"][0]["quorum"] == "all"
    assert shown["last_approved"] is None


def test_a_request_shows_what_changed_since_the_last_approval(
    people: dict[str, Client], asking: Asking
) -> None:
    made = asking.create(grand_total=7)
    first = asking.ask("anna", made=made)
    asking.decide(first, "anna")
    asking.run("UPDATE approval_requests SET applied = true WHERE id = %s", first)
    asking.edit(made, 1, grand_total=8)
    shown = people["anna"].get(f"/v1/approvals/{asking.ask('anna', made=made)}").body["last_approved"]
    assert (shown["request_id"], shown["document_version"]) == (str(first), 1)
    assert shown["changes"] == [{"field": "grand_total", "before": 7, "after": 8}]


def test_who_has_nothing_to_do_with_a_request_does_not_find_it(
    people: dict[str, Client], asking: Asking
) -> None:
    place = f"/v1/approvals/{asking.ask('anna')}"
    assert people["anna"].get(place).status == 200
    for name in ("dora", "stranger"):
        answer = people[name].get(place)
        assert answer.status in (403, 404), name
        assert people[name].post(f"{place}/decision", {"vote": "approved"}).status in (403, 404)


def test_a_decision_counts_once(people: dict[str, Client], asking: Asking) -> None:
    request_id = asking.ask("anna")
    place = f"/v1/approvals/{request_id}/decision"
    decided = people["anna"].post(place, {"vote": "approved"}, idempotency_key="once")
    assert (decided.status, decided.body["request_status"]) == (200, "approved")
    again = people["anna"].post(place, {"vote": "approved"}, idempotency_key="once")
    assert again.body == decided.body
    assert people["anna"].post(place, {"vote": "approved"}).code == "APPROVAL_CLOSED"
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(1,)]


def change_what_is_asked(asking: Asking, request_id: UUID) -> None:
    """Make it a request that has pinned nothing: it can only be asked again."""
    asking.run("ALTER TABLE approval_requests DISABLE TRIGGER USER")
    asking.run("UPDATE approval_requests SET pins = NULL WHERE id = %s", request_id)
    asking.run("ALTER TABLE approval_requests ENABLE TRIGGER USER")


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "once"}], ids=["without a key", "with a key"])
@pytest.mark.parametrize("vote", ["approved", "rejected"])
def test_a_vote_on_what_has_changed_has_it_asked_again(
    people: dict[str, Client], asking: Asking, vote: str, key: dict[str, str]
) -> None:
    """The refusal rolls the key back, and not the wake-up of the workflow that asks again."""
    request_id = asking.ask("anna")
    change_what_is_asked(asking, request_id)
    body = {"vote": vote, "reason": "seen"}
    place = f"/v1/approvals/{request_id}/decision"
    assert people["anna"].post(place, body, **key).code == "APPROVAL_STALE"
    woken = "SELECT instance_id, status FROM workflow_events_outbox WHERE event_type = 'continue'"
    asked_by = asking.rows("SELECT instance_id FROM approval_requests WHERE id = %s", request_id)
    assert asking.rows(woken) == [(*asked_by[0], "pending")]
    assert asking.rows("SELECT count(*) FROM idempotency_keys") == [(0,)]


def test_a_vote_among_many_has_it_asked_again(people: dict[str, Client], asking: Asking) -> None:
    request_id = asking.ask("anna")
    change_what_is_asked(asking, request_id)
    body = {"decisions": [{"request_id": str(request_id), "vote": "approved"}]}
    (outcome,) = people["anna"].post("/v1/approvals/decisions", body, idempotency_key="many").body["items"]
    assert outcome["problem"]["code"] == "APPROVAL_STALE"
    woken = "SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'continue'"
    assert asking.rows(woken) == [(1,)]


def test_a_link_never_decides(people: dict[str, Client], asking: Asking) -> None:
    place = f"/v1/approvals/{asking.ask('anna')}/decision"
    for method in ("GET", "HEAD", "OPTIONS"):
        people["anna"].call(method, place)
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(0,)]


def test_many_are_decided_each_for_itself(people: dict[str, Client], asking: Asking) -> None:
    mine, other, missing = asking.ask("anna"), asking.ask("ben"), uuid4()
    body = {"decisions": [{"request_id": str(one), "vote": "approved"} for one in (other, mine, missing)]}
    outcomes = people["anna"].post("/v1/approvals/decisions", body, idempotency_key="many").body["items"]
    assert [one["status"] for one in outcomes] == ["rejected", "done", "rejected"]
    assert outcomes[1]["result"]["request_status"] == "approved"
    assert [one["problem"] and one["problem"]["code"] for one in outcomes][2] == "APPROVAL_NOT_FOUND"
    assert (
        people["anna"].post("/v1/approvals/decisions", body, idempotency_key="many").body["items"] == outcomes
    )


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"vote": "maybe"}, "/vote"),
        ({}, "/vote"),
        ({"vote": "approved", "on_behalf_of": "ben"}, "/on_behalf_of"),
        ({"vote": "approved", "reason": "x" * 4_001}, "/reason"),
    ],
)
def test_a_vote_that_is_none(people: dict[str, Client], asking: Asking, body: Any, pointer: str) -> None:
    refused = people["anna"].post(f"/v1/approvals/{asking.ask('anna')}/decision", body)
    assert (refused.status, refused.places[0]) == (422, pointer)


def test_a_rejection_wants_a_reason(people: dict[str, Client], asking: Asking) -> None:
    refused = people["anna"].post(f"/v1/approvals/{asking.ask('anna')}/decision", {"vote": "rejected"})
    assert (refused.status, refused.places[0]) == (422, "/reason")


def delegation(**changes: Any) -> dict[str, Any]:
    now = datetime.now(UTC)
    terms = {"delegate_id": "ben", "from_time": now, "to_time": now + timedelta(days=1)}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in {**terms, **changes}.items()
    }


def test_a_delegation_is_given_seen_used_and_taken_back(people: dict[str, Client], asking: Asking) -> None:
    request_id = asking.ask("anna")
    given = people["anna"].post("/v1/delegations", delegation())
    assert (given.status, given.body["user_id"]) == (201, "anna")
    assert [one["id"] for one in people["ben"].get("/v1/delegations/taken").body["items"]] == [
        given.body["id"]
    ]
    assert people["ben"].get("/v1/approvals").body["items"][0]["on_behalf_of"] == "anna"
    decided = people["ben"].post(f"/v1/approvals/{request_id}/decision", {"vote": "approved"}).body
    assert (decided["on_behalf_of"], decided["delegation_id"]) == ("anna", given.body["id"])
    place = f"/v1/delegations/{given.body['id']}"
    assert people["dora"].call("DELETE", place).code == "DELEGATION_NOT_FOUND"
    assert people["anna"].call("DELETE", place).status == 204
    refused = people["ben"].post(f"/v1/approvals/{asking.ask('anna')}/decision", {"vote": "approved"})
    assert refused.code == "APPROVAL_NOT_YOURS"


def test_a_delegation_begins_now_where_it_names_no_moment(people: dict[str, Client], asking: Asking) -> None:
    terms = {name: value for name, value in delegation().items() if name != "from_time"}
    given = people["anna"].post("/v1/delegations", terms)
    assert given.status == 201
    request_id = asking.ask("anna")
    decided = people["ben"].post(f"/v1/approvals/{request_id}/decision", {"vote": "approved"}).body
    assert decided["delegation_id"] == given.body["id"]


def test_refusals_of_votes_say_what_to_do(people: dict[str, Client], asking: Asking) -> None:
    """A stranger and the author of the document learn who can help."""
    place = f"/v1/approvals/{asking.ask('anna', made=asking.create('anna'))}/decision"
    for person, code in (("anna", "SEPARATION_OF_DUTIES"), ("ben", "APPROVAL_NOT_YOURS")):
        refused = people[person].post(place, {"vote": "approved"})
        assert refused.code == code
        assert "The explanation of the workflow's instance" in refused.body["remedy"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"user_id": "dora"}, 403),
        ({"delegate_id": "nobody"}, 404),
        ({"delegate_id": "anna"}, 422),
        ({"to_time": "2020-01-01T00:00:00Z"}, 422),
        ({"from_time": "2026-01-01T00:00:00"}, 422),
        ({"from_time": "soon"}, 422),
    ],
)
def test_a_delegation_that_cannot_be(people: dict[str, Client], changes: dict[str, Any], status: int) -> None:
    assert people["anna"].post("/v1/delegations", delegation(**changes)).status == status


def test_a_chain_from_draft_to_archive(people: dict[str, Client]) -> None:
    carl = people["carl"]
    saved = carl.post("/v1/approval_chains", CHAIN)
    assert (saved.status, saved.body["version"]) == (201, 1)
    place = "/v1/approval_chains/large/versions/1"
    assert carl.get(place).body["status"] == "draft"
    assert carl.get(place).headers["etag"] == '"1"'
    published = carl.post(f"{place}/publish").body
    assert published.pop("control")["single_author"] == ["carl"]
    assert published == saved.body
    assert carl.post(f"{place}/publish").code == "VERSION_FROZEN"
    late = carl.post(f"{place}/archive", if_match='"1"')
    assert (late.status, late.code, late.headers["etag"]) == (412, "DRAFT_VERSION_CONFLICT", '"2"')
    assert carl.post(f"{place}/archive", if_match='"2"').status == 204
    assert carl.get(place).body["status"] == "archived"
    assert people["dora"].get(place).status == 403
    assert people["dora"].post("/v1/approval_chains", CHAIN).status == 403
    assert carl.get("/v1/approval_chains/large/versions/9").status == 404


def test_every_mistake_in_a_chain_is_named(people: dict[str, Client]) -> None:
    refused = people["carl"].post("/v1/approval_chains", {**CHAIN, "steps": [{"approvers": []}], "more": 1})
    assert refused.status == 422
    assert {one["pointer"] for one in refused.body["errors"]} >= {"/steps/0/approvers", "/more"}


def test_notifications_are_read_once(people: dict[str, Client], asking: Asking) -> None:
    ids = [uuid4() for _ in range(3)]
    for one in ids:
        asking.run(
            "INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)"
            " VALUES (%s, %s, 'anna', 'approval_requested', '{}', now())",
            asking.tenant_id,
            one,
        )
    page = people["anna"].call("GET", "/v1/notifications", query={"limit": 2}).body
    rest = (
        people["anna"]
        .call("GET", "/v1/notifications", query={"limit": 2, "cursor": page["next_cursor"]})
        .body
    )
    listed = [UUID(item["id"]) for item in page["items"] + rest["items"]]
    assert listed == sorted(ids, reverse=True)
    body = {"ids": [str(one) for one in ids]}
    assert people["ben"].post("/v1/notifications/read", body).body == {"marked": 0}
    assert people["anna"].post("/v1/notifications/read", body).body == {"marked": 3}
    assert people["anna"].post("/v1/notifications/read", body).body == {"marked": 0}


def test_chains_are_listed_by_name_and_by_version(people: dict[str, Client]) -> None:
    carl = people["carl"]
    for name in ("large", "small"):
        for label in ("first", "second"):
            version = carl.post("/v1/approval_chains", {**CHAIN, "name": name, "label": label}).body[
                "version"
            ]
            assert carl.post(f"/v1/approval_chains/{name}/versions/{version}/publish").status == 200
    carl.post("/v1/approval_chains", {**CHAIN, "name": "draft"})
    first = carl.call("GET", "/v1/approval_chains", query={"limit": 1}).body
    assert [(one["name"], one["version"]) for one in first["items"]] == [("large", 2)]
    rest = carl.call("GET", "/v1/approval_chains", query={"cursor": first["next_cursor"]}).body
    assert [(one["name"], one["version"]) for one in rest["items"]] == [("small", 2)]
    versions = carl.get("/v1/approval_chains/large/versions").body["items"]
    assert [one["version"] for one in versions] == [2, 1]
    assert carl.get("/v1/approval_chains/never/versions").code == "CHAIN_NOT_FOUND"
    assert people["dora"].get("/v1/approval_chains").status == 403


def test_delegations_are_listed_from_either_side(people: dict[str, Client]) -> None:
    given = people["anna"].post("/v1/delegations", delegation()).body
    assert [one["id"] for one in people["anna"].get("/v1/delegations/given").body["items"]] == [given["id"]]
    assert people["anna"].get("/v1/delegations/taken").body["items"] == []
    assert [one["id"] for one in people["ben"].get("/v1/delegations/taken").body["items"]] == [given["id"]]
    of_anna = {"user_id": "anna"}
    assert people["ben"].call("GET", "/v1/delegations/given", query=of_anna).status == 403
    assert len(people["carl"].call("GET", "/v1/delegations/given", query=of_anna).body["items"]) == 1


def test_what_was_read_is_no_more_among_the_unread(people: dict[str, Client], asking: Asking) -> None:
    ids = [uuid4() for _ in range(2)]
    for one in ids:
        asking.run(
            "INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)"
            " VALUES (%s, %s, 'anna', 'approval_requested', '{}', now())",
            asking.tenant_id,
            one,
        )
    people["anna"].post("/v1/notifications/read", {"ids": [str(ids[0])]})
    unread = people["anna"].call("GET", "/v1/notifications", query={"unread": "true"}).body["items"]
    assert [one["id"] for one in unread] == [str(ids[1])]
