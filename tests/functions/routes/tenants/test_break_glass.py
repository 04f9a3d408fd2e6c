"""Break-glass: two operators seat a member in an approval that nobody else can decide, by HTTP."""

from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.engine.approvals.inbox import Approvals
from signet.engine.audit.verify import verify_tenant
from signet.engine.tenants.break_glass import MAX_WAITING
from tests.support.api_application import OPERATOR
from tests.support.approval_requests import REQUESTER, Asking
from tests.support.company import Company
from tests.support.core.approval_policies import make_policy, make_stage, role
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]
GONE = "UPDATE break_glass_proposals SET proposed_at = now() - interval '2 days', expires_at = now()"

SEATED: LiteralString = (
    "INSERT INTO break_glass_proposals (tenant_id, id, request_id, stage, user_id, reason, proposed_by,"
    " proposed_persons, proposed_at, expires_at)"
    " VALUES (%s, %s, %s, 1, %s, 'away', 'olga', '{olga}', now(), now() + interval '1 hour')"
)


@pytest.fixture
def asking(company: Company, admin: Admin) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made


@pytest.fixture
def operators(client: Client) -> Mapping[str, Client]:
    return {name: Client(client.application, uuid4(), name, (OPERATOR,)) for name in ("olga", "otis", "emil")}


def place(client: Client) -> str:
    return f"/v1/tenants/{client.tenant_id}/break_glass"


def propose(
    client: Client, operator: Client, request_id: UUID, user_id: str = "emil", reason: str = "all are away"
) -> ClientAnswer:
    body = {"request_id": str(request_id), "user_id": user_id, "reason": reason}
    return operator.post(place(client), body)


def consent(client: Client, operator: Client, proposal: ClientAnswer) -> ClientAnswer:
    return operator.post(f"{place(client)}/{proposal.body['id']}/consent")


def seat(client: Client, operators: Mapping[str, Client], request_id: UUID, user_id: str = "emil") -> None:
    made = propose(client, operators["olga"], request_id, user_id)
    assert consent(client, operators["otis"], made).status == 200


def test_two_operators_seat_a_named_person_who_decides(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna", "@finance", made=asking.create())
    asking.decide(request_id, "ben")
    proposal = propose(client, operators["olga"], request_id)
    assert (proposal.status, proposal.body["position"]) == (201, None)
    with pytest.raises(Rejected, match="emil is not asked"):
        asking.decide(request_id, "emil")
    (waiting,) = operators["otis"].get(place(client)).body["items"]
    assert waiting == proposal.body
    seated = consent(client, operators["otis"], proposal)
    assert (seated.status, seated.body["position"], seated.body["consented_by"]) == (200, 3, "otis")
    assert operators["otis"].get(place(client)).body["items"] == []
    assert asking.rows("SELECT holder_user_id, origin FROM approval_seats WHERE position = 3") == [
        ("emil", "break_glass")
    ]
    assert asking.decide(request_id, "emil").request_status == "approved"


def test_everybody_who_decides_is_told_and_sees_it(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna", "@finance", "dora")
    asking.decide(request_id, "ben")
    seat(client, operators, request_id)
    told = asking.rows(
        "SELECT coalesce(user_id, '@' || role), kind FROM notifications WHERE request_id = %s ORDER BY 1",
        request_id,
    )
    assert told == [
        ("@finance", "break_glass_seated"),
        ("anna", "break_glass_seated"),
        ("ben", "break_glass_seated"),
        ("dora", "break_glass_seated"),
        ("emil", "approval_requested"),
    ]
    anna = Client(client.application, client.tenant_id, "anna", ())
    (shown,) = anna.get(f"/v1/approvals/{request_id}").body["break_glass"]
    assert (shown["user_id"], shown["proposed_by"], shown["consented_by"], shown["reason"]) == (
        "emil",
        "olga",
        "otis",
        "all are away",
    )


def test_those_of_the_next_approval_that_the_gate_uses_see_it_too(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    made = asking.create()
    first = asking.ask("anna", made=made)
    seat(client, operators, first)
    second = asking.ask("dora", made=made)
    dora = Client(client.application, client.tenant_id, "dora", ())
    (shown,) = dora.get(f"/v1/approvals/{second}").body["break_glass"]
    assert (shown["request_id"], shown["user_id"], shown["reason"]) == (str(first), "emil", "all are away")
    asking.run("UPDATE approval_requests SET status = 'voided', ended_at = now() WHERE id = %s", first)
    assert dora.get(f"/v1/approvals/{second}").body["break_glass"] == []
    anna = Client(client.application, client.tenant_id, "anna", ())
    assert len(anna.get(f"/v1/approvals/{first}").body["break_glass"]) == 1


def test_what_another_document_or_version_was_given_is_not_shown(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    made = asking.create()
    seat(client, operators, asking.ask("anna", made=made))
    seat(client, operators, asking.ask("anna"))
    asking.edit(made, 1)
    dora = Client(client.application, client.tenant_id, "dora", ())
    assert dora.get(f"/v1/approvals/{asking.ask('dora', made=made)}").body["break_glass"] == []


def test_it_is_on_record_at_the_document_and_at_the_tenant(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna")
    seat(client, operators, request_id)
    rows = asking.rows(
        "SELECT subject_type, action, actor_id, content::jsonb ->> 'via', content::jsonb ->> 'reason'"
        " FROM audit_log WHERE action ~ 'break_glass' ORDER BY action"
    )
    assert rows == [
        ("tenant", "consent_to_break_glass", "otis", "operator", "all are away"),
        ("tenant", "propose_break_glass", "olga", "operator", "all are away"),
        ("document", "seat_by_break_glass", "otis", "operator", "all are away"),
    ]
    assert verify_tenant(asking.company.database, asking.tenant_id).is_sound
    changes = asking.rows(
        "SELECT user_id, persons, actor_id FROM eligibility_changes WHERE kind = 'seat_given'"
    )
    assert changes == [("emil", ["olga", "otis"], "otis")]


def test_one_operator_is_not_enough(client: Client, operators: Mapping[str, Client], asking: Asking) -> None:
    request_id = asking.ask("anna")
    proposal = propose(client, operators["olga"], request_id)
    alone = consent(client, operators["olga"], proposal)
    assert (alone.status, alone.code) == (403, "SELF_GRANT_REFUSED")
    assert asking.seats(request_id) == [("open", None, None)]


def test_the_database_wants_two_operators_too(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna")
    proposal = propose(client, operators["olga"], request_id)
    for persons in (["olga"], ["olga", "otis"], ["emil"], []):
        with asking.company.database.transaction(asking.tenant_id) as connection:
            found = connection.execute(
                "SELECT seat_by_break_glass(%s, 'x', %s::text[])", (proposal.body["id"], persons)
            ).fetchone()
        assert found == (None,), persons
    assert asking.seats(request_id) == [("open", None, None)]


def test_no_operator_seats_themselves(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna")
    assert propose(client, operators["emil"], request_id).code == "SELF_GRANT_REFUSED"
    proposal = propose(client, operators["olga"], request_id)
    assert consent(client, operators["emil"], proposal).code == "SELF_GRANT_REFUSED"


@pytest.mark.parametrize("user_id", ["carl", REQUESTER])
def test_the_seated_person_is_held_to_separation_of_duties(
    client: Client, operators: Mapping[str, Client], asking: Asking, user_id: str
) -> None:
    request_id = asking.ask("anna")
    refused = propose(client, operators["olga"], request_id, user_id)
    assert (refused.status, refused.code) == (409, "BREAK_GLASS_IN_VAIN")
    assert "(SEPARATION_OF_DUTIES)" in refused.body["detail"]
    proposal_id = uuid4()
    asking.run(SEATED, asking.tenant_id, proposal_id, request_id, user_id)
    with asking.company.database.transaction(asking.tenant_id) as connection:
        connection.execute("SELECT seat_by_break_glass(%s, 'otis', '{otis}')", (proposal_id,))
    with pytest.raises(Rejected) as caught:
        asking.decide(request_id, user_id)
    assert caught.value.code == "SEPARATION_OF_DUTIES"


def test_a_seat_of_no_use_is_refused_with_the_reason(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    """Ben has voted, emil lacks the permission, and nobody can be seated in a stage that is decided."""
    asking.hire({"zoe": ("other",)})
    stage = make_stage(role("approver"), role("finance"))
    terms = make_policy(stage, stage).model_copy(update={"permission": "invoice:approve"})
    request_id = asking.ask("@approver", "@finance", policy=terms)

    def reason(user_id: str) -> str:
        refused = propose(client, operators["olga"], request_id, user_id)
        assert refused.code == "BREAK_GLASS_IN_VAIN"
        return str(refused.body["detail"]).partition("(")[2].partition(")")[0]

    assert reason("emil") == "PERMISSION_DENIED"
    waiting = propose(client, operators["olga"], request_id, "zoe")
    asking.decide(request_id, "ben")
    assert reason("ben") == "APPROVAL_SEAT_TAKEN"
    asking.decide(request_id, "anna" if asking.seats(request_id)[0][0] == "open" else "cleo")
    assert reason("zoe") == "APPROVAL_CLOSED"
    assert consent(client, operators["otis"], waiting).code == "BREAK_GLASS_IN_VAIN"


def test_a_seat_bars_its_vote_where_an_operator_who_gave_it_wrote_the_document(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna", made=asking.create("olga"))
    seat(client, operators, request_id)
    with pytest.raises(Rejected, match="otis gave emil a seat at ") as caught:
        asking.decide(request_id, "emil")
    assert caught.value.code == "VOTE_BARRED_BY_GRANT"


def test_nobody_gets_a_second_seat_in_a_stage(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna", "ben")
    refused = propose(client, operators["olga"], request_id, "anna")
    assert refused.code == "BREAK_GLASS_IN_VAIN" and "(APPROVAL_SEAT_HELD)" in refused.body["detail"]


def test_a_proposal_seats_once_and_not_for_ever(
    client: Client, operators: Mapping[str, Client], asking: Asking
) -> None:
    request_id = asking.ask("anna")
    proposal = propose(client, operators["olga"], request_id)
    assert consent(client, operators["otis"], proposal).status == 200
    assert consent(client, operators["otis"], proposal).code == "BREAK_GLASS_EXPIRED"
    late = propose(client, operators["olga"], request_id, "dora")
    asking.run(GONE + " WHERE consented_at IS NULL")
    refused = consent(client, operators["otis"], late)
    assert (refused.status, refused.code) == (409, "BREAK_GLASS_EXPIRED")
    next_stage = propose(client, operators["olga"], request_id, "dora")
    asking.run("UPDATE approval_requests SET stage = 2 WHERE id = %s", request_id)
    assert consent(client, operators["otis"], next_stage).code == "BREAK_GLASS_EXPIRED"


def test_only_so_many_wait(client: Client, operators: Mapping[str, Client], asking: Asking) -> None:
    request_id = asking.ask("anna")
    for _ in range(MAX_WAITING):
        assert propose(client, operators["olga"], request_id).status == 201
    refused = propose(client, operators["otis"], request_id)
    assert (refused.status, refused.code) == (409, "BREAK_GLASS_TOO_MANY")
    asking.run(GONE)
    assert propose(client, operators["otis"], request_id).status == 201


def test_what_cannot_be_proposed(client: Client, operators: Mapping[str, Client], asking: Asking) -> None:
    olga, open_one = operators["olga"], asking.ask("anna")
    decided = asking.ask("anna")
    asking.decide(decided, "anna")
    assert propose(client, olga, uuid4()).code == "APPROVAL_NOT_FOUND"
    assert propose(client, olga, decided).code == "APPROVAL_CLOSED"
    for user_id, reason, pointer in (("nobody", "why", "/user_id"), ("emil", " ", "/reason")):
        refused = propose(client, olga, open_one, user_id, reason)
        assert (refused.status, refused.places[0]) == (422, pointer)
    asking.run("UPDATE members SET status = 'disabled' WHERE user_id = 'emil'")
    assert propose(client, olga, open_one).status == 422
    missing = olga.post(f"{place(client)}/{uuid4()}/consent")
    assert (missing.status, missing.code) == (404, "BREAK_GLASS_NOT_FOUND")


def test_it_is_for_operators(client: Client, operators: Mapping[str, Client], asking: Asking) -> None:
    proposal = propose(client, operators["olga"], asking.ask("anna"))
    assert propose(client, client, asking.ask("anna")).code == "PERMISSION_DENIED"
    assert consent(client, client, proposal).code == "PERMISSION_DENIED"
    assert client.get(place(client)).code == "PERMISSION_DENIED"
    repeated = operators["olga"].post(
        place(client), {"request_id": str(uuid4()), "user_id": "emil", "reason": "x"}, idempotency_key="k"
    )
    assert repeated.code == "APPROVAL_NOT_FOUND", "an operator's key would belong to another tenant"
