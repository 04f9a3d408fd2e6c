"""Moving an instance to a newer definition: which of its live tokens can go on there, and why others cannot.

Nothing is guessed: a token goes on at the same node, of the same type, in the same blocks, on the same way,
or it is blocked with what would help. An instance moves when all of its tokens can, and not otherwise.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from signet.core.compiler.artifact import COMPILER_VERSION
from signet.core.contracts.contract import AMENDED, Contract
from signet.core.contracts.indexed_columns import map_indexed_fields
from signet.core.runtime.tokens import Token, TokenState, find_root
from signet.core.runtime.workflow import Workflow, WorkflowNode

# What a report names of the steps that a token would never come to, and of fields; more are not told.
MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Definition:
    """A published definition, loaded; `id` is its row's."""

    id: str
    name: str
    version: int
    published_at: datetime
    workflow: Workflow
    # Of its documents; an automation has none of its own.
    contract: Contract | None = None

    def to_json(self) -> dict[str, Any]:
        said = {"id": self.id, "name": self.name, "version": self.version, "hash": self.workflow.hash}
        return said | ({"contract_version": self.contract.version} if self.contract else {})


@dataclass(frozen=True, slots=True)
class InstancePosition:
    """Where an instance is, and what its document looks like beside it."""

    tokens: Sequence[Token]
    # (token, node) of each step that has been executed to its end.
    done: Collection[tuple[str, str]] = ()
    # Nodes whose approvals were given and not used yet.
    unused_approvals: Sequence[str] = ()
    # The document's version as the instance has seen it, and as it is.
    seen_version: int = 0
    document_version: int = 0
    document_status: str | None = None
    # Its row says what its steps say.
    agrees_with_steps: bool = True


@dataclass(frozen=True, slots=True)
class Obstacle:
    code: str
    sentence: str
    remedy: str

    def to_json(self) -> dict[str, str]:
        return {"code": self.code, "sentence": self.sentence, "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class TokenAssessment:
    """On one live token. What it passes by was added behind it, and is never executed for it."""

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
    """On all live tokens, and on what stands in the way of the instance as a whole."""

    assessments: tuple[TokenAssessment, ...]
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def is_safe(self) -> bool:
        return not self.obstacles and all(assessment.is_safe for assessment in self.assessments)

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": "safe" if self.is_safe else "blocked",
            "obstacles": [obstacle.to_json() for obstacle in self.obstacles],
            "tokens": [assessment.to_json() for assessment in self.assessments],
        }


_STAY = "Leave it under the definition that it runs under: it ends there."
_GO_ON = "Wait until it has gone on from there, or leave it under the definition that it runs under."
_NOTHING = "Name a definition that was published later."


def assess(old: Definition, new: Definition, position: InstancePosition) -> Report:
    """Whether the instance can go on under the new definition; nothing is changed by asking."""
    return Report(
        tuple(_judge(old.workflow, new.workflow, token, position) for token in position.tokens),
        tuple(_find_obstacles(old, new, position)),
    )


# --- the instance as a whole ---


def _find_obstacles(old: Definition, new: Definition, position: InstancePosition) -> Iterator[Obstacle]:
    if _subject_of(old) != _subject_of(new):
        sentence = f"'{new.name}' is a workflow of something else than '{old.name}'"
        yield Obstacle("WORKFLOW_OF_ANOTHER", sentence, "Name a definition of the same entity type.")
        return
    if new.published_at <= old.published_at:
        sentence = f"'{new.name}' version {new.version} is not newer than what the instance runs under"
        yield Obstacle("DEFINITION_NOT_NEWER", sentence, _NOTHING)
    if new.workflow.content["compiler_version"] != COMPILER_VERSION:
        sentence = f"'{new.name}' version {new.version} was compiled by an earlier compiler"
        yield Obstacle("COMPILER_STALE", sentence, "Have it recompiled, and move to that.")
    if not position.agrees_with_steps:
        sentence = "the row of the instance does not say what its steps say"
        yield Obstacle("ROW_LAGS", sentence, "Rebuild it.")
    if old.contract is not None and new.contract is not None:
        yield from _find_contract_obstacles(old.contract, new.contract, position.document_status)
    if position.document_version != position.seen_version:
        sentence = (
            f"the document is at version {position.document_version}, and the instance has seen"
            f" {position.seen_version}"
        )
        yield Obstacle("EDIT_NOT_TAKEN", sentence, "Wake it, so that it takes in what was edited.")
    if old.workflow.hash != new.workflow.hash:
        for node_id in position.unused_approvals:
            sentence = f"what was approved at {node_id} is pinned to the old definition, and not used yet"
            yield Obstacle("APPROVAL_UNUSED", sentence, _GO_ON)


def _subject_of(definition: Definition) -> tuple[Any, ...]:
    """What it is a workflow of: the documents of a type, or one automation."""
    content = definition.workflow.content
    is_automation = content["kind"] == "automation"
    return is_automation, content["entity_type"], content["name"] if is_automation else None


def _find_contract_obstacles(old: Contract, new: Contract, status: str | None) -> Iterator[Obstacle]:
    """The document goes along: what it holds must be right under the contract of then as it is."""
    if new.version < old.version:
        sentence = f"it is made for version {new.version} of the contract; the document is at {old.version}"
        yield Obstacle("CONTRACT_OLDER", sentence, _NOTHING)
    changed = _list_changed_fields(old, new)
    if changed:
        sentence = f"the contract of then declares {', '.join(changed[:MAX_NAMED])} differently"
        yield Obstacle("FIELDS_CHANGED", sentence, _STAY)
    if status is not None and status not in (*new.states, AMENDED):
        yield Obstacle("STATUS_GONE", f"its contract has no state '{status}'", _STAY)


def _list_changed_fields(old: Contract, new: Contract) -> list[str]:
    """Also what is wanted of every document now, and what another column holds."""
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


def _judge(old: Workflow, new: Workflow, token: Token, position: InstancePosition) -> TokenAssessment:
    before, after = old.nodes[token.node], new.nodes.get(token.node)
    if after is None:
        sentence = f"{token.node} is not there any more"
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
    """Around it, and of what it stands for: a join counts branches, whoever they are."""
    is_same = _stack_of(old, token.node) == _stack_of(new, token.node)
    if token.state is TokenState.PARTED:
        is_same = is_same and _block_of(old, token.node) == _block_of(new, token.node)
    if token.state is TokenState.JOINED:
        is_same = is_same and old.joins[token.node] == new.joins[token.node]
    if not is_same:
        yield Obstacle("BLOCK_CHANGED", f"the parallel block at {token.node} is another one", _GO_ON)


def _stack_of(workflow: Workflow, node_id: str) -> list[tuple[str, str]]:
    """The blocks that a node stands in, from the outside in: the split, and the edge of the branch."""
    adjacency = workflow.content["adjacency"]
    return [
        (split, adjacency[split][branch]) for split, branch in workflow.content["blocks"].get(node_id, ())
    ]


def _block_of(workflow: Workflow, split: str) -> tuple[Any, ...]:
    joins = [(node_id, workflow.joins[node_id].mode) for node_id in _list_joins(workflow, split)]
    return joins, set(workflow.content["adjacency"][split])


def _list_joins(workflow: Workflow, split: str) -> list[str]:
    """One, as it compiles."""
    return [node_id for node_id, join in workflow.joins.items() if join.split == split]


def _check_state(old: Workflow, new: Workflow, token: Token) -> Iterator[Obstacle]:
    before, after = old.nodes[token.node], new.nodes[token.node]
    if token.state is TokenState.READY:
        if _policies_of(old, token.node) != _policies_of(new, token.node):
            sentence = f"{token.node} was allowed as another action than it is"
            yield Obstacle("POLICY_CHANGED", sentence, _GO_ON)
    elif token.state is TokenState.WAITING and before.type.name == "approval":
        if old.hash != new.hash:
            sentence = f"people are asked at {token.node}, and what they are asked names the old definition"
            remedy = "Have them decide, or withdraw it: an edit or another request does."
            yield Obstacle("APPROVAL_OPEN", sentence, remedy)
    elif token.state is TokenState.WAITING and before.type.name == "state":
        if _goes_on(after) and not _goes_on(before):
            sentence = f"it waits at {token.node}, where nothing waits any more"
            yield Obstacle("STATE_GOES_ON", sentence, _GO_ON)
    elif token.state is TokenState.WAITING and before.config != after.config:
        yield Obstacle("WAIT_CHANGED", f"what it waits for at {token.node} is configured differently", _GO_ON)


def _goes_on(state: WorkflowNode) -> bool:
    """By itself: nothing that waits there would ever be looked at again."""
    return "automatic" in state.edges or "ended" in state.edges


def _policies_of(workflow: Workflow, node_id: str) -> list[Any]:
    """What an action was allowed by; nothing for other nodes."""
    content = workflow.content
    sources = (content["edges"][edge_id]["source"] for edge_id in content["reverse_adjacency"][node_id])
    return [
        workflow.nodes[source].config
        for source in sources
        if workflow.nodes[node_id].type.name == "action" and workflow.nodes[source].type.name == "policy_gate"
    ]


def _check_path(old: Workflow, new: Workflow, node_id: str) -> Iterator[Obstacle]:
    """An edit sends it back to where its way began, and a request asks for where it leads."""
    if _way_of(old, node_id) != _way_of(new, node_id):
        yield Obstacle("WAY_CHANGED", f"{node_id} lies on another way there", _GO_ON)


def _way_of(workflow: Workflow, node_id: str) -> tuple[str | None, str | None]:
    if workflow.kind == "automation":
        return None, None  # it has one way, and nobody sends it back
    node = workflow.nodes[node_id]
    slot = workflow.content["slot_map"].get(node_id)
    exits = workflow.nodes[f"sys:slot:{slot}:out"].edges["done"] if slot is not None else ()
    return workflow.return_state_of(node.id), exits[0].target if exits else None


def _check_done(new: Workflow, token: Token, done: Collection[tuple[str, str]]) -> Iterator[Obstacle]:
    """What one way has executed it does not execute again, wherever it stands now."""
    root = find_root(token.id)
    own = {node for token_id, node in done if find_root(token_id) == root}
    ahead = _list_ahead(new, token.node) - {token.node}
    if token.state is TokenState.PARTED:
        # What is inside is its branches' affair; it goes on from the join.
        ahead = set().union(*(_list_ahead(new, join) for join in _list_joins(new, token.node)))
    again = sorted(own & ahead)
    if again:
        sentence = f"{again[0]} is done, and would be done again from {token.node}"
        yield Obstacle("DONE_AHEAD", sentence, _GO_ON)


def _list_ahead(workflow: Workflow, node_id: str) -> set[str]:
    """The node and all that it leads to; whoever is sent back begins anew."""
    edges, adjacency = workflow.content["edges"], workflow.content["adjacency"]
    return _follow(
        node_id,
        lambda one: (edges[e]["target"] for e in adjacency[one] if edges[e]["role"] != "return"),
    )


def _list_passed_by(old: Workflow, new: Workflow, token: Token) -> tuple[str, ...]:
    """What was added on its way and lies behind it, back to the state where the way begins."""
    edges, sources = new.content["edges"], new.content["reverse_adjacency"]

    def step_back(one: str) -> Iterable[str]:
        if new.nodes[one].type.name == "state":
            return ()
        return (edges[e]["source"] for e in sources[one] if edges[e]["role"] != "return")

    behind = _follow(token.node, step_back) - {token.node}
    return tuple(sorted(node_id for node_id in behind if node_id not in old.nodes)[:MAX_NAMED])


def _follow(node_id: str, step: Any) -> set[str]:
    found, left = {node_id}, [node_id]
    while left:
        for following in step(left.pop()):
            if following not in found:
                found.add(following)
                left.append(following)
    return found
