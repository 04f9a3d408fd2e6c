"""The check of a restart: a document without a live instance begins again, where its last one stood.

It begins at the state of its document. Behind a passed gate it begins at the slot there, since the transition
is done and only what follows is not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from signet.core.errors import Rejected
from signet.core.repair.move_check import Definition, MoveInput, Obstacle, Report, assess, list_ahead
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.go_to_targets import check_approval_ahead, has_lasting_effect
from signet.core.runtime.operator_actions import Sequel, check_end, only_goes_by_itself
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.resting_states import find_resting_state
from signet.core.runtime.tokens import ROOT
from signet.core.runtime.workflow import Workflow, WorkflowNode

# For a document whose instance is ended: it begins again, or an incident opens on it. Or the next request
# begins a new instance. Or nothing follows, because it is over.
Follows = Literal["restart", "incident", "request", "nothing"]
_SEQUELS: tuple[Sequel | None, ...] = (None, "restart", "leave")
_OWN = "Restart it under its own definition, or under a later one where this is no obstacle."


@dataclass(frozen=True, slots=True)
class EndedPlace:
    """The place where the last instance of a document stood when it ended."""

    tokens: Sequence[Token] = ()
    # The nodes that have acted since the document came there. False: its call may have left, or leave.
    acted: Mapping[str, bool] = field(default_factory=dict)
    # People have decided about the document on its way there, as its record says.
    is_decided: bool = False


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


def list_repeated(workflow: Workflow, acted: Mapping[str, bool], node_id: str) -> list[str]:
    """List the nodes that have acted since there, and will act again."""
    return sorted(acted.keys() & list_ahead(workflow, node_id))


def list_before_decision(workflow: Workflow, node_id: str) -> set[str]:
    """List what the node leads to before people are asked, also by ways back.

    A gate that each way asks people about is passed by nobody else, also where a branch leads there.
    """
    found, left = set[str](), [node_id]
    while left:
        name = left.pop()
        is_asked = workflow.nodes[name].type.name == "approval" or name in workflow.guarded_gates
        if name not in found and not is_asked:
            found.add(name)
            edges = workflow.content["adjacency"][name]
            left += [workflow.content["edges"][edge_id]["target"] for edge_id in edges]
    return found


def refuse_repeated(workflow: Workflow, place: EndedPlace, status: str, node_id: str) -> Rejected | None:
    """Refuse to do again behind a gate what was approved once."""
    acted = place.acted
    repeated = list_repeated(workflow, acted, node_id)
    lasting = [name for name in repeated if has_lasting_effect(workflow, name)]
    is_after = workflow.nodes[node_id].type.name == "slot_in"
    if not lasting or not (is_after or place.is_decided or workflow.is_behind_approvals(status)):
        return None
    done = ", ".join(name for name in lasting if acted[name])
    sent = ", ".join(name for name in lasting if not acted[name])
    parts = [f"would be done again by {done}"] if done else []
    parts += [f"may have left already, and would be sent again by {sent}"] if sent else []
    sentence = f"what was approved once {'; it '.join(parts)}"
    remedy = (
        "Let the instance that did it go on: retry what is held, skip it with the answer, or wait. Where it"
        " has ended, ask for a transition that begins there, or amend the document."
    )
    return Rejected("INSTANCE_TARGET_REPEATS", sentence, remedy=remedy)


def check_left(workflow: Workflow, place: EndedPlace, status: str, *, is_amendment: bool) -> Rejected | None:
    """Refuse to end an instance where its document could neither go on nor begin again.

    Nobody can ask for what leads on, and what was approved once is not done again.
    """
    if not only_goes_by_itself(workflow, status):
        return None
    node = choose_beginning(workflow, place, status, is_amendment=is_amendment)
    rejected = refuse_repeated(workflow, place, status, node)
    if rejected is None:
        return None
    sentence = f"the instance cannot end: {rejected.message}, and nobody can ask for what leads on"
    remedy = "Retry what is held, or skip it with the answer. What waits ends by its answer, or by advance."
    return Rejected(rejected.code, sentence, remedy=remedy)


def refuse_ended(status: str) -> Rejected:
    sentence = f"nothing is left to do for a document in status '{status}': its workflow has ended"
    return Rejected("RESTART_NOT_POSSIBLE", sentence, remedy="Ask for a transition that begins there.")


def check_beginning(
    workflow: Workflow, place: EndedPlace, status: str, *, is_amendment: bool
) -> Rejected | None:
    """Refuse a restart that would do again what was approved once, or that has nothing left to do."""
    node = choose_beginning(workflow, place, status, is_amendment=is_amendment)
    if has_nothing_left(workflow, node):
        return refuse_ended(status)
    return refuse_repeated(workflow, place, status, node)


def list_sequels(
    execution: InstanceExecution, acted: Mapping[str, bool], status: str | None, *, is_amendment: bool
) -> list[Sequel | None]:
    """List what a person may name as the sequel where they end the instance; None names none."""
    workflow, tokens = execution.workflow, execution.projection.position.at_work()
    place = EndedPlace(tokens, acted, execution.is_decided)
    if check_approval_ahead(execution) is not None:
        return []
    found: list[Sequel | None] = []
    for then in _SEQUELS:
        check = check_beginning if then == "restart" else check_left
        refused = check_end(workflow, status, then)
        if refused is None and status is not None:
            refused = check(workflow, place, status, is_amendment=is_amendment)
        if refused is None:
            found.append(then)
    return found


def list_undone(workflow: Workflow, place: EndedPlace) -> list[str]:
    """List the nodes behind a passed gate that are left undone where the instance ends."""
    return workflow.list_behind_gates(sorted({token.node for token in place.tokens}))


def foresee_end(
    workflow: Workflow, place: EndedPlace, status: str | None, then: Sequel | None, *, is_amendment: bool
) -> Follows:
    """Foresee what follows for the document; an incident opens where nothing else leads on."""
    if then == "restart":
        return "restart"
    state = workflow.nodes.get(f"sys:state:{status}")
    if status is None or state is None:
        return "nothing"
    if only_goes_by_itself(workflow, status):
        return "incident"
    node = choose_beginning(workflow, place, status, is_amendment=is_amendment)
    if list_undone(workflow, place) and refuse_repeated(workflow, place, status, node) is None:
        return "incident"
    return "nothing" if state.edges.keys() <= {"ended"} else "request"


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
