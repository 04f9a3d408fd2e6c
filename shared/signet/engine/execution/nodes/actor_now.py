"""The person that an instance acts for, as they asked and as they are now."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from signet.core.runtime.projection import Actor
from signet.core.tenants.principal import SYSTEM_SUBJECT


@dataclass(frozen=True, slots=True)
class ActorNow:
    """An actor as they asked, and with the roles that they have now."""

    asked: Actor
    present: Actor
    # A step that runs as the system, in their name.
    system: Actor
    has_left: bool


def make_actor_now(actor: Actor, member: Mapping[str, Any] | None) -> ActorNow:
    """Give a member the roles that they have now. A key keeps those that are left; who is no member, all."""
    system = Actor(SYSTEM_SUBJECT, (), actor.responsible)
    if member is None:
        return ActorNow(actor, actor, system, has_left=False)
    is_active = member["status"] == "active"
    held = member["roles"] if is_active else ()
    kept = tuple(role for role in actor.roles if role in held)
    # A person who was given a role since may have what a retry wants.
    roles = kept if actor.is_key else (*kept, *sorted(set(held) - set(kept)))
    present = actor if roles == actor.roles else replace(actor, roles=roles)
    return ActorNow(actor, present, system, has_left=not is_active)
