"""Names that nodes mention are found, and each that does not exist is a finding at its node."""

from itertools import pairwise
from typing import Any

import pytest

from signet.core.tenants.tenant_names import (
    DEFAULT_CALENDAR,
    Mention,
    NamedKind,
    check_mentions,
    list_mentions,
    make_file_names,
)
from signet.core.validation.finding import Severity
from tests.support.core.small_workflows import PATCH, compile_patch, compile_slot

ROLE, MEMBER = NamedKind.ROLE, NamedKind.MEMBER


def mentioned(*nodes: dict[str, Any], slot: str = "posting") -> set[tuple[str, str]]:
    content = compile_slot(slot, exit="join", entry="branch", nodes=list(nodes), edges=spread(nodes)).content
    return {(mention.kind.value, mention.name) for mention in list_mentions(content["nodes"])}


def spread(nodes: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    row = ["in", *(node["id"] for node in nodes), "out"]
    return [{"source": one, "target": two} for one, two in pairwise(row)]


def test_people_of_approvals_and_messages_are_mentioned() -> None:
    names = {
        (m.kind, m.name, m.place.rsplit(":", 1)[-1])
        for m in list_mentions(compile_patch(PATCH).content["nodes"])
    }
    assert names == {
        (ROLE, "finance_manager", "finance"),
        (MEMBER, "ada", "finance"),
        (ROLE, "budget_owner", "owner"),
        (ROLE, "clerk", "single"),
    }
    told = {"channel": "sms", "to": [{"by": "user", "user": "ann"}, {"by": "manager"}], "text": "t"}
    assert mentioned({"id": "tell", "type": "notification", "config": told}) == {("member", "ann")}


def test_chains_endpoints_and_actions_with_a_dot_are_mentioned() -> None:
    chain = {"id": "ask", "type": "approval", "config": {"chain": "large"}}
    assert mentioned(chain, slot="approvals") == {("chain", "large")}
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
    event = {"id": "say", "type": "webhook_out", "config": {"event": "a.b"}}
    assert mentioned(call, event) == {("endpoint", "erp")}
    own = {"id": "own", "type": "action", "config": {"action": "post"}}
    other = {"id": "other", "type": "action", "config": {"action": "store.set"}}
    assert mentioned(own, other) == {("action", "store.set")}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (NamedKind.ROLE, "ROLE_UNKNOWN"),
        (NamedKind.MEMBER, "MEMBER_UNKNOWN"),
        (NamedKind.CHAIN, "CHAIN_UNKNOWN"),
        (NamedKind.ENDPOINT, "ENDPOINT_UNKNOWN"),
        (NamedKind.ACTION, "ACTION_NOWHERE"),
        (NamedKind.CALENDAR, "CALENDAR_UNKNOWN"),
    ],
)
def test_what_does_not_exist_is_an_error_where_it_stands(kind: NamedKind, code: str) -> None:
    mentions = [Mention(kind, "x", "usr:a:b")] * 2
    (finding,) = check_mentions(mentions, {kind: frozenset({"y"})})
    assert (finding.code, finding.place, finding.severity) == (code, "usr:a:b", Severity.ERROR)
    assert "'x'" in finding.sentence
    assert list(check_mentions(mentions, {kind: frozenset({"x"})})) == []
    assert list(check_mentions(mentions, {})) == []


def test_a_tenants_file_that_lists_nobody_says_nothing_of_people() -> None:
    assert make_file_names(["clerk"], []) == {ROLE: frozenset({"clerk"})}
    assert make_file_names([], ["ann"]) == {MEMBER: frozenset({"ann"})}


def test_a_rule_node_mentions_its_rules() -> None:
    check = {"id": "check", "type": "rule", "config": {"rules": ["credit", "limit"]}}
    nodes = compile_slot("approvals", nodes=[check]).content["nodes"]
    assert {m.name for m in list_mentions(nodes) if m.kind is NamedKind.RULE} == {"credit", "limit"}


def test_waits_mention_their_calendar_or_that_of_the_settings() -> None:
    named = {"id": "one", "type": "wait_timer", "config": {"business": {"days": 1, "calendar": "office"}}}
    unnamed = {"id": "two", "type": "wait_timer", "config": {"business": {"days": 1}}}
    other = {"id": "three", "type": "wait_timer", "config": {"for": "P1D"}}
    assert mentioned(named, unnamed, other) == {("calendar", "office"), ("calendar", DEFAULT_CALENDAR)}


def test_settings_without_a_calendar_are_found() -> None:
    mentions = [Mention(NamedKind.CALENDAR, DEFAULT_CALENDAR, "usr:a:b")]
    (finding,) = check_mentions(mentions, {NamedKind.CALENDAR: frozenset({"office"})})
    assert finding.code == "CALENDAR_UNNAMED"
    assert list(check_mentions(mentions, {NamedKind.CALENDAR: frozenset({DEFAULT_CALENDAR})})) == []


def test_the_deadlines_of_an_approval_mention_their_calendars() -> None:
    def term(name: str) -> dict[str, Any]:
        return {"days": 1, "calendar": name}

    config = {
        "approvers": [{"by": "user", "user": "ada"}],
        "escalate": {"after": term("a"), "to": {"by": "user", "user": "bob"}},
        "expire_after": {"days": 1},
        "remind": {"after": term("b"), "every": term("c"), "at_most": 2},
    }
    found = mentioned({"id": "ask", "type": "approval", "config": config}, slot="approvals")
    calendars = {name for kind, name in found if kind == "calendar"}
    assert calendars == {"a", "b", "c", DEFAULT_CALENDAR}
