"""Archiving a definition in force says what new documents run instead, and takes an acceptance by name."""

from typing import Any

import pytest

from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm, put_forward

BOTH = ["FALLS_BACK", "ASKS_NOBODY"]


def save_patch(person: Client, label: str) -> tuple[str, str]:
    """Save a patch that asks quinn; return its place and its ETag."""
    node = {"id": "me", "type": "approval", "config": {"approvers": [{"by": "user", "user": "quinn"}]}}
    base = {"entity_type": "invoice", "envelope_version": 1}
    slots = {"submitted_to_approved": {"nodes": [node]}}
    saved = person.post("/v1/definitions", {"patch": "mine", "base": base, "slots": slots, "label": label})
    assert saved.status == 201, saved.text
    return put_forward(person, saved.headers["location"], saved.headers["etag"])


def publish(person: Client, draft: tuple[str, str]) -> ClientAnswer:
    return person.post(f"{draft[0]}/publish", if_match=draft[1])


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


@pytest.fixture
def in_force(two: TwoPeople, connie: Client) -> str:
    """Publish a patch with an approval by two people, and return its place."""
    draft = save_patch(connie, "Ours")
    assert publish(two.people["paul"], draft).status == 200
    return draft[0]


def codes_of(answer: ClientAnswer) -> list[Any]:
    return [finding["code"] for finding in answer.body["findings"]]


@pytest.mark.parametrize("accepted", [None, [], ["FALLS_BACK"], ["ASKS_NOBODY"], ["OTHER"]])
def test_what_follows_is_said_and_nothing_is_proposed_before_it_is_accepted(
    connie: Client, in_force: str, accepted: list[str] | None
) -> None:
    refused = connie.post(f"{in_force}/archive", None if accepted is None else {"accept": accepted})
    assert (refused.status, refused.code) == (409, "FINDINGS_NOT_ACCEPTED"), refused.text
    assert "FALLS_BACK, ASKS_NOBODY" in refused.body["remedy"]
    assert connie.get("/v1/control_changes").body["items"] == []


def test_the_proposal_names_the_thing_its_findings_and_the_reason(
    two: TwoPeople, connie: Client, in_force: str
) -> None:
    asked = {"accept": BOTH, "reason": "routine"}
    proposed = connie.post(f"{in_force}/archive", asked)
    assert proposed.status == 202, proposed.text
    shown = two.people["paul"].get(proposed.headers["location"]).body
    assert (shown["label"], shown["reason"]) == ("mine version 1", "routine")
    assert [finding["code"] for finding in shown["body"]["findings"]] == BOTH
    sentences = [finding["sentence"] for finding in shown["body"]["findings"]]
    assert sentences[1].endswith("will ask nobody: no approval is left.")
    assert "/findings" in {change["pointer"] for change in shown["difference"]}
    assert confirm(two.people["paul"], proposed).status == 200
    assert connie.get(in_force).body["status"] == "archived"


def test_what_follows_must_be_the_same_when_it_is_confirmed(
    two: TwoPeople, connie: Client, in_force: str
) -> None:
    """A newer version was published since: the archive would have new documents run that."""
    proposed = connie.post(f"{in_force}/archive", {"accept": BOTH})
    assert publish(two.people["quinn"], save_patch(connie, "Newer")).status == 200
    late = confirm(two.people["paul"], proposed)
    assert (late.status, late.code) == (412, "CONTROL_CHANGE_VERSION_CONFLICT")
    assert connie.get(in_force).body["status"] == "published"


def test_what_is_not_in_force_is_archived_without_a_finding(
    two: TwoPeople, connie: Client, in_force: str
) -> None:
    """The lawful way beside it: new documents run the newer version already."""
    assert publish(two.people["quinn"], save_patch(connie, "Newer")).status == 200
    proposed = connie.post(f"{in_force}/archive")
    assert (proposed.status, proposed.body["body"]["findings"]) == (202, [])


def test_one_person_is_told_too_where_the_tenant_wants_one(client: Client) -> None:
    people = TwoPeople(client)
    connie, _ = people.hire("connie"), people.hire("quinn")
    draft = save_patch(connie, "Ours")
    assert publish(connie, draft).status == 200
    assert connie.post(f"{draft[0]}/archive").code == "FINDINGS_NOT_ACCEPTED"
    archived = connie.post(f"{draft[0]}/archive", {"accept": BOTH, "reason": "routine"})
    assert (archived.status, archived.body["name"], codes_of(archived)) == (200, "mine", BOTH)


def save_sketch(person: Client, *nodes: Any) -> tuple[str, str]:
    """Save a patch of another name, to try something."""
    base = {"entity_type": "invoice", "envelope_version": 1}
    slots = {"submitted_to_approved": {"nodes": list(nodes)}}
    saved = person.post("/v1/definitions", {"patch": "sketch", "base": base, "slots": slots})
    assert saved.status == 201, saved.text
    return saved.headers["location"], saved.headers["etag"]


CHOICE = {"id": "choice", "type": "condition"}
ASKING = {"id": "me", "type": "approval", "config": {"approvers": [{"by": "user", "user": "quinn"}]}}


@pytest.mark.parametrize("node", [CHOICE, ASKING])
def test_a_colleagues_sketch_is_not_put_in_force(
    two: TwoPeople, connie: Client, in_force: str, node: Any
) -> None:
    """Connie has written it to try a call. Paul publishes it alone in place of the patch that asks people."""
    place, etag = save_sketch(connie, node)
    asked = {"replaces": "mine", "accept": ["ASKS_NOBODY"]}
    refused = two.people["paul"].post(f"{place}/publish", asked, if_match=etag)
    assert (refused.status, refused.code) == (403, "DRAFT_NOT_PUT_FORWARD"), refused.text
    assert connie.get(in_force).body["status"] == "published"
    put_forward(connie, place, etag)
    assert two.people["paul"].post(f"{place}/publish", asked, if_match=etag).status == 200


def test_that_nobody_is_asked_is_accepted_by_its_code_under_any_name(
    two: TwoPeople, connie: Client, in_force: str
) -> None:
    place, etag = put_forward(connie, *save_sketch(connie, CHOICE))
    refused = two.people["paul"].post(f"{place}/publish", {"replaces": "mine"}, if_match=etag)
    assert (refused.status, refused.code) == (409, "FINDINGS_NOT_ACCEPTED"), refused.text
    assert "ASKS_NOBODY" in refused.text
    assert connie.get(in_force).body["status"] == "published"


def test_approvals_are_taken_away_by_two_who_archive_the_patch(
    two: TwoPeople, connie: Client, in_force: str
) -> None:
    """The lawful way: two people accept that nobody is asked."""
    draft, paul = put_forward(connie, *save_sketch(connie, CHOICE)), two.people["paul"]
    proposed = connie.post(f"{in_force}/archive", {"accept": BOTH})
    assert confirm(paul, proposed).status == 200
    published = paul.post(f"{draft[0]}/publish", if_match=draft[1])
    assert published.status == 200, published.text


def test_a_patch_that_asks_people_replaces_another(two: TwoPeople, connie: Client, in_force: str) -> None:
    draft = put_forward(connie, *save_sketch(connie, ASKING))
    published = two.people["paul"].post(f"{draft[0]}/publish", {"replaces": "mine"}, if_match=draft[1])
    assert published.status == 200, published.text
