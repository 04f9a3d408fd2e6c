"""Principals: names of machines, the persons who answer for an act, and rights that come from no role."""

from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.tenants.permissions import grants
from signet.core.tenants.principal import (
    KeyOfPrincipal,
    Principal,
    describe_absence,
    is_reserved,
    make_command_line,
)

TENANT, KEY = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("subject", ["key:erp", f"key:{KEY}", "service:posting", "signet:system"])
def test_machines_have_names_that_no_person_has(subject: str) -> None:
    assert is_reserved(subject)


def test_a_person_answers_for_themselves_and_a_key_has_the_persons_behind_it() -> None:
    assert not is_reserved("keyla") and not is_reserved("services")
    assert Principal(TENANT, "ada", ()).responsible == {"ada"}
    key = Principal(TENANT, f"key:{KEY}", (), key=KeyOfPrincipal(KEY, "erp", "olga"))
    behind = Principal(TENANT, key.subject, (), key=key.key, behind=frozenset({"ada", "olga"}))
    assert behind.is_key and behind.responsible == {"ada", "olga"}
    assert Principal(TENANT, "signet:system", ()).responsible == frozenset()


def test_a_command_line_may_act_on_workflows_alone() -> None:
    own = make_command_line(TENANT, "postgres", "local").own_permissions
    assert all(grants(own, f"workflow:{act}") for act in ("pause", "advance", "move"))
    assert grants(own, "incident:read") and grants(own, "incident:care")
    others = ("invoice:approve", "member:edit", "approval:delegate", "role:edit", "tenant:edit")
    assert not any(grants(own, permission) for permission in others)


def test_nobody_else_has_permissions_of_their_own() -> None:
    assert Principal(TENANT, "carl", ("admin",), is_operator=True).own_permissions == ()
    # A name alone makes no command line.
    assert replace(make_command_line(TENANT, "x", "y"), is_operator=False).own_permissions == ()


def test_a_command_line_is_responsible_for_what_it_does() -> None:
    assert make_command_line(TENANT, "postgres", "local").responsible == {"cli:postgres@local"}
    # A member from before whose name begins as a machine's to the eye stands for themselves.
    assert Principal(TENANT, "Key:ring", ()).responsible == {"Key:ring"}
    assert Principal(TENANT, "key:erp", ()).responsible == frozenset()


@pytest.mark.parametrize(("subject", "who"), [("ada", "that person"), ("key:erp", "its owner")])
def test_of_a_key_the_owner_is_absent(subject: str, who: str) -> None:
    said = f"ACTOR_NOT_ACTIVE: {subject} asked for this, and {who} is no active member any more"
    assert describe_absence(subject) == said
