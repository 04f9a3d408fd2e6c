"""A request that decides names what its maker has seen of other documents: it decides on nothing else."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit
from tests.scenarios.authority.test_decided_pins import PAY, make_order, paid, publish
from tests.support.api_application import wire
from tests.support.http_client import Client, ClientAnswer
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "carl", "mia", "vera")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


@pytest.fixture(scope="module")
def app1(stage: WorkflowStage) -> Client:
    return Client(wire(stage.standing.company.database), stage.tenant_id, "app1")


@pytest.fixture
def order(stage: WorkflowStage) -> tuple[Made, Made]:
    return make_order(stage, *publish(stage, paying={"nodes": [PAY]}))


def read(person: Client, made: Made) -> ClientAnswer:
    return person.get(f"/v1/documents/{made.id}")


def release(stage: WorkflowStage, person: Client, made: Made, etag: str) -> ClientAnswer:
    answered = person.post(f"/v1/documents/{made.id}/requests", {"transition": "release"}, if_match=etag)
    stage.drain()
    return answered


def test_who_has_read_another_account_decides_about_nothing(
    stage: WorkflowStage, app1: Client, order: tuple[Made, Made]
) -> None:
    """Vera changes the account between app1's reading and their request."""
    supplier, made = order
    before = read(app1, made)
    assert [one["values"]["number"] for one in before.body["references"]] == ["DE-GOOD"]
    edit(stage, supplier, "vera", number="DE-FRAUD")
    refused = release(stage, app1, made, before.headers["etag"])
    assert (refused.status, refused.code) == (412, "REFERENCES_CHANGED")
    assert (stage.status_of(made.id), paid(stage, made)) == ("active", [])
    unchanged = app1.get(f"/v1/documents/{made.id}", if_none_match=before.headers["etag"])
    assert unchanged.status == 200, "it is not what they have read"


def test_who_names_no_reference_decides_about_nothing(
    stage: WorkflowStage, app1: Client, order: tuple[Made, Made]
) -> None:
    _, made = order
    for etag in (f'"{stage.version_of(made.id)}"', "*"):
        refused = release(stage, app1, made, etag)
        assert (refused.status, refused.code) == (428, "REFERENCES_UNSEEN")
    assert stage.status_of(made.id) == "active"


def test_who_has_read_what_holds_decides_about_it(
    stage: WorkflowStage, app1: Client, order: tuple[Made, Made]
) -> None:
    """The lawful way beside it. The request shows what it is about."""
    supplier, made = order
    edit(stage, supplier, "vera", number="DE-NEW")
    shown = read(app1, made)
    asked = release(stage, app1, made, shown.headers["etag"])
    assert (asked.status, stage.status_of(made.id)) == (202, "released")
    assert paid(stage, made) == ["DE-NEW"]
    record = app1.get(asked.headers["location"])
    assert record.body["references"] == shown.body["references"]


def test_an_edit_goes_by_the_version_alone(
    stage: WorkflowStage, app1: Client, order: tuple[Made, Made]
) -> None:
    """A draft is not decided about: its tag names no supplier. A tag that does serves an edit too."""
    supplier, made = order
    draft = stage.create(publish(stage, paying={"nodes": [PAY]})[1], "carl", vendor=str(supplier.id))
    tags = [read(app1, one).headers["etag"] for one in (draft, made)]
    edit(stage, supplier, "vera", number="DE-NEW")
    edits = [app1.patch(f"/v1/documents/{draft.id}", {"patch": {"amount": 7}}, if_match=tag) for tag in tags]
    assert (tags[0], [answered.status for answered in edits]) == ('"1"', [200, 412])
    locked = app1.patch(f"/v1/documents/{made.id}", {"patch": {"amount": 7}}, if_match=tags[1])
    assert (locked.status, locked.code) == (423, "WORKFLOW_EDIT_LOCKED")


def test_only_who_may_ask_is_shown_what_is_decided(
    stage: WorkflowStage, app1: Client, order: tuple[Made, Made]
) -> None:
    """A reader without the permission to release sees the document alone, with the tag of its version."""
    _, made = order
    assert app1.put("/v1/roles/onlooker", {"permissions": ["*:read"]}).status == 201
    reader = replace(app1, subject="olaf", roles=("onlooker",))
    seen = read(reader, made)
    assert (seen.status, seen.body["references"]) == (200, [])
    assert seen.headers["etag"] == f'"{stage.version_of(made.id)}"'
