"""`signet diff`: the additions of a patch to the bare envelope, or the changes between two workflows."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from signet.authoring.artifact_file import read_artifact_file
from signet.cli.console import (
    FINE,
    FOUND_ERRORS,
    FileFinding,
    choose_exit_code,
    deliver,
    paint_marks,
    stop,
    write_json,
)
from signet.cli.sources import Sources, compile_sources, read_sources, write_refusal
from signet.core.compiler.artifact import Artifact
from signet.core.contracts.contract import Contract
from signet.core.diagrams.diff import Diff, diff_artifacts
from signet.core.diagrams.diff_text import write_diff
from signet.core.diagrams.mermaid import draw_diff
from signet.core.explain.vocabulary import Vocabulary
from signet.core.validation.finding import Severity

DIFF_HELP = """Compare two workflows, slot by slot.

Exit codes: 0 compared, 1 one does not compile (or, with --exit-code, they differ), 2 wrong use or an
unreadable file.

\b
Examples:
  signet diff examples/invoice
  signet diff examples/invoice examples/invoice_fast_track
  signet diff published.json examples/invoice/patch.yaml --exit-code
  signet diff examples/invoice --mermaid --output invoice.mmd
"""


def diff_command(
    before: Annotated[Path, typer.Argument(help="A folder, a patch, an automation or a compiled workflow.")],
    after: Annotated[
        Path | None, typer.Argument(help="The same; by default BEFORE is compared with its bare envelope.")
    ] = None,
    tenant: Annotated[
        Path | None,
        typer.Option(
            help="The tenant file with the settings `org.*`;"
            " by default tenant.yaml beside the contract or one folder up."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
    as_mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print a coloured Mermaid flowchart.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there are differences.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead.")] = None,
) -> None:
    """Compare two workflows and write their differences."""
    if as_json and as_mermaid:
        stop("--json and --mermaid exclude each other.")
    old, new, contract = _read_both(before, after, tenant)
    diff = diff_artifacts(old.content, new.content)
    if as_json:
        deliver(write_json(diff.to_json()), output)
    elif as_mermaid:
        deliver(draw_diff(old.content, new.content), output)
    else:
        deliver(_write_text(diff, new, contract, output), output)
    raise typer.Exit(FOUND_ERRORS if exit_code and not diff.is_empty else FINE)


def _write_text(diff: Diff, new: Artifact, contract: Contract | None, output: Path | None) -> str:
    lines = write_diff(diff, Vocabulary(new.content.get("entity_type"), contract))
    return "\n".join(lines if output is not None else paint_marks(lines, sys.stdout))


def _read_both(
    before: Path, after: Path | None, tenant: Path | None
) -> tuple[Artifact, Artifact, Contract | None]:
    if after is None:
        return _read_with_envelope(before, tenant)
    old, _ = _read_side(before, tenant)
    new, contract = _read_side(after, tenant)
    return old, new, contract


def _read_with_envelope(path: Path, tenant: Path | None) -> tuple[Artifact, Artifact, Contract | None]:
    if read_artifact_file(path) != (None, None):
        stop(f"{path} is compiled and has no bare envelope beside it; name two.")
    sources = read_sources(path, tenant_file=tenant)
    if sources.is_whole and (sources.automation is not None or sources.contract is None):
        stop(f"{path} is an automation, which has no envelope; name two.")
    new = _require(path, sources, sources.compile())
    bare = sources.compile_bare()
    old = bare.artifact or _refuse(path, [FileFinding(path, finding) for finding in bare.findings])
    return old, new, sources.contract


def _read_side(path: Path, tenant: Path | None) -> tuple[Artifact, Contract | None]:
    artifact, problem = read_artifact_file(path)
    if problem is not None:
        stop(f"{path} is no compiled workflow: {problem}.")
    if artifact is not None:
        return artifact, None
    sources, artifact = compile_sources(path, tenant_file=tenant)
    return _require(path, sources, artifact), sources.contract


def _require(path: Path, sources: Sources, artifact: Artifact | None) -> Artifact:
    sources.write_notes()
    return artifact or _refuse(path, sources.found)


def _refuse(path: Path, found: list[FileFinding]) -> Artifact:
    errors = [file_finding for file_finding in found if file_finding.finding.severity is Severity.ERROR]
    write_refusal(path, errors)
    raise typer.Exit(choose_exit_code(errors))
