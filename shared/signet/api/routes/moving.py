"""Instances to a newer version of their workflow: reported before anything changes, one or many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.calls import Answer, Call
from signet.api.outcomes import Refusal, describe_refusal
from signet.api.parameters import MAX_VERSION, Id, IfMatch, Named, PathId, require_version
from signet.api.routing import Routes
from signet.core.moving import Obstacle, Report
from signet.core.strict import Slug, Strict
from signet.engine.documents.intake import MAX_REASON_CHARACTERS
from signet.engine.moving import FIRST, MAX_MOVED, MoveOutcome, Target

Version = Annotated[int, Field(ge=1, le=MAX_VERSION, description="Of the workflow to move to.")]
Why = Annotated[str | None, Field(max_length=MAX_REASON_CHARACTERS)]


class Move(Strict):
    version: Version
    name: Annotated[Slug | None, Field(description="Of the workflow, where it is not the same.")] = None
    reason: Why = None
    dry_run: Annotated[bool, Field(description="Only report; then no If-Match is wanted.")] = False


class MoveMany(Strict):
    entity_type: Named
    name: Slug
    version: Version
    after: Annotated[Id | None, Field(strict=False, description="Go on after this instance.")] = None
    limit: Annotated[int, Field(ge=1, le=MAX_MOVED)] = MAX_MOVED
    reason: Why = None
    dry_run: Annotated[bool, Field(description="Only report; nothing moves unless this says false.")] = True


@dataclass(frozen=True, slots=True)
class MovedToken:
    """What it passes by was added behind it, and is never executed for it."""

    token: str
    node: str
    state: str
    is_safe: bool
    obstacles: Sequence[Obstacle]
    passes_by: Sequence[str]


@dataclass(frozen=True, slots=True)
class MoveReport:
    """On every live token, and on what stands in the way of the instance as a whole."""

    is_safe: bool
    obstacles: Sequence[Obstacle]
    tokens: Sequence[MovedToken]


@dataclass(frozen=True, slots=True)
class MovedInstance:
    instance_id: UUID
    outcome: Literal["moved", "safe", "blocked", "conflict", "not_found", "ended", "busy", "refused"]
    # What the next act must match, where the instance was reached.
    version: int | None
    report: MoveReport | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class MovedInstances:
    """`next_after` goes on where this ended; null when there are no more."""

    items: Sequence[MovedInstance]
    next_after: UUID | None


def add_moving_routes(routes: Routes) -> None:
    @routes.post("/v1/instances/<instance_id>/move", "Move an instance to a newer workflow", MovedInstance)
    def move_instance(
        call: Call, instance_id: PathId, asked: Annotated[Move, Body()], if_match: IfMatch = None
    ) -> Answer:
        """All of its tokens or none; where one is blocked nothing changes, and the report says why."""
        target = Target(asked.version, asked.name)
        if asked.dry_run:
            outcome = call.use.moving.report(call.author, instance_id, target)
        else:
            version = require_version(if_match)
            outcome = call.use.moving.move(call.author, instance_id, version, target, asked.reason)
        return Answer(_show(outcome), version=outcome.version)

    @routes.post("/v1/instances/move", "Move what runs under older workflows", MovedInstances)
    def move_instances(call: Call, asked: Annotated[MoveMany, Body()]) -> MovedInstances:
        """Each instance for itself; a dry run unless it is said otherwise."""
        movable = call.use.moving.list_movable(
            call.author,
            asked.entity_type,
            asked.name,
            asked.version,
            after=asked.after or FIRST,
            limit=asked.limit,
        )
        target = Target(asked.version, asked.name)
        outcomes = call.use.moving.move_many(
            call.author, movable.seen, target, asked.reason, dry_run=asked.dry_run
        )
        return MovedInstances([_show(outcome) for outcome in outcomes], movable.after)


def _show(outcome: MoveOutcome) -> MovedInstance:
    return MovedInstance(
        outcome.instance_id,
        outcome.outcome,
        outcome.version,
        _show_report(outcome.report) if outcome.report is not None else None,
        describe_refusal(outcome.error) if outcome.error is not None else None,
    )


def _show_report(report: Report) -> MoveReport:
    tokens = [
        MovedToken(
            verdict.token.id,
            verdict.token.node,
            verdict.token.state.value,
            verdict.is_safe,
            verdict.obstacles,
            verdict.passes_by,
        )
        for verdict in report.verdicts
    ]
    return MoveReport(report.is_safe, report.obstacles, tokens)
