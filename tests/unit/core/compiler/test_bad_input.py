"""Bad input of an author ends in findings, soon, and never in a traceback."""

from copy import deepcopy
from random import Random
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.approvals.policy import Chain
from signet.core.compiler.compiler import Compilation, compile_automation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.node_types import AUTHOR_NODE_TYPES
from signet.core.compiler.parallel_blocks import MAX_BLOCK_DEPTH, MAX_BRANCHES_IN_ALL
from signet.core.compiler.patch import MAX_EDGES, MAX_NODES, Automation, Patch
from signet.core.compiler.soundness import MAX_SHOWN_PATH
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.validation.model_errors import MAX_LISTED_MISTAKES
from signet.core.validation.strict_model import MAX_DOCUMENT_CHARACTERS, Strict, parse_strictly
from tests.support.core.valid_workflow import PATCH, compile_patch, read_envelope
from tests.support.generated.strategies import fuzz, make, numbers, seeds
from tests.support.generated.workflows import SETTINGS

WORDS = (
    "in",
    "out",
    "n0",
    "sys:end",
    "usr:checks:n0",
    "approval",
    "draft",
    "*",
    "",
    "\x00",
    "é€😀",
    "a" * 300,
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        [*WORDS, *AUTHOR_NODE_TYPES, "entity.amount > 5", "PT1H", "{entity.name}", "\ud800", 2**60]
    ),
)
keys = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        "contract patch base slots nodes edges id type config source target states fields on".split()
    ),
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


def compile_anything(document: Any, *, is_automation: bool = False) -> Compilation:
    if is_automation:
        automation, mistakes = parse_strictly(Automation, document)
        return Compilation(None, mistakes) if automation is None else compile_automation(automation)
    patch, mistakes = parse_strictly(Patch, document)
    if patch is None:
        return Compilation(None, mistakes)
    return compile_effective(read_envelope(), patch)


@fuzz(150)
@given(documents)
def test_any_json_is_read_or_refused(document: Any) -> None:
    contract, findings = parse_contract(document)
    assert contract is not None or findings
    for is_automation in (True, False):
        compilation = compile_anything(document, is_automation=is_automation)
        assert compilation.artifact is not None or compilation.findings


def put_somewhere(document: Any, value: Any, rng: Random) -> Any:
    """Return the document with the value at a random place in it."""
    changed = deepcopy(document)
    here: Any = changed
    while True:
        places = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not places:
            return changed
        place = rng.choice(places)
        if not isinstance(here[place], dict | list) or not here[place] or rng.random() < 0.2:
            here[place] = value
            return changed
        here = here[place]


@fuzz(150)
@given(seeds, numbers, documents)
def test_any_value_anywhere_in_a_valid_document(seed: int, other: int, value: Any) -> None:
    case, rng = make(seed), Random(other)
    contract, mistakes = parse_contract(put_somewhere(case.contract, value, rng))
    assert contract is not None or mistakes
    if contract is not None:
        bare = compile_effective(make_envelope(contract), None, SETTINGS)
        assert bare.artifact is not None or bare.findings
    changed = put_somewhere(case.patch, value, rng)
    contract, _ = parse_contract(case.contract)
    assert contract is not None
    compilation: Compilation
    if case.is_automation:
        automation, mistakes = parse_strictly(Automation, changed)
        compilation = (
            compile_automation(automation, contract, SETTINGS)
            if automation is not None
            else Compilation(None, mistakes)
        )
    else:
        patch, mistakes = parse_strictly(Patch, changed)
        compilation = (
            compile_effective(make_envelope(contract), patch, SETTINGS)
            if patch is not None
            else Compilation(None, mistakes)
        )
    assert compilation.artifact is not None or compilation.findings


def make_deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"nodes": [value]}
    return value


@pytest.mark.parametrize("model", [Contract, Patch, Automation])
@pytest.mark.parametrize(
    ("document", "code"),
    [
        (make_deep(100), "FIELD_INVALID"),
        (make_deep(200_000), "DOCUMENT_NOT_JSON"),
        ({"label": "x" * (MAX_DOCUMENT_CHARACTERS + 1)}, "DOCUMENT_TOO_LARGE"),
        ({"label": float("nan")}, "DOCUMENT_NOT_JSON"),
        ({"label": "\ud800"}, "FIELD_INVALID"),
        ({"label": {1, 2}}, "DOCUMENT_NOT_JSON"),
        ({"config": [{"a": 2**53}, (-(2**60),)]}, "DOCUMENT_NUMBER_INVALID"),
        ({"label": "0123456789012345678"}, "FIELD_INVALID"),
        ({"label": 10**5_000}, "DOCUMENT_NOT_JSON"),
        ({(1, 2): "x"}, "DOCUMENT_NOT_JSON"),
        (None, "FIELD_INVALID"),
        ([], "FIELD_INVALID"),
        ("text", "FIELD_INVALID"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_shapes_that_are_no_documents(model: type[Strict], document: Any, code: str) -> None:
    read, findings = parse_strictly(model, document)
    assert read is None
    assert code in {finding.code for finding in findings}


def test_a_circle_of_references_is_no_document() -> None:
    circle: dict[str, Any] = {}
    circle["nodes"] = [circle]
    _, findings = parse_strictly(Patch, circle)
    assert [finding.code for finding in findings] == ["DOCUMENT_NOT_JSON"]


def test_only_so_many_mistakes_are_told() -> None:
    _, findings = parse_strictly(Patch, {f"key{index}": 1 for index in range(1_000)})
    assert len(findings) == 200


def fill(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    patch = deepcopy(PATCH)
    patch["slots"] = {"approval": {"nodes": nodes, "edges": edges, "exit": "join"}}
    return patch


def codes(compilation: Compilation) -> set[str]:
    return {finding.code for finding in compilation.findings if finding.severity == "error"}


def compile_soon(patch: dict[str, Any], seconds: float = 10.0) -> Compilation:
    started = perf_counter()
    compilation = compile_patch(patch)
    assert perf_counter() - started < seconds
    return compilation


def make_chain(length: int) -> dict[str, Any]:
    nodes = [{"id": f"n{index}", "type": "condition"} for index in range(length)]
    edges = [{"source": f"n{index}", "target": f"n{index + 1}"} for index in range(length - 1)]
    return fill(nodes, edges)


def test_a_chain_as_long_as_allowed() -> None:
    system = len(read_envelope().graph.nodes) + 2
    assert codes(compile_soon(make_chain(MAX_NODES - system))) == set()
    assert codes(compile_soon(make_chain(MAX_NODES))) == {"LIMIT_EXCEEDED"}


def test_a_circle_as_long_as_allowed_is_shown_in_part() -> None:
    patch = make_chain(1_900)
    patch["slots"]["approval"]["edges"] += [
        {"source": "in", "target": "n0"},
        {"source": "n1899", "target": "n0", "condition": "entity.posted"},
        {"source": "n1899", "target": "out"},
    ]
    (finding,) = (f for f in compile_soon(patch).findings if f.code == "CYCLE")
    assert finding.parameters["path"].count("→") == MAX_SHOWN_PATH and finding.parameters["path"].endswith(
        "…"
    )


def test_three_thousand_nodes_are_refused_with_the_limit() -> None:
    for length, slots in [(3_000, 1), (1_500, 2)]:
        patch = make_chain(length)
        if slots == 2:
            patch["slots"]["checks"] = patch["slots"]["approval"]
        sentences = " ".join(finding.sentence for finding in compile_soon(patch).findings)
        assert "2000" in sentences


def test_conditions_from_everywhere_to_everywhere() -> None:
    """The graph is complete and bipartite, with as many edges as allowed."""
    left, right = 60, 85
    nodes = [{"id": f"a{i}", "type": "condition"} for i in range(left)]
    nodes += [{"id": f"b{i}", "type": "condition"} for i in range(right)]
    edges: list[dict[str, Any]] = [
        {"source": f"a{i}", "target": f"b{j}", "condition": f"entity.grand_total == {j}"}
        for i in range(left)
        for j in range(1, right)
    ]
    edges += [{"source": f"a{i}", "target": "b0"} for i in range(left)]
    edges += [
        {"source": "in", "target": f"a{i}", "condition": f"entity.grand_total > {i}"} for i in range(1, left)
    ]
    edges += [{"source": "in", "target": "a0"}]
    patch = fill(nodes, edges)
    patch["slots"]["approval"]["entry"] = "branch"
    assert codes(compile_soon(patch)) == set()
    patch["slots"]["approval"]["edges"] += [
        {"source": "a1", "target": "b1", "id": f"x{i}", "condition": "entity.posted"} for i in range(500)
    ]
    assert len(patch["slots"]["approval"]["edges"]) < MAX_EDGES
    assert codes(compile_soon(patch)) <= {"LIMIT_EXCEEDED"}
    patch["slots"]["approval"]["edges"] *= 2
    assert "FIELD_INVALID" in codes(compile_soon(patch))


def make_nested(depth: int) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for level in range(depth):
        nodes += [{"id": f"s{level}", "type": "parallel_split"}, {"id": f"c{level}", "type": "condition"}]
        nodes += [{"id": f"j{level}", "type": "parallel_join", "config": {"mode": "all"}}]
        inner = f"s{level + 1}" if level + 1 < depth else f"d{level}"
        edges += [{"source": f"s{level}", "target": f"c{level}"}, {"source": f"s{level}", "target": inner}]
        edges += [{"source": f"c{level}", "target": f"j{level}"}]
        back = f"j{level + 1}" if level + 1 < depth else f"d{level}"
        edges += [{"source": back, "target": f"j{level}"}]
    nodes.append({"id": f"d{depth - 1}", "type": "condition"})
    return fill(nodes, edges)


def test_blocks_in_blocks() -> None:
    assert codes(compile_soon(make_nested(40))) == set()
    assert codes(compile_soon(make_nested(MAX_BLOCK_DEPTH))) == set()
    assert codes(compile_soon(make_nested(MAX_BLOCK_DEPTH + 1))) == {"LIMIT_EXCEEDED"}
    assert codes(compile_soon(make_nested(400))) == {"LIMIT_EXCEEDED"}


def test_more_tokens_than_an_instance_may_have() -> None:
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    blocks = MAX_BRANCHES_IN_ALL // 50 + 1
    for block in range(blocks):
        nodes += [{"id": f"s{block}", "type": "parallel_split"}]
        nodes += [{"id": f"j{block}", "type": "parallel_join", "config": {"mode": "all"}}]
        nodes += [{"id": f"b{block}-{i}", "type": "condition"} for i in range(50)]
        edges += [{"source": f"s{block}", "target": f"b{block}-{i}"} for i in range(50)]
        edges += [{"source": f"b{block}-{i}", "target": f"j{block}"} for i in range(50)]
        if block:
            edges.append({"source": f"j{block - 1}", "target": f"s{block}"})
    (finding,) = compile_soon(fill(nodes, edges)).findings
    assert (finding.code, finding.place) == ("LIMIT_EXCEEDED", "/")
    assert str(MAX_BRANCHES_IN_ALL) in finding.sentence


def test_every_split_and_join_mixed_up() -> None:
    """The messages alone matter: hundreds of wrong blocks, reported soon."""
    rng = Random(1)
    nodes: list[dict[str, Any]] = [{"id": f"s{i}", "type": "parallel_split"} for i in range(300)]
    nodes += [{"id": f"j{i}", "type": "parallel_join", "config": {"mode": "all"}} for i in range(300)]
    nodes += [{"id": f"c{i}", "type": "condition"} for i in range(300)]
    names = [f"s{i}" for i in range(300)] + [f"c{i}" for i in range(300)]
    edges = [{"source": "in", "target": "s0"}]
    for index, name in enumerate(names):
        later = names[index + 1 :] + [f"j{i}" for i in range(300)]
        edges += [{"source": name, "target": rng.choice(later), "id": f"e{index}-{k}"} for k in range(4)]
    assert "SPLIT_WITHOUT_JOIN" in codes(compile_soon(fill(nodes, edges)))


@pytest.mark.parametrize("length", [1_000, 100_000])
def test_long_texts(length: int) -> None:
    patch = deepcopy(PATCH)
    patch["slots"]["approval"]["nodes"][0]["label"] = "x" * length
    patch["slots"]["approval"]["edges"][1]["condition"] = "(" * length
    assert compile_soon(patch).artifact is None
    patch = deepcopy(PATCH)
    patch["slots"]["approval"]["edges"][1]["condition"] = "entity.grand_total == 1 || " * 70 + "entity.posted"
    assert "EXPRESSION_INVALID" in codes(compile_soon(patch))


def test_too_many_mistakes_are_told_as_one() -> None:
    document = {"name": "a", **{f"m{number}": 1 for number in range(MAX_LISTED_MISTAKES + 1)}}
    parsed, findings = parse_strictly(Chain, document)
    assert parsed is None
    (finding,) = findings
    assert (finding.code, finding.place) == ("FIELD_INVALID", "/")
    assert "too many to list" in finding.sentence
