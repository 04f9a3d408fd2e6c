"""Conditions on the actor: asked of a key, and of each person behind it."""

from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any
from uuid import UUID

import pytest

from signet.core.documents.rules import Rule
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member, Role
from signet.core.validation.strict_model import parse_strictly
from signet.engine.access import persons_behind
from signet.engine.documents.commands import RequestTransition
from signet.engine.documents.mutate import Documents
from signet.store.approvals.voters import read_people
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PEOPLE = {"fiona": ("clerk", "owner"), "frank": ("clerk",), "carl": ("clerk",)}
KEY = UUID(int=7)
OTHERS, NO_OWNER = "entity.number != actor.user_id", "!('owner' in actor.roles)"
CONDITION, ACTIVE = "PERMISSION_CONDITION", "active"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name.title(), roles=r) for name, r in PEOPLE.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="owner", permissions=()),), COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def key_of(stage: WorkflowStage, *persons: str, roles: tuple[str, ...] = ("clerk", "admin")) -> Caller:
    principal = Principal(stage.tenant_id, f"key:{KEY}", roles, behind=frozenset(persons))
    return Caller(principal, "test")


def conditioned(condition: str) -> dict[str, Any]:
    """Return a contract that lets people submit only where the condition holds."""
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["submit"] = {**contract["transitions"]["submit"], "permission": "thing:submit"}
    contract["conditions"] = {"thing:submit": condition}
    return contract


def ask(stage: WorkflowStage, document: Made, caller: Caller | str) -> str:
    """Return the status after the request and its wave, or the code of the refusal."""
    company = stage.standing.company
    who = company.caller(caller, "clerk", "admin") if isinstance(caller, str) else caller
    operation = RequestTransition(document.id, stage.version_of(document.id), "submit", "for once")
    try:
        Documents(company.database, stage.registry).mutate(who, operation)
    except Rejected as refused:
        return refused.code
    stage.drain()
    return stage.status_of(document.id)


def about(stage: WorkflowStage, contract: Mapping[str, Any], **slots: Any) -> Made:
    return stage.create(stage.publish(contract, **slots), number="fiona")


def test_the_condition_of_a_permission_is_asked_of_who_is_behind_a_key(stage: WorkflowStage) -> None:
    document = about(stage, conditioned(OTHERS))
    assert ask(stage, document, "fiona") == CONDITION
    assert ask(stage, document, key_of(stage, "fiona")) == CONDITION
    assert ask(stage, document, key_of(stage, "frank", "fiona")) == CONDITION
    assert ask(stage, document, key_of(stage, "frank")) == ACTIVE


def test_a_key_with_fewer_roles_hides_no_role(stage: WorkflowStage) -> None:
    """Ask with the roles that each person has, and with those of the key."""
    document = about(stage, conditioned(NO_OWNER))
    assert ask(stage, document, key_of(stage, "fiona")) == CONDITION
    assert ask(stage, document, key_of(stage, "frank")) == ACTIVE
    # A role that only the key has counts for the persons behind it too.
    trusted = about(stage, conditioned("'admin' in actor.roles"))
    assert ask(stage, trusted, key_of(stage, "fiona", "frank")) == ACTIVE


def test_who_is_behind_a_key_is_named(stage: WorkflowStage) -> None:
    document = about(stage, conditioned(OTHERS))
    operation = RequestTransition(document.id, 1, "submit", "for once")
    with pytest.raises(Rejected) as caught:
        Documents(stage.standing.company.database, stage.registry).mutate(key_of(stage, "fiona"), operation)
    assert "fiona, who is behind the key" in caught.value.message


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_rule_that_rejects_is_asked_of_who_is_behind_a_key(stage: WorkflowStage, phase: str) -> None:
    document = about(stage, CONTRACT)
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    add_rule(stage, entity_type, phase)
    assert ask(stage, document, "fiona") == "RULE_REJECTED"
    assert ask(stage, document, key_of(stage, "fiona")) == "RULE_REJECTED"
    assert ask(stage, document, key_of(stage, "frank")) not in ("RULE_REJECTED", "draft")


def add_rule(stage: WorkflowStage, entity_type: str, phase: str) -> None:
    body = {
        "name": "own",
        "entity_type": entity_type,
        "phase": phase,
        "operations": ["transition"],
        "condition": {"expression": "entity.number == actor.user_id"},
        "actions": [{"kind": "reject", "message": "not your own"}],
    }
    rule, findings = parse_strictly(Rule, body)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"olga"}))


def test_a_gate_asks_who_is_behind_the_key_that_requested(stage: WorkflowStage) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["submit"]["condition"] = OTHERS
    refused, passed = about(stage, contract), about(stage, contract)
    assert ask(stage, refused, key_of(stage, "fiona")) == "draft"
    assert stage.requests(refused.id) == [("submit", "refused")]
    assert ask(stage, passed, key_of(stage, "frank")) != "draft"
    stage.check_rebuild(refused.instance_id)


def test_a_step_asks_who_is_behind_the_key(stage: WorkflowStage) -> None:
    """A step that acts as the key is held to the condition of its action, and to rules that it asks."""
    contract = deepcopy(dict(CONTRACT))
    contract["actions"]["post"] = {**contract["actions"]["post"], "permission": "thing:post"}
    contract["conditions"] = {"thing:post": OTHERS}
    step = {"nodes": [{"id": "post", "type": "action", "config": {"action": "post"}}]}
    for who, is_posted in (("fiona", None), ("frank", True)):
        document = about(stage, contract, checks=step)
        ask(stage, document, key_of(stage, who))
        data = stage.standing.row("SELECT data -> 'is_posted' FROM documents WHERE id = %s", document.id)
        assert data == (is_posted,)


def test_a_rule_node_asks_who_is_behind_the_key(stage: WorkflowStage) -> None:
    slot = {"nodes": [{"id": "ask", "type": "rule", "config": {"rules": ["mine"]}}]}
    for who, is_passed in (("fiona", False), ("frank", True)):
        entity_type = stage.publish()
        stage.add_rule(entity_type, "mine", "entity.number == actor.user_id", on="delete")
        stage.publish_next(entity_type, checks=slot)
        document = stage.create(entity_type, number="fiona")
        assert (ask(stage, document, key_of(stage, who)) != "draft") == is_passed


def test_roles_are_read_for_keys_alone(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read none for a person, and none where the condition reads no roles."""
    read: list[Collection[str]] = []

    def note(connection: Any, tenant_id: UUID, people: Collection[str]) -> Any:
        read.append(people)
        return read_people(connection, tenant_id, people)

    monkeypatch.setattr(persons_behind, "read_people", note)
    for condition in (OTHERS, NO_OWNER, "entity.amount == 1"):
        assert ask(stage, about(stage, conditioned(condition)), "frank") != CONDITION
    assert ask(stage, about(stage, conditioned(OTHERS)), key_of(stage, "frank")) == ACTIVE
    assert read == []
    assert ask(stage, about(stage, conditioned(NO_OWNER)), key_of(stage, "frank")) == ACTIVE
    assert set(map(frozenset, read)) == {frozenset({"frank"})}
