"""Routes of operators' acts on instances, each with a permission of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.bulk_outcomes import BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.parameters import MAX_VERSION, Id, IfMatch, PathId, require_version
from signet.api.http.routing import Routes, Serve
from signet.core.documents.payload_limits import MAX_PAYLOAD_BYTES
from signet.core.explain.instance_record import InstanceStatus
from signet.core.runtime.operator_actions import Sequel
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import MAX_REASON_CHARACTERS
from signet.engine.instances.actions import InstanceState
from signet.engine.instances.bulk_acts import MAX_IN_BULK, BulkAct, BulkOrder, Seen, act_on_many

MAX_TOKEN_CHARACTERS = 1_000
Why = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_REASON_CHARACTERS,
        description="The reason, for people and the audit trail.",
    ),
]


# Of acts on many.
DryRun = Annotated[
    bool, Field(description="Only check each, and answer the state that it would have: nothing is written.")
]


class WithReason(Strict):
    reason: Why


class OperatorAct(WithReason):
    dry_run: Annotated[
        bool, Field(description="Only check it, and answer the state that the instance would have.")
    ] = False


class Ending(OperatorAct):
    then: Annotated[
        Sequel | None,
        Field(
            description="What follows where nobody can ask for a transition of the document: `restart` begins"
            " a new instance, `leave` opens an incident on the document."
        ),
    ] = None


class OfToken(OperatorAct):
    token: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TOKEN_CHARACTERS,
            description="The token's id, or the node where it stands.",
        ),
    ]


class Advance(OfToken):
    payload: Annotated[
        Any,
        Field(
            description=f"The payload of the event or the answer, if the node saves it: JSON of up to"
            f" {MAX_PAYLOAD_BYTES} bytes."
        ),
    ] = None


class InstanceAndVersion(Strict):
    id: Annotated[Id, Field(strict=False)]
    version: Annotated[
        int | None,
        Field(ge=0, le=MAX_VERSION, description="The version that was seen; `wake` and `rebuild` need none."),
    ] = None


class BulkActs(Strict):
    act: BulkAct
    reason: Annotated[str | None, Field(max_length=MAX_REASON_CHARACTERS)] = None
    then: Annotated[Sequel | None, Field(description="Of `cancel` and `fail`: what follows.")] = None
    dry_run: DryRun = False
    items: Annotated[list[InstanceAndVersion], Field(min_length=1, max_length=MAX_IN_BULK)]


@dataclass(frozen=True, slots=True)
class RebuiltInstance:
    id: UUID
    status: InstanceStatus
    version: int
    # Whether the row differed from what its steps say.
    was_other: bool


def add_instance_acts(routes: Routes) -> None:
    """Add the acts on a whole instance."""
    post = declare_act(routes)

    @post("pause", "Pause an instance where it is")
    def pause_instance(
        call: Call, instance_id: PathId, asked: Annotated[OperatorAct, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Pause an instance; triggers that come meanwhile end at once, because resuming reads the tables."""
        return _act_on_whole(call, call.use.instances.pause, instance_id, asked, if_match)

    @post("resume", "Let a paused instance go on")
    def resume_instance(call: Call, instance_id: PathId, if_match: IfMatch = None) -> HttpAnswer:
        """Lift a pause; what is held is retried. A cause that lasts pauses the instance again."""
        return show_record(call.use.instances.resume(call.caller, instance_id, require_version(if_match)))

    @post("retry", "Try again what made the engine pause an instance")
    def retry_instance(
        call: Call, instance_id: PathId, asked: Annotated[OperatorAct, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Retry what the engine paused for, with fresh attempts for dead triggers.

        An instance that a person has paused is resumed instead.
        """
        return _act_on_whole(call, call.use.instances.retry, instance_id, asked, if_match)

    @post("cancel", "End an instance that nobody wants any more")
    def cancel_instance(
        call: Call, instance_id: PathId, asked: Annotated[Ending, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Cancel an instance; `then` says what follows where no request could begin a new one."""
        version = require_version(if_match)
        cancel = call.use.instances.cancel
        state = cancel(call.caller, instance_id, version, asked.reason, asked.then, dry_run=asked.dry_run)
        return show_act(state, version, asked)

    @post("fail", "Give up an instance that cannot go on")
    def fail_instance(
        call: Call, instance_id: PathId, asked: Annotated[Ending, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Fail an instance for good; `then` says what follows where no request could begin a new one."""
        version = require_version(if_match)
        fail = call.use.instances.fail
        state = fail(call.caller, instance_id, version, asked.reason, asked.then, dry_run=asked.dry_run)
        return show_act(state, version, asked)

    @post("wake", "Wake an instance")
    def wake_instance(call: Call, instance_id: PathId) -> HttpAnswer:
        """Wake an instance as if something had happened; this wants no version, as it changes nothing."""
        return show_record(call.use.instances.wake(call.caller, instance_id))

    @post("rebuild", "Make an instance's row again from its steps", RebuiltInstance)
    def rebuild_instance(call: Call, instance_id: PathId) -> HttpAnswer:
        """Rebuild the row and wake the instance; this wants no version, as the row's may be wrong."""
        rebuilt = call.use.instances.rebuild(call.caller, instance_id)
        state = rebuilt.state
        shown = RebuiltInstance(state.id, state.status, state.version, rebuilt.was_other)
        return HttpAnswer(shown, version=state.version)


def add_token_acts(routes: Routes) -> None:
    """Add the acts on one token, and on many instances."""
    post = declare_act(routes)

    @post("cancel_token", "Stop one branch of an instance")
    def cancel_instance_token(
        call: Call, instance_id: PathId, asked: Annotated[OfToken, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Cancel a token as if its node had been rejected: it passes no approval that nobody gave."""
        version = require_version(if_match)
        state = call.use.instances.cancel_token(
            call.caller, instance_id, version, asked.token, asked.reason, dry_run=asked.dry_run
        )
        return show_act(state, version, asked)

    @post(
        "advance",
        "End one wait of an instance for a time, an event, an answer or a delivery",
        large_bodies_want="workflow:advance",
    )
    def advance_instance(
        call: Call, instance_id: PathId, asked: Annotated[Advance, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Advance a token as if the time or the event had come.

        It is never advanced past a decision of people, or past the workflow's own work.
        """
        version = require_version(if_match)
        advance, token = call.use.instances.advance, asked.token
        state = advance(
            call.caller, instance_id, version, token, asked.reason, asked.payload, dry_run=asked.dry_run
        )
        return show_act(state, version, asked)

    @routes.post("/v1/instances/bulk", "OperatorAct on many instances", BulkOutcomes[InstanceState])
    def act_on_instances(call: Call, asked: Annotated[BulkActs, Body()]) -> BulkOutcomes[InstanceState]:
        """OperatorAct on many instances; a refusal stops no other, and the status is 200."""
        seen = [Seen(one.id, one.version) for one in asked.items]
        order = BulkOrder(asked.act, seen, asked.reason or "", asked.then, asked.dry_run)
        outcomes = act_on_many(call.use.instances, call.caller, order)
        return show_outcomes(
            show_outcome(call, index, one.id, outcome, is_dry_run=asked.dry_run)
            for index, (one, outcome) in enumerate(zip(seen, outcomes, strict=True))
        )


def _act_on_whole(
    call: Call,
    act: Callable[..., InstanceState],
    instance_id: UUID,
    asked: OperatorAct,
    if_match: str | None,
) -> HttpAnswer:
    version = require_version(if_match)
    state = act(call.caller, instance_id, version, asked.reason, dry_run=asked.dry_run)
    return show_act(state, version, asked)


def show_act(state: InstanceState, seen: int, asked: OperatorAct) -> HttpAnswer:
    """Show the instance after an act; after a dry run it still has the version that was seen."""
    return HttpAnswer(state, version=seen if asked.dry_run else state.version)


def declare_act(routes: Routes) -> Callable[..., Callable[[Serve], Serve]]:
    def post(
        act: str, summary: str, shows: type = InstanceState, *, large_bodies_want: str | None = None
    ) -> Callable[[Serve], Serve]:
        path = f"/v1/instances/<instance_id>/{act}"
        return routes.post(path, summary, shows, is_versioned=True, large_bodies_want=large_bodies_want)

    return post
