"""Texts of a definition that may not say what the reader sees: its explanation writes them out."""

from typing import Any

from signet.core.compiler.artifact import Artifact
from signet.core.explain.definition import explain, write_explanation
from tests.support.core.small_workflows import PATCH, compile_patch, compile_slot, make_contract

ASK: dict[str, Any] = {"type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}
ATTENTION = "ATTENTION. Some texts hold characters that nobody sees"


def read(artifact: Artifact) -> str:
    return " ".join(" ".join(write_explanation(explain(artifact, make_contract()))).split())


def test_a_condition_of_two_scripts_is_written_out() -> None:
    edges = [
        {"source": "ask", "target": "again", "condition": "entity.number == 'intern\u0430l'"},
        {"source": "ask", "target": "out"},
    ]
    nodes = [{"id": "ask", **ASK}, {"id": "again", **ASK}]
    assert ATTENTION in read(compile_slot("approvals", exit="join", nodes=nodes, edges=edges))


def test_plain_texts_need_no_attention() -> None:
    assert ATTENTION not in read(compile_patch(PATCH))
