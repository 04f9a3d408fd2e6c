"""A request that decides is barred like a vote, also by what is read of another document."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import RequestTransition
from signet.engine.documents.erase import Erasures
from signet.engine.documents.mutate import Documents
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def deciding(stage: WorkflowStage, **duties: Any) -> tuple[str, str]:
    """Publish vendors, and payments whose last step is a request that decides."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    accept = {"from": ["submitted"], "to": "active", "kind": "requested"}
    transitions = {name: CONTRACT["transitions"][name] for name in ("submit", "cancel")}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref},
        "transitions": {**transitions, "accept": accept},
        "slots": {"checks": {"transition": "submit"}},
        "separation_of_duties": {"deciding": ["accept"], **duties},
    }
    return vendor, stage.publish(contract)


def submitted(stage: WorkflowStage, vendor: str, payment: str, supplied_by: str) -> tuple[Made, Made]:
    supplier = stage.create(vendor, supplied_by, number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    stage.ask(made.id, "submit", "carl")
    stage.drain()
    return supplier, made


def accept(stage: WorkflowStage, document: Made, user_id: str) -> str:
    """Return the status after the request, or the code of the refusal."""
    try:
        stage.ask(document.id, "accept", user_id)
    except Rejected as refused:
        return refused.code
    stage.drain()
    return stage.status_of(document.id)


def test_who_changed_the_account_does_not_accept_the_payment(stage: WorkflowStage) -> None:
    supplier, made = submitted(stage, *deciding(stage), supplied_by="mia")
    edit(stage, supplier, "app1", number="DE-OF-APP1")
    assert accept(stage, made, "app1") == "SEPARATION_OF_DUTIES"
    assert accept(stage, made, "app2") == "active"


def test_who_changed_another_field_accepts_it(stage: WorkflowStage) -> None:
    supplier, made = submitted(stage, *deciding(stage), supplied_by="mia")
    edit(stage, supplier, "app1", amount=3)
    assert accept(stage, made, "mia") == "SEPARATION_OF_DUTIES"
    assert accept(stage, made, "app1") == "active"


def test_a_key_decides_nothing(stage: WorkflowStage) -> None:
    """App1 has no part in the document. Also who has the secret of their key would decide by it."""
    _, made = submitted(stage, *deciding(stage), supplied_by="mia")
    with pytest.raises(Rejected) as caught:
        key = Principal(stage.tenant_id, "key:7", ("admin",), behind=frozenset(("app1",)))
        caller = replace(stage.standing.company.caller("app1", "admin"), principal=key)
        documents = Documents(stage.standing.company.database, stage.registry)
        documents.mutate(caller, RequestTransition(made.id, stage.version_of(made.id), "accept"))
    assert (caught.value.code, stage.status_of(made.id)) == ("PERMISSION_DENIED", "submitted")
    assert "an API key asks for nothing that decides" in caught.value.message
    assert accept(stage, made, "app1") == "active"


@pytest.mark.parametrize("duties", [{"may_decide": ["editor"]}])
def test_a_contract_may_let_editors_decide(stage: WorkflowStage, duties: Mapping[str, Any]) -> None:
    supplier, made = submitted(stage, *deciding(stage, **duties), supplied_by="mia")
    edit(stage, supplier, "app1", number="DE-OF-APP1")
    assert accept(stage, made, "app1") == "active"


def test_an_erasure_has_the_person_decide_again(stage: WorkflowStage) -> None:
    """Hold the way of the request at a call, erase the contact, and try the call again."""
    contract = {
        **CONTRACT,
        "separation_of_duties": {"deciding": ["submit"]},
    }
    made = stage.create(stage.publish(contract, checks={"nodes": [CALL]}), "carl", contact="Erika")
    stage.ask(made.id, "submit", "app1")
    stage.drain()
    stage.answer(made.instance_id, error="gone")
    stage.drain()
    company = stage.standing.company
    Erasures(company.database).erase(company.caller("mia", "admin"), made.id, None, "asked for")
    stage.drain()
    assert (stage.requests(made.id), stage.status_of(made.id)) == ([("submit", "superseded")], "draft")
    assert stage.instance(made.instance_id)["current_nodes"] == ["sys:state:draft"]
    stage.check_rebuild(made.instance_id)
    stage.ask(made.id, "submit", "app2")
    stage.drain()
    stage.answer(made.instance_id, body={})
    stage.drain()
    assert stage.status_of(made.id) == "active"


def test_an_erasure_leaves_a_request_that_decides_nothing(stage: WorkflowStage) -> None:
    made = stage.create(stage.publish(checks={"nodes": [CALL]}), "carl", contact="Erika")
    stage.ask(made.id, "submit", "carl")
    stage.drain()
    company = stage.standing.company
    Erasures(company.database).erase(company.caller("mia", "admin"), made.id, None, "asked for")
    stage.drain()
    assert stage.requests(made.id) == [("submit", "open")]
