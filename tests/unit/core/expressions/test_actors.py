"""Conditions about a key: they are asked of the persons behind it too."""

from collections.abc import Iterable
from typing import Any

import pytest

from signet.core.expressions import (
    Compiled,
    Environment,
    ExpressionError,
    compile_expression,
    parse_expression,
)
from signet.core.expressions.actors import (
    find_person_against,
    make_envs_behind,
    name_person_behind,
    reads_actor,
    reads_roles,
)

KEY: dict[str, Any] = {
    "actor": {"user_id": "key:erp", "roles": ["clerk"]},
    "entity": {"owner": "ada"},
}


def compiled(text: str) -> Compiled:
    expression = parse_expression(text)
    assert not isinstance(expression, ExpressionError)
    return compile_expression(expression)


def list_behind(_condition: Compiled, env: Environment) -> Iterable[Environment]:
    return make_envs_behind(env, {"mia", "ada"}, {"mia": ["clerk", "auditor"]})


@pytest.mark.parametrize(
    ("text", "of_actor", "of_roles"),
    [
        ("entity.owner == 'ada'", False, False),
        ("actor.user_id == 'ada'", True, False),
        ("'clerk' in actor.roles", True, True),
    ],
)
def test_what_a_condition_reads_of_the_actor(text: str, of_actor: bool, of_roles: bool) -> None:
    assert (reads_actor(compiled(text)), reads_roles(compiled(text))) == (of_actor, of_roles)


def test_each_person_has_the_roles_of_the_key_and_their_own() -> None:
    assert [env["actor"] for env in make_envs_behind(KEY, {"mia", "ada"}, {"mia": ["clerk", "auditor"]})] == [
        {"user_id": "ada", "roles": ["clerk"]},
        {"user_id": "mia", "roles": ["clerk", "auditor"]},
    ]


def test_the_person_who_does_not_fulfil_a_condition_is_found() -> None:
    condition = compiled("actor.user_id != entity.owner")
    against = find_person_against(condition, KEY, list_behind)
    assert against is not None
    assert name_person_behind(against) == "ada, who is behind the key"
    assert find_person_against(compiled("'clerk' in actor.roles"), KEY, list_behind) is None


def test_the_person_who_fulfils_an_unwanted_condition_is_found() -> None:
    against = find_person_against(compiled("'auditor' in actor.roles"), KEY, list_behind, wanted=False)
    assert against is not None and against["actor"]["user_id"] == "mia"
