"""The acts of an operator on a token: to cancel it, to end its wait, to skip its node, to send it elsewhere.

None lets a document pass without the approval that it needs. To cancel is to reject. Only a wait for time or
for the outside world can be ended by hand, and only what acts can be skipped. `go_to_targets` says where
a token may be sent.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from signet.core.errors import FieldError, Rejected
from signet.core.runtime.decisions import Decision, DecisionInput, conclude
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.go_to_targets import check_approval_ahead, list_targets
from signet.core.runtime.position import STANDING, Token, TokenState
from signet.core.runtime.workflow import Workflow, WorkflowNode

# The outcome of each wait when what it waits for comes.
OUTCOME_OF_WAIT: Mapping[str, str] = MappingProxyType(
    {"wait_timer": "elapsed", "wait_event": "received", "webhook_out": "delivered", "notification": "done"}
)
# The outcome of a node that is skipped: as if it had acted. Nothing that decides is in it.
OUTCOME_OF_SKIPPED: Mapping[str, str] = MappingProxyType({**OUTCOME_OF_WAIT, "action": "done"})
# What follows for a document whose instance a person ends: it begins again, or rests without a workflow.
Sequel = Literal["restart", "leave"]
# Tokens that cannot be cancelled: the reason, and what to do instead.
_KEPT_STATES: Mapping[TokenState, tuple[str, str]] = MappingProxyType(
    {
        TokenState.PARTED: ("it has parted into branches", "Cancel its branches."),
        TokenState.JOINED: ("its branch has ended", "Cancel the other branches, or the whole instance."),
    }
)
_KEPT_TYPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "state": ("it rests at a state", "Request a transition, or cancel the whole instance."),
        "lifecycle_gate": (
            "it has come to its gate",
            "Ask for another transition, or cancel the whole instance.",
        ),
        "slot_out": ("its slot has ended", "Cancel the whole instance."),
    }
)
# The remedy for a node that cannot be ended by hand.
_INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "state": "Request a transition of the document.",
        "approval": "Have it decided by those who were asked, or cancel the token.",
        "lifecycle_gate": "Change what holds the gate, then retry the instance.",
    }
)


def only_goes_by_itself(workflow: Workflow, status: str | None) -> bool:
    """Return whether nobody can ask for what leads on from this status: without an instance, nothing does."""
    state = workflow.nodes.get(f"sys:state:{status}")
    return state is not None and "automatic" in state.edges and "requested" not in state.edges


def check_end(workflow: Workflow, status: str | None, then: Sequel | None) -> Rejected | None:
    """Require that a person says what follows, where nobody else can."""
    if then == "restart" and status is None:
        remedy = "Leave `then` out."
        return Rejected("RESTART_NOT_POSSIBLE", "the instance has no document to restart", remedy=remedy)
    if then is not None or not only_goes_by_itself(workflow, status):
        return None
    sentence = f"nobody can ask for a transition of a document in status '{status}'"
    return Rejected(
        "INSTANCE_SEQUEL_MISSING",
        f"{sentence}: say what follows",
        remedy="Name `then`: `restart` begins a new instance, `leave` opens an incident on the document.",
        fields=(FieldError("/then", "SEQUEL_MISSING", "wants restart or leave"),),
    )


def find_token(execution: InstanceExecution, name: str) -> Token | Rejected:
    """Find a token by its id or its node, where no other token is executed at the same time."""
    tokens = execution.projection.position.tokens
    at_node = (token for token in tokens.values() if token.node == name and _is_at_work(token))
    found = tokens.get(name) or next(at_node, None)
    if found is None:
        remedy = "Read the instance again: it may have moved."
        return Rejected("INSTANCE_TOKEN_NOT_FOUND", "the instance has no such token", remedy=remedy)
    return found


def _is_at_work(token: Token) -> bool:
    return token.state in STANDING


def check_cancel(workflow: Workflow, token: Token) -> Rejected | None:
    """Refuse to cancel, unless a gate follows that takes the rejection."""
    node = workflow.nodes[token.node]
    if _takes_rejection(node, token):
        return None
    why = _KEPT_STATES.get(token.state) or _KEPT_TYPES.get(node.type.name)
    if why is None:
        why = _find_no_taker(workflow, node)
    if why is None:
        return None
    sentence, remedy = why
    return Rejected(
        "INSTANCE_TOKEN_NOT_CANCELLABLE", f"the token cannot be cancelled: {sentence}", remedy=remedy
    )


def _find_no_taker(workflow: Workflow, node: WorkflowNode) -> tuple[str, str] | None:
    """Find why nothing that follows could take a rejection; a block that waits for any branch takes it."""
    gate = workflow.exit_gate_of(node.id)
    if gate is None:
        return "no gate follows that could take a rejection", "Cancel the whole instance."
    if any(join.mode == "any" and join.split in node.blocks for join in workflow.joins.values()):
        return None
    if gate.config["kind"] == "automatic" and "rejected" not in gate.edges:
        remedy = "Retry it, or skip it; end a wait by advance."
        return f"{gate.id} has no state for what is rejected, and would stay shut", remedy
    return None


def _takes_rejection(node: WorkflowNode, token: Token) -> bool:
    """Return whether the token is held at an automatic gate that sends what is rejected back."""
    is_automatic_gate = node.type.name == "lifecycle_gate" and node.config["kind"] == "automatic"
    return is_automatic_gate and token.state is TokenState.READY and "rejected" in node.edges


def check_advance(execution: InstanceExecution, token: Token) -> Rejected | None:
    node = execution.workflow.nodes[token.node]
    if token.hold is not None and token.id not in execution.open:
        return _refuse_advance("it is held, and does not wait", "Retry it, or skip it where that is listed.")
    if node.type.name not in OUTCOME_OF_WAIT:
        remedy = _INSTEAD.get(node.type.name, "Wake the instance, or retry it when it is paused.")
        return _refuse_advance(f"nothing from outside can end a node of type {node.type.name}", remedy)
    if token.id not in execution.open:
        return _refuse_advance("it does not wait yet", "Wake the instance, or retry it when it is paused.")
    return None


def check_ask_again(execution: InstanceExecution, token: Token) -> Rejected | None:
    """Refuse to ask people again where nobody is asked."""
    node = execution.workflow.nodes[token.node]
    if node.type.name != "approval":
        why, remedy = f"a node of type {node.type.name} asks nobody", "Retry it, or go to an earlier node."
    elif token.id not in execution.open and token.hold is None:
        why, remedy = "nobody is asked yet", "Wake the instance."
    else:
        return None
    return Rejected("INSTANCE_TOKEN_ASKS_NOBODY", f"people cannot be asked again: {why}", remedy=remedy)


def check_skip(workflow: Workflow, token: Token) -> Rejected | None:
    """Refuse to skip what is not held, and what decides."""
    node = workflow.nodes[token.node]
    if token.hold is None:
        return _refuse_skip("it is not held", "Skip what failed or cannot act; end a wait by advance.")
    if node.type.name not in OUTCOME_OF_SKIPPED:
        remedy = "Remove what holds it, then retry; or go to an earlier node."
        return _refuse_skip(f"a node of type {node.type.name} decides", remedy)
    return None


def _refuse_skip(why: str, remedy: str) -> Rejected:
    return Rejected("INSTANCE_TOKEN_NOT_SKIPPABLE", f"the node cannot be skipped: {why}", remedy=remedy)


def list_acts(
    execution: InstanceExecution,
    token: Token | None,
    status: str,
    *,
    is_paused_by_person: bool,
    is_behind: bool,
    is_correctable: bool,
) -> list[str]:
    """List the acts that repair what is held, as the checks would accept them; the gentlest first.

    Without a token the whole instance is paused: nothing moves before that ends.
    """
    if not execution.is_live:
        return []
    ending = ["cancel", "fail"] if check_approval_ahead(execution) is None else []
    is_retriable = check_retry(execution, is_paused_by_person=is_paused_by_person) is None
    found = ["retry"] if is_retriable else ["resume"] if check_resume(execution) is None else []
    has_drifted = execution.projection.has_drifted and not is_paused_by_person
    if token is None or not execution.takes_changes:
        found += ["go_to"] if has_drifted and list_targets(execution, status) else []
        return [*found, *ending]
    # An edit that is not taken in yet may send the instance elsewhere, so what rests on its place waits.
    found += ["ask_again"] if check_ask_again(execution, token) is None and not is_behind else []
    found += ["skip"] if check_skip(execution.workflow, token) is None and not is_behind else []
    found += ["go_to"] if list_targets(execution, status) and (has_drifted or not is_behind) else []
    found += ["correct"] if is_correctable and not is_behind else []
    found += ["cancel_token"] if check_cancel(execution.workflow, token) is None else []
    return [*found, *ending]


def check_retry(execution: InstanceExecution, *, is_paused_by_person: bool) -> Rejected | None:
    """Refuse a retry unless a token is held, or the engine has paused the instance."""
    projection = execution.projection
    if projection.is_paused_by_holds or (execution.is_running and projection.position.held()):
        return None
    if projection.status != "paused":
        return _refuse_unpaused(execution, "retried")
    if is_paused_by_person:
        sentence = "a person has paused the instance: nothing has failed that could be retried"
        return Rejected("INSTANCE_PAUSED_BY_PERSON", sentence, remedy="Resume it.")
    return None


def check_resume(execution: InstanceExecution) -> Rejected | None:
    """Refuse where nothing is paused. To let go what is held is a retry, and wants its reason."""
    if execution.projection.is_paused_by_holds:
        sentence = "nobody has paused the instance: all of its tokens are held"
        return Rejected("INSTANCE_NOT_PAUSED", sentence, remedy="Retry it, and say why.")
    return None if execution.projection.status == "paused" else _refuse_unpaused(execution, "resumed")


def _refuse_unpaused(execution: InstanceExecution, act: str) -> Rejected:
    sentence = f"the instance is {execution.projection.status}: only a paused one can be {act}"
    remedy = "Nothing of it is held. Wake it, where it should go on." if execution.is_running else ""
    return Rejected("INSTANCE_NOT_PAUSED", sentence, remedy=remedy)


def _refuse_advance(why: str, remedy: str) -> Rejected:
    return Rejected("INSTANCE_TOKEN_NOT_ADVANCEABLE", f"the wait cannot be ended: {why}", remedy=remedy)


def decide_advance(
    workflow: Workflow, node: WorkflowNode, decision_input: DecisionInput, payload: Any, person: str
) -> Decision:
    """Decide as if what the node waits for had come; the evidence names the person."""
    return _decide_by_hand(workflow, node, decision_input, payload, {"advanced_by": person})


def decide_skip(
    workflow: Workflow,
    node: WorkflowNode,
    decision_input: DecisionInput,
    payload: Any,
    person: str,
    said: str | None = None,
) -> Decision:
    """Decide as if the node had acted; the evidence names the person.

    `said` is the hash of what the answer is for. It counts for the same alone.
    """
    by_hand = {"skipped_by": person} if said is None else {"skipped_by": person, "said": said}
    return _decide_by_hand(workflow, node, decision_input, payload, by_hand)


def _decide_by_hand(
    workflow: Workflow,
    node: WorkflowNode,
    decision_input: DecisionInput,
    payload: Any,
    evidence: Mapping[str, Any],
) -> Decision:
    env = decision_input.env
    saved = {node.config["save_as"]: payload} if node.config.get("save_as") else {}
    env = {**env, "context": {**env.get("context", {}), **saved}}
    return conclude(workflow, node, OUTCOME_OF_SKIPPED[node.type.name], env, evidence, saved)
