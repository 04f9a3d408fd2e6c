"""Reads of a newer definition behind an approval: what the old one did not read was pinned by nobody."""

from collections.abc import Mapping, Sequence
from typing import Any

from signet.core.approvals.unpinned_reads import list_unpinned_reads
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow
from tests.support.core.small_workflows import compile_patch, make_contract

TASK = {"kind": "update", "payload": {"rating": {"type": "int"}}, "set": {"number": "n"}}
CONTRACT = make_contract(actions={"take": TASK})
LOADED = CompiledContract(CONTRACT, "0" * 64)
SUM = {"id": "sum", "type": "script", "config": {"set": {"sum": "1"}}}
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}


def read(what: str) -> dict[str, Any]:
    return {"id": "read", "type": "action", "config": {"action": "take", "payload": {"rating": what}}}


def workflow(*posting: Mapping[str, Any], approvals: Sequence[Mapping[str, Any]] = (SUM, LOOK)) -> Workflow:
    edges = [{"source": "sum", "target": "look"}] if len(approvals) == 2 else []
    slots: dict[str, Any] = {"approvals": {"nodes": list(approvals), "edges": edges}} if approvals else {}
    slots |= {"posting": {"nodes": list(posting)}} if posting else {}
    base = {"entity_type": "invoice", "envelope_version": 1}
    return Workflow(compile_patch({"patch": "standard", "base": base, "slots": slots}, CONTRACT))


def list_unpinned(old: Workflow, new: Workflow, status: str = "active") -> list[str]:
    return list_unpinned_reads(old, LOADED, new, LOADED, status)


RATING, VARIABLE = read("{entity.vendor.rating}"), read("{context.sum}")


def test_what_only_the_new_definition_reads_is_named() -> None:
    assert list_unpinned(workflow(), workflow(RATING)) == ["vendor.rating"]
    assert list_unpinned(workflow(RATING), workflow(RATING)) == []
    assert list_unpinned(workflow(RATING), workflow()) == []


def test_so_is_a_variable_that_is_read_as_it_was() -> None:
    assert list_unpinned(workflow(), workflow(VARIABLE)) == ["context.sum"]
    assert list_unpinned(workflow(VARIABLE), workflow(VARIABLE)) == []


def test_before_the_approval_people_are_still_asked() -> None:
    for status in ("draft", "submitted"):
        assert list_unpinned(workflow(), workflow(RATING), status) == []


def test_without_approvals_nobody_has_pinned_anything() -> None:
    assert list_unpinned(workflow(approvals=(SUM,)), workflow(RATING)) == []
