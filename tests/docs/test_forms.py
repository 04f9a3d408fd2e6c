"""The forms that docs/authoring.md shows: each is one that Signet takes."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from signet.authoring.files import parse_text
from signet.authoring.scenarios import Expectation, Scenario
from signet.core.approvals.policy import Chain
from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.node_configurations import Approver, ByExpression, ByManager, ByRole, ByUser
from signet.core.compiler.patch import Patch, PatchEdge, SlotPatch
from signet.core.contracts.contract import Contract
from signet.core.documents.rules import Rule
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.strict_model import parse_strictly

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/authoring.md").read_text(encoding="utf-8")
FORMS = re.findall(r"^```yaml (approvers|chain|rule|slot)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def read(text: str) -> Any:
    """Read as `signet` does, to which `on` is a word and no truth value."""
    document, findings = parse_text(text, "shown.yaml")
    assert not findings
    return document


def test_each_kind_has_a_form() -> None:
    assert {kind for kind, _ in FORMS} == {"approvers", "chain", "rule", "slot"}


def test_each_kind_of_approver_is_shown() -> None:
    (text,) = [text for kind, text in FORMS if kind == "approvers"]
    shown = TypeAdapter(list[Approver]).validate_python(read(text))
    assert {type(approver) for approver in shown} == {ByUser, ByRole, ByManager, ByExpression}


@pytest.mark.parametrize("text", [text for kind, text in FORMS if kind == "chain"])
def test_the_chain_is_one(text: str) -> None:
    chain, findings = parse_strictly(Chain, read(text))
    assert chain is not None, findings


@pytest.mark.parametrize("text", [text for kind, text in FORMS if kind == "rule"])
def test_each_rule_is_one(text: str) -> None:
    rule, findings = parse_strictly(Rule, {**read(text), "name": "own", "entity_type": "invoice"})
    assert rule is not None, findings


def walk_slot(
    grand_total: int, approvals: Mapping[str, str], effects: Mapping[str, str] | None = None
) -> Simulation:
    (text,) = [text for kind, text in FORMS if kind == "slot"]
    contract, findings = parse_strictly(
        Contract, read((ROOT / "examples/invoice/contract.yaml").read_text(encoding="utf-8"))
    )
    assert contract is not None, findings
    base = {"entity_type": "invoice", "envelope_version": contract.version}
    patch, findings = parse_strictly(
        Patch, {"patch": "shown", "base": base, "slots": {"submitted_to_approved": read(text)}}
    )
    assert patch is not None, findings
    compilation = compile_effective(make_envelope(contract), patch, TenantSettings())
    assert compilation.artifact is not None, compilation.findings
    document = {"number": "R-1", "vendor_id": "V-1", "invoice_date": "2026-01-01", "grand_total": grand_total}
    world = WorldScript(requests=["submit"], approvals=approvals, effects=effects or {})
    return simulate(Workflow(compilation.artifact), document, world, datetime(2026, 1, 1, tzinfo=UTC))


def list_nodes(simulation: Simulation) -> list[str]:
    return [step.step.node.rsplit(":", 1)[-1] for step in simulation.steps]


def test_the_slot_goes_where_its_comments_say() -> None:
    small = walk_slot(500, approvals={"finance": "approved"})
    large = walk_slot(90_000, approvals={"finance": "approved"})
    failed = walk_slot(90_000, approvals={"finance": "approved"}, effects={"ask": "error"})
    assert "ask" not in list_nodes(small) and "ask" in list_nodes(large)
    assert [ended.document_status for ended in (small, large, failed)] == ["active"] * 3
    assert not any("tell" in list_nodes(ended) for ended in (small, large, failed))


def test_a_rejection_that_leads_to_a_node_stays_one() -> None:
    simulation = walk_slot(500, approvals={"finance": "rejected"})
    assert "tell" in list_nodes(simulation)
    assert simulation.document_status == "draft"


@pytest.mark.parametrize("model", [PatchEdge, SlotPatch, Scenario])
def test_each_key_that_authors_write_has_a_row(model: type[BaseModel]) -> None:
    rows = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|([^|]+)\|", PAGE, re.MULTILINE))))
    assert set(model.model_fields) <= rows


def test_what_a_scenario_may_expect_is_said() -> None:
    (row,) = re.findall(r"^\| `expect` \|.*$", PAGE, re.MULTILINE)
    assert set(Expectation.model_fields) <= set(re.findall(r"`(\w+)`", row))
