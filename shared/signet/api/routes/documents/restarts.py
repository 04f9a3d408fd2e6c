"""Routes that repair a document: a new instance where it has none, and a correction under an incident."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.parameters import MAX_VERSION, IfMatch, IfMatchOfKnown, Named, PathId, require_version
from signet.api.http.routing import Routes
from signet.api.routes.instances.actions import OperatorAct, WithReason
from signet.api.routes.instances.moves import MoveReport, show_report
from signet.core.errors import Rejected
from signet.core.validation.strict_model import Strict
from signet.engine.instances.corrections import Correction
from signet.engine.instances.document_restarts import HeldAhead, RestartOutcome
from signet.engine.instances.moves import MoveTarget


class DefinitionChoice(Strict):
    """A published definition for the documents of this type."""

    version: Annotated[int, Field(ge=1, le=MAX_VERSION)]
    workflow: Annotated[
        Named | None, Field(description="The name of the workflow, if it is another one than the last.")
    ] = None


class NewRestart(WithReason):
    definition: Annotated[
        DefinitionChoice | None,
        Field(description="By default that of the last instance; the newest where that is archived."),
    ] = None
    dry_run: Annotated[bool, Field(description="Only report; this needs no version.")] = False


class NewCorrection(OperatorAct):
    patch: Annotated[
        Mapping[str, Any],
        Field(min_length=1, description="A JSON merge patch (RFC 7396) of the data: the fields that change."),
    ]


@dataclass(frozen=True, slots=True)
class UsedDefinition:
    id: UUID
    workflow: str
    version: int


@dataclass(frozen=True, slots=True)
class RestartedDocument:
    """A document that begins again at `node`. Nodes in `repeats` have acted since there, and act again.

    A dry run lists in `held_ahead` the nodes where the new instance would be held, as far as is known now.
    """

    document_id: UUID
    outcome: Literal["restarted", "safe", "blocked"]
    version: int
    node: str
    definition: UsedDefinition
    repeats: Sequence[str]
    instance_id: UUID | None
    report: MoveReport
    held_ahead: Sequence[HeldAhead]


def add_restart_routes(routes: Routes) -> None:
    @routes.post(
        "/v1/documents/<document_id>/restart",
        "Begin a new instance for a document that has none",
        RestartedDocument,
        is_versioned=True,
    )
    def restart_document(
        call: Call, document_id: PathId, asked: Annotated[NewRestart, Body()], if_match: IfMatchOfKnown = None
    ) -> HttpAnswer:
        """Restart a document without a live instance where its last one stood, or report why it cannot be.

        It begins at the state of its document, or at the slot behind a passed gate.
        """
        named, restarts = asked.definition, call.use.restarts
        target = MoveTarget(named.version, named.workflow) if named is not None else None
        if asked.dry_run:
            outcome = restarts.report(call.caller, document_id, target)
        else:
            version = require_version(if_match)
            outcome = restarts.restart(call.caller, document_id, version, asked.reason, target)
            _require_restarted(outcome)
        return show_record(_show(outcome))

    @routes.post(
        "/v1/documents/<document_id>/correct",
        "Correct a document while an incident is open on it",
        Correction,
        is_versioned=True,
        places={"document": "/patch"},
        large_bodies_want="workflow:correct",
    )
    def correct_document(
        call: Call, document_id: PathId, asked: Annotated[NewCorrection, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Correct a document in spite of its edit window, and try again what is held.

        What people have approved is not corrected: that is amended.
        """
        version = require_version(if_match)
        corrected = call.use.corrections.correct(
            call.caller, document_id, version, asked.patch, asked.reason, dry_run=asked.dry_run
        )
        return HttpAnswer(corrected, version=version if asked.dry_run else corrected.version)


def _require_restarted(outcome: RestartOutcome) -> None:
    if outcome.outcome == "blocked":
        raise Rejected(
            "RESTART_NOT_POSSIBLE",
            "the document is not restarted: the report says what is in the way",
            remedy="Do what the obstacles of its report say, then restart it.",
            details={"report": show_report(outcome.report)},
        )


def _show(outcome: RestartOutcome) -> RestartedDocument:
    definition = outcome.definition
    return RestartedDocument(
        outcome.document_id,
        outcome.outcome,
        outcome.version,
        outcome.node,
        UsedDefinition(UUID(definition.id), definition.name, definition.version),
        outcome.repeats,
        outcome.instance_id,
        show_report(outcome.report),
        outcome.held_ahead,
    )
