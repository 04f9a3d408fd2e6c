"""Conditions about the actor where the actor is a key: the persons behind it are asked of too."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from signet.core.expressions.evaluate import Compiled
from signet.core.expressions.fast_comparison import Environment

# Gives, for a condition and its environment, that of each person that the condition is asked of besides.
PersonsBehind = Callable[[Compiled, Environment], Iterable[Environment]]


def reads_actor(condition: Compiled) -> bool:
    return any(name.startswith("actor.") for name in condition.variables)


def reads_roles(condition: Compiled) -> bool:
    return any(name.startswith("actor.roles") for name in condition.variables)


def make_envs_behind(
    env: Environment, persons: Collection[str], roles: Mapping[str, Collection[str]]
) -> Iterator[Environment]:
    """Make the environment of each person, with the roles of the key and those that they have themselves.

    So a key does what its own roles allow, and hides no role of theirs.
    """
    own: Mapping[str, Any] = env["actor"]
    for person in sorted(persons):
        held = [*own["roles"], *(role for role in roles.get(person, ()) if role not in own["roles"])]
        yield {**env, "actor": {"user_id": person, "roles": held}}


def find_person_against(
    condition: Compiled, env: Environment, list_behind: PersonsBehind, *, wanted: bool = True
) -> Environment | None:
    """Find the environment of a person behind the actor for which the condition is not as it is wanted."""
    asked = list_behind(condition, env)
    return next((each for each in asked if (condition.value(each) is True) != wanted), None)


def name_person_behind(env: Environment) -> str:
    return f"{env['actor']['user_id']}, who is behind the key"
