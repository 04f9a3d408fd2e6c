"""People who own a part of the control, and try to change it alone where the tenant wants two.

Each also tries through a key of their own, and with a second person who does not look. Each scene has its
lawful way beside it.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.telemetry import SILENT
from signet.outbound.secrets import no_secrets
from signet.wiring.api import make_use_cases
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.api_application import OPERATOR
from tests.support.company import Company
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm, put_forward

FOUR_EYES = (403, "FOUR_EYES_REQUIRED")
ERP = {"name": "erp", "url": "https://erp.example.com/hook", "secrets": ["erp"]}
EVERYBODY = {"separation_of_duties": {"may_decide": ["creator", "editor", "requester"]}}


def refused(answer: ClientAnswer) -> tuple[int, str]:
    return answer.status, answer.code


def asks(person: str, **changes: Any) -> dict[str, Any]:
    """Return a patch by which one person decides everything."""
    node = {"id": "me", "type": "approval", "config": {"approvers": [{"by": "user", "user": person}]}}
    slots = {"submitted_to_approved": {"nodes": [node]}}
    return {
        "patch": "mine",
        "base": {"entity_type": "invoice", "envelope_version": 1},
        "slots": slots,
        **changes,
    }


Save = Callable[[Client, str], tuple[str, str]]


def sketch_contract(person: Client, label: str) -> tuple[str, str]:
    """Save the next version of the contract; return its place and its ETag."""
    place = "/v1/contracts/invoice/versions/2"
    document = {**read_example("invoice/contract.yaml"), "version": 2, "label": label, **EVERYBODY}
    found = person.get(place)
    if found.status == 200:
        saved = person.put(place, document, if_match=found.headers["etag"])
    else:
        saved = person.post("/v1/contracts", document)
    assert saved.status in (200, 201), saved.text
    return place, saved.headers["etag"]


def sketch_patch(person: Client, label: str) -> tuple[str, str]:
    """Save the patch that asks connie, or replace the draft of it."""
    found = person.get("/v1/definitions", query={"name": "mine", "status": "draft"}).body["items"]
    if found:
        place = f"/v1/definitions/{found[0]['id']}"
        etag = person.get(place).headers["etag"]
        saved = person.put(place, asks("connie", label=label), if_match=etag)
    else:
        saved = person.post("/v1/definitions", asks("connie", label=label))
        place = saved.headers["location"]
    assert saved.status in (200, 201), saved.text
    return place, saved.headers["etag"]


def sketch_another_draft(person: Client, label: str) -> tuple[str, str]:
    """Save the patch as a draft of the next version, beside those that are there."""
    saved = person.post("/v1/definitions", asks("connie", label=label))
    return saved.headers["location"], saved.headers["etag"]


def sketch_automation(person: Client, label: str) -> tuple[str, str]:
    node = {"id": "pause", "type": "wait_timer", "config": {"for": "P1D"}}
    edges = [{"source": "pause", "target": "out"}]
    document = {"automation": "nightly", "trigger": {"on": "cron", "cron": "0 6 1 * *"}, "nodes": [node]}
    saved = person.post("/v1/definitions", {**document, "edges": edges, "label": label})
    assert saved.status == 201, saved.text
    return saved.headers["location"], saved.headers["etag"]


def sketch_chain(person: Client, label: str) -> tuple[str, str]:
    steps = [{"approvers": [{"by": "user", "user": "connie"}]}]
    saved = person.post("/v1/approval_chains", {"name": "mine", "label": label, "steps": steps})
    assert saved.status == 201, saved.text
    return f"/v1/approval_chains/mine/versions/{saved.body['version']}", '"1"'


def put_forward_at_once(save: Save) -> Save:
    return lambda person, label: put_forward(person, *save(person, label))


save_contract = put_forward_at_once(sketch_contract)
save_patch = put_forward_at_once(sketch_patch)
save_automation = put_forward_at_once(sketch_automation)
save_chain = put_forward_at_once(sketch_chain)
SKETCHES: dict[str, Save] = {
    "contract": sketch_contract,
    "patch": sketch_patch,
    "another draft of the patch": sketch_another_draft,
    "automation": sketch_automation,
    "chain": sketch_chain,
}
DRAFTS = {name: put_forward_at_once(save) for name, save in SKETCHES.items()}


def publish(person: Client, draft: tuple[str, str]) -> ClientAnswer:
    place, etag = draft
    headers = {} if "approval_chains" in place else {"if_match": etag}
    return person.post(f"{place}/publish", **headers)


@pytest.fixture
def connie(two: TwoPeople) -> Client:
    return two.hire("connie")


@pytest.mark.parametrize("save", DRAFTS.values(), ids=DRAFTS)
def test_who_wrote_a_draft_does_not_publish_it(two: TwoPeople, connie: Client, save: Save) -> None:
    draft = save(connie, "Mine")
    answer = publish(connie, draft)
    assert refused(answer) == FOUR_EYES
    assert "connie wrote" in answer.body["detail"]
    assert "paul, quinn" in answer.body["remedy"] and "connie" not in answer.body["remedy"]
    assert refused(publish(two.make_key(connie), draft)) == FOUR_EYES
    published = publish(two.people["paul"], draft)
    assert published.status == 200, published.text
    assert "connie" not in published.body["control"]["single_author"]


@pytest.mark.parametrize("save", DRAFTS.values(), ids=DRAFTS)
def test_what_a_key_wrote_its_maker_does_not_publish(two: TwoPeople, connie: Client, save: Save) -> None:
    draft = save(two.make_key(connie), "Mine")
    assert refused(publish(connie, draft)) == FOUR_EYES
    assert publish(two.people["paul"], draft).status == 200


@pytest.mark.parametrize("save", DRAFTS.values(), ids=DRAFTS)
def test_a_change_by_another_person_leaves_the_first_author_one(
    two: TwoPeople, connie: Client, save: Save
) -> None:
    paul, quinn = two.people["paul"], two.people["quinn"]
    save(connie, "Mine")
    draft = save(paul, "Ours")
    assert refused(publish(connie, draft)) == FOUR_EYES
    assert refused(publish(paul, draft)) == FOUR_EYES
    published = publish(quinn, draft)
    assert published.status == 200, published.text
    (part,) = {str(part): part for part in parts_of(published.body["control"])}.values()
    assert part == {"authors": ["connie", "paul"], "published_by": "quinn", "publishers": ["quinn"]}


def parts_of(control: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts that this publication made; the contract of a patch is older."""
    if control["definition"] is not None:
        return [control["definition"]]
    return list(control["chains"].values())


@pytest.mark.parametrize("save", [save_contract, save_patch])
def test_a_draft_that_is_deleted_and_saved_by_another_keeps_its_author(
    two: TwoPeople, connie: Client, save: Save
) -> None:
    place, etag = save(connie, "Mine")
    assert connie.delete(place, if_match=etag).status == 204
    draft = save(two.people["paul"], "Mine")
    assert refused(publish(connie, draft)) == FOUR_EYES
    assert publish(two.people["quinn"], draft).status == 200


def test_a_caller_behind_which_nobody_is_known_is_no_other_person(
    two: TwoPeople, connie: Client, company: Company
) -> None:
    place, _ = save_patch(connie, "Mine")
    made = connie.post("/v1/endpoints", ERP).body
    nobody = Caller(Principal(company.tenant_id, "key:of_nobody", ("admin",)))
    use = make_use_cases(company.database, no_secrets, SILENT)
    for act in (
        lambda: use.definitions.publish(nobody, UUID(place.rpartition("/")[2])),
        lambda: use.control_changes.confirm(nobody, UUID(made["id"]), made["hash"]),
    ):
        with pytest.raises(Rejected, match="nobody is known to stand behind key:of_nobody") as caught:
            act()
        assert caught.value.code == "FOUR_EYES_REQUIRED"


def test_authors_of_what_was_published_may_publish_the_next(two: TwoPeople, connie: Client) -> None:
    paul = two.people["paul"]
    assert publish(paul, save_patch(connie, "First")).status == 200
    assert publish(connie, save_patch(paul, "Second")).status == 200


def test_where_nobody_else_may_publish_the_remedy_says_so(
    client: Client, admin: psycopg.Connection[Any]
) -> None:
    two = TwoPeople(client)
    connie = two.hire("connie")
    two.switch_on()
    admin.execute("UPDATE members SET status = 'disabled' WHERE user_id = 'carl'")
    answer = publish(connie, save_patch(connie, "Mine"))
    assert refused(answer) == FOUR_EYES
    assert answer.body["remedy"].startswith("No other active member has the permission 'definition:publish'.")


def test_where_the_tenant_does_not_want_two_one_person_publishes_and_is_named(client: Client) -> None:
    connie = TwoPeople(client).hire("connie")
    for save in (save_contract, save_automation, save_chain):
        published = publish(connie, save(connie, "Mine"))
        assert published.status == 200, published.text
        assert published.body["control"]["single_author"] == ["connie"]


# --- acts that change what is in force ---


@pytest.fixture
def patch_in_force(two: TwoPeople, connie: Client) -> tuple[str, str]:
    """Publish a patch by two people; return its place and that of its effective workflow."""
    draft = save_patch(connie, "Ours")
    published = publish(two.people["paul"], draft)
    return draft[0], f"/v1/definitions/{published.body['definition_id']}"


@pytest.mark.parametrize("act", ["archive", "roll_back", "recompile"])
def test_a_workflow_in_force_changes_by_two_people(
    two: TwoPeople, connie: Client, patch_in_force: tuple[str, str], act: str
) -> None:
    patch, effective = patch_in_force
    accepted = {"accept": ["FALLS_BACK", "ASKS_NOBODY"]} if act == "archive" else None
    proposed = connie.post(f"{effective if act == 'recompile' else patch}/{act}", accepted)
    assert (proposed.status, proposed.body["act"], proposed.body["status"]) == (202, act, "proposed")
    assert connie.get(effective).body["status"] == "published"
    assert refused(confirm(connie, proposed)) == FOUR_EYES
    assert refused(confirm(two.make_key(connie), proposed)) == FOUR_EYES
    confirmed = confirm(two.people["paul"], proposed)
    assert (confirmed.status, confirmed.body["status"]) == (200, "confirmed"), confirmed.text
    found = connie.get("/v1/definitions", query={"kind": "effective", "name": "mine"}).body["items"]
    assert [item["status"] for item in found] == {
        "archive": ["archived"],
        "roll_back": ["published", "published"],
        "recompile": ["published", "archived"],
    }[act]


@pytest.mark.parametrize("act", ["roll_back", "recompile"])
def test_what_comes_back_names_who_wrote_and_who_proposed_it(
    two: TwoPeople, connie: Client, patch_in_force: tuple[str, str], act: str
) -> None:
    """Connie wrote it. Another person proposes the act, and paul confirms it."""
    place = patch_in_force[0 if act == "roll_back" else 1]
    assert confirm(two.people["paul"], two.people["quinn"].post(f"{place}/{act}")).status == 200
    query = {"kind": "effective", "name": "mine", "status": "published"}
    newest = connie.get("/v1/definitions", query=query).body["items"][0]
    control = connie.get(f"/v1/definitions/{newest['id']}/explanation").body["control"]
    published = {"published_by": "paul", "publishers": ["paul"]}
    assert control["definition"] == {"authors": ["connie", "quinn"], **published}


def test_a_chain_is_archived_by_two_people(two: TwoPeople, connie: Client) -> None:
    paul, place = two.people["paul"], "/v1/approval_chains/mine/versions/1"
    assert publish(paul, save_chain(connie, "Ours")).status == 200
    proposed = connie.post(f"{place}/archive")
    assert (proposed.status, connie.get(place).body["status"]) == (202, "published")
    assert refused(confirm(connie, proposed)) == FOUR_EYES
    assert confirm(paul, proposed).status == 200
    assert connie.get(place).body["status"] == "archived"


# --- what is saved at once elsewhere ---


def test_the_address_of_an_endpoint_takes_two_people(two: TwoPeople) -> None:
    ed, paul = two.hire("ed", "endpoint:*", "api_key:*"), two.people["paul"]
    made = ed.post("/v1/endpoints", ERP)
    assert (made.status, ed.get("/v1/endpoints/erp").code) == (202, "ENDPOINT_NOT_FOUND")
    assert confirm(paul, made).status == 200
    terms = {"url": "https://ed.example.com/", "secrets": ["erp"]}
    proposed = ed.put("/v1/endpoints/erp", terms, if_match='"1"')
    assert proposed.status == 202
    for own in (ed, two.make_key(ed)):
        assert refused(confirm(own, proposed)) == FOUR_EYES
    assert ed.get("/v1/endpoints/erp").body["url"] == ERP["url"]
    shown = paul.get(proposed.headers["location"]).body["difference"]
    assert shown == [{"pointer": "/url", "before": ERP["url"], "after": terms["url"]}]
    assert confirm(paul, proposed).status == 200
    assert ed.get("/v1/endpoints/erp").body["url"] == terms["url"]


def test_a_key_proposes_and_its_maker_does_not_confirm(two: TwoPeople) -> None:
    ed = two.hire("ed", "endpoint:*", "api_key:*")
    proposed = two.make_key(ed).post("/v1/endpoints", ERP)
    (key,) = ed.get("/v1/api_keys").body["items"]
    assert (proposed.body["proposed_by"], proposed.body["responsible"]) == (f"key:{key['id']}", ["ed"])
    assert refused(confirm(ed, proposed)) == FOUR_EYES
    assert confirm(two.people["paul"], proposed).status == 200


def test_a_confirmation_is_of_what_was_read(two: TwoPeople) -> None:
    ed, paul = two.hire("ed", "endpoint:*"), two.people["paul"]
    first = ed.post("/v1/endpoints", ERP)
    seen = paul.get(first.headers["location"]).body["hash"]
    assert ed.post(f"{first.headers['location']}/withdraw").status == 200
    second = ed.post("/v1/endpoints", {**ERP, "url": "https://ed.example.com/"})
    assert refused(confirm(paul, first, seen)) == (409, "CONTROL_CHANGE_CLOSED")
    assert refused(confirm(paul, second, seen)) == (409, "CONTROL_CHANGE_HASH_MISMATCH")
    assert ed.get("/v1/endpoints/erp").code == "ENDPOINT_NOT_FOUND"
    assert confirm(paul, second).status == 200


def test_settings_that_conditions_read_take_two_people(two: TwoPeople) -> None:
    carl, paul = two.hire("carla", "tenant:*", "api_key:*"), two.people["paul"]
    own = {"custom": {"trusted_vendors": {"type": "list of string", "value": ["V-100", "V-666"]}}}
    etag = carl.get("/v1/tenant").headers["etag"]
    proposed = carl.patch("/v1/tenant", {**own, "reason": "a new vendor"}, if_match=etag)
    assert (proposed.status, proposed.body["reason"]) == (202, "a new vendor")
    for person in (carl, two.make_key(carl)):
        assert refused(confirm(person, proposed)) == FOUR_EYES
    assert carl.get("/v1/tenant").headers["etag"] == etag
    (difference,) = paul.get(proposed.headers["location"]).body["difference"]
    assert difference == {
        "pointer": "/custom/trusted_vendors/value",
        "before": ["V-100"],
        "after": ["V-100", "V-666"],
    }
    assert confirm(paul, proposed).status == 200
    assert carl.get("/v1/tenant").body["settings"]["custom"] == own["custom"]


def test_one_person_switches_it_on_and_two_switch_it_off(two: TwoPeople) -> None:
    carl = two.hire("carla", "tenant:*")
    etag = carl.get("/v1/tenant").headers["etag"]
    off = carl.patch("/v1/tenant", {"four_eyes": False}, if_match=etag)
    assert (off.status, off.body["body"]) == (202, {"four_eyes": False})
    assert refused(confirm(carl, off)) == FOUR_EYES
    assert confirm(two.people["paul"], off).status == 200
    assert carl.get("/v1/tenant").body["settings"]["four_eyes"] is False
    etag = carl.get("/v1/tenant").headers["etag"]
    assert carl.patch("/v1/tenant", {"four_eyes": True}, if_match=etag).status == 200


def test_no_condition_reads_whether_it_is_on(two: TwoPeople) -> None:
    rule = {
        "phase": "before",
        "condition": {"expression": "org.four_eyes"},
        "actions": [{"kind": "reject", "message": "no"}],
    }
    refusal = two.people["paul"].put("/v1/rules/invoice/odd", rule)
    assert (refusal.status, refusal.code) == (422, "DEFINITION_INVALID")


# --- operators ---

CONTENT: dict[str, Any] = {
    "name": "acme",
    "roles": [{"role": "finance_manager", "permissions": ["invoice:approve"]}],
    "members": [{"user_id": "ada", "display_name": "Ada", "roles": ["finance_manager"]}],
}


def member(name: str, **more: Any) -> dict[str, Any]:
    return {"user_id": name, "display_name": name.title(), **more}


@pytest.mark.parametrize(
    "members",
    [
        [member("olga", roles=["finance_manager"])],
        [member("olga"), member("ada", manager="olga")],
    ],
    ids=["a role", "the place of a manager"],
)
def test_operators_give_themselves_no_seat(client: Client, members: list[dict[str, Any]]) -> None:
    operator = Client(client.application, uuid4(), "olga", (OPERATOR,))
    place = f"/v1/tenants/{client.tenant_id}"
    answer = operator.put(place, {**CONTENT, "members": members})
    assert refused(answer) == (403, "SELF_GRANT_REFUSED")
    assert client.get("/v1/members/olga").status == 404
    other = Client(client.application, uuid4(), "oskar", (OPERATOR,))
    assert other.put(place, {**CONTENT, "members": members}).status == 200
    # What they hold already is not given.
    assert operator.put(place, {**CONTENT, "members": members}).status == 200


def test_an_installation_that_is_silent_leaves_it_on(two: TwoPeople) -> None:
    operator = Client(two.admin.application, uuid4(), "olga", (OPERATOR,))
    place = f"/v1/tenants/{two.admin.tenant_id}"
    assert operator.put(place, CONTENT).body["settings"]["four_eyes"] is True
    off = {**CONTENT, "settings": {"four_eyes": False}}
    assert operator.put(place, off).body["settings"]["four_eyes"] is False
