"""Diagrams: complete, the same each time, and safe against any text in labels."""

import re
from typing import Any

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.diagrams.mermaid import _SHAPES, MAX_LABEL_CHARACTERS, draw, draw_diff
from tests.support.core.golden_files import assert_golden
from tests.support.core.small_workflows import (
    AUTOMATION,
    PATCH,
    change_node,
    compile_automatic,
    compile_patch,
)

# One line of the diagram. No label can make a line that is not one of these.
TEXT = r'"(?:[^\W_]|[ _.,-]|#\d+;|<br/>)*"'
SHAPE = r"(?:\(+|\[+[/\\]?|\{+|\[/|\[\\|>|\(\[)" + TEXT + r"(?:\)+|[/\\]?\]+|\}+|\]\))"
LINES = re.compile(
    rf"flowchart TD|\s+subgraph s\d+\[{TEXT}\]|\s+end|\s+n\d+{SHAPE}(?::::(?:added|removed|modified))?"
    rf"|\s+n\d+ (?:-->|-\.->)(?:\|{TEXT}\|)? n\d+"
    r"|\s+classDef \w+ [\w:#, -]+|\s+linkStyle [\d,]+ [\w:#,-]+"
)


def assert_well_formed(diagram: str) -> None:
    assert [line for line in diagram.removesuffix("\n").split("\n") if not LINES.fullmatch(line)] == []


def test_every_type_has_a_shape() -> None:
    assert _SHAPES.keys() == NODE_TYPES.keys()


def test_the_diagram_holds_every_node_and_edge() -> None:
    content = compile_patch(PATCH).content
    diagram = draw(content)
    assert_well_formed(diagram)
    assert len(re.findall(r"^ +n\d+[^ \d]", diagram, re.MULTILINE)) == len(content["nodes"])
    assert len(re.findall(r"^ +n\d+ -", diagram, re.MULTILINE)) == len(content["edges"])
    assert_golden("workflow.mmd", diagram)


def test_the_diff_is_coloured() -> None:
    bare, filled = compile_patch(None).content, compile_patch(PATCH).content
    diagram = draw_diff(bare, filled)
    assert_well_formed(diagram)
    assert "classDef added" in diagram and "classDef removed" in diagram
    assert "classDef modified" not in diagram
    assert_golden("diff.mmd", diagram)


def test_modified_nodes_are_marked() -> None:
    other = compile_patch(change_node("approvals", "finance", label="Head of finance")).content
    diagram = draw_diff(compile_patch(PATCH).content, other)
    assert_well_formed(diagram)
    assert re.search(r'"Head of finance<br/>approval"\\\]:::modified', diagram)
    assert "linkStyle" not in diagram


def test_nothing_changed_means_no_colours() -> None:
    content = compile_patch(PATCH).content
    assert draw_diff(content, content) == draw(content)


def test_an_automation_can_be_drawn() -> None:
    assert_well_formed(draw(compile_automatic(AUTOMATION).content))


@pytest.mark.parametrize(
    "label",
    [
        'say "hi"',
        "a]b)c}d|e",
        "two\nlines",
        "end",
        "%%{init: {'theme':'dark'}}%%",
        "style x: #f00;",
        "`markdown`",
        "<script>alert(1)</script>",
        "#quot;",
        "Zürich 東京 😀",
        "\x1b[31m",
        "--> n0",
        "x" * 200,
    ],
)
def test_no_label_breaks_the_diagram(label: str) -> None:
    changed: dict[str, Any] = change_node("approvals", "finance", label=label)
    changed["slots"]["approvals"]["edges"][1]["label"] = label
    content = compile_patch(changed).content
    assert_well_formed(draw(content))
    assert_well_formed(draw_diff(compile_patch(PATCH).content, content))
    assert "x" * (MAX_LABEL_CHARACTERS + 1) not in draw(content)
