"""People who have lost the role: a token of before confirms and publishes nothing under four eyes."""

from typing import Any

import pytest

from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import CONTROL, TwoPeople, confirm, put_forward

ERP = {"name": "erp", "url": "https://erp.example.com/hook", "secrets": ["erp"]}
CHAIN: dict[str, Any] = {"name": "ours", "steps": [{"approvers": [{"by": "user", "user": "quinn"}]}]}
FOUR_EYES = (403, "FOUR_EYES_REQUIRED")


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


def take_role(two: TwoPeople, person: str) -> None:
    """Leave the person a role that may nothing of the control; their token names the old one."""
    assert two.admin.put("/v1/roles/nothing", {"permissions": ["invoice:read"]}).status in (200, 201)
    member = {"display_name": person.title(), "roles": ["nothing"]}
    assert two.admin.put(f"/v1/members/{person}", member).status in (200, 201)


def refused(answer: ClientAnswer) -> tuple[int, str]:
    return answer.status, answer.code


def save_chain(person: Client) -> str:
    saved = person.post("/v1/approval_chains", CHAIN)
    assert saved.status == 201, saved.text
    place, _ = put_forward(person, f"/v1/approval_chains/ours/versions/{saved.body['version']}")
    return f"{place}/publish"


def test_who_has_lost_the_role_confirms_nothing(two: TwoPeople, connie: Client) -> None:
    proposed = connie.post("/v1/endpoints", ERP)
    take_role(two, "paul")
    late = confirm(two.people["paul"], proposed)
    assert refused(late) == FOUR_EYES
    assert "no role of theirs has 'endpoint:edit' now" in late.body["detail"]
    assert "quinn" in late.body["remedy"]
    assert confirm(two.people["quinn"], proposed).status == 200


def test_who_has_lost_the_role_publishes_nothing(two: TwoPeople, connie: Client) -> None:
    place = save_chain(connie)
    take_role(two, "paul")
    assert refused(two.people["paul"].post(place)) == FOUR_EYES
    assert two.people["quinn"].post(place).status == 200


def test_another_role_with_the_permission_is_enough(two: TwoPeople, connie: Client) -> None:
    """The lawful way beside it: the token names a role that they left, and the tables another one."""
    place = save_chain(connie)
    assert two.admin.put("/v1/roles/controller", {"permissions": list(CONTROL)}).status in (200, 201)
    member = {"display_name": "Paul", "roles": ["controller"]}
    assert two.admin.put("/v1/members/paul", member).status in (200, 201)
    assert two.people["paul"].post(place).status == 200


def test_where_one_person_is_enough_the_token_counts_as_elsewhere(client: Client) -> None:
    people = TwoPeople(client)
    connie = people.hire("connie")
    place = save_chain(connie) if people.hire("quinn") else ""
    take_role(people, "connie")
    assert connie.post(place).status == 200
