"""Amendments while they are open: their keys, their edits, and what is refused meanwhile."""

import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from bench.counting import count_wire
from signet.core.errors import Rejected
from signet.core.explain.instance import InstanceExplanation
from signet.engine.documents.commands import Amend, RequestTransition, RunAction, Update
from signet.engine.documents.mutate import Documents
from signet.engine.instances.explain import explain
from signet.store.database import Database, PoolSettings
from tests.support.amended_documents import (
    AMENDABLE,
    OPEN,
    STRICT,
    SUSPENDING,
    amend,
    answer,
    delete,
    end,
    incidents,
    keys,
    line,
    move_on,
    of,
    read,
    refusal,
    settle,
    settled,
    submit,
)
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.workflow_stage import CALL, Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


# --- business keys ---


def test_the_key_belongs_to_the_line(stage: WorkflowStage) -> None:
    original = settled(stage)
    name = read(stage, original).entity_type
    amendment = amend(stage, original)
    for number in ("R-2", "R-1", "R-3"):
        stage.edit(amendment.id, number=number)
    assert keys(stage, original) == [("R-1", original.id), ("R-3", amendment.id)]
    with pytest.raises(Rejected, match="another document has this number"):
        stage.create(name, number="R-1")
    settle(stage, amendment)
    assert keys(stage, original) == [("R-3", amendment.id)]
    stage.create(name, number="R-1")


def test_a_key_that_another_document_has_taken_holds_the_gate(stage: WorkflowStage) -> None:
    """Let another amendment take its key over, and give that free again."""
    original = settled(stage)
    amendment = amend(stage, original, number="R-2")
    stage.drain()
    end(stage, amendment)
    delete(stage, amend(stage, original, number="R-2"))
    stage.create(read(stage, original).entity_type, number="R-2")
    settle(stage, amendment)
    ((code, *_),) = incidents(stage, amendment)
    assert code == "KEY_TAKEN"
    assert stage.status_of(original.id) == "active"


def test_a_key_comes_back_from_another_that_was_given_up(stage: WorkflowStage) -> None:
    original = settled(stage)
    first = amend(stage, original, number="R-2")
    stage.drain()
    end(stage, first)
    second = amend(stage, original, number="R-2")
    stage.drain()
    assert keys(stage, original) == [("R-1", original.id), ("R-2", second.id)]
    end(stage, second)
    settle(stage, first)
    assert (stage.status_of(original.id), stage.status_of(first.id)) == ("amended", "active")
    assert keys(stage, original) == [("R-2", first.id)]


def test_an_edit_hands_an_amendment_on(stage: WorkflowStage) -> None:
    """Edit an amendment that may only be amended itself: the new one amends the same original."""
    original = settled(stage, STRICT)
    first = amend(stage, original, amount=2)
    submit(stage, first)
    move_on(stage, original)
    second = of(stage.edit(first.id, amount=3))
    assert (stage.status_of(original.id), stage.status_of(first.id)) == ("active", "amended")
    assert line(stage, original) == (second.id, None, original.id)
    assert line(stage, first) == (None, second.id, original.id)
    assert keys(stage, original) == [("R-1", original.id)]
    settle(stage, second)
    assert (stage.status_of(original.id), stage.status_of(second.id)) == ("amended", "active")
    assert line(stage, original) == (None, second.id, second.id)
    assert line(stage, first) == (None, second.id, second.id)
    assert keys(stage, original) == [("R-1", second.id)]


# --- suspended ---


def test_in_force_means_that_it_goes_on_as_if_none_were_open(stage: WorkflowStage) -> None:
    original = settled(stage)
    amend(stage, original)
    stage.ask(original.id, "renew")
    stage.drain()
    assert stage.requests(original.id)[-1] == ("renew", "performed")


def test_a_contract_may_suspend_the_original(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING)
    amendment = amend(stage, original)
    version = stage.version_of(original.id)
    refused = refusal(stage, RunAction(original.id, version, "post", {}))
    assert refused.code == OPEN and "suspended" in refused.message
    with pytest.raises(Rejected) as caught:
        stage.ask(original.id, "renew")
    assert caught.value.code == OPEN
    assert refusal(stage, Amend(original.id, version, {})).code == OPEN
    stage.ask(original.id, "cancel")
    stage.drain()
    assert stage.status_of(original.id) == "cancelled"
    assert line(stage, original)[0] == amendment.id


def test_an_explanation_names_what_the_server_accepts_while_one_is_open(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING)
    amendment = amend(stage, original)
    company, instance_id = stage.standing.company, original.instance_id
    contracts = company.documents.caches.contracts
    acts = explain(company.database, contracts, company.tenant_id, instance_id).acts
    named = {
        (act.request.split("/")[3], json.loads(act.request[act.request.index("{") :])["transition"])
        for act in acts
    }
    assert named == {
        (str(original.id), "cancel"),
        (str(amendment.id), "submit"),
        (str(amendment.id), "cancel"),
    }
    for name in ("renew", "reopen"):
        with pytest.raises(Rejected, match="is amended by"):
            stage.ask(original.id, name)
    for document_id, name in sorted(named, reverse=True):
        if (document_id, name) != (str(amendment.id), "submit"):
            stage.ask(UUID(document_id), name)


def told(stage: WorkflowStage, document: Made) -> InstanceExplanation:
    company = stage.standing.company
    contracts = company.documents.caches.contracts
    return explain(company.database, contracts, company.tenant_id, document.instance_id)


@pytest.mark.parametrize("contract", [AMENDABLE, SUSPENDING], ids=["in_force", "suspended"])
def test_explanations_name_the_amendment_that_a_person_may_make(
    stage: WorkflowStage, contract: dict[str, Any]
) -> None:
    original = settled(stage, contract)
    place = f"POST /v1/documents/{original.id}/amendments"
    assert [act.name for act in told(stage, original).acts if act.request.startswith(place)] == ["amend"]
    amendment = amend(stage, original)
    assert "amend" not in [act.name for act in told(stage, original).acts]
    assert f"It amends document {original.id}." in told(stage, amendment).summary
    settle(stage, amendment)
    assert f"Document {amendment.id} has replaced it." in told(stage, original).summary


def test_what_is_under_way_and_would_be_suspended_names_no_amendment(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING, posting={"nodes": [{**CALL, "id": "book"}]})
    assert "amend" not in [act.name for act in told(stage, original).acts]


def test_what_is_suspended_comes_back(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING)
    delete(stage, amend(stage, original))
    stage.ask(original.id, "renew")
    stage.drain()
    assert stage.requests(original.id)[-1] == ("renew", "performed")


def test_what_is_under_way_is_not_suspended(stage: WorkflowStage) -> None:
    original = settled(stage, SUSPENDING, posting={"nodes": [{**CALL, "id": "book"}]})
    refused = refusal(stage, Amend(original.id, stage.version_of(original.id), {}))
    assert refused.code == "AMENDMENT_NOT_POSSIBLE" and "under way" in refused.message
    answer(stage, original)
    amend(stage, original)


def test_authors_of_the_original_are_editors_of_the_amendment(stage: WorkflowStage) -> None:
    look = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    original = settled(stage, renewal={"nodes": [look]})
    applied = stage.mutate(Amend(original.id, stage.version_of(original.id), {}), "mona")
    (editors,) = stage.standing.row("SELECT editor_ids FROM documents WHERE id = %s", applied.document_id)
    assert editors == ["carl"]


def test_another_tenant_sees_none(stage: WorkflowStage) -> None:
    amend(stage, settled(stage))
    with stage.standing.company.database.transaction(uuid4()) as connection:
        assert connection.execute("SELECT FROM amendments").fetchall() == []


def test_where_none_is_open_nothing_is_asked(stage: WorkflowStage) -> None:
    """Count the messages of an edit and of a request: a contract with amendments costs none more."""
    company, counted = stage.standing.company, []
    for contract in ({name: AMENDABLE[name] for name in AMENDABLE if name != "amendment"}, AMENDABLE):
        draft, active = (settled(stage, contract) for _ in range(2))
        stage.ask(draft.id, "reopen")
        stage.drain()
        edit = Update(draft.id, stage.version_of(draft.id), {"amount": 2})
        renew = RequestTransition(active.id, stage.version_of(active.id), "renew")
        with closing(Database(as_role(stage.standing.admin_url, "signet_api"), PoolSettings(size=1))) as api:
            documents = Documents(api, stage.registry)
            # The first of a process reads the contract.
            documents.mutate(company.caller(), Update(edit.id, edit.expected_version, {"amount": 3}))
            again = Update(edit.id, edit.expected_version + 1, {"amount": 4})
            acts = [partial(documents.mutate, company.caller(), each) for each in (again, renew)]
            counted.append([count_wire(api, act).statements for act in acts])
    assert counted[0] == counted[1]
