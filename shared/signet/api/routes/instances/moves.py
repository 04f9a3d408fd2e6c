"""Routes that move instances to a newer definition: a report first, then one or many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.bulk_outcomes import BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    MAX_VERSION,
    PAGE,
    Cursor,
    Id,
    IfMatchOfKnown,
    Named,
    PathId,
    Reason,
    require_version,
)
from signet.api.http.routing import Routes
from signet.core.errors import Rejected, SignetError
from signet.core.repair.move_check import Obstacle, Report, TokenAssessment
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import NAME_PATTERN
from signet.engine.instances.bulk_acts import MAX_IN_BULK
from signet.engine.instances.moves import FIRST, ExpectedInstance, MoveOutcome, MoveTarget

Judgement = Literal["safe", "blocked"]
ToVersion = Annotated[
    int, Field(ge=1, le=MAX_VERSION, description="The version of the definition to move to.")
]

# At most as many as one request may move.
AtOnce = Annotated[int, Query(ge=1, le=MAX_IN_BULK, description="At most this many items.")]


class NewMove(Strict):
    to: ToVersion
    workflow: Annotated[
        Named | None, Field(description="The name of the definition to move to, if it is another one.")
    ] = None
    dry_run: Annotated[bool, Field(description="Only report; this needs no version.")] = False
    reason: Reason = None


class SeenToMove(Strict):
    id: Annotated[Id, Field(strict=False)]
    version: Annotated[int, Field(ge=0, le=MAX_VERSION, description="The version that was seen.")]


class NewMoves(NewMove):
    items: Annotated[list[SeenToMove], Field(min_length=1, max_length=MAX_IN_BULK)]


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """The verdict on a token; nodes in `passes_by` were added behind it, and are never executed for it."""

    token: str
    node: str
    state: Literal["ready", "waiting", "parted", "joined", "failed"]
    verdict: Judgement
    obstacles: Sequence[Obstacle]
    passes_by: Sequence[str]


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The verdict on every live token, and the obstacles of the instance as a whole.

    With `changes_approvals` the new definition asks for other approvals, or asks for them elsewhere.
    """

    verdict: Judgement
    obstacles: Sequence[Obstacle]
    changes_approvals: bool
    tokens: Sequence[TokenVerdict]


@dataclass(frozen=True, slots=True)
class MovedInstance:
    """A moved instance; the next act on it must name this `version`."""

    id: UUID
    outcome: Literal["moved", "safe", "blocked"]
    version: int
    report: MoveReport


def add_instance_moves(routes: Routes) -> None:
    @routes.post(
        "/v1/instances/<instance_id>/move",
        "Move an instance to a newer definition",
        MovedInstance,
        is_versioned=True,
    )
    def move_instance(
        call: Call, instance_id: PathId, asked: Annotated[NewMove, Body()], if_match: IfMatchOfKnown = None
    ) -> HttpAnswer:
        """Move all tokens or none: if one is blocked nothing changes, and the problem has the report."""
        target = MoveTarget(asked.to, asked.workflow)
        if asked.dry_run:
            outcome = call.use.instance_moves.report(call.caller, instance_id, target)
        else:
            version = require_version(if_match)
            outcome = call.use.instance_moves.move(call.caller, instance_id, version, target, asked.reason)
        shown = _show(outcome)
        if shown.outcome == "blocked" and not asked.dry_run:
            raise _blocked(shown)
        return show_record(shown)

    @routes.post(
        "/v1/instances/move", "Move many instances to a newer definition", BulkOutcomes[MovedInstance]
    )
    def move_instances(call: Call, asked: Annotated[NewMoves, Body()]) -> BulkOutcomes[MovedInstance]:
        """Move many instances; the refusal of one stops no other. A dry run reports, and moves none."""
        seen = [ExpectedInstance(one.id, one.version) for one in asked.items]
        target = MoveTarget(asked.to, asked.workflow)
        outcomes = call.use.instance_moves.move_many(
            call.caller, seen, target, asked.reason, dry_run=asked.dry_run
        )
        return show_outcomes(
            show_outcome(call, index, one.instance_id, _judge_move(one), is_dry_run=asked.dry_run)
            for index, one in enumerate(outcomes)
        )

    @routes.get("/v1/instances/movable", "Instances under older definitions", Page[ExpectedInstance])
    def list_movable_instances(
        call: Call,
        entity_type: Annotated[str, Query(pattern=NAME_PATTERN)],
        workflow: Annotated[str, Query(pattern=NAME_PATTERN)],
        to: Annotated[int, Query(ge=1, le=MAX_VERSION, description="The version to move to.")],
        limit: AtOnce = PAGE,
        cursor: Cursor = None,
    ) -> Page[ExpectedInstance]:
        """List instances that run or are paused under an older definition, in the form that `move` takes."""
        filters = ["movable", entity_type, workflow, to]
        after = parse_position(cursor, filters, UUID) or FIRST
        movable = call.use.instance_moves.list_movable(
            call.caller,
            entity_type,
            workflow,
            to,
            after=after,
            limit=limit + 1,
        )
        return make_page(movable.seen, limit, lambda instance: (instance.id,), filters)


def _show(outcome: MoveOutcome) -> MovedInstance:
    assert outcome.report is not None and outcome.version is not None
    assert outcome.outcome in ("moved", "safe", "blocked")
    return MovedInstance(outcome.instance_id, outcome.outcome, outcome.version, show_report(outcome.report))


def _judge_move(outcome: MoveOutcome) -> MovedInstance | SignetError:
    """Return the instance, or why it is not moved; a report that says so is part of the refusal."""
    if outcome.error is not None:
        return outcome.error
    shown = _show(outcome)
    return _blocked(shown) if shown.outcome == "blocked" else shown


def _blocked(shown: MovedInstance) -> Rejected:
    return Rejected(
        "INSTANCE_MOVE_BLOCKED",
        "the instance is not moved: the report says what is in the way",
        remedy="Do what the obstacles of its report say, then move it.",
        details={"report": shown.report},
    )


def show_report(report: Report) -> MoveReport:
    """Show the verdict on every token, and the obstacles of the whole."""
    verdict = _judge(report)
    return MoveReport(
        verdict,
        report.obstacles,
        report.changes_approvals,
        [_show_verdict(assessment) for assessment in report.assessments],
    )


def _show_verdict(assessment: TokenAssessment) -> TokenVerdict:
    token = assessment.token
    return TokenVerdict(
        token.id,
        token.node,
        token.state.value,
        _judge(assessment),
        assessment.obstacles,
        assessment.passes_by,
    )


def _judge(assessment: Report | TokenAssessment) -> Judgement:
    return "safe" if assessment.is_safe else "blocked"
