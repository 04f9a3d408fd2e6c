"""Authors of changed eligibility: who is responsible for what a caller gives or takes."""

from datetime import UTC, datetime
from uuid import UUID

from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE, author_of, parse_change
from signet.core.tenants.principal import Principal

TENANT = UUID(int=1)


def persons_of(subject: str, *behind: str) -> tuple[str, ...]:
    return author_of(Caller(Principal(TENANT, subject, (), behind=frozenset(behind)))).persons


def test_a_person_answers_for_what_they_change_and_a_key_answers_with_the_people_behind_it() -> None:
    assert persons_of("carl") == ("carl",)
    assert persons_of("key:erp", "mia", "ada") == ("ada", "mia")


def test_a_machine_with_nobody_behind_it_names_itself() -> None:
    assert persons_of("key:erp") == ("key:erp",)
    assert COMMAND_LINE.persons


def test_the_author_is_the_one_who_called() -> None:
    assert (
        author_of(Caller(Principal(TENANT, "key:erp", (), behind=frozenset({"mia"})))).actor_id == "key:erp"
    )


def test_a_stored_change_has_its_time_again() -> None:
    stored = {
        "kind": "role",
        "actor_id": "mia",
        "changed_at": "2026-03-01T12:00:00+00:00",
        "persons": ["mia"],
        "role": "clerk",
    }
    change = parse_change(stored)
    assert change.changed_at == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert (change.persons, change.role, change.given_by) == (["mia"], "clerk", None)
