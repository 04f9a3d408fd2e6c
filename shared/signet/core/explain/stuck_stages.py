"""Stages that nobody may decide: what keeps each person who is asked, and what the tenant can do."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from signet.core.explain.instance_record import InstanceRecords, StuckStageRecord
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import begin_sentence, describe_node, end_sentence
from signet.core.explain.vocabulary import describe_list, escape
from signet.core.explain.voters import describe_obstacles, describe_shown


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
        remedies = tuple(_list_remedies(stuck, is_paused=is_paused))
        yield StuckStage(
            stuck.node_id,
            stuck.stage,
            stuck.request_id,
            tuple(stuck.additions),
            remedies,
            (head, *kept, *remedies),
        )


def _list_remedies(stuck: StuckStageRecord, *, is_paused: bool) -> Iterator[str]:
    yield from _describe_additions(stuck)
    if stuck.is_barred:
        yield (
            "Where people lost what they vote by, a person without a part in the document gives it back."
            " If they agree with the loss, they take it again: then it bars nobody but them."
        )
    if stuck.rejecters:
        yield f"Or reject it: {describe_shown([escape(person) for person in stuck.rejecters], 'or')} may."
    yield "Or cancel the workflow, where nobody wants this any more."
    yield from _describe_other_policy(stuck)
    if stuck.request_id is not None:
        yield "If the tenant can do none of this, two operators may seat a member by break-glass."
    if is_paused:
        yield "When nothing keeps the people any more, retry the instance."


def _describe_additions(stuck: StuckStageRecord) -> Iterator[str]:
    if not stuck.roles:
        yield "The policy asks people by name, so that no other member can be added."
        return
    roles = describe_list([escape(role) for role in stuck.roles], "or")
    if stuck.additions:
        people = describe_shown([escape(person) for person in stuck.additions], "or")
        yield f"Give the role {roles} to {people}, or to a new member: nothing else keeps them."
    else:
        yield f"Add a new member with the role {roles}: something else keeps every member of today."
    if stuck.permissions:
        needed = describe_list([escape(permission) for permission in stuck.permissions])
        yield f"Their roles must grant {needed}."
    yield "A person must do that who is not responsible for the document: otherwise it bars the vote."


def _describe_other_policy(stuck: StuckStageRecord) -> Iterator[str]:
    same = " or with same_person: allowed" if stuck.lacks_another_person else ""
    yield f"Or publish a policy with fewer stages{same}."
    if stuck.request_id is not None:
        yield "An open request keeps its policy: cancel the workflow then, and ask again."
    elif stuck.chain_name is not None:
        yield f"The chain {escape(stuck.chain_name)} is read again when the instance is retried."
    else:
        yield "Then move the instance to the definition with that policy."
