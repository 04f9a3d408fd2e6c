"""Everything in examples/ compiles without a finding and does what its scenarios say."""

from pathlib import Path

import pytest

from signet.authoring.scenarios import Expectation, Scenario, compare, run_scenario
from signet.authoring.workflow_files import CompiledFiles, compile_files, read_scenarios
from signet.core.projection import project
from signet.core.workflow import Workflow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
WITH_SCENARIOS = [name for name in FOLDERS if (EXAMPLES / name / "scenarios.yaml").exists()]
TEMPLATES = {"invoice", "purchase_order", "credit_note", "invoice_amendment", "invoice_fast_track"}
USE_CASES = {"A": "invoice", "B": "sales_order", "C": "invoice_amendment", "D": "delivery", "E": "royalty"}


def load(name: str) -> CompiledFiles:
    files, findings = compile_files(EXAMPLES / name)
    assert findings == ()
    assert files is not None
    return files


def test_the_templates_and_use_cases_are_there() -> None:
    assert TEMPLATES | set(USE_CASES.values()) <= set(WITH_SCENARIOS)


@pytest.mark.parametrize("name", FOLDERS)
def test_it_compiles_without_a_finding(name: str) -> None:
    assert load(name).artifact.hash


@pytest.mark.parametrize("name", WITH_SCENARIOS)
def test_its_scenarios_hold(name: str) -> None:
    files = load(name)
    workflow = Workflow(files.artifact)
    scenarios, findings = read_scenarios(EXAMPLES / name / "scenarios.yaml")
    assert findings == ()
    for scenario in scenarios:
        simulation = run_scenario(workflow, scenario, files.org)
        assert scenario.expect is not None, f"{scenario.name} expects nothing"
        assert compare(scenario.expect, simulation) == [], scenario.name
        steps = [step.step for step in simulation.steps]
        assert project(workflow, "sys:start", 1, steps) == simulation.projection


def test_a_scenario_that_does_not_hold_is_found() -> None:
    files = load("invoice")
    scenario = Scenario(
        name="x", document={"grand_total": 1}, expect=Expectation(status="failed", document={"a": 1})
    )
    simulation = run_scenario(Workflow(files.artifact), scenario, files.org)
    assert scenario.expect is not None
    assert compare(scenario.expect, simulation) == [
        "status is 'running', expected 'failed'",
        "document.a is None, expected 1",
    ]
