"""Everything in examples/ compiles without a finding and does what its scenarios say."""

from pathlib import Path

import pytest

from signet.authoring.scenarios import Expectation, Scenario, compare, read_scenarios, run_scenario
from signet.cli.sources import Sources, read_sources
from signet.core.compiler.artifact import Artifact
from signet.core.runtime.projection import Actor, project
from signet.core.runtime.workflow import Workflow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
WITH_SCENARIOS = [name for name in FOLDERS if (EXAMPLES / name / "scenarios.yaml").exists()]
TEMPLATES = {"invoice", "purchase_order", "credit_note", "invoice_amendment", "invoice_fast_track"}
USE_CASES = {"A": "invoice", "B": "sales_order", "C": "invoice_amendment", "D": "delivery", "E": "royalty"}


def load(name: str) -> tuple[Sources, Artifact]:
    sources = read_sources(EXAMPLES / name)
    artifact = sources.compile()
    assert sources.found == []
    assert artifact is not None
    return sources, artifact


def test_the_templates_and_use_cases_are_there() -> None:
    assert TEMPLATES | set(USE_CASES.values()) <= set(WITH_SCENARIOS)


@pytest.mark.parametrize("name", FOLDERS)
def test_it_compiles_without_a_finding(name: str) -> None:
    assert load(name)[1].hash


@pytest.mark.parametrize("name", WITH_SCENARIOS)
def test_its_scenarios_hold(name: str) -> None:
    sources, artifact = load(name)
    workflow = Workflow(artifact)
    scenarios, findings = read_scenarios(EXAMPLES / name / "scenarios.yaml")
    assert findings == ()
    for scenario in scenarios:
        simulation = run_scenario(workflow, scenario, sources.settings.make_values())
        assert scenario.expect is not None, f"{scenario.name} expects nothing"
        assert compare(scenario.expect, simulation) == [], scenario.name
        steps = [step.step for step in simulation.steps]
        assert project(workflow, "sys:start", 1, steps, Actor("simulated")) == simulation.projection


def test_a_scenario_that_does_not_hold_is_found() -> None:
    sources, artifact = load("invoice")
    scenario = Scenario(
        name="x", document={"grand_total": 1}, expect=Expectation(status="failed", document={"a": 1})
    )
    simulation = run_scenario(Workflow(artifact), scenario, sources.settings.make_values())
    assert scenario.expect is not None
    assert compare(scenario.expect, simulation) == [
        "status is 'running', expected 'failed'",
        "document.a is None, expected 1",
    ]
