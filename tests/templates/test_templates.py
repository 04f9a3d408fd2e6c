"""The package carries what the examples say, and every template can be used as it is."""

import pytest

from signet.authoring.templates import FOLDER, load_templates
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import Company, make_company
from tests.support.http_client import Client
from tests.support.machines import add_account
from tests.support.named_things import supply_names
from tests.templates.write_templates import SOURCES, write_texts


def test_the_templates_are_what_the_examples_say() -> None:
    texts = {path.name: text for path, text in write_texts()}
    assert {path.name for path in FOLDER.glob("*.json")} == texts.keys()
    for name, text in texts.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, "run: make templates"


@pytest.fixture
def company(database: Database) -> Company:
    """Return a company that has what the templates name."""
    company = make_company(database)
    supply_names(database, company.tenant_id)
    add_account(company, "royalty_statements", "clerk")
    return company


@pytest.fixture
def client(database: Database, company: Company) -> Client:
    return Client(wire(database), company.tenant_id)


@pytest.mark.parametrize("name", SOURCES)
def test_a_template_becomes_drafts_that_can_be_published(client: Client, name: str) -> None:
    for version in (1, 2):
        used = client.post(f"/v1/templates/{name}/use")
        assert used.status == 201, used.text
        contract = used.body["contract"]
        if contract is not None:
            assert (contract["version"], contract["revision"]) == (version, 1)
            place = f"/v1/contracts/{contract['entity_type']}/versions/{version}"
            assert client.post(f"{place}/publish", if_match='"1"').status == 200
        for draft in used.body["definitions"]:
            published = client.post(f"/v1/definitions/{draft['id']}/publish", if_match='"1"')
            assert published.status == 200, published.text


def test_the_list_says_what_each_is_made_of(client: Client) -> None:
    listed = {one["name"]: one for one in client.get("/v1/templates").body["items"]}
    assert listed.keys() == load_templates().keys() == SOURCES.keys()
    assert (listed["invoice"]["entity_type"], listed["invoice"]["has_patch"]) == ("invoice", True)
    assert (listed["royalty"]["entity_type"], listed["royalty"]["has_automation"]) == (None, True)


def test_who_may_not_begin_anything(client: Client) -> None:
    reader = Client(client.application, client.tenant_id, roles=("reader",))
    assert reader.get("/v1/templates").code == "PERMISSION_DENIED"
    assert reader.post("/v1/templates/invoice/use").code == "PERMISSION_DENIED"
    unknown = client.post("/v1/templates/nothing/use")
    assert (unknown.status, unknown.code) == (404, "TEMPLATE_NOT_FOUND")
