"""The check of a move to a newer definition: each live token can go on there, or is told why not.

Nothing is guessed. A token goes on at the same node, of the same type, in the same blocks and on the same
path. Any other token is blocked, with a remedy. An instance moves only when all of its tokens can.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from signet.core.compiler.artifact import COMPILER_VERSION
from signet.core.contracts.contract import AMENDED, Contract, EditWindow
from signet.core.contracts.indexed_columns import map_indexed_fields
from signet.core.runtime.approval_control import asks_alike
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.tokens import root_of
from signet.core.runtime.workflow import Workflow, WorkflowNode

# A report names no more than this of the nodes that a token passes by, and of changed fields.
MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Definition:
    """A published definition, loaded; `id` is its row's."""

    id: str
    name: str
    version: int
    published_at: datetime
    workflow: Workflow
    # The contract of its documents; an automation has none.
    contract: Contract | None = None

    def to_json(self) -> dict[str, Any]:
        named = {"id": self.id, "name": self.name, "version": self.version, "hash": self.workflow.hash}
        return named | ({"contract_version": self.contract.version} if self.contract else {})


@dataclass(frozen=True, slots=True)
class MoveInput:
    """The tokens of an instance, with the facts about it and its document that a move depends on."""

    tokens: Sequence[Token]
    # The token and the node of each step that has ended.
    done: Collection[tuple[str, str]] = ()
    # Nodes whose approvals were given and not used yet.
    unused_approvals: Sequence[str] = ()
    # The document's version as the instance has seen it, and as it is.
    seen_version: int = 0
    document_version: int = 0
    document_status: str | None = None
    # False where its row says something else than its steps.
    agrees_with_steps: bool = True
    # The tenant wants two people for each change of the control.
    wants_two_people: bool = False
    # What only the new definition reads, though an approval has pinned what the old one does.
    unpinned_reads: Sequence[str] = ()
    # A new instance begins, under its own definition or the one that others begin under.
    may_be_older: bool = False


@dataclass(frozen=True, slots=True)
class Obstacle:
    code: str
    sentence: str
    remedy: str

    def to_json(self) -> dict[str, str]:
        return {"code": self.code, "sentence": self.sentence, "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class TokenAssessment:
    """The assessment of one live token. Nodes that were added behind it are never executed for it."""

    token: Token
    obstacles: tuple[Obstacle, ...] = ()
    passes_by: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        return not self.obstacles

    def to_json(self) -> dict[str, Any]:
        return {
            "token": self.token.id,
            "node": self.token.node,
            "state": self.token.state.value,
            "verdict": "safe" if self.is_safe else "blocked",
            "obstacles": [obstacle.to_json() for obstacle in self.obstacles],
            "passes_by": list(self.passes_by),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The assessments of all live tokens, and the obstacles of the instance as a whole."""

    assessments: tuple[TokenAssessment, ...]
    obstacles: tuple[Obstacle, ...] = ()
    # The new definition asks for other approvals, or asks for them elsewhere.
    changes_approvals: bool = False

    @property
    def is_safe(self) -> bool:
        return not self.obstacles and all(assessment.is_safe for assessment in self.assessments)

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": "safe" if self.is_safe else "blocked",
            "obstacles": [obstacle.to_json() for obstacle in self.obstacles],
            "changes_approvals": self.changes_approvals,
            "tokens": [assessment.to_json() for assessment in self.assessments],
        }


_STAY = "Leave it under the definition that it runs under: it ends there."
_GO_ON = "Wait until it has gone on from there, or leave it under the definition that it runs under."
_NOTHING = "Name a definition that was published later."
_BEGIN_AGAIN = (
    "Leave it under the definition that it runs under, or cancel it."
    " A new request then begins under the newest definition."
)
_NOT_ASKED_AGAIN = (
    "Leave it under the definition that it runs under. No request begins in the state '{state}',"
    " so that nothing follows where it is cancelled."
)
_AMENDED_AGAIN = (
    "Leave it under the definition that it runs under, or cancel it. No request begins in the state"
    " '{state}': an edit then makes an amendment, which begins under the newest definition."
)
# A gate waits where votes have lapsed, and their seats are asked again.
_ASKING = ("approval", "lifecycle_gate")


def assess(old: Definition, new: Definition, position: MoveInput) -> Report:
    """Report whether the instance can go on under the new definition."""
    changes_approvals = not asks_alike(old.workflow, old.contract, new.workflow, new.contract)
    obstacles = [*_find_obstacles(old, new, position)]
    if changes_approvals and position.wants_two_people:
        sentence = (
            f"'{new.name}' version {new.version} asks for other approvals; one person may not choose them"
        )
        remedy = _describe_beginning_again(old.contract, position.document_status)
        obstacles.append(Obstacle("APPROVALS_CHANGED", sentence, remedy))
    if position.unpinned_reads:
        read = ", ".join(position.unpinned_reads[:MAX_NAMED])
        sentence = f"'{new.name}' version {new.version} reads {read}, which no approval has pinned"
        remedy = _describe_beginning_again(old.contract, position.document_status)
        obstacles.append(Obstacle("READS_UNPINNED", sentence, remedy))
    assessments = tuple(_judge(old.workflow, new.workflow, token, position) for token in position.tokens)
    return Report(assessments, tuple(obstacles), changes_approvals)


def _describe_beginning_again(contract: Contract | None, status: str | None) -> str:
    """Describe what can follow a cancelled workflow, in the state where it leaves the document."""
    state = contract.states.get(status) if contract is not None and status is not None else None
    if contract is None or state is None:
        return _BEGIN_AGAIN
    transitions = contract.transitions.values()
    if any(each.kind == "requested" and status in each.from_states for each in transitions):
        return _BEGIN_AGAIN
    remedy = _AMENDED_AGAIN if state.edit is EditWindow.AMEND_ONLY else _NOT_ASKED_AGAIN
    return remedy.format(state=status)


# --- the instance as a whole ---


def _find_obstacles(old: Definition, new: Definition, position: MoveInput) -> Iterator[Obstacle]:
    if _subject_of(old) != _subject_of(new):
        sentence = f"'{new.name}' is not a workflow for the same subject as '{old.name}'"
        yield Obstacle("WORKFLOW_OF_ANOTHER", sentence, "Name a definition of the same entity type.")
        return
    if new.published_at <= old.published_at and not position.may_be_older:
        sentence = f"'{new.name}' version {new.version} is not newer than what the instance runs under"
        yield Obstacle("DEFINITION_NOT_NEWER", sentence, _NOTHING)
    if new.workflow.content["compiler_version"] != COMPILER_VERSION:
        sentence = f"'{new.name}' version {new.version} was compiled by an earlier compiler"
        yield Obstacle("COMPILER_STALE", sentence, "Have it recompiled, and move to the new version.")
    if not position.agrees_with_steps:
        sentence = "the row of the instance differs from its steps"
        yield Obstacle("ROW_LAGS", sentence, "Rebuild it.")
    if old.contract is not None and new.contract is not None:
        yield from _find_contract_obstacles(old.contract, new.contract, position.document_status)
    if position.document_version != position.seen_version:
        sentence = (
            f"the document is at version {position.document_version}, and the instance has seen"
            f" version {position.seen_version}"
        )
        yield Obstacle(
            "EDIT_NOT_TAKEN", sentence, "Wake it; where it is paused, do what its explanation names."
        )
    if old.workflow.hash != new.workflow.hash:
        for node_id in position.unused_approvals:
            sentence = f"an approval given at {node_id} is pinned to the old definition and not used yet"
            yield Obstacle("APPROVAL_UNUSED", sentence, _GO_ON)


def _subject_of(definition: Definition) -> tuple[Any, ...]:
    """Return what the workflow is of: the documents of a type, or one automation."""
    content = definition.workflow.content
    is_automation = content["kind"] == "automation"
    return is_automation, content["entity_type"], content["name"] if is_automation else None


def _find_contract_obstacles(old: Contract, new: Contract, status: str | None) -> Iterator[Obstacle]:
    """Yield why the document cannot go along: it must be right under the new contract as it is."""
    if new.version < old.version:
        sentence = (
            f"the new definition is for version {new.version} of the contract;"
            f" the document is at version {old.version}"
        )
        yield Obstacle("CONTRACT_OLDER", sentence, _NOTHING)
    changed = _list_changed_fields(old, new)
    if changed:
        sentence = f"the new definition's contract declares {', '.join(changed[:MAX_NAMED])} differently"
        yield Obstacle("FIELDS_CHANGED", sentence, _STAY)
    if status is not None and status not in (*new.states, AMENDED):
        yield Obstacle("STATUS_GONE", f"the new definition's contract has no state '{status}'", _STAY)


def _list_changed_fields(old: Contract, new: Contract) -> list[str]:
    """List fields that are declared differently, newly required, or held by another column."""
    columns = map_indexed_fields(new)
    changed = {
        name
        for name, declared in old.fields.items()
        if name not in new.fields
        or declared.model_copy(update={"label": ""}) != new.fields[name].model_copy(update={"label": ""})
    }
    changed |= {name for name, column in map_indexed_fields(old).items() if columns.get(name) != column}
    return sorted(changed | {name for name in new.fields.keys() - old.fields if new.fields[name].required})


# --- one token ---


def _judge(old: Workflow, new: Workflow, token: Token, position: MoveInput) -> TokenAssessment:
    before, after = old.nodes[token.node], new.nodes.get(token.node)
    if after is None:
        sentence = f"the definition to move to has no node {token.node}"
        return TokenAssessment(token, (Obstacle("NODE_GONE", sentence, _GO_ON),))
    if before.type.name != after.type.name:
        sentence = f"{token.node} was a {before.type.name}, and is a {after.type.name}"
        return TokenAssessment(token, (Obstacle("NODE_TYPE_CHANGED", sentence, _GO_ON),))
    obstacles = (
        *_check_blocks(old, new, token),
        *_check_state(old, new, token),
        *_check_path(old, new, token.node),
        *_check_done(new, token, position.done),
    )
    return TokenAssessment(token, obstacles, _list_passed_by(old, new, token))


def _check_blocks(old: Workflow, new: Workflow, token: Token) -> Iterator[Obstacle]:
    """Yield an obstacle where the blocks around the token changed, or the block that it represents."""
    is_same = _stack_of(old, token.node) == _stack_of(new, token.node)
    if token.state is TokenState.PARTED:
        is_same = is_same and _block_of(old, token.node) == _block_of(new, token.node)
    if token.state is TokenState.JOINED:
        is_same = is_same and old.joins[token.node] == new.joins[token.node]
    if not is_same:
        yield Obstacle("BLOCK_CHANGED", f"the parallel block at {token.node} has changed", _GO_ON)


def _stack_of(workflow: Workflow, node_id: str) -> list[tuple[str, str]]:
    """Return the blocks around a node, from the outside in: the split, and the edge of the branch."""
    adjacency = workflow.content["adjacency"]
    return [
        (split, adjacency[split][branch]) for split, branch in workflow.content["blocks"].get(node_id, ())
    ]


def _block_of(workflow: Workflow, split: str) -> tuple[Any, ...]:
    joins = [(node_id, workflow.joins[node_id].mode) for node_id in _list_joins(workflow, split)]
    return joins, set(workflow.content["adjacency"][split])


def _list_joins(workflow: Workflow, split: str) -> list[str]:
    return [node_id for node_id, join in workflow.joins.items() if join.split == split]


def _check_state(old: Workflow, new: Workflow, token: Token) -> Iterator[Obstacle]:
    before, after = old.nodes[token.node], new.nodes[token.node]
    if token.state in (TokenState.READY, TokenState.FAILED):
        if _policies_of(old, token.node) != _policies_of(new, token.node):
            sentence = f"{token.node} was allowed by a policy that has changed"
            yield Obstacle("POLICY_CHANGED", sentence, _GO_ON)
    elif token.state is TokenState.WAITING and before.type.name in _ASKING:
        if old.hash != new.hash:
            sentence = f"people are still asked at {token.node} under the old definition"
            remedy = "Have them decide, or pause the instance, ask again, move it, and resume it."
            yield Obstacle("APPROVAL_OPEN", sentence, remedy)
    elif token.state is TokenState.WAITING and before.type.name == "state":
        if _goes_on(after) and not _goes_on(before):
            sentence = f"the token waits at {token.node}, where nothing waits in the new definition"
            yield Obstacle("STATE_GOES_ON", sentence, _GO_ON)
    elif token.state is TokenState.WAITING and before.config != after.config:
        yield Obstacle("WAIT_CHANGED", f"the wait at {token.node} is configured differently", _GO_ON)


def _goes_on(state: WorkflowNode) -> bool:
    """Return whether the state goes on by itself: a token that waits there would never be looked at again."""
    return "automatic" in state.edges or "ended" in state.edges


def _policies_of(workflow: Workflow, node_id: str) -> list[Any]:
    """Return the policies that allow an action; none for other nodes."""
    content = workflow.content
    sources = (content["edges"][edge_id]["source"] for edge_id in content["reverse_adjacency"][node_id])
    return [
        workflow.nodes[source].config
        for source in sources
        if workflow.nodes[node_id].type.name == "action" and workflow.nodes[source].type.name == "policy_gate"
    ]


def _check_path(old: Workflow, new: Workflow, node_id: str) -> Iterator[Obstacle]:
    """Yield an obstacle where the path changed: an edit goes back along it, a request asks for its end."""
    if _path_of(old, node_id) != _path_of(new, node_id):
        sentence = f"in the new definition the way through {node_id} begins or ends elsewhere"
        yield Obstacle("WAY_CHANGED", sentence, _GO_ON)


def _path_of(workflow: Workflow, node_id: str) -> tuple[str | None, str | None]:
    if workflow.kind == "automation":
        return None, None  # it has one path, and no edit sends it back
    node = workflow.nodes[node_id]
    slot = workflow.content["slot_map"].get(node_id)
    exits = workflow.nodes[f"sys:slot:{slot}:out"].edges["done"] if slot is not None else ()
    return workflow.return_state_of(node.id), exits[0].target if exits else None


def _check_done(new: Workflow, token: Token, done: Collection[tuple[str, str]]) -> Iterator[Obstacle]:
    """Block a move that would execute a finished step a second time."""
    root = root_of(token.id)
    own = {node for token_id, node in done if root_of(token_id) == root}
    ahead = list_ahead(new, token.node) - {token.node}
    if token.state is TokenState.PARTED:
        # Its branches answer for the nodes inside; it goes on from the join itself.
        ahead = set().union(*(list_ahead(new, join) for join in _list_joins(new, token.node)))
    again = sorted(own & ahead)
    if again:
        sentence = f"{again[0]} has been executed, and would be executed again from {token.node}"
        yield Obstacle("DONE_AHEAD", sentence, _GO_ON)


def list_ahead(workflow: Workflow, node_id: str) -> set[str]:
    """List the node and all that it leads to; a token that is sent back is a new one."""
    edges, adjacency = workflow.content["edges"], workflow.content["adjacency"]
    return _follow(
        node_id,
        lambda source: (edges[e]["target"] for e in adjacency[source] if edges[e]["role"] != "return"),
    )


def _list_passed_by(old: Workflow, new: Workflow, token: Token) -> tuple[str, ...]:
    """List the nodes that were added behind the token, back to the state where its path begins."""
    edges, sources = new.content["edges"], new.content["reverse_adjacency"]

    def step_back(target: str) -> Iterable[str]:
        if new.nodes[target].type.name == "state":
            return ()
        return (edges[e]["source"] for e in sources[target] if edges[e]["role"] != "return")

    behind = _follow(token.node, step_back) - {token.node}
    return tuple(sorted(node_id for node_id in behind if node_id not in old.nodes)[:MAX_NAMED])


def _follow(node_id: str, step: Any) -> set[str]:
    reached, left = {node_id}, [node_id]
    while left:
        for following in step(left.pop()):
            if following not in reached:
                reached.add(following)
                left.append(following)
    return reached
