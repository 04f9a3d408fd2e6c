"""`signet compile`: from contract and patch, or an automation, to the one graph that the engine runs."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from signet.cli.console import (
    choose_exit_code,
    deliver,
    describe_counts,
    stop,
    write_findings,
    write_json,
)
from signet.cli.sources import Sources, compile_sources, write_refusal
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.diagrams.mermaid import draw
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.definition import explain, write_explanation
from signet.core.explain.vocabulary import describe_count, escape

COMPILE_HELP = """Compile a workflow: check everything, and give the graph with its hash.

Exit codes: 0 compiled (warnings may stand), 1 there are errors, 2 wrong use or an unreadable file.

\b
Examples:
  signet compile examples/invoice
  signet compile examples/invoice --explain
  signet compile examples/invoice --mermaid --output invoice.mmd
  signet compile examples/invoice --json --output invoice.json
  signet compile contract.yaml --patch stricter.yaml --tenant tenant.yaml
  signet compile examples/royalty/automation.yaml
"""


def compile_command(
    path: Annotated[
        Path, typer.Argument(help="A contract, patch or automation, or a folder that holds them.")
    ],
    patch: Annotated[
        Path | None, typer.Option(help="The patch that fills the slots; by default patch.yaml in the folder.")
    ] = None,
    tenant: Annotated[
        Path | None,
        typer.Option(
            help="The tenant file with the settings `org.*`;"
            " by default tenant.yaml beside the contract or one folder up."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print hash, artifact and findings as JSON.")
    ] = False,
    as_mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flowchart.")] = False,
    as_text: Annotated[
        bool, typer.Option("--explain", help="Print in plain English what it does, for a person to sign.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead.")] = None,
) -> None:
    """Compile a workflow and write its graph in the form that was asked for."""
    if as_json + as_mermaid + as_text > 1:
        stop("--json, --mermaid and --explain exclude each other.")
    sources, artifact = compile_sources(path, patch, tenant)
    sources.write_notes()
    if as_json:
        deliver(write_json(_describe(artifact, sources)), output)
    elif artifact is None:
        write_refusal(path, sources.found)
    elif as_mermaid or as_text:
        write_findings(sources.found, sys.stderr)
        explained = "" if as_mermaid else "\n".join(write_explanation(explain(artifact, sources.contract)))
        deliver(draw(artifact.content) if as_mermaid else explained, output)
    else:
        write_findings(sources.found, sys.stdout)
        deliver("\n".join(_summarise(artifact, sources)), output)
    raise typer.Exit(choose_exit_code(sources.found))


def _describe(artifact: Artifact | None, sources: Sources) -> dict[str, Any]:
    return {
        "hash": artifact.hash if artifact is not None else None,
        "artifact": artifact.content if artifact is not None else None,
        "findings": [finding.to_json() for finding in sources.found],
    }


def _summarise(artifact: Artifact, sources: Sources) -> list[str]:
    content, workflow = artifact.content, WorkflowReading(artifact.content)
    lines = [f"{content['kind']} {escape(content['name'])}", f"  hash      {artifact.hash}"]
    for part in ("contract", "envelope"):
        if part in content:
            lines.append(f"  {part:<9} version {content[part]['version']}, {content[part]['hash']}")
    lines += [
        f"  compiler  {content['compiler_version']}",
        f"  graph     {describe_count(len(workflow.nodes), 'node')},"
        f" {describe_count(len(content['edges']), 'edge')},"
        f" {describe_count(len(artifact.text.encode()), 'byte')}",
        f"  slots     {_count_steps(workflow)}",
        f"  findings  {describe_counts(sources.found)}",
    ]
    return lines


def _count_steps(workflow: WorkflowReading) -> str:
    steps = dict.fromkeys(workflow.slots, 0)
    for node_id in workflow.order:
        if NODE_TYPES[workflow.type_of(node_id)].group is not None:
            steps[workflow.slot_of(node_id)] += 1
    return (
        ", ".join(f"{escape(slot)} ({describe_count(count, 'step')})" for slot, count in steps.items())
        or "none filled"
    )
