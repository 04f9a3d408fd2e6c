"""Everything in examples/ compiles without a finding and does what its scenarios say."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from signet.authoring.scenarios import Expectation, Scenario, ScenarioPlace, compare, read_scenarios
from signet.cli.sources import Sources, read_sources
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.merge import policy_node
from signet.core.previews.compile_report import list_passed_on
from signet.core.runtime.projection import Actor, project
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import SimulatedAccount, Simulation
from signet.core.tenants.permissions import grants
from signet.engine.definitions.run_as import RUN_AS
from signet.local.tenant_file import read_tenant_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
WITH_SCENARIOS = [name for name in FOLDERS if (EXAMPLES / name / "scenarios.yaml").exists()]
TEMPLATES = {"invoice", "purchase_order", "credit_note", "invoice_amendment", "invoice_fast_track"}
INVOICE = {"number": "R-1", "vendor_id": "V-1", "invoice_date": "2026-03-01"}
USE_CASES = {"A": "invoice", "B": "sales_order", "C": "invoice_amendment", "D": "delivery", "E": "royalty"}


def load(name: str) -> tuple[Sources, Artifact]:
    sources = read_sources(EXAMPLES / name)
    artifact = sources.compile()
    assert sources.found == []
    assert artifact is not None
    return sources, artifact


def place_scenarios(
    sources: Sources, artifact: Artifact, accounts: Mapping[str, SimulatedAccount] | None = None
) -> ScenarioPlace:
    return ScenarioPlace(Workflow(artifact), sources.settings.make_values(), accounts, sources.contract)


def test_the_templates_and_use_cases_are_there() -> None:
    assert TEMPLATES | set(USE_CASES.values()) <= set(WITH_SCENARIOS)


@pytest.mark.parametrize("name", FOLDERS)
def test_it_compiles_without_a_finding(name: str) -> None:
    assert load(name)[1].hash


@pytest.mark.parametrize("name", WITH_SCENARIOS)
def test_its_scenarios_hold(name: str) -> None:
    sources, artifact = load(name)
    place = place_scenarios(sources, artifact)
    scenarios, findings = read_scenarios(EXAMPLES / name / "scenarios.yaml")
    assert findings == ()
    for scenario in scenarios:
        simulation = place.run(scenario)
        assert scenario.expect is not None, f"{scenario.name} expects nothing"
        assert isinstance(simulation, Simulation), (scenario.name, simulation)
        assert compare(scenario.expect, simulation) == [], scenario.name
        steps = [step.step for step in simulation.steps]
        assert project(place.workflow, "sys:start", 1, steps, Actor("simulated")) == simulation.projection


@pytest.mark.parametrize("name", FOLDERS)
def test_the_publisher_of_the_examples_may_pass_on_what_they_run_as(name: str) -> None:
    """Sam publishes what Ada saves: each step that runs as another asks what Sam has."""
    tenant = read_tenant_file(EXAMPLES / "tenant.yaml")
    roles = next(member.roles for member in tenant.members if member.user_id == "sam")
    held = [p for role in tenant.roles if role.role in roles for p in role.permissions]
    _, artifact = load(name)
    for node_id, _ in list_passed_on(artifact):
        gate = artifact.content["nodes"].get(policy_node(node_id))
        needed = [RUN_AS, *([gate["config"]["permission"]] if gate is not None else [])]
        assert [permission for permission in needed if not grants(held, permission)] == []


@pytest.mark.parametrize("name", WITH_SCENARIOS)
def test_its_scenarios_hold_with_the_accounts_of_the_tenant(name: str) -> None:
    sources, artifact = load(name)
    assert sources.accounts is not None
    scenarios, _ = read_scenarios(EXAMPLES / name / "scenarios.yaml")
    for scenario in scenarios:
        simulation = place_scenarios(sources, artifact, sources.accounts).run(scenario)
        assert scenario.expect is not None and isinstance(simulation, Simulation)
        assert compare(scenario.expect, simulation) == [], scenario.name


def test_a_scenario_that_does_not_hold_is_found() -> None:
    sources, artifact = load("invoice")
    scenario = Scenario(
        name="x",
        document={**INVOICE, "grand_total": 1},
        expect=Expectation(status="failed", document={"a": 1}),
    )
    simulation = place_scenarios(sources, artifact).run(scenario)
    assert scenario.expect is not None and isinstance(simulation, Simulation)
    assert compare(scenario.expect, simulation) == [
        "status is 'running', expected 'failed'",
        "document.a is None, expected 1",
    ]
