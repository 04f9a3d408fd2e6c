"""The explanation of an instance: its position and the causes of it, from its record alone.

The same record always gives the same words: nothing here looks at a clock or at the documents of today.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.decided_pins import describe_decision
from signet.core.compiler.artifact import Artifact
from signet.core.contracts.contract import Contract
from signet.core.control.authorship import ControlAuthors
from signet.core.explain.approval_requests import RequestExplanation, explain_requests
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.authors import describe_control
from signet.core.explain.incidents import (
    ExplainedAct,
    ExplainedIncident,
    explain_incidents,
    write_incidents,
)
from signet.core.explain.instance_record import PASSED_BY, ExplainedStep, InstanceRecords
from signet.core.explain.instance_sentences import (
    ReadCondition,
    describe_actor,
    describe_given,
    describe_happened,
    describe_rejection,
    describe_standing,
    describe_summary,
    describe_turn,
    find_conditions,
    follow_rejections,
    list_mistakes,
    read_condition,
)
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import describe_time
from signet.core.explain.stuck_stages import StuckStage, explain_stuck_stages
from signet.core.explain.vocabulary import Vocabulary, describe_list, escape
from signet.core.explain.waits import describe_left, describe_wait, describe_waking
from signet.core.explain.ways_on import explain_ways_on, write_ways_on
from signet.core.runtime.position import STANDING
from signet.core.runtime.projection import INHERITED, POINTED_BEHIND

# As many steps as one can follow; slots are passed on the way, and say nothing.
MAX_SHOWN_STEPS = 15


@dataclass(frozen=True)
class Happened:
    """A step that has ended."""

    seq: int
    node: str
    at: datetime | None
    status: str
    outcome: str | None
    chosen_edge_ids: tuple[str, ...]
    actor: str
    run_as: str
    # The one that it acted for or as, in words.
    acted: str
    text: str
    # What an acting node was given; None for the others.
    given: Mapping[str, Any] | None
    conditions: tuple[ReadCondition, ...]
    # The mistake of each field that made it fail, and what it read in vain.
    mistakes: tuple[str, ...]


@dataclass(frozen=True)
class TokenPosition:
    """A token, the node where it is, and the things that it waits for there."""

    token: str
    node: str
    since: datetime
    text: str
    waits_for: tuple[str, ...]


@dataclass(frozen=True)
class HistoryLine:
    """A line in the life of an instance."""

    at: datetime
    entry: str
    actor: str
    text: str


@dataclass(frozen=True)
class ApprovedReference:
    """The fields of another document that steps read as an approval held them fast."""

    ref: str
    document_id: UUID
    # Of the other document, when people were asked; None where it was not there.
    version: int | None
    fields: tuple[str, ...]
    # The approval; and the document that was approved, where this one was made of it.
    approval: UUID | None
    inherited_from: UUID | None
    text: str


@dataclass(frozen=True)
class ExplainedRejection:
    """A change that a rule has stopped: who asked for it, and what the rule read."""

    rule: str
    rule_version: int
    operation: str
    actor: str
    at: datetime
    text: str
    condition: ReadCondition


@dataclass(frozen=True)
class InstanceExplanation:
    id: UUID
    entity_type: str | None
    document_id: UUID | None
    workflow: str
    workflow_hash: str
    status: str
    reason: str | None
    version: int
    # The person or key that its steps act for now, and in words.
    actor: str
    acting_for: str
    summary: str
    # What holds it, with the acts that the server accepts now.
    incidents: tuple[ExplainedIncident, ...]
    standing: tuple[TokenPosition, ...]
    happened: tuple[Happened, ...]
    # How many earlier steps it leaves out.
    left_out: int
    turns: tuple[HistoryLine, ...]
    approvals: tuple[RequestExplanation, ...]
    approved_references: tuple[ApprovedReference, ...]
    # The stages that nobody may decide, with what can be done.
    stuck_stages: tuple[StuckStage, ...]
    # What was withdrawn, and has left or may have left.
    left: tuple[str, ...]
    # The newest changes of the document that rules have stopped since it began.
    rejections: tuple[ExplainedRejection, ...]
    # The events that would move it, or the reason that nothing does.
    waking: tuple[str, ...]
    # What people can do to bring it on, where no incident holds it.
    acts: tuple[ExplainedAct, ...]
    # The authors of the definition, the contract and the chains that it runs under.
    control: ControlAuthors | None


@dataclass(frozen=True)
class Earlier:
    """The definition that an instance ran under until the step `until` moved it to another."""

    until: int
    artifact: Artifact
    contract: Contract | None


def explain_instance(
    artifact: Artifact,
    contract: Contract | None,
    record: InstanceRecords,
    earlier: Sequence[Earlier] = (),
    control: ControlAuthors | None = None,
) -> InstanceExplanation:
    instance, content = record.instance, artifact.content
    outline = _make_outline(artifact, contract, record)
    outlines = [
        (definition.until, _make_outline(definition.artifact, definition.contract, record))
        for definition in earlier
    ]
    by_hash = {
        definition.artifact.hash: outline_of_then
        for definition, (_, outline_of_then) in zip(earlier, outlines, strict=True)
    }
    happened = tuple(_list_happened(outline, outlines, record))
    return InstanceExplanation(
        id=instance.id,
        entity_type=instance.entity_type,
        document_id=instance.entity_id,
        workflow=content["name"],
        workflow_hash=artifact.hash,
        status=instance.status,
        reason=instance.reason,
        version=instance.version,
        actor=instance.actor_id,
        acting_for=outline.words.describe_subject(instance.actor_id),
        summary=describe_summary(outline, record),
        incidents=tuple(explain_incidents(outline, record)),
        standing=tuple(_list_standing(outline, record)),
        happened=happened,
        left_out=max(0, record.ended_steps - len(happened)),
        turns=tuple(
            HistoryLine(turn.created_at, turn.entry, turn.actor_id, describe_turn(outline, turn))
            for turn in record.turns
        ),
        approvals=tuple(explain_requests(outline, record, by_hash)),
        approved_references=tuple(_list_approved_references(record)),
        stuck_stages=tuple(explain_stuck_stages(outline, record)),
        left=tuple(describe_left(outline, record)),
        rejections=tuple(_list_rejections(outline, record)),
        waking=tuple(describe_waking(outline, record)),
        acts=tuple(explain_ways_on(outline, record)),
        control=control,
    )


def write_instance(explained: InstanceExplanation) -> list[str]:
    return list(_write_lines(explained))


def _list_standing(outline: Outline, record: InstanceRecords) -> Iterator[TokenPosition]:
    steps = {step.token_id: step for step in record.steps if step.end_seq is None}
    for token in record.instance.active_tokens:
        if token["state"] in STANDING:
            step = steps.get(token["id"])
            since = step.started_at if step is not None else record.instance.updated_at
            given = describe_given(step.input_json if step is not None else None)
            waits_for = (*describe_wait(outline, record, token, step), *given)
            yield TokenPosition(
                token["id"], token["node"], since, describe_standing(outline, token["node"]), waits_for
            )


def _list_approved_references(record: InstanceRecords) -> Iterator[ApprovedReference]:
    for ref, pin in sorted(record.instance.pins.items()):
        approval, origin, version = pin.get("approval"), pin.get(INHERITED), pin["version"]
        fields = tuple(sorted(pin["values"]))
        yield ApprovedReference(
            ref,
            UUID(pin["document_id"]),
            version,
            fields,
            UUID(approval) if approval else None,
            UUID(origin) if origin else None,
            _describe_pin(ref, pin),
        )


def _describe_pin(ref: str, pin: Mapping[str, Any]) -> str:
    if POINTED_BEHIND in pin and pin["version"] is None:
        pointed = f"{escape(ref)}: a step has pointed it to document {pin['document_id']}."
        return f"{pointed} Nobody has approved what that says."
    origin, version = pin.get(INHERITED), pin["version"]
    reads = describe_list(escape(name) for name in sorted(pin["values"])) or "nothing"
    as_of = f"as of version {version}" if version is not None else "which was not there"
    document = pin.get("read_from", pin["document_id"])
    sentence = f"{escape(ref)}: {reads} of document {document} {as_of}"
    sentence += f", by {describe_decision(pin)}"
    return sentence + (f" of document {origin}, which made this one." if origin else ".")


def _list_rejections(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedRejection]:
    for rejection in record.rejections:
        yield ExplainedRejection(
            rejection.rule,
            rejection.rule_version,
            rejection.operation,
            rejection.actor_id,
            rejection.created_at,
            describe_rejection(outline, rejection),
            read_condition(outline, rejection.evidence),
        )


def _make_outline(artifact: Artifact, contract: Contract | None, record: InstanceRecords) -> Outline:
    words = Vocabulary(record.instance.entity_type, contract, record.machines)
    return Outline(WorkflowReading(artifact.content), contract, words)


def _list_happened(
    last: Outline, earlier: Sequence[tuple[int, Outline]], record: InstanceRecords
) -> Iterator[Happened]:
    """Yield the ended steps, each in the words of the definition that it ran under."""
    ended = [step for step in record.steps if step.end_seq is not None and step.node_type not in PASSED_BY]
    followed = list(follow_rejections(last, sorted(ended, key=_when_it_ended)))
    for step, was_rejected in followed[-MAX_SHOWN_STEPS:]:
        output = step.output_json or {}
        outline = next((of_then for until, of_then in earlier if (step.end_seq or 0) <= until), last)
        yield Happened(
            seq=step.seq,
            node=step.node_id,
            at=step.completed_at,
            status=step.status,
            outcome=output.get("outcome"),
            chosen_edge_ids=tuple(output.get("chosen_edge_ids", ())),
            actor=step.actor_user_id,
            run_as=step.run_as,
            acted=describe_actor(outline, step.node_id, step.run_as, step.actor_user_id),
            text=describe_happened(outline, step, was_rejected=was_rejected),
            given=step.input_json,
            conditions=tuple(find_conditions(outline, output)),
            mistakes=tuple(list_mistakes(outline, step, record.steps)),
        )


def _when_it_ended(step: ExplainedStep) -> tuple[int, int]:
    return step.end_seq or 0, step.seq


def _write_left(explained: InstanceExplanation) -> Iterator[str]:
    if explained.left:
        yield from ("", "What was withdrawn, and may have left")
    yield from (f"  {sentence}" for sentence in explained.left)


def _write_lines(explained: InstanceExplanation) -> Iterator[str]:
    yield explained.summary
    acting = f"acting for {explained.acting_for}" if explained.actor else "acting for nobody"
    yield (
        f"Workflow {escape(explained.workflow)}, instance {explained.id}, version {explained.version},"
        f" {acting}."
    )
    if explained.control is not None:
        yield describe_control(explained.control)
    yield from write_incidents(explained.incidents)
    if explained.standing:
        yield from ("", "Where it is")
    for position in explained.standing:
        yield f"  {position.text} since {describe_time(position.since)}."
        yield from (f"    {sentence}" for sentence in position.waits_for)
    yield from ("", "What moves it")
    yield from (f"  {sentence}" for sentence in explained.waking)
    stuck_stages = [stuck.text for stuck in explained.stuck_stages]
    yield from _write_groups("What to do where nobody may decide", stuck_stages)
    yield from write_ways_on(explained.acts)
    yield from _write_left(explained)
    yield from ("", "How it came here (steps in the order of their ends)")
    if explained.left_out:
        yield f"  {explained.left_out} earlier steps are left out."
    for happened in explained.happened:
        yield f"  {happened.seq:>4}  {happened.text} {happened.acted}"
        yield from (f"          {line}" for line in describe_given(happened.given))
        yield from (f"          {condition.text}" for condition in happened.conditions)
        yield from (f"          {mistake}" for mistake in happened.mistakes)
    rejections = [(rejection.text, rejection.condition.text) for rejection in explained.rejections]
    yield from _write_groups("What rules have rejected, the newest first", rejections)
    yield from _write_groups("Its approvals", [approval.text for approval in explained.approvals])
    if explained.approved_references:
        yield from ("", "What it reads of other documents as it was approved")
    yield from (f"  {reference.text}" for reference in explained.approved_references)
    yield from ("", "Its life")
    yield from (f"  {describe_time(turn.at)}  {turn.text}" for turn in explained.turns)


def _write_groups(title: str, groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write the title where there is any group: of each its first sentence, and the others below it."""
    if groups:
        yield from ("", title)
    for first, *details in groups:
        yield f"  {first}"
        yield from (f"    {sentence}" for sentence in details)
