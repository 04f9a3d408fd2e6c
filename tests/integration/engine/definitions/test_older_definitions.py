"""Documents that were made before the control was in force: who publishes it and who approves see them."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.definitions import older_definitions
from signet.engine.definitions.definitions import Published
from signet.store.definitions.older import RunDefinition
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit
from tests.support.core.approval_policies import role
from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
SECOND = {**LOOK, "id": "second"}
ONE: dict[str, Any] = {"nodes": [LOOK]}
TWO: dict[str, Any] = {"nodes": [LOOK, SECOND], "edges": [{"source": "look", "target": "second"}]}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        member = Member(user_id="app1", display_name="App", roles=("voter",))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, (member,), COMMAND_LINE)
        yield made


def publish_next(stage: WorkflowStage, entity_type: str, approval: dict[str, Any], **slots: Any) -> Published:
    base = {"entity_type": entity_type, "envelope_version": 1}
    patch = {"patch": "own", "base": base, "slots": {"approval": approval, **slots}}
    return publish_patch(stage.standing.company, patch)


def read_run(stage: WorkflowStage, document: Made) -> RunDefinition | None:
    company = stage.standing.company
    approvals, caller = Approvals(company.database, stage.caches()), company.caller("app1", "voter")
    return approvals.read_request(caller, newest(stage, document.id)).definition


def test_a_contract_says_that_nobody_is_asked_yet_while_no_patch_is_in_force(stage: WorkflowStage) -> None:
    """The approval is automatic, has a permission and stands in no patch: the first draft would pass it."""
    definitions, caller = stage.standing.company.definitions, stage.standing.company.caller()
    approve = {**CONTRACT["transitions"]["approve"], "permission": "bill:approve"}
    bill = {**CONTRACT, "contract": "bill", "transitions": {**CONTRACT["transitions"], "approve": approve}}
    definitions.create_contract(caller, bill)
    published = definitions.publish_contract(caller, "bill", 1)
    assert [(f.code, f.pointer) for f in published.findings] == [("NOBODY_ASKED_YET", "/slots/approval")]
    publish_next(stage, "bill", ONE)
    definitions.create_contract(caller, {**bill, "version": 2})
    assert definitions.publish_contract(caller, "bill", 2).findings == ()


def test_a_publication_counts_the_documents_that_go_on_without_its_approvals(stage: WorkflowStage) -> None:
    entity_type = stage.publish()
    early = stage.create(entity_type)
    (finding,) = publish_next(stage, entity_type, ONE).findings
    assert (finding.code, finding.severity) == ("OLDER_RUN_ON", "warning")
    assert f"1 live document(s) of '{entity_type}'" in finding.sentence
    assert f"'{entity_type}' version 1." in finding.sentence
    stage.create(entity_type)
    (finding,) = publish_next(stage, entity_type, TWO).findings
    assert "2 live document(s)" in finding.sentence and "'own' version 1" in finding.sentence
    submit(stage, early, "carl")
    assert stage.status_of(early.id) == "active"


def test_who_runs_the_same_approvals_or_has_ended_is_not_counted(stage: WorkflowStage) -> None:
    entity_type = stage.publish(approval=ONE)
    stage.create(entity_type)
    posting = {"nodes": [{"id": "post", "type": "action", "config": {"action": "post"}}]}
    assert publish_next(stage, entity_type, ONE, posting=posting).findings == ()
    other = stage.publish()
    stage.ask(stage.create(other).id, "cancel")
    stage.drain()
    assert publish_next(stage, other, ONE).findings == ()


def call(node_id: str, **payload: str) -> dict[str, Any]:
    return {"id": node_id, "type": "webhook_out", "config": {"event": "told", "payload": payload}}


def test_an_id_that_is_used_again_for_something_else_is_named(stage: WorkflowStage) -> None:
    post = {"id": "post", "type": "action", "config": {"action": "post"}}
    lines = [
        (call("told", to="a"), []),
        ({**call("told", to="a"), "label": "More words"}, []),
        (call("told", to="b"), ["usr:posting:told"]),
        (call("other", to="c"), []),
        ({**post, "id": "other"}, ["usr:posting:other"]),
        (post, []),
    ]
    entity_type = stage.publish(approval=ONE)
    for node, named in lines:
        published = publish_next(stage, entity_type, ONE, posting={"nodes": [node]})
        found = [finding for finding in published.findings if finding.code == "NODE_ID_USED_AGAIN"]
        assert [finding.parameters["nodes"] for finding in found] == named


@pytest.mark.parametrize("limit", ["MAX_COUNTED", "MAX_COMPARED"])
def test_what_is_beyond_the_limits_is_said(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    entity_type = stage.publish()
    stage.create(entity_type)
    publish_next(stage, entity_type, ONE)
    stage.create(entity_type)
    monkeypatch.setattr(older_definitions, limit, 1)
    (finding,) = publish_next(stage, entity_type, TWO).findings
    assert " or more live document(s)" in finding.sentence


def test_an_approver_sees_that_a_newer_definition_is_in_force(stage: WorkflowStage) -> None:
    entity_type = stage.publish(approval=ONE)
    document = stage.create(entity_type)
    submit(stage, document, "carl")
    assert read_run(stage, document) == RunDefinition("own", 1, None, None)
    publish_next(stage, entity_type, TWO)
    assert read_run(stage, document) == RunDefinition("own", 1, "own", 2)
