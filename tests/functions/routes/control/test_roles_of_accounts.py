"""Permissions of service accounts through their roles, where the tenant wants two people."""

from typing import Any

import psycopg
import pytest

from signet.core.canonical_json import canonical_bytes
from signet.core.control.change import hash_change
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm

ACCOUNT, ROLE = "/v1/service_accounts/posting", "/v1/roles/poster"
CHANGED, ALONE = "CONTROL_CHANGE_ROLES_CHANGED", "FOUR_EYES_REQUIRED"
PERMISSIONS = ("service_account:*", "role:*", "invoice:post", "invoice:pay", "invoice:read")
BODY = {"label": "Posting", "roles": ["poster"], "owner_id": "ada"}


@pytest.fixture
def ada(two: TwoPeople) -> Client:
    """Return a person who may make accounts and roles; ben may do the same, and cleo only a part of it."""
    two.hire("ben", *PERMISSIONS)
    two.hire("cleo", "service_account:*", "role:*")
    assert two.admin.put(ROLE, {"permissions": ["invoice:post"]}).status == 200
    return two.hire("ada", *PERMISSIONS)


@pytest.fixture
def ben(two: TwoPeople, ada: Client) -> Client:
    return two.people["ben"]


def widen(person: Client, *permissions: str) -> ClientAnswer:
    return person.put(ROLE, {"permissions": list(permissions)})


def held(person: Client) -> list[str]:
    (role,) = [role for role in person.get("/v1/roles").body["items"] if role["role"] == "poster"]
    return list(role["permissions"])


def make_account(ada: Client, ben: Client) -> None:
    assert confirm(ben, ada.put(ACCOUNT, BODY)).status == 200


# --- the proposal of an account ---


def test_a_proposal_shows_what_the_roles_of_the_account_permit(ada: Client, ben: Client) -> None:
    made = ada.put(ACCOUNT, BODY)
    assert made.body["body"]["permissions"] == {"poster": ["invoice:post"]}
    shown = ben.get(made.headers["location"]).body["difference"]
    assert {"pointer": "/permissions", "before": None, "after": {"poster": ["invoice:post"]}} in shown
    assert confirm(ben, made).status == 200


@pytest.mark.parametrize("permissions", [["invoice:post", "invoice:pay"], []])
def test_a_role_that_changes_before_the_confirmation_makes_it_void(
    ada: Client, ben: Client, permissions: list[str]
) -> None:
    made = ada.put(ACCOUNT, BODY)
    assert widen(ada, *permissions).status == 200, "no account that may act has it yet"
    refused = confirm(ben, made, made.body["hash"])
    assert (refused.status, refused.code) == (409, CHANGED)
    assert "poster" in refused.text and "propose the change again" in refused.text
    assert ada.get(ACCOUNT).status == 404
    assert confirm(ben, ada.put(ACCOUNT, BODY)).status == 200


def test_a_proposal_of_before_that_pins_nothing_is_proposed_again(
    ada: Client, ben: Client, admin: psycopg.Connection[Any]
) -> None:
    """Its body as an older release wrote it, with the hash of that."""
    made = ada.put(ACCOUNT, BODY)
    body = canonical_bytes({**BODY, "status": "active"}).decode()
    digest = hash_change("service_account", "posting", "create", 0, body)
    admin.execute("ALTER TABLE control_changes DISABLE TRIGGER USER")
    admin.execute("UPDATE control_changes SET body = %s, hash = %s", (body, digest))
    assert confirm(ben, made, digest).code == CHANGED


# --- the permissions of a role that an account has ---


def test_to_give_a_role_of_an_account_more_takes_two_people(ada: Client, ben: Client) -> None:
    make_account(ada, ben)
    wider = widen(ada, "invoice:post", "invoice:pay")
    assert (wider.status, wider.body["kind"], held(ada)) == (202, "role", ["invoice:post"])
    shown = ben.get(wider.headers["location"]).body["difference"]
    assert shown == [
        {"pointer": "/permissions", "before": ["invoice:post"], "after": ["invoice:post", "invoice:pay"]}
    ]
    assert confirm(ada, wider).code == ALONE
    assert confirm(ben, wider).status == 200
    assert held(ada) == ["invoice:post", "invoice:pay"]


def test_a_key_of_who_proposed_it_is_no_other_person(two: TwoPeople) -> None:
    two.hire("ben", *PERMISSIONS)
    ada = two.hire("ada", *PERMISSIONS, "api_key:*")
    assert two.admin.put(ROLE, {"permissions": ["invoice:post"]}).status == 200
    make_account(ada, two.people["ben"])
    assert confirm(two.make_key(ada), widen(ada, "invoice:post", "invoice:pay")).code == ALONE


def test_to_take_some_away_takes_one_and_ends_what_was_proposed(ada: Client, ben: Client) -> None:
    make_account(ada, ben)
    wider = widen(ada, "invoice:post", "invoice:pay")
    assert (widen(ada).status, held(ada)) == (200, [])
    assert ben.get(wider.headers["location"]).body["status"] == "superseded"
    assert widen(ada, "invoice:read").status == 202, "something else is more"


def test_of_two_proposals_about_a_role_one_counts(ada: Client, ben: Client) -> None:
    make_account(ada, ben)
    first, second = widen(ada, "invoice:post", "invoice:pay"), widen(ada, "invoice:post", "invoice:read")
    assert confirm(ben, first).status == 200
    assert confirm(ben, second).code == "CONTROL_CHANGE_CLOSED"
    assert held(ada) == ["invoice:post", "invoice:pay"]


def test_a_role_that_an_operator_changed_meanwhile_is_read_again(
    ada: Client, ben: Client, admin: psycopg.Connection[Any]
) -> None:
    make_account(ada, ben)
    wider = widen(ada, "invoice:post", "invoice:pay")
    admin.execute("UPDATE roles SET permissions = '{invoice:read}' WHERE role = 'poster'")
    assert confirm(ben, wider).code == CHANGED
    assert held(ada) == ["invoice:read"]


def test_who_proposed_a_wider_role_answers_for_it(
    ada: Client, ben: Client, admin: psycopg.Connection[Any]
) -> None:
    """A vote that rests on it is barred for both: the record of eligibility names them."""
    make_account(ada, ben)
    assert confirm(ben, widen(ada, "invoice:post", "invoice:pay")).status == 200
    query = (
        "SELECT persons FROM eligibility_changes WHERE kind = 'role_widened' ORDER BY changed_at DESC LIMIT 1"
    )
    assert admin.execute(query).fetchone() == (["ada", "ben"],)


def test_roles_that_no_running_account_has_take_one_person(ada: Client, ben: Client) -> None:
    make_account(ada, ben)
    assert ada.put("/v1/roles/other", {"permissions": ["invoice:post"]}).status == 200
    stop = {**BODY, "status": "disabled"}
    assert ada.put(ACCOUNT, stop, if_match='"1"').status == 200
    assert widen(ada, "invoice:post", "invoice:pay").status == 200
    started = ada.put(ACCOUNT, BODY, if_match='"2"')
    assert started.body["body"]["permissions"] == {"poster": ["invoice:pay", "invoice:post"]}
    assert confirm(ben, started).status == 200


# --- who can confirm ---


def sent(made: ClientAnswer) -> str:
    call = f'POST /v1/control_changes/{made.body["id"]}/confirm  {{"hash": "{made.body["hash"]}"}}'
    return f"To confirm it, that person sends {call}."


def test_the_answer_says_who_can_confirm(ada: Client, ben: Client) -> None:
    """Cleo lacks what the role permits."""
    made = ada.put(ACCOUNT, BODY)
    assert made.body["next_step"] == (
        "Ask one of these people with the permission 'service_account:edit' and invoice:post: ben, carl."
        f" {sent(made)}"
    )
    assert ben.get(made.headers["location"]).body["next_step"] is None
    assert confirm(ada, made).code == ALONE


def test_the_answer_says_that_nobody_else_can(two: TwoPeople) -> None:
    """Cleo may change accounts, and lacks what the role permits."""
    carl, cleo = two.admin, two.hire("cleo", "service_account:*")
    assert carl.put(ROLE, {"permissions": ["invoice:post"]}).status == 200
    made = carl.put(ACCOUNT, {**BODY, "owner_id": "cleo"})
    assert made.body["next_step"] == (
        "No other active member has the permission 'service_account:edit' and invoice:post."
        f" Give them to a person who has no part in this. {sent(made)}"
    )
    assert confirm(cleo, made).code == "ROLE_BEYOND_OWN"
