"""Business calendars through the API: saved in versions, listed, proposed to another person, and imported."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from signet.authoring.files import read_document
from signet.store.calendars.calendars import MAX_CALENDARS
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm

Admin = psycopg.Connection[Any]
EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
PLACE = "/v1/calendars/office"
WEEK: dict[str, Any] = {
    "zone": "Europe/Berlin",
    "years": {"first": 2026, "last": 2028},
    "hours": {"monday": ["09:00-17:00"], "tuesday": ["09:00-17:00"]},
}
CLOSED = {**WEEK, "holidays": [{"date": f"{year}-12-25", "name": "Christmas"} for year in (2026, 2027, 2028)]}


def save(client: Client, body: Any = WEEK, place: str = PLACE, **named: Any) -> ClientAnswer:
    return client.put(place, body, **named)


def audit_of(admin: Admin, subject: str) -> list[dict[str, Any]]:
    rows = admin.execute("SELECT content FROM audit_log WHERE subject_type = %s ORDER BY seq", (subject,))
    return [json.loads(content) for (content,) in rows.fetchall()]


def test_a_calendar_is_saved_and_read(client: Client) -> None:
    made = save(client)
    assert (made.status, made.headers["etag"], made.headers["location"]) == (201, '"1"', PLACE)
    shown = client.get(PLACE)
    assert (shown.body, shown.headers["etag"]) == (made.body, '"1"')
    assert (shown.body["name"], shown.body["version"], shown.body["body"]) == ("office", 1, WEEK)
    (listed,) = client.get("/v1/calendars").body["items"]
    assert listed == {name: value for name, value in made.body.items() if name != "body"}


def test_the_example_of_the_docs_is_saved(client: Client) -> None:
    document, _ = read_document(EXAMPLES / "calendar.yaml")
    name = document.pop("calendar")
    assert (name, save(client, document).status) == ("office", 201)


def test_every_version_stays(client: Client) -> None:
    save(client)
    blind = save(client, CLOSED)
    assert (blind.status, blind.code) == (428, "VERSION_MISSING")
    changed = save(client, CLOSED, if_match='"1"')
    assert (changed.status, changed.headers["etag"], changed.body["body"]) == (200, '"2"', CLOSED)
    stale = save(client, WEEK, if_match='"1"')
    assert (stale.status, stale.code) == (412, "CALENDAR_VERSION_CONFLICT")
    versions = client.get(f"{PLACE}/versions").body["items"]
    assert [one["version"] for one in versions] == [2, 1]
    assert client.get(f"{PLACE}/versions/1").body["body"] == WEEK
    assert client.get(f"{PLACE}/versions/3").code == "CALENDAR_NOT_FOUND"


def test_the_same_text_makes_no_version(client: Client, admin: Admin) -> None:
    save(client)
    again = save(client, {**WEEK, "years": {"last": 2028, "first": 2026}}, if_match='"1"')
    assert (again.status, again.headers["etag"]) == (200, '"1"')
    assert len(audit_of(admin, "calendar")) == 1


def test_what_is_not_there_is_not_found(client: Client) -> None:
    save(client)
    for missing in (client.get("/v1/calendars/other"), client.get("/v1/calendars/other/versions")):
        assert (missing.status, missing.code) == (404, "CALENDAR_NOT_FOUND")
    seen = save(client, place="/v1/calendars/other", if_match='"1"')
    assert (seen.status, seen.code) == (404, "CALENDAR_NOT_FOUND")


WRONG: list[tuple[Any, str]] = [
    ({**WEEK, "zone": "Mars/Base"}, "/zone"),
    ({**WEEK, "years": {"first": 2028, "last": 2026}}, "/years"),
    ({**WEEK, "hours": {"monday": ["17:00-09:00"]}}, "/hours/monday/0"),
    ({**WEEK, "holidays": [{"date": "2026-02-30", "name": "never"}]}, "/holidays/0/date"),
    (
        {**CLOSED, "worked_days": [{"date": "2026-12-25", "name": "x", "hours": ["09:00-10:00"]}]},
        "/worked_days/0/date",
    ),
    ({**WEEK, "calendar": "office"}, "/calendar"),
    ({}, "/zone"),
]


@pytest.mark.parametrize(("body", "pointer"), WRONG)
def test_what_is_wrong_with_a_calendar_is_said_with_its_place(
    client: Client, body: Any, pointer: str
) -> None:
    refused = save(client, body)
    assert (refused.status, refused.code) == (422, "DEFINITION_INVALID")
    assert pointer in refused.places
    assert client.get(PLACE).status == 404


def test_a_tenant_has_so_many_calendars(client: Client, admin: Admin) -> None:
    save(client)
    admin.execute(
        "INSERT INTO calendars SELECT tenant_id, 'c' || n, 1 FROM calendars, generate_series(2, %s) AS n",
        (MAX_CALENDARS,),
    )
    refused = save(client, place="/v1/calendars/one_more")
    assert (refused.status, refused.code) == (409, "CALENDAR_TOO_MANY")
    assert save(client, CLOSED, if_match='"1"').status == 200


def test_each_act_wants_its_permission(client: Client) -> None:
    two = TwoPeople(client)
    reader, editor = two.hire("rita", "calendar:read"), two.hire("edna", "calendar:edit")
    clerk = two.hire("cleo", "*:edit", "*:read")
    assert save(reader).code == save(clerk).code == "PERMISSION_DENIED"
    assert save(editor).status == 201
    assert reader.get(PLACE).status == reader.get("/v1/calendars").status == 200
    assert (clerk.get(PLACE).code, clerk.get("/v1/calendars").code) == (
        "CALENDAR_NOT_FOUND",
        "PERMISSION_DENIED",
    )


def test_who_saved_a_calendar_and_why_is_on_record(client: Client, admin: Admin) -> None:
    made = save(client, query={"reason": "we move"})
    (noted,) = audit_of(admin, "calendar")
    assert (noted["action"], noted["subject_id"], noted["reason"]) == ("save_calendar", "office", "we move")
    assert noted["detail"] == {"version": 1, "hash": made.body["hash"]}
    persons = admin.execute(
        "SELECT s.persons FROM calendar_versions v JOIN responsible_sets s"
        " ON s.tenant_id = v.tenant_id AND s.hash = v.responsible"
    ).fetchall()
    assert persons == [(["carl"],)]


def test_another_person_confirms_where_the_tenant_wants_two(client: Client, admin: Admin) -> None:
    two = TwoPeople(client)
    paul, quinn = two.hire("paul", "calendar:*"), two.hire("quinn", "calendar:*")
    two.switch_on()
    proposed = save(paul)
    assert (proposed.status, client.get(PLACE).status) == (202, 404)
    assert (proposed.body["kind"], proposed.body["act"]) == ("calendar", "create")
    assert confirm(paul, proposed).code == "FOUR_EYES_REQUIRED"
    assert confirm(quinn, proposed).status == 200
    assert client.get(PLACE).body["version"] == 1
    changed = save(paul, CLOSED, if_match='"1"')
    shown = quinn.get(changed.headers["location"]).body
    assert [one["pointer"] for one in shown["difference"]] == ["/holidays"]
    assert confirm(quinn, changed).status == 200
    assert client.get(PLACE).body["body"] == CLOSED
    persons = admin.execute(
        "SELECT s.persons FROM calendar_versions v JOIN responsible_sets s"
        " ON s.tenant_id = v.tenant_id AND s.hash = v.responsible ORDER BY v.version"
    ).fetchall()
    assert persons == [(["paul", "quinn"],)] * 2


def test_a_proposal_about_what_has_moved_on_is_refused(client: Client) -> None:
    two = TwoPeople(client)
    paul, quinn = two.hire("paul", "calendar:*"), two.hire("quinn", "calendar:*")
    save(client)
    two.switch_on()
    first, second = save(paul, CLOSED, if_match='"1"'), save(quinn, {**WEEK, "zone": "UTC"}, if_match='"1"')
    assert confirm(quinn, first).status == 200
    assert confirm(paul, second).code == "CONTROL_CHANGE_CLOSED"


def test_holidays_of_a_file_are_read(client: Client) -> None:
    content = (EXAMPLES / "holidays.ics").read_text()
    asked = {"content": content, "years": {"first": 2026, "last": 2027}, "zone": "Europe/Berlin"}
    read = client.post("/v1/holiday_imports", asked)
    assert read.status == 200, read.text
    assert {"date": "2026-12-25", "name": "Christmas Day"} in read.body["holidays"]
    assert save(client, {**WEEK, "years": asked["years"], "holidays": read.body["holidays"]}).status == 201


def test_a_wrong_file_of_holidays_is_refused(client: Client) -> None:
    asked = {"content": "nonsense", "years": {"first": 2026, "last": 2027}}
    refused = client.post("/v1/holiday_imports", asked)
    assert (refused.status, refused.code) == (422, "DEFINITION_INVALID")
    assert refused.body["errors"][0]["code"] == "ICS_SYNTAX"
    zone = client.post("/v1/holiday_imports", {**asked, "zone": "Mars/Base"})
    assert (zone.status, zone.code) == (422, "ZONE_UNKNOWN")
    years = client.post("/v1/holiday_imports", {**asked, "years": {"first": 2027, "last": 2026}})
    assert (years.status, years.code) == (422, "REQUEST_INVALID")


def test_only_who_may_edit_imports(client: Client) -> None:
    reader = TwoPeople(client).hire("rita", "calendar:read")
    asked = {"content": "", "years": {"first": 2026, "last": 2026}}
    assert reader.post("/v1/holiday_imports", asked).code == "PERMISSION_DENIED"
