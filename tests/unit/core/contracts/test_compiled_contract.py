"""A contract as mutate() uses it: permissions, separation of duties, columns, unique fields."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from signet.core.contracts.compiled_contract import CompiledContract, Denial, check_contract_expressions
from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import (
    make_scope,
    type_of_entity,
    type_of_fields,
    type_of_settings,
)
from signet.core.contracts.indexed_columns import make_column_values, map_indexed_fields
from signet.core.contracts.reader import parse_contract
from signet.core.documents.rules import Rule, compile_rule
from signet.core.runtime.idempotency_keys import effect_key, event_key, join_key, step_key, tick_key
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.broken_contracts import VALID

ONE = UUID(int=1)


def load(**changes: Any) -> CompiledContract:
    contract, findings = parse_strictly(Contract, {**VALID, **changes})
    assert contract is not None, findings
    return CompiledContract(contract, "0" * 64)


def test_authority_is_a_permission_and_a_condition() -> None:
    loaded = load(conditions={"invoice:submit": "entity.total <= 100"})
    env = {"entity": {"total": 500}}
    denied = loaded.authorize("invoice:submit", ["invoice:create"], env)
    assert denied is not None and denied.code == "PERMISSION_DENIED"
    denied = loaded.authorize("invoice:submit", ["invoice:*"], env)
    assert denied is not None and (denied.code, "entity.total <= 100" in denied.sentence) == (
        "PERMISSION_CONDITION",
        True,
    )
    assert loaded.authorize("invoice:submit", ["*:*"], {"entity": {"total": 5}}) is None
    spoken = replace(loaded, describe_condition=lambda text: f"it is little ({text})")
    denied = spoken.authorize("invoice:submit", ["invoice:*"], env)
    assert denied is not None
    assert denied.sentence == "'invoice:submit' is given only where it is little (entity.total <= 100)"


def test_a_condition_holds_for_the_persons_behind_a_key_too() -> None:
    loaded = load(conditions={"invoice:submit": "actor.user_id != 'ada'"})
    env: dict[str, Any] = {"actor": {"user_id": "key:erp", "roles": []}}

    def authorize(*persons: str) -> Denial | None:
        behind = [{"actor": {"user_id": person, "roles": []}} for person in persons]
        return loaded.authorize("invoice:submit", ["*:*"], env, lambda condition, env: behind)

    assert authorize("mia") is None
    denied = authorize("mia", "ada")
    assert denied is not None and denied.code == "PERMISSION_CONDITION"
    assert denied.sentence.endswith(": not for ada, who is behind the key")


@pytest.mark.parametrize(
    ("person", "may_decide", "code"),
    [
        ("ann", [], "SEPARATION_OF_DUTIES"),
        ("ed", [], "SEPARATION_OF_DUTIES"),
        ("rob", [], "SEPARATION_OF_DUTIES"),
        ("zoe", [], None),
        ("ann", ["creator"], None),
        ("ann", ["editor", "requester"], "SEPARATION_OF_DUTIES"),
    ],
)
def test_who_took_part_may_not_decide(person: str, may_decide: list[str], code: str | None) -> None:
    loaded = load(separation_of_duties={"may_decide": may_decide})
    denial = loaded.find_conflict_of_duties(person, creator=["ann"], editors=["ed"], requesters=["rob"])
    assert (denial and denial.code) == code


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("/transitions/submit/condition", {"condition": "entity.totl > 1"}),
        ("/conditions/invoice:submit", {"condition": "entity.total >"}),
        ("/actions/fix/set/vendor", {"set": {"vendor": "{entity.nothing}"}}),
    ],
)
def test_every_expression_of_a_contract_is_checked(part: str, change: dict[str, Any]) -> None:
    document: dict[str, Any] = {**VALID}
    if part.startswith("/transitions"):
        submit = {**VALID["transitions"]["submit"], **change}
        document["transitions"] = {**VALID["transitions"], "submit": submit}
    elif part.startswith("/conditions"):
        document["conditions"] = {"invoice:submit": change["condition"]}
    else:
        document["actions"] = {**VALID.get("actions", {}), "fix": {"kind": "update", **change}}
    contract, findings = parse_strictly(Contract, document)
    assert contract is not None, findings
    assert part in [finding.place for finding in check_contract_expressions(contract)]


def test_the_valid_contract_has_no_such_mistake() -> None:
    contract, _ = parse_contract(VALID)
    assert contract is not None
    assert list(check_contract_expressions(contract)) == []


def test_which_refs_are_followed_is_known_of_each_expression() -> None:
    customer = {**VALID["fields"]["customer"], "reads": {"name": {"type": "string"}}}
    payer = {"type": "ref", "entity_type": "person", "reads": {"name": {"type": "string"}}}
    loaded = load(
        fields={**VALID["fields"], "customer": customer, "payer": payer},
        conditions={
            "invoice:submit": "entity.customer.name == 'x' && entity.lines != null",
            "invoice:edit": "entity.payer != entity.creator && entity.customer == null",
        },
        actions={
            "thank": {"kind": "update", "set": {"vendor": "{entity.payer.name} of {entity.customer.name}"}},
            "ask": {"kind": "python"},
        },
    )
    both = frozenset({("customer", "name"), ("payer", "name")})
    assert loaded.has_readable_refs
    assert loaded.readable_refs == both
    assert not load(fields={**VALID["fields"], "customer": {**customer, "reads": {}}}).has_readable_refs
    assert loaded.refs_of_conditions == {"invoice:submit": {("customer", "name")}, "invoice:edit": set()}
    assert loaded.refs_of_actions == {"thank": both, "ask": set()}
    rule, findings = parse_strictly(
        Rule,
        {
            "name": "r",
            "entity_type": "invoice",
            "phase": "after",
            "condition": {"expression": "entity.customer.name != null"},
            "actions": [{"kind": "emit", "event_type": "e", "payload": {"a": "{entity.payer.name}"}}],
        },
    )
    assert rule is not None, findings
    scope = make_scope(
        type_of_entity(loaded.contract), type_of_settings(TenantSettings()), type_of_fields({})
    )
    compiled, _ = compile_rule(rule, scope)
    assert compiled is not None and compiled.followed == both


def test_what_was_never_checked_cannot_be_loaded() -> None:
    with pytest.raises(ValueError, match="expression that does not parse"):
        _ = load(conditions={"invoice:submit": "entity.total >"}).conditions
    actions = {"fix": {"kind": "update", "set": {"vendor": "{no}{"}}}
    with pytest.raises(ValueError, match="template that does not parse"):
        _ = load(actions=actions).actions


def test_fast_fields_keep_their_columns() -> None:
    fields = {
        "paid": {"type": "bool", "indexed": True},
        "name": {"type": "string", "indexed": True, "max_length": 50},
        "on": {"type": "date", "indexed": True},
        "at": {"type": "timestamp", "indexed": True},
        "note": {"type": "string"},
    }
    columns = map_indexed_fields(load(fields=fields).contract)
    assert columns == {"at": "d1", "name": "t1", "on": "d2", "paid": "n1"}
    data = {"paid": True, "name": "x", "on": "2026-01-02", "at": "2026-01-02T03:04:05.000006Z"}
    assert make_column_values(columns, data) == {
        "d1": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "d2": datetime(2026, 1, 2, tzinfo=UTC),
        "n1": 1,
        "t1": "x",
    }
    assert set(make_column_values(columns, {}).values()) == {None}


def test_keys_tell_apart_what_is_different() -> None:
    keys = {
        step_key(ONE, "a", "T", 1),
        step_key(ONE, "aT", "", 1),
        step_key(ONE, "a", "T", 2),
        join_key(ONE, "a", 5),
        join_key(ONE, "a", 6),
        event_key(ONE, "a", {"b": 1, "c": 2}, 1),
        event_key(ONE, "a", {"b": 1, "c": 3}, 1),
        effect_key(ONE, "webhook", {"b": 1}),
    }
    assert len(keys) == 8 and {len(key) for key in keys} == {32}
    assert event_key(ONE, "a", {"b": 1, "c": 2}, 1) == event_key(ONE, "a", {"c": 2, "b": 1}, 1)


def test_the_key_of_a_tick_is_the_same_in_each_zone() -> None:
    tick = datetime(2026, 3, 29, 1, tzinfo=UTC)
    key = tick_key("royalty", "cron 0 6 1 * * in UTC", tick)
    assert len(key) == 32
    assert key == tick_key("royalty", "cron 0 6 1 * * in UTC", tick.astimezone(timezone(timedelta(hours=9))))
    others = [
        tick_key("royalty2", "cron 0 6 1 * * in UTC", tick),
        tick_key("royalty", "cron 0 6 2 * * in UTC", tick),
        tick_key("royalty", "cron 0 6 1 * * in UTC", tick + timedelta(minutes=1)),
    ]
    assert len({key, *others}) == 4
