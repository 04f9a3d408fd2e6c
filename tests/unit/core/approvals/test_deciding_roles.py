"""Roles that policies name: in every place where an approval, a slot or a condition can name one."""

from typing import Any

import pytest

from signet.core.approvals.deciding_roles import (
    list_roles_of_approval,
    list_roles_of_condition,
    list_roles_of_contract,
)
from tests.support.core.approval_policies import expression, manager, role, user


@pytest.mark.parametrize(
    ("config", "roles"),
    [
        ({"approvers": [role("finance"), role("board", "round_robin")]}, ["finance", "board"]),
        ({"approvers": [user("anna"), manager(), expression("entity.owner")]}, []),
        (
            {"approvers": [user("anna")], "escalate": {"after": "P1D", "to": role("board")}},
            ["board"],
        ),
        ({"approvers": [{**expression("entity.owner"), "who": "owner"}]}, ["owner"]),
        ({"chain": "large", "approvers": [], "escalate": None}, []),
        ({"chain": "large"}, []),
    ],
)
def test_roles_of_an_approval(config: dict[str, Any], roles: list[str]) -> None:
    assert list(list_roles_of_approval(config)) == roles


def test_roles_of_a_contract() -> None:
    body = {
        "conditions": {"invoice:approve": "actor.roles contains 'finance' && entity.total > 5"},
        "transitions": {
            "submit": {"condition": "entity.status == 'draft'"},
            "approve": {"condition": "!(actor.roles contains 'clerk')"},
            "cancel": {},
        },
        "slots": {
            "approval": {"requires": {"role": "board"}},
            "checks": {"requires": {"approvals": 2}},
            "posting": {"requires": None},
            "other": {},
        },
    }
    assert list(list_roles_of_contract(body)) == ["board", "finance", "clerk"]
    assert list(list_roles_of_contract({})) == []


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("actor.roles contains 'finance'", ["finance"]),
        ("actor.roles contains 'a' || actor.roles contains 'b'", ["a", "b"]),
        ("entity.kind in ['x', 'y'] && actor.roles contains 'a'", ["x", "y", "a"]),
        ("actor.user_id == 'carl'", []),
        ("actor.roles contains 'a' && entity.total == 1", ["a"]),
        ("actor.roles contains", []),
    ],
)
def test_texts_of_a_condition_on_roles(text: str, roles: list[str]) -> None:
    assert list(list_roles_of_condition(text)) == roles
