"""Stages that nobody may decide: what keeps each person who is asked, and what the tenant can do."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from signet.core.compiler.graph import ENVELOPE
from signet.core.contracts.contract import EditWindow
from signet.core.explain.instance_record import InstanceRecords, StuckStageRecord
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import begin_sentence, describe_node, end_sentence
from signet.core.explain.vocabulary import describe_list, escape
from signet.core.explain.voters import describe_obstacles, describe_shown

_BY_ANOTHER = "A person must do that who is not responsible for the document: otherwise it bars the vote."


@dataclass(frozen=True)
class StuckStage:
    """A stage that nobody may decide; without a `request_id` it could not even begin.

    `additions` are members who could decide it once they have the asked role and its permission.
    """

    node: str
    stage: int
    request_id: UUID | None
    additions: tuple[str, ...]
    remedies: tuple[str, ...]
    text: tuple[str, ...]


def explain_stuck_stages(outline: Outline, record: InstanceRecords) -> Iterator[StuckStage]:
    is_paused = record.instance.status == "paused"
    for stuck in record.stuck_stages:
        head = (
            f"{begin_sentence(describe_node(outline, stuck.node_id))}: nobody may decide stage {stuck.stage}."
        )
        kept = (*map(end_sentence, stuck.unseated), *describe_obstacles(stuck.voters))
        remedies = tuple(_list_remedies(outline, record, stuck, is_paused=is_paused))
        yield StuckStage(
            stuck.node_id,
            stuck.stage,
            stuck.request_id,
            tuple(stuck.additions),
            remedies,
            (head, *kept, *remedies),
        )


def _list_remedies(
    outline: Outline, record: InstanceRecords, stuck: StuckStageRecord, *, is_paused: bool
) -> Iterator[str]:
    """Yield the ways out, the one that helps first."""
    if stuck.bar is not None:
        yield end_sentence(f"Undo this first: {stuck.bar}")
        yield "Until then that bars every vote of this stage, also of a new member."
        yield from _describe_helpers(stuck)
    else:
        yield from _describe_additions(stuck)
    if stuck.rejecters:
        yield f"Or reject it: {describe_shown([escape(person) for person in stuck.rejecters], 'or')} may."
    if not _is_kept_until_decided(outline, stuck.node_id):
        yield "Or cancel the workflow, where nobody wants this any more."
    yield from _describe_other_policy(outline, record, stuck)
    if stuck.seatable:
        people = describe_shown([escape(person) for person in stuck.seatable], "or")
        yield f"If the tenant can do none of this, two operators may seat {people} by break-glass."
    if is_paused:
        yield "When nothing keeps the people any more, retry the instance."


def _is_kept_until_decided(outline: Outline, node_id: str) -> bool:
    """Return whether the approval is behind a gate and its state leads on: nobody goes around it."""
    reading = outline.workflow
    slot = reading.slot_of(node_id)
    return slot != ENVELOPE and bool(reading.edges_from(reading.exit_of(slot), "requested", "automatic"))


def _describe_additions(stuck: StuckStageRecord) -> Iterator[str]:
    if not stuck.roles:
        yield "People are asked by name here, so that no other member can be added."
        yield from map(end_sentence, stuck.named_remedies)
        if stuck.named_remedies:
            yield _BY_ANOTHER
        return
    roles = describe_list([escape(role) for role in stuck.roles], "or")
    if stuck.additions:
        people = describe_shown([escape(person) for person in stuck.additions], "or")
        yield f"Give the role {roles} to {people}, or to a new member: nothing else keeps them."
    else:
        yield f"Add a new member with the role {roles}: something else keeps every member of today."
    if stuck.needed_later:
        people = describe_shown([escape(person) for person in stuck.needed_later], "or")
        yield f"Do not take {people}: a later stage would have nobody, for it wants another person."
    if stuck.permissions:
        needed = describe_list([escape(permission) for permission in stuck.permissions])
        yield f"Their roles must grant {needed}."
    yield from map(end_sentence, stuck.named_remedies)
    yield _BY_ANOTHER
    yield from _describe_helpers(stuck)


def _describe_helpers(stuck: StuckStageRecord) -> Iterator[str]:
    """Describe who may change members without barring the vote by it."""
    if stuck.helpers:
        people = describe_shown([escape(person) for person in stuck.helpers], "or")
        yield f"That can be done by {people}."
    else:
        yield (
            "No active member without a part in the document may do that (member:edit, and what the role"
            " brings): an operator can add one by the tenant's file."
        )


def _describe_other_policy(
    outline: Outline, record: InstanceRecords, stuck: StuckStageRecord
) -> Iterator[str]:
    same = " or with same_person: allowed" if stuck.lacks_another_person else ""
    yield f"Or publish a policy with fewer stages{same}."
    if stuck.request_id is not None and _is_kept_until_decided(outline, stuck.node_id):
        yield "An open request keeps its policy, and behind a gate its workflow cannot be cancelled."
    elif stuck.request_id is not None:
        yield "An open request keeps its policy: for another one the workflow must be cancelled."
        yield from _describe_asking_again(outline, record)
    elif stuck.chain_name is not None:
        yield f"The chain {escape(stuck.chain_name)} is read again when the instance is retried."
    elif stuck.immovable is not None:
        yield end_sentence(f"The instance cannot move to it, for {stuck.immovable}: it must be cancelled")
        yield from _describe_asking_again(outline, record)
    else:
        yield "Then move the instance to the definition with that policy."


def _describe_asking_again(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    """Describe what can follow a cancelled workflow, in the state where it leaves the document."""
    contract, document = outline.contract, record.document
    if contract is None or document is None or document.status not in contract.states:
        return
    state = escape(document.status)
    asked = [
        escape(name)
        for name, transition in contract.transitions.items()
        if transition.kind == "requested" and document.status in transition.from_states
    ]
    if asked:
        yield f"Then ask for {describe_list(asked, 'or')} again."
    elif contract.states[document.status].edit is EditWindow.AMEND_ONLY:
        yield (
            f"Nobody can ask for it again then in the state '{state}'. An edit of the document makes an"
            " amendment: a new document, which begins again."
        )
    else:
        yield (
            f"Nobody can ask for it again then in the state '{state}'. Cancel the workflow with `then:"
            " leave`, and restart the document under the definition with that policy."
        )
