"""One file of an author: `signet contract check` judges it, `signet json` prints what the API takes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from signet.authoring.files import read_document
from signet.cli.console import (
    FileFinding,
    choose_exit_code,
    describe_counts,
    write,
    write_findings,
    write_json,
)
from signet.cli.sources import Sources, read_contract_file
from signet.core.explain.vocabulary import escape

app = typer.Typer(help="Contracts.", no_args_is_help=True)


@app.callback()
def contracts() -> None:
    """Keep `check` a subcommand while it is the only one."""


CHECK_HELP = """Check contracts, and say every mistake at once.

Exit codes: 0 fine (warnings may stand), 1 a contract has errors, 2 a file cannot be read.

\b
Examples:
  signet contract check examples/invoice/contract.yaml
  signet contract check examples/*/contract.yaml
  signet contract check --json contract.yaml
"""


@app.command(help=CHECK_HELP)
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Contracts, as YAML or JSON.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check contracts and write their findings."""
    found = []
    for file in files:
        sources = Sources(file=file)
        read_contract_file(file, sources)
        found += sources.found
        if not as_json:
            write_findings(sources.found)
            write(f"{escape(file)}: {describe_counts(sources.found)}")
    if as_json:
        write(write_json({"findings": [finding.to_json() for finding in found]}))
    raise typer.Exit(choose_exit_code(found))


JSON_HELP = """Print an author's file as the JSON that the API takes.

Exit codes: 0 printed, 1 the file is not in order, 2 it cannot be read.

\b
Examples:
  signet json examples/invoice/contract.yaml
  signet json examples/invoice/patch.yaml > patch.json
"""


def json_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A contract, a patch or an automation.")],
) -> None:
    """Print the file as JSON, or its mistakes."""
    document, findings = read_document(file)
    found = [FileFinding(file, finding) for finding in findings]
    write_findings(found, sys.stderr)
    if not findings:
        write(write_json(document))
    raise typer.Exit(choose_exit_code(found))
