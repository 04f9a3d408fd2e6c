"""`signet simulate`: a workflow run over documents in memory, without a database."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from signet.authoring.files import read_document
from signet.authoring.scenarios import Scenario, ScenarioFile, ScenarioPlace, compare, read_scenarios, shorten
from signet.cli.console import (
    FINE,
    FOUND_ERRORS,
    FileFinding,
    choose_exit_code,
    deliver,
    stop,
    write,
    write_findings,
    write_json,
)
from signet.cli.sources import compile_sources, write_refusal
from signet.core.explain.vocabulary import escape
from signet.core.runtime.projection import CONTROL
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import parse_strictly

MAX_SHOWN_STEPS = 1_000
# The step that says why a request is not served.
REFUSED = f"{CONTROL}refused"


SIMULATE_HELP = """Run a workflow in memory: the path, who is asked, what it waits for, where it ends.

Exit codes: 0 all as expected, 1 errors or an expectation not met, 2 wrong use or an unreadable file.

\b
Examples:
  signet simulate examples/invoice
  signet simulate examples/invoice --steps
  signet simulate examples/invoice --documents invoices.json --request submit --approve-all
"""


def simulate_command(
    path: Annotated[
        Path, typer.Argument(help="A contract, patch or automation, or a folder that holds them.")
    ],
    scenarios: Annotated[
        Path | None, typer.Option(help="The scenarios to run; by default scenarios.yaml in the folder.")
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help="A file with a list of documents: each runs with --request and --approve-all."),
    ] = None,
    request: Annotated[
        list[str] | None, typer.Option(help="A transition that a person asks for; repeatable.")
    ] = None,
    approve_all: Annotated[
        bool, typer.Option("--approve-all", help="Let everybody who is asked approve.")
    ] = False,
    patch: Annotated[
        Path | None, typer.Option(help="The patch that fills the slots; by default patch.yaml in the folder.")
    ] = None,
    tenant: Annotated[Path | None, typer.Option(help="The tenant file with the settings `org.*`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every run as JSON.")] = False,
    show_steps: Annotated[bool, typer.Option("--steps", help="Print the path of each run.")] = False,
) -> None:
    """Run a workflow over scenarios in memory, and write the results."""
    sources, artifact = compile_sources(path, patch, tenant)
    if artifact is None:
        write_refusal(path, sources.found)
        raise typer.Exit(choose_exit_code(sources.found) or FOUND_ERRORS)
    runs = _list_runs(path, scenarios, documents, request or [], approve_all)
    org = sources.settings.make_values()
    place = ScenarioPlace(Workflow(artifact), org, sources.accounts, sources.contract)
    results = _run(place, runs)
    if as_json:
        deliver(write_json([_to_json(scenario, simulation) for scenario, simulation in results]), None)
    else:
        for scenario, simulation in results:
            _show(scenario, simulation, show_steps)
    failed = sum(1 for scenario, simulation in results if _differences(scenario, simulation))
    if not as_json:
        write(f"{len(results)} run, {failed} not as expected")
    raise typer.Exit(FOUND_ERRORS if failed else FINE)


def _list_runs(
    path: Path, scenarios: Path | None, documents: Path | None, requests: list[str], approve_all: bool
) -> tuple[Scenario, ...]:
    if documents is not None:
        return _read_documents(documents, requests, approve_all)
    file = scenarios or (path if path.is_dir() else path.parent) / "scenarios.yaml"
    if scenarios is None and not file.is_file():
        stop(f"there is no {file}; name --scenarios or --documents")
    listed, findings = read_scenarios(file)
    _stop_at(file, findings)
    return listed


def _read_documents(file: Path, requests: list[str], approve_all: bool) -> tuple[Scenario, ...]:
    document, findings = read_document(file)
    _stop_at(file, findings)
    listed = document if isinstance(document, list) else [document]
    described = [
        {
            "name": f"document {number}",
            "document": simulated_document,
            "requests": requests,
            "approvals": {"*": "approved"} if approve_all else {},
        }
        for number, simulated_document in enumerate(listed, start=1)
    ]
    read, findings = parse_strictly(ScenarioFile, {"scenarios": described})
    _stop_at(file, findings)
    return read.scenarios if read else ()


def _stop_at(file: Path, findings: tuple[Finding, ...]) -> None:
    if findings:
        found = [FileFinding(file, finding) for finding in findings]
        write_findings(found, sys.stderr)
        raise typer.Exit(choose_exit_code(found))


def _run(place: ScenarioPlace, runs: tuple[Scenario, ...]) -> list[tuple[Scenario, Simulation]]:
    """Run the scenarios. Stop where one says what the workflow or the contract does not fit."""
    results, found = [], []
    for scenario in runs:
        run = place.run(scenario)
        if isinstance(run, Simulation):
            results.append((scenario, run))
        else:
            found += [f"{scenario.name}: {each.pointer} {each.message} [{each.code}]" for each in run]
    for line in found:
        write(escape(line), sys.stderr)
    if found:
        raise typer.Exit(FOUND_ERRORS)
    return results


def _differences(scenario: Scenario, simulation: Simulation) -> list[str]:
    return compare(scenario.expect, simulation) if scenario.expect else []


def _show(scenario: Scenario, simulation: Simulation, show_steps: bool) -> None:
    differences = _differences(scenario, simulation)
    mark = "?" if scenario.expect is None else "✗" if differences else "✓"
    ending = (
        f"{simulation.status}, document {simulation.document_status}"
        if simulation.document_status
        else simulation.status
    )
    write(f"{mark} {escape(scenario.name)}: {ending}")
    if show_steps:
        for step in simulation.steps[:MAX_SHOWN_STEPS]:
            shown = f"  ({escape(step.shown)})" if step.shown else ""
            node, outcome = step.step.node, step.outcome or "waits"
            write(f"    {step.step.seq:4} {shorten(node)} [{node}] {outcome}{shown}")
    for asked in simulation.asked:
        write(f"    asked at {shorten(asked.node)}: {escape(asked.people)}")
    for waiting in simulation.waiting:
        write(f"    waits at {shorten(waiting.node)}: {escape(waiting.shown)}")
    if simulation.reason:
        write(f"    paused: {escape(simulation.reason)}")
    for step in simulation.steps:
        if "reason" in step.evidence and (step.outcome == "refused" or step.step.node == REFUSED):
            place = step.evidence.get("transition", shorten(step.step.node))
            write(f"    refused at {escape(place)}: {escape(str(step.evidence['reason']))}")
    for name in simulation.refused:
        write(f"    could not be asked for here: {escape(name)}")
    for difference in differences:
        write(f"    ✗ {escape(difference)}")


def _to_json(scenario: Scenario, simulation: Simulation) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "status": simulation.status,
        "document_status": simulation.document_status,
        "document": dict(simulation.document),
        "asked": [{"node": asked.node, "people": asked.people} for asked in simulation.asked],
        "waiting": [{"node": waiting.node, "for": waiting.shown} for waiting in simulation.waiting],
        "refused": list(simulation.refused),
        "reason": simulation.reason,
        "differences": _differences(scenario, simulation),
        "steps": [
            {
                "seq": step.step.seq,
                "end_seq": step.step.end_seq,
                "node": step.step.node,
                "token": step.step.token,
                "status": step.step.status,
                "outcome": step.outcome,
                "chosen_edge_ids": list(step.step.chosen_edge_ids),
                "evidence": dict(step.evidence),
            }
            for step in simulation.steps
        ],
    }
