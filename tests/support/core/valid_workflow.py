"""A valid contract and patch that break in many ways, and helpers to change one thing in them."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from signet.core.compiler.compiler import Compilation, compile_effective
from signet.core.compiler.envelope import Envelope, make_envelope
from signet.core.compiler.patch import Patch
from signet.core.contracts.reader import parse_contract
from signet.core.tenants.tenant_file import CustomSetting, TenantSettings
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import parse_strictly

SETTINGS = TenantSettings(custom={"trusted": CustomSetting(type="list of string", value=["acme"])})
CONTRACT: dict[str, Any] = {
    "contract": "invoice",
    "version": 3,
    "fields": {
        "grand_total": {"type": "decimal", "required": True},
        "vendor": {"type": "string"},
        "posted": {"type": "bool"},
        "lines": {"type": "list", "of": {"type": "object", "fields": {"sku": {"type": "string"}}}},
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "amend_only"},
        "active": {"edit": "locked", "settled": True},
        "cancelled": {"edit": "locked", "final": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "cancel": {"from": ["draft", "submitted"], "to": "cancelled", "kind": "interrupting"},
    },
    "slots": {
        "checks": {"transition": "submit", "from": "draft"},
        "approval": {"transition": "approve"},
        "posting": {"transition": "approve", "position": "after"},
    },
    "amendment": {"from": ["active"]},
    "actions": {
        "post": {
            "kind": "update",
            "payload": {"at": {"type": "date", "required": True}},
            "set": {"posted": True},
        },
        "spawn": {"kind": "create", "entity_type": "task", "set": {"title": "for {entity.vendor}"}},
    },
}
PATCH: dict[str, Any] = {
    "patch": "standard",
    "base": {"entity_type": "invoice", "envelope_version": 3},
    "slots": {
        "checks": {
            "nodes": [
                {"id": "known", "type": "rule", "config": {"rules": ["known_vendor"]}},
                {"id": "stamp", "type": "action",
                 "config": {"action": "post", "payload": {"at": "2026-01-01"}}},
            ],
            "edges": [{"source": "known", "target": "stamp"}],
        },
        "approval": {
            "nodes": [
                {"id": "amount", "type": "condition"},
                {"id": "fork", "type": "parallel_split"},
                {"id": "finance", "type": "approval",
                 "config": {"approvers": [{"by": "role", "role": "cfo"}]}},
                {"id": "credit", "type": "webhook_out", "config": {"endpoint": "bureau"}},
                {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
                {"id": "told", "type": "notification",
                 "config": {"channel": "email", "to": [{"by": "manager"}], "text": "Done: {entity.vendor}"}},
            ],
            "edges": [
                {"source": "in", "target": "amount"},
                {"id": "fast", "source": "amount", "target": "out", "condition": "entity.grand_total <= 500"},
                {"id": "slow", "source": "amount", "target": "fork"},
                {"id": "ask", "source": "fork", "target": "finance"},
                {"id": "check", "source": "fork", "target": "credit"},
                {"id": "asked", "source": "finance", "target": "both"},
                {"id": "checked", "source": "credit", "target": "both"},
                {"id": "failed", "source": "credit", "target": "told", "on": "error", "role": "exit"},
                {"id": "tell", "source": "both", "target": "told"},
            ],
            "exit": "join",
            "accepts": {"approval_can_be_lost": ["both"]},
        },
        "posting": {"nodes": [{"id": "task", "type": "action", "config": {"action": "spawn"}}]},
    },
}  # fmt: skip

Break = Callable[[dict[str, Any]], object]


def read_envelope(contract: dict[str, Any] = CONTRACT) -> Envelope:
    read, mistakes = parse_contract(contract)
    assert read is not None, mistakes
    return make_envelope(read)


def compile_patch(patch: dict[str, Any], envelope: Envelope | None = None) -> Compilation:
    read, mistakes = parse_strictly(Patch, patch)
    if read is None:
        return Compilation(None, mistakes)
    return compile_effective(envelope or read_envelope(), read, SETTINGS)


def break_patch(change: Break) -> tuple[Finding, ...]:
    patch = deepcopy(PATCH)
    change(patch)
    compilation = compile_patch(patch)
    assert (compilation.artifact is None) == any(f.severity == "error" for f in compilation.findings)
    return compilation.findings


def slot(patch: dict[str, Any], name: str = "approval") -> dict[str, Any]:
    found: dict[str, Any] = patch["slots"][name]
    return found


def node(patch: dict[str, Any], node_id: str) -> dict[str, Any]:
    return next(n for s in patch["slots"].values() for n in s["nodes"] if n["id"] == node_id)


def edge(patch: dict[str, Any], edge_id: str) -> dict[str, Any]:
    return next(e for s in patch["slots"].values() for e in s.get("edges", ()) if e.get("id") == edge_id)


def add_node(patch: dict[str, Any], node_id: str, node_type: str, **config: Any) -> None:
    slot(patch)["nodes"].append({"id": node_id, "type": node_type, "config": config})


def add_edge(patch: dict[str, Any], source: str, target: str, **more: Any) -> None:
    slot(patch)["edges"].append({"source": source, "target": target, **more})


def drop_edge(patch: dict[str, Any], edge_id: str) -> None:
    slot(patch)["edges"].remove(edge(patch, edge_id))
