"""The typed configuration of each node type; an unknown key is an error."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, JsonValue, Tag, model_validator
from pydantic import Field as Constraint

from signet.core.calendars.terms import CalendarTerm
from signet.core.integrations.cloud_events import MAX_TYPE_CHARACTERS
from signet.core.moments.durations import CalendarDurationText, Duration, parse_duration_seconds
from signet.core.moments.time_names import TimeOfDay, ZoneName
from signet.core.schedules.cron import CronText
from signet.core.validation.strict_model import ExpressionText, Name, OneAct, Strict, is_absent

MAX_APPROVERS = 20
MAX_VARIABLES = 50
MAX_FOR_EACH_ITEMS = 1_000
MAX_RULES = 100
MAX_BRANCHES = 50
MAX_ATTEMPTS = 100
MAX_EVENT_KEYS = 10
MAX_REMINDERS = 20
MAX_RETRY_SECONDS = 90 * 86_400

RunAs = Literal["actor", "system", "service_account"]
UserId = Annotated[str, Constraint(min_length=1, max_length=200)]
# The type of a CloudEvent: names with dots, such as com.example.invoice.approved.
EventType = Annotated[
    str, Constraint(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=MAX_TYPE_CHARACTERS)
]
TemplateText = Annotated[str, Constraint(max_length=10_000)]


def _is_absent(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


# The service account that a node runs as, with `run_as: service_account`. Left out when it is absent, so that
# definitions from before accounts had names keep their hashes.
ServiceAccountName = Annotated[Name | None, Constraint(exclude_if=_is_absent)]


class Nothing(Strict):
    """Start, end, condition and split have no configuration: their edges say all that they do."""


class StateConfiguration(Strict):
    state: Name


class SlotConfiguration(Strict):
    slot: Name


class LifecycleGateConfiguration(Strict):
    transition: Name
    from_states: tuple[Name, ...]
    to: Name
    kind: Literal["requested", "automatic", "interrupting"]
    rejected_to: Name | None
    permission: str
    permission_condition: ExpressionText | None
    condition: ExpressionText | None


class PolicyGateConfiguration(Strict):
    action: str
    run_as: RunAs
    service_account: ServiceAccountName = None
    permission: str
    permission_condition: ExpressionText | None


class ActionConfiguration(Strict):
    """The action to run: one of the contract (`post`), or one of Signet's or in Python (`store.set`)."""

    action: Annotated[str, Constraint(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=200)]
    payload: Mapping[Name, JsonValue] = {}
    run_as: RunAs = "actor"
    service_account: ServiceAccountName = None
    save_as: Name | None = None
    # A list. The action runs once for each item, which the payload reads as `item`.
    for_each: ExpressionText | None = None
    max_items: Annotated[int, Constraint(ge=1, le=MAX_FOR_EACH_ITEMS)] = 100
    # Without it all items are done, or none. Left out when it is absent, as above.
    each: Annotated[Literal["keep"] | None, Constraint(exclude_if=is_absent)] = None

    @model_validator(mode="after")
    def _keeps_items(self) -> "ActionConfiguration":
        if self.each is not None and self.for_each is None:
            raise ValueError("takes 'each' only with 'for_each'")
        return self


class ByUser(Strict):
    by: Literal["user"]
    user: UserId


class ByRole(Strict):
    by: Literal["role"]
    role: Name
    pick: Literal["first_available", "round_robin"] = "first_available"


class ByManager(Strict):
    """The manager in the org chart of the requester, or of the person that an expression names."""

    by: Literal["manager"]
    of: ExpressionText = "actor.user_id"
    levels: Annotated[int, Constraint(ge=1, le=10)] = 1


class ByExpression(Strict):
    """An expression that gives a user's id, or a list of them; with `who`, those who hold the role."""

    by: Literal["expression"]
    expression: ExpressionText
    who: Annotated[Name | None, Constraint(exclude_if=is_absent)] = None


Approver = Annotated[ByUser | ByRole | ByManager | ByExpression, Constraint(discriminator="by")]


def _name_deadline(written: object) -> str:
    return "[term]" if isinstance(written, (Mapping, CalendarTerm)) else "[duration]"


# Time that passes, or a term of a business calendar.
Deadline = Annotated[
    Annotated[Duration, Tag("[duration]")] | Annotated[CalendarTerm, Tag("[term]")],
    Discriminator(_name_deadline),
]


class Escalation(Strict):
    after: Deadline
    to: Approver


class Reminder(Strict):
    """Reminds those who have not decided: after a time, and again every so often, at most so many times."""

    after: Deadline
    every: Deadline | None = None
    at_most: Annotated[int, Constraint(ge=1, le=MAX_REMINDERS)]

    @model_validator(mode="after")
    def _has_pace(self) -> "Reminder":
        if self.at_most > 1 and self.every is None:
            raise ValueError("wants 'every' where it reminds more than once")
        return self


# Left out when it is absent, so that definitions and policies from before it keep their hashes.
Remind = Annotated[Reminder | None, Constraint(exclude_if=is_absent)]


# all: the first rejection rejects; any: the first vote decides; a number: so many approvals.
Quorum = Literal["all", "any"] | Annotated[int, Constraint(ge=1, le=MAX_APPROVERS)]
Vote = Literal["approved", "rejected", "abstained"]
ReasonedVotes = Annotated[tuple[Vote, ...], Constraint(max_length=3)]
# One person may approve here and in every other approval of the same gate that allows it too.
SamePerson = Annotated[Literal["allowed"] | None, Constraint(exclude_if=is_absent)]
# Voters need it, also for a transition that a person requests.
VoterPermission = Annotated[OneAct | None, Constraint(exclude_if=is_absent)]


def require_reachable_quorum(quorum: Quorum, approvers: int) -> None:
    if isinstance(quorum, int) and quorum > approvers:
        raise ValueError(f"a quorum of {quorum} cannot be reached by {approvers} approvers")


class ApprovalConfiguration(Strict):
    """The approvers inline, or a chain of stages by name."""

    chain: Name | None = None
    approvers: Annotated[tuple[Approver, ...], Constraint(max_length=MAX_APPROVERS)] = ()
    quorum: Quorum = "all"
    escalate: Escalation | None = None
    expire_after: Deadline | None = None
    remind: Remind = None
    reason_required_for: ReasonedVotes = ("rejected",)
    same_person: SamePerson = None
    permission: VoterPermission = None

    @model_validator(mode="after")
    def _one_mode(self) -> "ApprovalConfiguration":
        if (self.chain is None) == (not self.approvers):
            raise ValueError("wants either 'chain' or 'approvers'")
        if self.chain is not None and (self.same_person or self.permission):
            raise ValueError("leaves 'same_person' and 'permission' to its chain")
        if self.approvers:
            require_reachable_quorum(self.quorum, len(self.approvers))
        return self


class JoinConfiguration(Strict):
    mode: Literal["all", "any"]


class WaitTimerConfiguration(Strict):
    """A wait for a duration or a term of a calendar, until a date or moment, or until a cron expression's."""

    wait_for: Annotated[CalendarDurationText | None, Constraint(alias="for")] = None
    until: ExpressionText | None = None
    # These are left out when they are absent, so that definitions from before them keep their hashes.
    at: Annotated[TimeOfDay | None, Constraint(exclude_if=is_absent)] = None
    next: Annotated[CronText | None, Constraint(exclude_if=is_absent)] = None
    business: Annotated[CalendarTerm | None, Constraint(exclude_if=is_absent)] = None
    zone: Annotated[ZoneName | None, Constraint(exclude_if=is_absent)] = None
    # Where an edit sends the token round again, `for` and `business` count from its first arrival without it.
    since: Annotated[Literal["restart"] | None, Constraint(exclude_if=is_absent)] = None

    # Computes the moment again when what it was computed from changes.
    follow: Annotated[bool, Constraint(exclude_if=_is_false)] = False

    @model_validator(mode="after")
    def _one_way(self) -> "WaitTimerConfiguration":
        if [self.wait_for, self.until, self.next, self.business].count(None) != 3:
            raise ValueError("wants one of 'for', 'until', 'next' and 'business'")
        if self.at is not None and self.until is None:
            raise ValueError("takes 'at' only with 'until': it is the time of a date")
        if self.zone is not None and self.business is not None:
            raise ValueError("takes no 'zone' with 'business': the calendar has one")
        if self.since is not None and self.wait_for is None and self.business is None:
            raise ValueError(
                "takes 'since' only with 'for' and 'business': the others name a moment themselves"
            )
        return self


class WaitEventConfiguration(Strict):
    """A wait for an event by its key, or by any of several keys; what does not fit keeps it waiting."""

    # The first four are left out when they are absent, so that definitions from before keep their hashes.
    key: Annotated[TemplateText | None, Constraint(exclude_if=is_absent)] = None
    any_of: Annotated[
        tuple[TemplateText, ...] | None,
        Constraint(min_length=2, max_length=MAX_EVENT_KEYS, exclude_if=is_absent),
    ] = None
    payload_schema: Annotated[
        Mapping[str, JsonValue] | None, Constraint(alias="schema", exclude_if=is_absent)
    ] = None
    condition: Annotated[ExpressionText | None, Constraint(exclude_if=is_absent)] = None
    timeout: Duration | None = None
    save_as: Name | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "WaitEventConfiguration":
        if (self.key is None) == (self.any_of is None):
            raise ValueError("wants either 'key' or 'any_of'")
        return self


class RetryConfiguration(Strict):
    """The attempts in all, the time between two, and how long after the beginning the last may come."""

    attempts: Annotated[int, Constraint(ge=1, le=MAX_ATTEMPTS)] = 12
    every: Duration | None = None
    until: Duration | None = None

    @model_validator(mode="after")
    def _within_bounds(self) -> "RetryConfiguration":
        for name, text in (("every", self.every), ("until", self.until)):
            if text is not None and parse_duration_seconds(text) > MAX_RETRY_SECONDS:
                raise ValueError(f"wants a duration of at most 90 days in '{name}'")
        if self.every is not None and self.until is not None:
            if parse_duration_seconds(self.every) > parse_duration_seconds(self.until):
                raise ValueError("wants 'every' to be no longer than 'until'")
        return self


# Both are left out when they are absent, so that definitions from before them keep their hashes.
Retry = Annotated[RetryConfiguration | None, Constraint(exclude_if=is_absent)]
Timeout = Annotated[Duration | None, Constraint(exclude_if=is_absent)]


class WebhookOutConfiguration(Strict):
    """A call to one of the tenant's endpoints, or an event for the listeners of the deployment's bus."""

    endpoint: Name | None = None
    # Left out when it is absent, so that definitions from before this field keep their hashes.
    event: Annotated[EventType | None, Constraint(exclude_if=is_absent)] = None
    payload: Mapping[Name, JsonValue] = {}
    run_as: RunAs = "actor"
    service_account: ServiceAccountName = None
    save_as: Name | None = None
    retry: Retry = None
    timeout: Timeout = None

    @model_validator(mode="after")
    def _one_receiver(self) -> "WebhookOutConfiguration":
        if (self.endpoint is None) == (self.event is None):
            raise ValueError("wants either 'endpoint' or 'event'")
        return self


class NotificationConfiguration(Strict):
    channel: Literal["email", "sms", "in_app"]
    to: Annotated[tuple[Approver, ...], Constraint(min_length=1, max_length=MAX_APPROVERS)]
    subject: TemplateText = ""
    text: TemplateText
    wait: Annotated[bool, Constraint(alias="await")] = False
    run_as: RunAs = "actor"
    service_account: ServiceAccountName = None
    retry: Retry = None
    timeout: Timeout = None

    @model_validator(mode="after")
    def _waits_to_time_out(self) -> "NotificationConfiguration":
        if self.timeout is not None and not self.wait:
            raise ValueError("takes 'timeout' only with 'await': nothing waits otherwise")
        return self

    @model_validator(mode="after")
    def _only_votes_are_filtered(self) -> "NotificationConfiguration":
        if any(isinstance(person, ByExpression) and person.who is not None for person in self.to):
            raise ValueError("takes no 'who', which says whose votes count")
        return self


class ScriptConfiguration(Strict):
    """Variables of the workflow, each the value of an expression."""

    set: Annotated[Mapping[Name, ExpressionText], Constraint(min_length=1, max_length=MAX_VARIABLES)]


class RuleConfiguration(Strict):
    """The tenant's rules by name, evaluated for their outcome only."""

    rules: Annotated[tuple[Name, ...], Constraint(min_length=1, max_length=MAX_RULES)]
