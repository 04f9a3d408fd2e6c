"""Every history of a sound workflow: no token is lost or doubled, and every path comes to its end."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.errors import Defect
from signet.core.runtime.position import Position, Token, TokenState
from signet.core.runtime.projection import CONTROL
from signet.core.runtime.tokens import MAX_LIVE_TOKENS, begin, finish
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, WorldScript, simulate
from tests.support.core.valid_workflow import PATCH, compile_patch
from tests.support.generated.histories import Event, History
from tests.support.generated.scripts import make_document, make_script
from tests.support.generated.strategies import fuzz, load_seed, make, numbers, seeds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run_history(seed: int, other: int, *, interferes: bool = False) -> History:
    return History(load_seed(seed), Random(other), interferes).run()


def run_script(seed: int, other: int) -> Simulation:
    case, rng = make(seed), Random(other)
    script = make_script(rng, case.contract)
    if case.is_automation:
        script = replace(script, birth="created")
    return simulate(load_seed(seed), make_document(rng), script, NOW)


@fuzz(80)
@given(seeds, numbers)
def test_every_run_ends_or_rests_at_named_waits(seed: int, other: int) -> None:
    simulation = run_script(seed, other)
    ends = [step for step in simulation.steps if step.step.node == "sys:end"]
    if simulation.status == "running":
        assert simulation.waiting and simulation.reason is None
        assert not simulation.projection.position.ready()
    elif simulation.status == "paused":
        assert simulation.reason
    else:
        assert simulation.projection.tokens() == []
        assert len(ends) == (simulation.status == "completed")
    open_steps = [step.step for step in simulation.steps if step.step.end_seq is None]
    assert len(open_steps) == len(simulation.waiting)


@fuzz(80)
@given(seeds, numbers)
def test_every_history_of_a_sound_graph_can_go_on_until_the_end_is_reached_once(
    seed: int, other: int
) -> None:
    """`History` fails when it is stuck. After any last move the shape of what is left is sound."""
    history = run_history(seed, other)
    ends = [event for event in history.events if event.step.node == "sys:end"]
    if history.projection.status == "completed":
        assert len(ends) == 1 and ends[0] is history.events[-1]
        assert ends[0].changes.has_ended
    else:
        assert not ends


@fuzz(60)
@given(seeds, numbers)
def test_no_token_is_lost_or_doubled(seed: int, other: int) -> None:
    history = run_history(seed, other, interferes=True)
    born, gone = {"T"}, set[str]()
    for event in history.events:
        after = event.after.position.tokens
        new = {token.id for token in event.changes.born}
        assert len(new) == len(event.changes.born) and not new & born, "an id is given once"
        born |= new
        left = (event.before.keys() | new) - after.keys()
        assert left >= {token.id for token in event.changes.cancelled}
        assert left - {token.id for token in event.changes.cancelled} <= list_absorbed(event)
        gone |= left
        assert born == gone | after.keys() and not gone & after.keys()
        check_family(history.workflow, after)


def list_path(event: Event) -> set[str]:
    """Return the token that ran and its parents; leaving blocks early goes up along them."""
    path, token = set[str](), event.before.get(event.step.data.get("token", event.step.token))
    while token is not None:
        path.add(token.id)
        token = event.before.get(token.parent or "")
    return path


def list_absorbed(event: Event) -> set[str]:
    """Return the tokens that an event may end without cancelling: on its path, or taken by its join."""
    path = list_path(event)
    joined = [t for t in (*event.before.values(), *event.changes.born) if t.state is TokenState.JOINED]
    return path | {token.id for token in joined if token.parent in path}


def check_family(workflow: Workflow, tokens: dict[str, Token]) -> None:
    for token in tokens.values():
        stands_in = list[str]()
        ancestor = token
        while ancestor.parent is not None:
            parent = tokens[ancestor.parent]
            assert parent.state is TokenState.PARTED and parent.node == ancestor.split
            assert ancestor.id.startswith(f"{parent.id}/{parent.epoch}.")
            stands_in.insert(0, parent.node)
            ancestor = parent
        blocks = list(workflow.nodes[token.node].blocks)
        if token.state is TokenState.JOINED:
            assert workflow.joins[token.node].split == token.split
        else:
            assert blocks == stands_in
        if token.state is TokenState.PARTED:
            assert any(other.parent == token.id for other in tokens.values())


@fuzz(60)
@given(seeds, numbers)
def test_wf_16_a_join_fires_once_for_each_split(seed: int, other: int) -> None:
    fired: Counter[tuple[str, str, int]] = Counter()
    for event in run_history(seed, other).events:
        token = event.changes.fired_join
        if token is not None:
            fired[token.node, token.id, token.epoch] += 1
            assert event.after.position.tokens[token.id] == token
            assert not [name for name in event.after.position.tokens if name.startswith(f"{token.id}/")]
            below = [
                t for t in (*event.before.values(), *event.changes.born) if t.id.startswith(f"{token.id}/")
            ]
            arrived = {t.id for t in below if t.parent == token.id and t.state is TokenState.JOINED}
            lost = {t.id for t in below} - arrived - list_path(event)
            assert {t.id for t in event.changes.cancelled} == lost, "losers are withdrawn"
    assert all(count == 1 for count in fired.values())


@fuzz(80)
@given(seeds, numbers)
def test_who_was_rejected_passes_no_gate_before_somebody_approves(seed: int, other: int) -> None:
    """The edges alone tell it, not the token's own memory. A token that a person cancels is rejected."""
    history = run_history(seed, other, interferes=True)
    workflow, rejected = history.workflow, set[str]()
    for event in history.events:
        is_cancelled = event.step.node == f"{CONTROL}token_cancelled"
        no_edge = event.step.node in workflow.joins and not event.step.chosen_edge_ids
        if is_cancelled or (no_edge and event.step.status == "completed"):
            rejected.add(find_carrier(event))
        if event.step.end_seq is None or not event.step.chosen_edge_ids:
            continue
        edges = [workflow.find_edge(edge) for edge in event.step.chosen_edge_ids]
        node = workflow.nodes[event.step.node]
        if node.type.name == "lifecycle_gate" and edges[0].on == "passed":
            assert event.step.token not in rejected
        is_rejected = edges[0].on in REJECTING or (event.step.token in rejected and edges[0].on != "approved")
        if edges[0].role == "return" or workflow.nodes[edges[0].target].type.name == "state":
            is_rejected = False
        (rejected.add if is_rejected else rejected.discard)(find_carrier(event))
        if is_rejected:
            rejected |= {token.id for token in event.changes.born}


@pytest.mark.parametrize(("second", "status"), [("delivered", "draft"), ("error", "draft")])
def test_a_rejection_from_before_a_block_stays_beyond_its_exits(second: str, status: str) -> None:
    """Show that neither the join nor an early exit lets a document pass that was rejected before."""
    call = {"type": "webhook_out", "config": {"endpoint": "bureau"}}
    patch = deepcopy(PATCH)
    patch["slots"] = {
        "approval": {
            "exit": "join",
            "nodes": [
                {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}},
                {"id": "fork", "type": "parallel_split"},
                {"id": "one", **call},
                {"id": "two", **call},
                {"id": "met", "type": "parallel_join", "config": {"mode": "all"}},
            ],
            "edges": [
                {"source": "ask", "target": "out"},
                {"source": "ask", "target": "fork", "on": "rejected"},
                {"source": "fork", "target": "one"},
                {"source": "fork", "target": "two"},
                {"source": "one", "target": "met"},
                {"source": "two", "target": "met"},
                {"source": "two", "target": "out", "on": "error"},
            ],
        }
    }
    artifact = compile_patch(patch).artifact
    assert artifact is not None
    script = WorldScript(requests=["submit"], approvals={"ask": "rejected"}, effects={"two": second})
    simulation = simulate(Workflow(artifact), {"grand_total": 900}, script, NOW)
    assert simulation.document_status == status


def find_carrier(event: Event) -> str:
    """Return the token that goes on: itself, or the outermost one whose block its step has ended."""
    after = event.after.position.tokens
    token: str = event.step.data.get("token", event.step.token)
    while token not in after and token in event.before:
        token = event.before[token].parent or ""
    return token


@fuzz(60)
@given(seeds, numbers)
def test_wf_02_no_node_runs_twice_for_one_token_and_version(seed: int, other: int) -> None:
    history = run_history(seed, other, interferes=True)
    keys = Counter((step.node, step.token, step.version) for step in history.steps if step.token)
    assert [key for key, count in keys.items() if count > 1] == []


@fuzz(60)
@given(seeds, numbers)
def test_wf_02_holds_in_simulations(seed: int, other: int) -> None:
    steps = [simulated.step for simulated in run_script(seed, other).steps]
    keys = Counter((step.node, step.token, step.version) for step in steps if step.token)
    assert [key for key, count in keys.items() if count > 1] == []


@fuzz(40)
@given(seeds, numbers)
def test_who_is_sent_back_is_a_new_token(seed: int, other: int) -> None:
    history = run_history(seed, other)
    for event in history.events:
        edges = [history.workflow.find_edge(edge) for edge in event.step.chosen_edge_ids]
        if any(way.role == "return" for way in edges):
            (token,) = event.changes.born
            assert token.id == f"T/b{event.seq}" and token.id not in event.before
            assert list(event.after.position.tokens) == [token.id]
            assert not token.rejected


def test_firing_no_edge_is_a_defect() -> None:
    position = Position()
    begin(position, "sys:start", 1)
    with pytest.raises(Defect, match="must fire one edge, not 0"):
        finish(load_seed(1), position, "T", [], 1, 1)


def make_split_position(workflow: Workflow) -> tuple[Position, str]:
    split = next(join.split for join in workflow.joins.values() if join.mode == "all")
    position = Position()
    begin(position, split, 1)
    return position, split


def find_workflow_with_split() -> Workflow:
    workflows = [load_seed(seed) for seed in range(50)]
    return next(w for w in workflows if any(join.mode == "all" for join in w.joins.values()))


def test_an_instance_has_only_so_many_tokens() -> None:
    workflow = find_workflow_with_split()
    position, split = make_split_position(workflow)
    for index in range(MAX_LIVE_TOKENS):
        position.tokens[f"x{index}"] = Token(f"x{index}", split, TokenState.WAITING, 1)
    with pytest.raises(Defect, match="at most 1000 live tokens"):
        finish(workflow, position, "T", workflow.nodes[split].edges["done"], 1, 1)


def test_leaving_a_block_that_the_token_is_not_in_is_a_defect() -> None:
    workflow = find_workflow_with_split()
    edge = next(
        way
        for node in workflow.nodes.values()
        for edges in node.edges.values()
        for way in edges
        if len(node.blocks) > len(workflow.nodes[way.target].blocks) and way.target not in workflow.joins
    )
    position = Position()
    begin(position, edge.source, 1)
    with pytest.raises(Defect, match="leaves a block that it is not in"):
        finish(workflow, position, "T", [edge], 1, 1)


def test_a_token_as_json_and_where_an_instance_stands() -> None:
    workflow = find_workflow_with_split()
    position, split = make_split_position(workflow)
    edges = workflow.nodes[split].edges["done"]
    finish(workflow, position, "T", edges, 5, 2)
    assert position.tokens["T"].to_json() == {
        "id": "T", "node": split, "state": "parted", "version": 1,
        "rejected": False, "parent": None, "split": None, "epoch": 5,
    }  # fmt: skip
    assert position.current_nodes() == sorted({edge.target for edge in edges})
