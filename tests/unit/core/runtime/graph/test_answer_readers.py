"""An answer that is kept as text: whether something that is read behind the call is lost."""

from itertools import pairwise
from typing import Any

import pytest

from signet.core.runtime.graph.answer_readers import find_lost_read
from tests.unit.core.runtime.test_execution import load
from tests.unit.core.runtime.test_hand_answers import DECLARED, say

CALL: dict[str, Any] = {"id": "ask", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "got"}}
AGAIN = {**CALL, "id": "again"}
RUN = {"id": "run", "type": "action", "config": {"action": "run", "run_as": "system"}}
OTHER = {"id": "other", "type": "action", "config": {"action": "spawn", "run_as": "system"}}
ASK = "usr:posting:ask"


def keep(text: str) -> dict[str, Any]:
    return {"id": "keep", "type": "script", "config": {"set": {"kept": text}}}


def send(said: Any) -> dict[str, Any]:
    return {"id": "send", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"said": said}}}


def linear(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"source": one["id"], "target": behind["id"]} for one, behind in pairwise(nodes)]


def find_lost(kept_as_text: str | None, *behind: dict[str, Any], edges: Any = None) -> str | None:
    """Return what is lost of an answer to the call, with the nodes one behind the other."""
    nodes = [CALL, *behind]
    slot = {"nodes": nodes, "edges": edges or linear(*nodes), "exit": "join"}
    answer = {"status": 200, "body": {"text": "x"}}
    if kept_as_text is not None:
        answer["kept_as_text"] = kept_as_text
    return find_lost_read(load({"posting": slot}, DECLARED).content, ASK, answer)


ALL = ("part", "broken", "plain")


@pytest.mark.parametrize("kept_as_text", ALL)
@pytest.mark.parametrize(
    "reader",
    [
        send("{context.got.body.rating}"),
        send({"$expr": "context.got.body.rating"}),
        say("told", "{context.got.body.rating}"),
        keep("context.got.body.rating"),
        # A later node may read a member of what these have taken over.
        keep("context.got.body"),
        keep("context.got"),
        RUN,
    ],
)
def test_who_reads_a_member_would_read_nothing(kept_as_text: str, reader: dict[str, Any]) -> None:
    assert find_lost(kept_as_text, reader) is not None


@pytest.mark.parametrize("kept_as_text", ALL)
@pytest.mark.parametrize(
    "reader",
    [
        send({"$expr": "context.got.body"}),
        send({"$expr": "context.got"}),
        say("told", "{context.got.status} {context.got.duration_ms}"),
        keep("context.got.status"),
        keep("entity.grand_total"),
        OTHER,
    ],
)
def test_who_reads_none_goes_on(kept_as_text: str, reader: dict[str, Any]) -> None:
    assert find_lost(kept_as_text, reader) is None


@pytest.mark.parametrize("condition", ["context.got.body == 'BAD'", "context.got.body.rating == 'BAD'"])
def test_who_decides_by_the_answer_reads_it(condition: str) -> None:
    behind = say("told", "x")
    chosen = {"source": "ask", "target": "told", "condition": condition}
    edges = [chosen, {"source": "ask", "target": "out"}, {"source": "told", "target": "out"}]
    found = find_lost("plain", behind, edges=edges)
    assert found is not None and found.endswith(f"usr:posting:ask reads {condition.partition(' ')[0]}")


def test_the_text_of_what_is_no_json_is_there() -> None:
    reader = say("told", "{context.got.body.text}")
    assert find_lost("plain", reader) is None
    assert find_lost("part", reader) == (
        "usr:posting:ask keeps the answer of its receiver as text, because the rest of it was not read,"
        " and usr:posting:told reads context.got.body.text"
    )
    assert find_lost("broken", reader) is not None


def test_an_answer_that_is_kept_as_it_was_said_is_read() -> None:
    assert find_lost(None, keep("context.got.body.rating")) is None
    slot = {"nodes": [CALL, say("told", "{context.got.body.rating}")], "edges": linear(CALL, say("told", ""))}
    content = load({"posting": {**slot, "exit": "join"}}, DECLARED).content
    assert find_lost_read(content, ASK, None) is None


def test_another_answer_of_that_name_is_read_instead_unless_its_call_fails() -> None:
    reader = keep("context.got.body.rating")
    assert find_lost("part", AGAIN, reader) is None
    failing = [*linear(CALL, AGAIN), {"source": "again", "target": "keep", "on": "error"}]
    edges = [*failing, {"source": "again", "target": "out"}, {"source": "keep", "target": "out"}]
    assert find_lost("part", AGAIN, reader, edges=edges) is not None
