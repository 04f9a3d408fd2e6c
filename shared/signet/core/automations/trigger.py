"""The trigger of an automation as its author writes it, and how often it may run at once."""

from typing import Annotated, Literal

from pydantic import Field as Constraint
from pydantic import model_validator

from signet.core.moments.time_names import ZoneName
from signet.core.moments.wall_time import Fold, Gap
from signet.core.schedules.cron import CronText
from signet.core.validation.strict_model import ExpressionText, Name, Strict, is_absent

# What starts by a change of a document.
BY_CHANGE = ("create", "mutation", "transition")
# What becomes of a firing whose automation has fired for the same document in the same chain.
Repeat = Literal["stop", "ignore", "allow"]
MAX_TRIGGER_FIELDS = 50
MAX_QUEUED = 100
MAX_STARTS_PER_MINUTE = 1_000
MAX_OPEN_INSTANCES = 1_000


class AutomationTrigger(Strict):
    """The event, request or time that starts an automation."""

    on: Literal["create", "mutation", "transition", "event", "cron", "manual"]
    action: Annotated[str, Constraint(max_length=200)] | None = None  # mutation
    from_state: Annotated[Name | None, Constraint(alias="from")] = None  # transition
    to: Name | None = None  # transition
    key: Annotated[str, Constraint(max_length=500)] | None = None  # event
    cron: CronText | None = None
    condition: ExpressionText | None = None
    # The meaning of `cron`. Left out when absent, so that automations from before keep their hashes.
    zone: Annotated[ZoneName | None, Constraint(exclude_if=is_absent)] = None
    gap: Annotated[Gap | None, Constraint(exclude_if=is_absent)] = None
    fold: Annotated[Fold | None, Constraint(exclude_if=is_absent)] = None
    # mutation: it starts only where one of these has changed.
    fields: Annotated[
        tuple[Name, ...] | None, Constraint(exclude_if=is_absent, min_length=1, max_length=MAX_TRIGGER_FIELDS)
    ] = None
    repeat: Annotated[Repeat | None, Constraint(exclude_if=is_absent)] = None

    @model_validator(mode="after")
    def _only_a_schedule_has_a_clock(self) -> "AutomationTrigger":
        if self.on != "cron" and any((self.zone, self.gap, self.fold)):
            raise ValueError("takes 'zone', 'gap' and 'fold' only with 'on: cron'")
        return self


class Overlap(Strict):
    """The rule for a firing while an instance with the same key is open."""

    mode: Literal["allow", "skip", "queue", "replace"] = "allow"
    # The instances that count together: all of the automation, or those of one document.
    per: Literal["automation", "document"] = "automation"
    # Of `queue`: how many firings wait at most.
    at_most: Annotated[int, Constraint(ge=1, le=MAX_QUEUED)] = 10


class StartLimits(Strict):
    """The bounds of an automation: starts in a minute, and open instances. The rest waits."""

    starts_per_minute: Annotated[int, Constraint(ge=1, le=MAX_STARTS_PER_MINUTE)] = 100
    open_instances: Annotated[int, Constraint(ge=1, le=MAX_OPEN_INSTANCES)] = 100
