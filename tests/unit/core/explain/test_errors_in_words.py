"""Edges for errors in the auditor's reading."""

from tests.support.core.small_workflows import compile_slot
from tests.unit.core.explain.test_definition import CONTRACT, read


def test_where_people_decide_only_what_fails_outside_goes_another_way() -> None:
    ask = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}
    edges = [
        {"source": "call", "target": "ask"},
        {"source": "call", "target": "out", "on": "error"},
        {"source": "ask", "target": "out"},
    ]
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
    text = read(compile_slot("approvals", exit="join", nodes=[call, ask], edges=edges), contract=CONTRACT)
    assert "Only what fails outside goes that way. Else it is held there until a person brings it on." in text
