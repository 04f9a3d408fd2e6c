"""Small workflows for the tests of diff, diagram, explanation and command line."""

import copy
from typing import Any

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import compile_automation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.tenants.tenant_file import CustomSetting, TenantSettings
from signet.core.validation.strict_model import parse_strictly

CONTRACT: dict[str, Any] = {
    "contract": "invoice",
    "label": "Invoice",
    "fields": {
        "number": {"type": "string", "required": True},
        "grand_total": {"type": "decimal", "label": "Total", "required": True},
        "vendor": {"type": "ref", "entity_type": "vendor", "reads": {"rating": {"type": "int"}}},
        "vendor_id": {"type": "string"},
        "budget_owner": {"type": "string"},
        "posted": {"type": "bool"},
        "due": {"type": "date"},
        "address": {"type": "object", "fields": {"city": {"type": "string", "label": "Town"}}},
        "lines": {"type": "list", "of": {"type": "object", "fields": {"sku": {"type": "string"}}}},
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "amend_only", "label": "Submitted"},
        "active": {"edit": "locked", "settled": True},
        "cancelled": {"edit": "locked", "final": True},
    },
    "transitions": {
        "submit": {
            "from": ["draft"],
            "to": "submitted",
            "kind": "requested",
            "condition": "entity.grand_total > 0",
        },
        "approve": {
            "from": ["submitted"],
            "to": "active",
            "kind": "automatic",
            "label": "Approval",
            "rejected_to": "draft",
        },
        "cancel": {
            "from": ["draft", "submitted", "active"],
            "to": "cancelled",
            "kind": "interrupting",
            "reason_required": True,
        },
    },
    "slots": {
        "checks": {"transition": "submit", "from": "draft", "label": "Checks"},
        "approvals": {"transition": "approve"},
        "posting": {"transition": "approve", "position": "after"},
    },
    "amendment": {"from": ["active"], "permission": "invoice:amend"},
    "deletable_in": ["draft"],
    "conditions": {
        "invoice:submit": "actor.user_id == entity.creator",
        "invoice:clean": "entity.posted",
    },
    "actions": {
        "post": {"kind": "update", "label": "Post", "set": {"posted": True}},
        "tidy": {"kind": "update", "permission": "invoice:clean", "set": {"posted": False}},
    },
    "separation_of_duties": {"may_decide": ["editor"]},
}

PATCH: dict[str, Any] = {
    "patch": "standard",
    "base": {"entity_type": "invoice", "envelope_version": 1},
    "slots": {
        "approvals": {
            "exit": "join",
            "nodes": [
                {"id": "amount", "type": "condition", "label": "How much"},
                {"id": "fork", "type": "parallel_split"},
                {
                    "id": "finance",
                    "type": "approval",
                    "label": "Finance",
                    "config": {
                        "approvers": [{"by": "role", "role": "finance_manager"}],
                        "expire_after": "P5D",
                        "escalate": {"after": "PT72H", "to": {"by": "user", "user": "ada"}},
                    },
                },
                {
                    "id": "owner",
                    "type": "approval",
                    "config": {
                        "approvers": [
                            {
                                "by": "expression",
                                "expression": "entity.budget_owner",
                                "who": "budget_owner",
                            }
                        ]
                    },
                },
                {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
                {
                    "id": "single",
                    "type": "approval",
                    "config": {
                        "approvers": [{"by": "manager"}, {"by": "role", "role": "clerk"}],
                        "quorum": 1,
                    },
                },
            ],
            "edges": [
                {
                    "id": "fast",
                    "source": "amount",
                    "target": "out",
                    "condition": "entity.grand_total <= 50000 && entity.vendor_id in org.trusted_vendors",
                },
                {
                    "source": "amount",
                    "target": "fork",
                    "condition": "entity.grand_total > 1000000",
                    "label": "large",
                },
                {"source": "amount", "target": "single"},
                {"source": "fork", "target": "finance"},
                {"source": "fork", "target": "owner", "label": "who pays"},
                {"source": "finance", "target": "both"},
                {"source": "owner", "target": "both"},
            ],
        },
        "posting": {
            "nodes": [{"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}]
        },
    },
}

AUTOMATION: dict[str, Any] = {
    "automation": "reminder",
    "version": 2,
    "trigger": {"on": "cron", "cron": "0 6 * * *", "condition": "org.currency == 'EUR'"},
    "nodes": [
        {"id": "wait", "type": "wait_timer", "config": {"for": "P1D"}},
        {
            "id": "tell",
            "type": "notification",
            "config": {"channel": "email", "to": [{"by": "role", "role": "clerk"}], "text": "Look"},
        },
    ],
    "edges": [{"source": "wait", "target": "tell"}],
}

SETTINGS = TenantSettings(custom={"trusted_vendors": CustomSetting(type="list of string", value=["V-1"])})


def make_contract(**changes: Any) -> Contract:
    contract, findings = parse_strictly(Contract, {**copy.deepcopy(CONTRACT), **changes})
    assert contract is not None, findings
    return contract


def compile_patch(document: dict[str, Any] | None, contract: Contract | None = None) -> Artifact:
    patch = None
    if document is not None:
        patch, findings = parse_strictly(Patch, document)
        assert patch is not None, findings
    compilation = compile_effective(make_envelope(contract or make_contract()), patch, SETTINGS)
    assert compilation.artifact is not None, compilation.findings
    return compilation.artifact


def compile_slot(slot: str, **body: Any) -> Artifact:
    return compile_patch({**PATCH, "slots": {slot: body}})


def compile_automatic(document: dict[str, Any], contract: Contract | None = None) -> Artifact:
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    compilation = compile_automation(automation, contract, SETTINGS)
    assert compilation.artifact is not None, compilation.findings
    return compilation.artifact


def change_node(slot: str, node_id: str, **changes: Any) -> dict[str, Any]:
    """Return PATCH with one node changed."""
    document = copy.deepcopy(PATCH)
    node = next(node for node in document["slots"][slot]["nodes"] if node["id"] == node_id)
    node.update(changes)
    return document
