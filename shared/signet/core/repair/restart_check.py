"""The check of a restart: a document without a live instance begins again, where its last one stood.

It begins at the state of its document. Behind a passed gate it begins at the slot there, since the transition
is done and only what follows is not.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from signet.core.errors import Rejected
from signet.core.repair.move_check import Definition, MoveInput, Obstacle, Report, assess, list_ahead
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.operator_actions import only_goes_by_itself
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.resting_states import find_resting_state
from signet.core.runtime.tokens import ROOT, root_of
from signet.core.runtime.workflow import Workflow, WorkflowNode

# What acts on other systems and other documents, and does so again.
_ACTING = ("action", "webhook_out", "notification")
_OWN = "Restart it under its own definition, or under a later one where this is no obstacle."


@dataclass(frozen=True, slots=True)
class EndedPlace:
    """The place where the last instance of a document stood when it ended."""

    tokens: Sequence[Token] = ()
    # The token and the node of each step that has ended.
    done: Collection[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class RestartInput:
    """The facts about a document that its restart depends on."""

    document_version: int
    document_status: str
    wants_two_people: bool = False
    # The definition is that of the last instance, or the one that new instances begin under.
    is_in_force: bool = False
    # What the definition reads of other documents that no approval has pinned.
    unpinned_reads: Sequence[str] = ()


def choose_beginning(workflow: Workflow, place: EndedPlace, status: str, *, is_amendment: bool) -> str:
    """Return the node where the new instance begins."""
    for token in place.tokens:
        node_id = workflow.return_state_of(token.node)
        if node_id is not None and _is_beginning(workflow.nodes[node_id], status):
            return node_id
    return find_resting_state(workflow, status, is_amendment=is_amendment)


def _is_beginning(node: WorkflowNode, status: str) -> bool:
    """Return whether it is the slot behind a gate, or a state with the document's status."""
    return node.type.name == "slot_in" or (node.type.name == "state" and node.config["state"] == status)


def has_nothing_left(workflow: Workflow, node_id: str) -> bool:
    """Return whether an instance that begins there would end at once."""
    node = workflow.nodes.get(node_id)
    return node is not None and "ended" in node.edges


def list_repeated(
    workflow: Workflow, place: EndedPlace, node_id: str, acted: Collection[str] = ()
) -> list[str]:
    """List the nodes that have acted since there, and will act again.

    `acted` are those of all instances of the document since its last passed gate. A way may be left; what
    was done on it stays done.
    """
    ahead = list_ahead(workflow, node_id)
    roots = {root_of(token.id) for token in place.tokens}
    done = {node for token_id, node in place.done if root_of(token_id) in roots}
    return sorted(node for node in done.union(acted) & ahead if workflow.nodes[node].type.name in _ACTING)


def refuse_repeated(
    workflow: Workflow, repeated: Sequence[str], status: str, node_id: str
) -> Rejected | None:
    """Refuse to do again behind a gate what was approved once."""
    lasting = [name for name in repeated if has_lasting_effect(workflow, name)]
    is_behind = workflow.nodes[node_id].type.name == "slot_in" or workflow.is_behind_approvals(status)
    if not lasting or not is_behind:
        return None
    sentence = f"what was approved once would be done again by {', '.join(lasting)}"
    remedy = "Ask for a transition that begins there, or amend the document."
    return Rejected("INSTANCE_TARGET_REPEATS", sentence, remedy=remedy)


def check_leaving(
    workflow: Workflow, place: EndedPlace, status: str, *, is_amendment: bool
) -> Rejected | None:
    """Refuse to end an instance where neither a request nor a restart would bring its document on."""
    if not only_goes_by_itself(workflow, status):
        return None
    node = choose_beginning(workflow, place, status, is_amendment=is_amendment)
    refused = refuse_repeated(workflow, list_repeated(workflow, place, node), status, node)
    if refused is None:
        return None
    sentence = f"nothing would bring the document on: {refused.message}"
    return Rejected(refused.code, sentence, remedy="Retry what is held, or skip it.")


def assess_restart(old: Definition, new: Definition, node_id: str, facts: RestartInput) -> Report:
    """Report whether the document can begin there under this definition, as a move would be judged."""
    version = facts.document_version
    position = MoveInput(
        [Token(ROOT, node_id, TokenState.READY, version)],
        seen_version=version,
        document_version=version,
        document_status=facts.document_status,
        wants_two_people=facts.wants_two_people,
        unpinned_reads=facts.unpinned_reads,
        may_be_older=facts.is_in_force,
    )
    report = assess(old, new, position)
    return replace(
        report,
        obstacles=tuple(map(_remedy, report.obstacles)),
        assessments=tuple(
            replace(one, obstacles=tuple(map(_remedy, one.obstacles))) for one in report.assessments
        ),
    )


def _remedy(obstacle: Obstacle) -> Obstacle:
    """Say what to do for a document that no instance holds."""
    return replace(obstacle, remedy=_OWN)
