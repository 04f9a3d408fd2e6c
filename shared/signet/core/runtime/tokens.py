"""Tokens, and how they are born, move, wait, join and die when a step ends.

Everything follows from the compiled graph and the steps alone (WF-15). The engine applies these functions to
the steps that it has just made, `projection` applies the same ones to the whole history.

A token's id tells its story. `T` is the first. `T/b7` was sent back by the step with number 7. `T/5.0` is the
first branch of the split of step 5; the split's own token waits and goes on from the join. `T/r9` failed and
was retried by step 9, at the same place. Item 2 of a `for_each` runs on `T/<node>#2`, which is only a name:
nothing else ever happens to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.errors import Defect
from signet.core.runtime.position import Hold, Position, Token, TokenState
from signet.core.runtime.workflow import Workflow, WorkflowEdge

ROOT = "T"
MAX_LIVE_TOKENS = 1_000


@dataclass(slots=True)
class TokenChanges:
    """The effect of one ended step on the tokens, for its caller to write."""

    born: list[Token] = field(default_factory=list)
    cancelled: list[Token] = field(default_factory=list)
    fired_join: Token | None = None  # the token that goes on from the join
    has_ended: bool = False  # no token is left


def name_item(token_id: str, node: str, index: int) -> str:
    return f"{token_id}/{node}#{index}"


def name_retry(token_id: str, seq: int) -> str:
    """Name the token that goes on for a failed one; a second retry takes the place of the first."""
    return f"{origin_of(token_id) or token_id}/r{seq}"


def origin_of(token_id: str) -> str | None:
    """Return the token that a retried one goes on for; None where it is no retry."""
    origin, _, last = token_id.rpartition("/")
    return origin if last.startswith("r") else None


def is_item(token_id: str) -> bool:
    return "#" in token_id


def root_of(token_id: str) -> str:
    """Return the token that this one is a branch or an item of; only one root lives at a time."""
    root, *rest = token_id.split("/")
    return f"{root}/{rest[0]}" if rest and rest[0].startswith("b") else root


def _change(
    token: Token,
    *,
    state: TokenState,
    node: str | None = None,
    version: int | None = None,
    rejected: bool | None = None,
) -> Token:
    """Copy a token with changes. `replace` is slow: it would be a fifth of the cost of a step here."""
    return Token(
        token.id,
        token.node if node is None else node,
        state,
        token.version if version is None else version,
        token.rejected if rejected is None else rejected,
        token.parent,
        token.split,
        token.epoch,
    )


def begin(position: Position, node: str, version: int) -> Token:
    token = Token(ROOT, node, TokenState.READY, version)
    position.tokens[ROOT] = token
    return token


def mark_waiting(position: Position, token_id: str) -> None:
    """Let the token wait: its step has begun and does not end yet."""
    position.tokens[token_id] = _change(position.tokens[token_id], state=TokenState.WAITING)


def hold(position: Position, token_id: str, reason: Hold) -> None:
    """Hold the token where it is: its node cannot act, or its wait cannot end."""
    position.tokens[token_id] = replace(position.tokens[token_id], hold=reason)


def hold_failed(position: Position, token_id: str, reason: Hold) -> None:
    """Hold the token of a step that has failed; its branches have none, so that nothing else ends."""
    token = position.tokens[token_id]
    position.tokens[token_id] = replace(token, state=TokenState.FAILED, hold=reason)


def retry(position: Position, token_ids: Iterable[str], seq: int, version: int) -> TokenChanges:
    """Let held tokens go on. One whose step has failed is born again, so that its step has a new key."""
    changes = TokenChanges()
    for token_id in token_ids:
        token = position.tokens[token_id]
        if token.state is not TokenState.FAILED:
            position.tokens[token_id] = replace(token, hold=None)
            continue
        _bear_again(position, token, seq, version, changes)
    return changes


def ask_again(position: Position, token_id: str, seq: int, version: int) -> TokenChanges:
    """End what a token waits for, and let it begin the same node again, so that its step has a new key."""
    changes = TokenChanges()
    _bear_again(position, position.tokens[token_id], seq, version, changes)
    return changes


def _bear_again(position: Position, token: Token, seq: int, version: int, changes: TokenChanges) -> None:
    del position.tokens[token.id]
    name = name_retry(token.id, seq)
    again = replace(token, id=name, state=TokenState.READY, version=version, hold=None)
    position.tokens[name] = again
    changes.cancelled.append(token)
    changes.born.append(again)


def finish(
    workflow: Workflow,
    position: Position,
    token_id: str,
    edges: Sequence[WorkflowEdge],
    seq: int,
    version: int,
) -> TokenChanges:
    """End the token's step, which fires these edges; `version` is the document's from now on."""
    token, changes = position.tokens[token_id], TokenChanges()
    node = workflow.nodes[token.node]
    if node.type.name == "end":
        del position.tokens[token_id]
        changes.has_ended = not position.tokens
    elif node.type.name == "parallel_split":
        _split(workflow, position, token, edges, seq, version, changes)
    elif len(edges) == 1:
        _move(workflow, position, token, edges[0], seq, version, changes)
    elif token.rejected and not edges and node.id in workflow.joins:
        # No node inside can reject, so that no edge takes the rejection: a person has cancelled there.
        return reject(workflow, position, token_id, seq, version)
    else:
        raise Defect("EDGES_NOT_ONE", f"a step of {node.id} must fire one edge, not {len(edges)}")
    return changes


def reject(workflow: Workflow, position: Position, token_id: str, seq: int, version: int) -> TokenChanges:
    """Move the token as if its node had rejected without an edge for that. A gate rejects by itself."""
    token, changes = position.tokens[token_id], TokenChanges()
    if workflow.nodes[token.node].type.name == "lifecycle_gate":
        position.tokens[token_id] = replace(token, rejected=True, hold=None)
        return changes
    edge = workflow.rejection_edge_of(token.node)
    _move(workflow, position, token, edge, seq, version, changes)
    return changes


def restart_at(position: Position, node: str, seq: int, version: int) -> TokenChanges:
    """Withdraw every token and begin a new one at the node: for an interrupt, an edit or another request."""
    changes = TokenChanges(cancelled=list(position.tokens.values()))
    position.tokens.clear()
    _send_back(position, node, seq, version, changes)
    return changes


def cancel_all(position: Position) -> TokenChanges:
    changes = TokenChanges(cancelled=list(position.tokens.values()), has_ended=True)
    position.tokens.clear()
    return changes


def _send_back(position: Position, node: str, seq: int, version: int, changes: TokenChanges) -> None:
    token = Token(f"{ROOT}/b{seq}", node, TokenState.READY, version)
    position.tokens[token.id] = token
    changes.born.append(token)


def _split(
    workflow: Workflow,
    position: Position,
    token: Token,
    edges: Sequence[WorkflowEdge],
    seq: int,
    version: int,
    changes: TokenChanges,
) -> None:
    if len(position.tokens) + len(edges) > MAX_LIVE_TOKENS:
        raise Defect("TOO_MANY_TOKENS", f"an instance has at most {MAX_LIVE_TOKENS} live tokens")
    position.tokens[token.id] = replace(token, state=TokenState.PARTED, epoch=seq)
    for index, edge in enumerate(edges):
        join = workflow.joins.get(edge.target)
        is_empty = join is not None and join.split == token.node
        branch = Token(
            f"{token.id}/{seq}.{index}",
            edge.target,
            TokenState.JOINED if is_empty else TokenState.READY,
            version,
            parent=token.id,
            split=token.node,
        )
        position.tokens[branch.id] = branch
        changes.born.append(branch)
    arrived = next((branch for branch in changes.born if branch.state is TokenState.JOINED), None)
    if arrived is not None:
        _try_join(workflow, position, arrived.id, version, changes)


def _move(
    workflow: Workflow,
    position: Position,
    token: Token,
    edge: WorkflowEdge,
    seq: int,
    version: int,
    changes: TokenChanges,
) -> None:
    if edge.role == "return":
        # Back to a state: a new token, so that the same node at the same version is a new step.
        del position.tokens[token.id]
        changes.cancelled.extend(position.tokens.values())
        position.tokens.clear()
        _send_back(position, edge.target, seq, version, changes)
        return
    token = _leave_blocks(workflow, position, token, edge, changes)
    rejected = _is_rejected(workflow, token, edge)
    join = workflow.joins.get(edge.target)
    if join is not None and join.split == token.split:
        position.tokens[token.id] = _change(
            token, node=edge.target, state=TokenState.JOINED, rejected=rejected
        )
        _try_join(workflow, position, token.id, version, changes)
    else:
        position.tokens[token.id] = _change(
            token, node=edge.target, state=TokenState.READY, version=version, rejected=rejected
        )


def _is_rejected(workflow: Workflow, token: Token, edge: WorkflowEdge) -> bool:
    """Return whether the token is rejected after this edge: it stays so until a node approves it."""
    if workflow.nodes[edge.target].type.name == "state":
        return False
    if edge.on in REJECTING:
        return True
    return token.rejected and edge.on != "approved"


def _leave_blocks(
    workflow: Workflow, position: Position, token: Token, edge: WorkflowEdge, changes: TokenChanges
) -> Token:
    """End the blocks that the edge leaves early. The split's token goes on, the others are cancelled."""
    inside = workflow.nodes[edge.source].blocks
    if not inside:
        return token
    depth = len(workflow.nodes[edge.target].blocks)
    join = workflow.joins.get(edge.target)
    if join is not None and join.split in inside:
        depth += 1  # reaching a block's own join is not leaving it
    for _ in range(len(inside) - depth):
        parent_id = token.parent
        if parent_id is None:
            raise Defect("TOKEN_WITHOUT_PARENT", f"{token.id} leaves a block that it is not in")
        del position.tokens[token.id]
        _cancel_below(position, parent_id, changes)
        parent = position.tokens[parent_id]
        # As at a join, a rejection from before the split stays.
        token = _change(parent, state=parent.state, rejected=parent.rejected or token.rejected)
    return token


def _cancel_below(position: Position, parent_id: str, changes: TokenChanges) -> None:
    below = f"{parent_id}/"
    for token_id in [token_id for token_id in position.tokens if token_id.startswith(below)]:
        changes.cancelled.append(position.tokens.pop(token_id))


def _try_join(
    workflow: Workflow, position: Position, token_id: str, version: int, changes: TokenChanges
) -> None:
    arrived = position.tokens[token_id]
    join = workflow.joins[arrived.node]
    parent_id = arrived.parent or ""
    siblings = [token for token in position.tokens.values() if token.parent == parent_id]
    joined = [token for token in siblings if token.state is TokenState.JOINED]
    # One rejection rejects all of them; any one of them is lost only when every one is rejected.
    waits_on = not arrived.rejected if join.mode == "all" else arrived.rejected
    wanted = join.required_token_count if join.mode == "all" else len(siblings)
    if not waits_on or len(joined) >= wanted:
        _fire_join(position, parent_id, siblings, arrived, version, changes)


def _fire_join(
    position: Position,
    parent_id: str,
    siblings: Iterable[Token],
    arrived: Token,
    version: int,
    changes: TokenChanges,
) -> None:
    for token in siblings:
        if token.state is TokenState.JOINED:
            del position.tokens[token.id]
    _cancel_below(position, parent_id, changes)
    parent = position.tokens[parent_id]
    token = replace(
        parent,
        node=arrived.node,
        state=TokenState.READY,
        version=version,
        # A rejection from before the split stays: no node inside was asked about it.
        rejected=parent.rejected or arrived.rejected,
    )
    position.tokens[parent_id] = token
    changes.fired_join = token
