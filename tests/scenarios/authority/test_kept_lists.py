"""A list with `each: keep`: each decision is carried out in full, and a retry does only what has failed."""

from collections.abc import Mapping
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Correction, Corrections
from signet.engine.instances.repairs import Repairs
from tests.scenarios.authority.acts import vote
from tests.scenarios.authority.test_done_once import APPROVED, LOOK, held_by, operator
from tests.scenarios.authority.test_done_once import stage as stage
from tests.support.operated_instances import check, version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

CODE = {"type": "string", "required": True, "min_length": 2}
FIELDS: Mapping[str, Any] = {
    "month": {"type": "string"},
    "lines": {
        "type": "list",
        "max_items": 10,
        "of": {"type": "object", "fields": {"code": {"type": "string"}, "note": {"type": "string"}}},
    },
}
CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
TELL = {"id": "tell", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"tell": "x"}}}
WHY = "the line was misread"


def contract(item_type: str, **more: Any) -> Mapping[str, Any]:
    """Return the contract of a monthly run that makes a payment for each line."""
    payload = {"code": {"type": "string"}, "month": {"type": "string"}}
    pay = {
        "kind": "create",
        "entity_type": item_type,
        "payload": payload,
        "set": {"code": "{payload.code}", "number": "{payload.month}"},
    }
    return {
        "version": 1,
        "fields": {**CONTRACT["fields"], **FIELDS},
        "states": {
            "idle": {"edit": "editable", "initial": True},
            "asked": {"edit": "locked"},
            "ran": {"edit": "locked", **more},
            "shut": {"edit": "locked", "final": True},
        },
        "transitions": {
            "go": {"from": ["idle"], "to": "asked", "kind": "requested"},
            "approve": {"from": ["asked"], "to": "ran", "kind": "automatic", "rejected_to": "idle"},
            "back": {"from": ["ran"], "to": "idle", "kind": "requested"},
            "close": {"from": ["ran"], "to": "shut", "kind": "requested"},
        },
        "slots": {
            "approval": {"transition": "approve"},
            "paying": {"transition": "approve", "position": "after"},
        },
        "actions": {"pay": pay},
    }


class Paying:
    """Monthly runs, and what they have paid."""

    def __init__(self, stage: WorkflowStage, *asking: Any, **more: Any) -> None:
        self.stage = stage
        self.item_type = stage.publish({**CONTRACT, "fields": {**CONTRACT["fields"], "code": CODE}})
        config = {
            **{"action": "pay", "run_as": "system", "for_each": "entity.lines", "each": "keep"},
            **{"payload": {"code": "{item.code}", "month": "{entity.month}"}, "save_as": "made"},
        }
        pay = {"id": "pay", "type": "action", "config": config}
        paying = {
            "nodes": [CALL, pay, TELL],
            "edges": [{"source": "call", "target": "pay"}, {"source": "pay", "target": "tell"}],
        }
        slots: dict[str, Any] = {"paying": paying}
        if asking:
            slots["approval"] = {"nodes": list(asking)}
        entity_type = stage.publish(contract(self.item_type, **more), **slots)
        self.document = stage.create(entity_type, "carl", month="1", lines=[])

    @property
    def live(self) -> Made:
        return Made(self.document.id, self.stage.instance_of(self.document.id))

    def ask(self, transition: str) -> None:
        self.stage.ask(self.document.id, transition, "carl")
        self.stage.drain()

    def edit(self, **changes: Any) -> None:
        self.stage.edit(self.document.id, **changes)
        self.stage.drain()

    def answer(self, **outcome: Any) -> None:
        self.stage.answer(self.live.instance_id, **outcome)
        self.stage.drain()

    def retry(self, *, dry_run: bool = False) -> list[str]:
        """Return what the retry would do again."""
        instances = Instances(self.stage.standing.company.database, self.stage.caches(), CompiledCache())
        known, seen = self.live.instance_id, version(self.stage, self.live)
        done = instances.retry(operator(self.stage), known, seen, "the cause is gone", dry_run=dry_run)
        self.stage.drain()
        return list(done.repeats)

    def correct(self, *codes: str, note: str = "", dry_run: bool = False) -> Correction:
        corrections = Corrections(self.stage.standing.company.database, self.stage.caches(), CompiledCache())
        seen, patch = self.stage.version_of(self.document.id), {"lines": lines(*codes, note=note)}
        caller = operator(self.stage)
        done = corrections.correct(caller, self.document.id, seen, patch, WHY, dry_run=dry_run)
        self.stage.drain()
        return done

    def paid(self, month: str = "1") -> list[str]:
        query = "SELECT data ->> 'code' FROM documents WHERE entity_type = %s AND data ->> 'number' = %s"
        rows = self.stage.standing.rows(f"{query} ORDER BY id", self.item_type, month)
        return [code for (code,) in rows]


def lines(*codes: str, note: str = "") -> list[dict[str, str]]:
    return [{"code": code, "note": note} for code in codes]


def held(stage: WorkflowStage, *codes: str) -> Paying:
    """Let a list that nobody decided about be done in part."""
    run = Paying(stage)
    run.edit(lines=lines(*codes))
    run.ask("go")
    run.answer()
    return run


def approve(run: Paying) -> None:
    run.ask("go")
    assert vote(run.stage, run.document.id, "bea") == APPROVED


def retried_round(stage: WorkflowStage, **more: Any) -> Paying:
    """Pay a month in which one line has failed and was retried; then go back for the next one."""
    run = Paying(stage, LOOK, **more)
    run.edit(lines=lines("A1", "B2", "C3"))
    stage.add_rule(run.item_type, "listed", "entity.code == 'B2'", on="create")
    approve(run)
    run.answer()
    assert run.paid() == ["A1", "C3"]
    stage.standing.run("DELETE FROM rules WHERE entity_type = %s", run.item_type)
    assert run.retry() == []
    assert run.paid() == ["A1", "C3", "B2"]
    run.answer()
    assert stage.status_of(run.document.id) == "ran"
    run.ask("back")
    run.edit(month="2")
    return run


@pytest.mark.parametrize("more", [{}, {"settled": True}], ids=["one instance", "an instance a round"])
def test_each_decision_is_carried_out_in_full(stage: WorkflowStage, more: dict[str, Any]) -> None:
    """A retry of the call in front makes nothing of another month count."""
    run = retried_round(stage, **more)
    approve(run)
    run.answer(error="gone")
    run.retry()
    run.answer()
    assert run.paid("2") == ["A1", "B2", "C3"]
    assert stage.instance(run.live.instance_id)["context_json"]["usr:paying:pay#done"] is None
    check(stage, run.live)


def test_what_a_skipped_list_has_done_does_not_count_for_the_next_decision(stage: WorkflowStage) -> None:
    run = Paying(stage, LOOK)
    run.edit(lines=lines("A1", "B", "C3"))
    approve(run)
    run.answer()
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    token, seen = stage.instance(run.live.instance_id)["active_tokens"][0]["id"], version(stage, run.live)
    repairs.skip(operator(stage), run.live.instance_id, seen, token, "paid by hand", [])
    stage.drain()
    run.answer()
    run.ask("back")
    run.edit(month="2", lines=lines("A1", "B2", "C3"))
    approve(run)
    run.answer(error="gone")
    run.retry()
    run.answer()
    assert run.paid("2") == ["A1", "B2", "C3"]
    check(stage, run.live)


def test_a_later_round_keeps_its_own_items(stage: WorkflowStage) -> None:
    run = retried_round(stage)
    stage.add_rule(run.item_type, "listed", "entity.code == 'C3'", on="create")
    approve(run)
    run.answer()
    assert run.paid("2") == ["A1", "B2"]
    stage.standing.run("DELETE FROM rules WHERE entity_type = %s", run.item_type)
    assert run.retry() == []
    assert (run.paid("2"), held_by(stage, run.document)) == (["A1", "B2", "C3"], [])
    check(stage, run.live)


@pytest.mark.parametrize(
    ("corrected", "paid"),
    [
        ("A1 B2 C3", "A1 C3 B2"),
        ("A1 C3", "A1 C3"),
        ("N0 A1 C3", "A1 C3 N0"),
        ("C3 B2 A1", "A1 C3 B2"),
        ("A1 A1 C3", "A1 C3 A1"),
        ("A1 B2 C3 D4", "A1 C3 B2 D4"),
    ],
)
def test_a_corrected_list_repeats_nothing_and_leaves_nothing_out(
    stage: WorkflowStage, corrected: str, paid: str
) -> None:
    run = held(stage, "A1", "B", "C3")
    codes = corrected.split()
    assert run.correct(*codes, dry_run=True).repeats == run.correct(*codes).repeats == []
    assert (run.paid(), held_by(stage, run.document)) == (paid.split(), [])
    check(stage, run.live)


def test_what_the_action_is_not_given_makes_no_payment_again(stage: WorkflowStage) -> None:
    run = held(stage, "A1", "B", "C3")
    assert run.correct("A1", "B2", "C3", note="seen").repeats == []
    assert run.paid() == ["A1", "C3", "B2"]


def test_a_line_that_was_done_and_says_something_else_is_named(stage: WorkflowStage) -> None:
    run = held(stage, "A1", "B", "C3")
    for dry_run in (True, False):
        assert list(run.correct("A9", "B2", "C3", dry_run=dry_run).repeats) == ["usr:paying:pay"]
    assert run.paid() == ["A1", "C3", "A9", "B2"]


def test_what_was_taken_out_and_comes_back_is_not_paid_again(stage: WorkflowStage) -> None:
    run = held(stage, "A1", "B", "C3")
    run.correct("A1", "B")
    assert run.retry(dry_run=True) == []
    run.correct("A1", "B2", "C3")
    assert run.paid() == ["A1", "C3", "B2"]


def test_a_retry_names_a_list_that_says_something_else_by_now(stage: WorkflowStage) -> None:
    run = held(stage, "A1", "B", "C3")
    stage.standing.run_unguarded(
        "UPDATE documents SET data = jsonb_set(data, '{lines}', %s) WHERE id = %s",
        Jsonb(lines("A9", "B2", "C3")),
        run.document.id,
    )
    assert run.retry(dry_run=True) == run.retry() == ["usr:paying:pay"]
