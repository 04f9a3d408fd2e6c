"""A draft is a sketch until one of its authors puts it forward: then another person may publish that text."""

import pytest

from tests.functions.routes.control.test_four_eyes import SKETCHES, Save, asks, publish, save_patch
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, put_forward

NOT_YET = (403, "DRAFT_NOT_PUT_FORWARD")


def refused(answer: ClientAnswer) -> tuple[int, str]:
    return answer.status, answer.code


def sketch(person: Client, label: str = "A sketch") -> tuple[str, str]:
    """Save the patch that asks connie, and put it forward not yet."""
    saved = person.post("/v1/definitions", asks("connie", label=label))
    assert saved.status == 201, saved.text
    return saved.headers["location"], saved.headers["etag"]


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


@pytest.mark.parametrize("save", SKETCHES.values(), ids=SKETCHES)
def test_a_text_that_is_saved_again_is_put_forward_again(two: TwoPeople, connie: Client, save: Save) -> None:
    """Quinn changes what connie has put forward. Nobody has agreed to that text before quinn does."""
    put_forward(connie, *save(connie, "Mine"))
    paul, quinn = two.people["paul"], two.people["quinn"]
    place, etag = save(quinn, "Theirs")
    answer = publish(paul, (place, etag))
    assert refused(answer) == NOT_YET
    assert "connie and quinn wrote" in answer.body["detail"]
    forward = quinn.post(f"{place}/put_forward", if_match=etag)
    assert "paul" in forward.body["next_step"] and "connie" not in forward.body["next_step"]
    assert publish(paul, (place, etag)).status == 200


def test_one_publisher_puts_no_sketch_in_force(two: TwoPeople, connie: Client) -> None:
    draft, paul = sketch(connie), two.people["paul"]
    assert refused(publish(paul, draft)) == NOT_YET
    other = paul.post(f"{draft[0]}/put_forward", if_match=draft[1])
    assert refused(other) == (403, "PERMISSION_DENIED")
    assert "only an author puts it forward" in other.body["detail"]
    assert refused(publish(paul, draft)) == NOT_YET
    put_forward(connie, *draft)
    assert publish(paul, draft).status == 200


@pytest.mark.parametrize("save", SKETCHES.values(), ids=SKETCHES)
def test_nobody_puts_a_sketch_forward_by_the_key_of_its_author(
    two: TwoPeople, connie: Client, save: Save
) -> None:
    """Dessie and connie are behind the key. Connie wrote a sketch, and dessie would publish it alone."""
    dessie, paul = two.hire("dessie"), two.people["paul"]
    shared = two.share_key(dessie, connie)
    place, etag = save(connie, "A sketch")
    by_key = shared.post(f"{place}/put_forward", if_match=etag)
    assert refused(by_key) == (403, "PERMISSION_DENIED")
    assert "which dessie is not" in by_key.body["detail"]
    assert refused(publish(dessie, (place, etag))) == NOT_YET
    put_forward(two.make_key(connie), place, etag)
    assert publish(paul, (place, etag)).status == 200


def test_what_a_key_of_two_people_wrote_it_puts_forward_for_a_third(two: TwoPeople, connie: Client) -> None:
    dessie, paul = two.hire("dessie"), two.people["paul"]
    shared = two.share_key(dessie, connie)
    draft = put_forward(shared, *sketch(shared))
    for author in (dessie, connie):
        assert refused(publish(author, draft)) == (403, "FOUR_EYES_REQUIRED")
    assert publish(paul, draft).status == 200


def test_a_publisher_who_saves_the_text_is_its_author(two: TwoPeople, connie: Client) -> None:
    """The lawful way where the first author has left: two other people act."""
    place, etag = sketch(connie)
    paul = two.people["paul"]
    saved = paul.put(place, asks("connie", label="A sketch"), if_match=etag)
    draft = put_forward(paul, place, saved.headers["etag"])
    assert refused(publish(paul, draft)) == (403, "FOUR_EYES_REQUIRED")
    assert publish(two.people["quinn"], draft).status == 200


def test_an_author_takes_it_back_by_saving_or_deleting_it(two: TwoPeople, connie: Client) -> None:
    place, etag = put_forward(connie, *sketch(connie))
    paul = two.people["paul"]
    saved = connie.put(place, asks("connie", label="A sketch"), if_match=etag)
    assert refused(publish(paul, (place, saved.headers["etag"]))) == NOT_YET
    place, etag = put_forward(connie, place, saved.headers["etag"])
    assert connie.delete(place, if_match=etag).status == 204
    again = sketch(two.people["quinn"])
    assert refused(publish(paul, again)) == NOT_YET


def test_a_deleted_draft_ends_what_was_put_forward_under_its_name(two: TwoPeople, connie: Client) -> None:
    """Quinn has changed the text before, so the draft that is deleted is not what connie put forward."""
    place, etag = put_forward(connie, *sketch(connie))
    quinn, paul = two.people["quinn"], two.people["paul"]
    saved = quinn.put(place, asks("connie", label="Another"), if_match=etag)
    assert quinn.delete(place, if_match=saved.headers["etag"]).status == 204
    assert refused(publish(paul, sketch(quinn))) == NOT_YET


def test_what_another_has_changed_and_changed_back_is_the_text_that_was_put_forward(
    two: TwoPeople, connie: Client
) -> None:
    place, etag = put_forward(connie, *sketch(connie))
    for label in ("Another", "A sketch"):
        etag = two.people["quinn"].put(place, asks("connie", label=label), if_match=etag).headers["etag"]
    assert publish(two.people["paul"], (place, etag)).status == 200


def test_an_earlier_text_that_was_put_forward_is_no_consent_to_a_later_draft(
    two: TwoPeople, connie: Client
) -> None:
    """Connie's text was published, and quinn saves it once more: connie is no author of that draft."""
    assert publish(two.people["paul"], save_patch(connie, "A sketch")).status == 200
    assert refused(publish(two.people["paul"], sketch(two.people["quinn"]))) == NOT_YET


def test_only_a_draft_is_put_forward_and_only_as_it_was_seen(two: TwoPeople, connie: Client) -> None:
    place, etag = sketch(connie)
    assert connie.post(f"{place}/put_forward").code == "VERSION_MISSING"
    assert connie.post(f"{place}/put_forward", if_match='"9"').code == "DRAFT_VERSION_CONFLICT"
    put_forward(connie, place, etag)
    assert publish(two.people["paul"], (place, etag)).status == 200
    assert connie.post(f"{place}/put_forward", if_match='"2"').code == "VERSION_FROZEN"
    chain = {"name": "mine", "steps": [{"approvers": [{"by": "user", "user": "connie"}]}]}
    assert connie.post("/v1/approval_chains", chain).status == 201
    at = "/v1/approval_chains/mine/versions/1"
    put_forward(connie, at)
    assert two.people["paul"].post(f"{at}/publish").status == 200
    assert connie.post(f"{at}/put_forward").code == "VERSION_FROZEN"


def test_where_one_person_is_enough_nothing_is_put_forward(client: Client) -> None:
    connie = TwoPeople(client).hire("connie")
    assert publish(connie, sketch(connie)).status == 200
