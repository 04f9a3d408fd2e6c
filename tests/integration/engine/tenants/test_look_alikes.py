"""Ids that look alike: refused where they are new, left where they stood before."""

from typing import Any

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.access.admission import AdmissionCheck
from signet.engine.tenants.install import write_members
from signet.engine.tenants.look_alikes import list_look_alikes
from tests.support.company import Company

Admin = psycopg.Connection[tuple[object, ...]]
CYRILLIC = "\u0441arl"


def save(company: Company, *user_ids: str) -> None:
    members = tuple(Member(user_id=user_id, display_name="X") for user_id in user_ids)
    with company.database.transaction(company.tenant_id) as connection:
        write_members(connection, company.tenant_id, members, COMMAND_LINE)


def forget(admin: Admin) -> None:
    """Leave the members as an older release wrote them."""
    admin.execute("UPDATE members SET skeleton = NULL")


def put(admin: Admin, company: Company, user_id: str) -> None:
    admin.execute("INSERT INTO members VALUES (%s, %s, 'X')", [company.tenant_id, user_id])


def read_skeletons(admin: Admin) -> dict[str, str | None]:
    rows: list[Any] = admin.execute("SELECT user_id, skeleton FROM members").fetchall()
    return dict(rows)


@pytest.mark.parametrize(
    "user_id", ["Carl", "CARL", CYRILLIC, "\uff43arl", "car1", "carl.", "carI", "\u03f2arl", "car|"]
)
def test_a_new_id_that_looks_like_a_members_is_refused(company: Company, user_id: str) -> None:
    with pytest.raises(Rejected) as caught:
        save(company, user_id)
    assert caught.value.code == "MEMBER_ID_LOOKS_ALIKE" and "the member 'carl'" in str(caught.value)


@pytest.mark.parametrize("user_id", ["anna ", " anna", "an\u3164na"])
def test_a_new_id_that_nobody_reads_as_it_is_is_refused(company: Company, user_id: str) -> None:
    with pytest.raises(Rejected) as caught:
        save(company, user_id)
    assert caught.value.code == "FIELDS_INVALID"


def test_an_id_that_differs_to_the_eye_is_taken(company: Company, admin: Admin) -> None:
    save(company, "carla", "carl2", "c.arl")
    assert read_skeletons(admin) == {name: name for name in ("carl", "carla", "carl2", "c.arl")}


@pytest.mark.parametrize(
    ("held", "new"), [("wanda", "vvanda"), ("fiona", "f1ona"), ("olga", "oIga"), ("sam", "sarn")]
)
def test_letters_that_are_drawn_alike_are_one(company: Company, held: str, new: str) -> None:
    save(company, held)
    with pytest.raises(Rejected) as caught:
        save(company, new)
    assert caught.value.code == "MEMBER_ID_LOOKS_ALIKE" and f"the member '{held}'" in str(caught.value)
    with pytest.raises(Rejected) as caught:
        AdmissionCheck(company.database).check(Principal(company.tenant_id, new, ("clerk",)))
    assert caught.value.code == "TOKEN_SUBJECT_LOOKS_ALIKE"


def test_members_who_are_drawn_alike_are_let_in(company: Company, admin: Admin) -> None:
    """The rule is younger than they are."""
    for user_id in ("wanda", "vvanda", "f1ona", "fiona"):
        put(admin, company, user_id)
        AdmissionCheck(company.database).check(Principal(company.tenant_id, user_id, ()))
    save(company, "wanda", "vvanda", "f1ona", "fiona")


def test_skeletons_of_before_digits_were_read_are_written_again(company: Company, admin: Admin) -> None:
    put(admin, company, "wi11")
    admin.execute("UPDATE members SET skeleton = user_id WHERE user_id = 'wi11'")
    with pytest.raises(Rejected) as caught:
        save(company, "will")
    assert caught.value.code == "MEMBER_ID_LOOKS_ALIKE"


def test_members_of_before_keep_ids_that_look_alike(company: Company, admin: Admin) -> None:
    for user_id in ("Carl", "carl ", CYRILLIC):
        put(admin, company, user_id)
    forget(admin)
    save(company, "Carl", "carl ", CYRILLIC)
    save(company, "anna")
    assert sorted(value for value in read_skeletons(admin).values() if value) == ["anna", "carl"]
    (group,) = list_look_alikes(company.database, company.tenant_id)
    assert set(group) == {"carl", "Carl", "carl ", CYRILLIC}


def test_members_whose_skeleton_was_never_written_are_found(company: Company, admin: Admin) -> None:
    put(admin, company, "\u0430nna")
    forget(admin)
    with pytest.raises(Rejected) as caught:
        save(company, "anna")
    assert caught.value.code == "MEMBER_ID_LOOKS_ALIKE"


def test_members_of_another_tenant_do_not_count(company: Company, admin: Admin) -> None:
    save(company, "anna")
    assert list_look_alikes(company.database, company.tenant_id) == []


@pytest.mark.parametrize("subject", ["Carl", " carl", CYRILLIC])
def test_a_token_whose_subject_only_looks_like_a_member_is_refused(company: Company, subject: str) -> None:
    with pytest.raises(Rejected) as caught:
        AdmissionCheck(company.database).check(Principal(company.tenant_id, subject, ("clerk",)))
    assert caught.value.code == "TOKEN_SUBJECT_LOOKS_ALIKE" and "'carl'" in str(caught.value)


def test_tokens_of_members_and_of_strangers_are_admitted(company: Company, admin: Admin) -> None:
    put(admin, company, "Carl")
    for subject in ("carl", "Carl", "dora", "key:carl"):
        AdmissionCheck(company.database).check(Principal(company.tenant_id, subject, ()))
