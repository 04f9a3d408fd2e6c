"""The names that an expression may read, node by node, also in a graph that does not compile."""

from copy import deepcopy
from typing import Any

from signet.core.compiler.compiler import make_automation_source, make_effective_source, make_scopes
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.compiler.variable_scopes import Scopes
from signet.core.contracts.contract import Contract
from signet.core.expressions import list_names
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.valid_workflow import CONTRACT

SLOT: dict[str, Any] = {
    "nodes": [
        {"id": "first", "type": "script", "config": {"set": {"large": "entity.grand_total > 5"}}},
        {"id": "second", "type": "condition"},
    ],
    "edges": [{"source": "first", "target": "second"}],
}
FIRST, SECOND = "usr:checks:first", "usr:checks:second"


def scopes_of(slot: dict[str, Any]) -> Scopes:
    contract, findings = parse_strictly(Contract, CONTRACT)
    assert contract is not None, findings
    base = {"entity_type": "invoice", "envelope_version": 3}
    document = {
        "patch": "p",
        "base": base,
        "variables": {"said": {"type": "date"}},
        "slots": {"checks": slot},
    }
    patch, findings = parse_strictly(Patch, document)
    assert patch is not None, findings
    return make_scopes(make_effective_source(make_envelope(contract), patch, TenantSettings()))


def variables(scopes: Scopes, node_id: str, *, is_after: bool = False) -> dict[str, str]:
    names = list_names(scopes.at(node_id, is_after=is_after))
    return {name: found for name, found in names.items() if name.startswith("context.")}


def test_a_variable_is_there_behind_the_node_that_sets_it() -> None:
    scopes = scopes_of(SLOT)
    assert variables(scopes, FIRST) == {"context.said": "date"}
    assert variables(scopes, FIRST, is_after=True) == {"context.large": "bool", "context.said": "date"}
    assert variables(scopes, SECOND) == {"context.large": "bool", "context.said": "date"}
    assert "entity.grand_total" in list_names(scopes.at(SECOND))
    assert {FIRST, SECOND, "sys:start"} <= scopes.node_ids


def test_a_graph_without_order_has_what_is_declared() -> None:
    circle = deepcopy(SLOT)
    circle["edges"] += [
        {"source": "in", "target": "first"},
        {"source": "second", "target": "first"},
    ]
    unknown = deepcopy(SLOT)
    unknown["nodes"][0]["type"] = "nothing"
    for slot in (circle, unknown):
        scopes = scopes_of(slot)
        assert SECOND in scopes.node_ids
        assert variables(scopes, SECOND) == {"context.said": "date"}


def test_an_automation_reads_its_payload() -> None:
    document = {
        "automation": "a",
        "trigger": {"on": "manual"},
        "payload": {"amount": {"type": "int"}},
        "nodes": [{"id": "only", "type": "condition"}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    scopes = make_scopes(make_automation_source(automation, None, TenantSettings()))
    assert list_names(scopes.at("usr:main:only"))["payload.amount"] == "int"
