"""Edges for errors in the auditor's reading."""

import pytest

from signet.core.explain.definition import explain, write_explanation
from tests.support.core.small_workflows import CONTRACT as SMALL
from tests.support.core.small_workflows import PATCH, compile_patch, compile_slot, make_contract
from tests.unit.core.explain.test_definition import CONTRACT, read

SENTENCE = "Only what fails outside goes that way. Else it is held there until a person brings it on."
CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}


@pytest.mark.parametrize(("deciding", "is_said"), [(["approve"], True), ([], False)])
def test_people_decide_by_their_requests_too(deciding: list[str], *, is_said: bool) -> None:
    """No approval stands in the workflow. The contract says whether a request decides."""
    requested = {"from": ["submitted"], "to": "active", "kind": "requested"}
    duties = {"may_decide": ["editor"], "deciding": deciding}
    contract = make_contract(
        transitions={**SMALL["transitions"], "approve": requested}, separation_of_duties=duties
    )
    patch = {
        **PATCH,
        "slots": {
            "approvals": {
                "exit": "join",
                "nodes": [CALL],
                "edges": [
                    {"source": "call", "target": "out"},
                    {"source": "call", "target": "out", "on": "error"},
                ],
            }
        },
    }
    assert (SENTENCE in read(compile_patch(patch, contract), contract=contract)) == is_said


def test_where_people_decide_only_what_fails_outside_goes_another_way() -> None:
    ask = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}
    edges = [
        {"source": "call", "target": "ask"},
        {"source": "call", "target": "out", "on": "error"},
        {"source": "ask", "target": "out"},
    ]
    text = read(compile_slot("approvals", exit="join", nodes=[CALL, ask], edges=edges), contract=CONTRACT)
    assert SENTENCE in text


@pytest.mark.parametrize("is_read", [True, False])
def test_where_other_documents_read_it_only_what_fails_outside_goes_another_way(*, is_read: bool) -> None:
    edges = [{"source": "call", "target": "out"}, {"source": "call", "target": "out", "on": "error"}]
    artifact = compile_slot("approvals", exit="join", nodes=[CALL], edges=edges)
    sections = explain(artifact, CONTRACT, is_read=is_read)
    assert (SENTENCE in " ".join(line for line in write_explanation(sections))) == is_read
