"""The report of a compilation, made and written where the definition is compiled.

What the tenant has is not known there. So the report goes out with the names that it depends on, and a second
call adds what was found of them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import Compilation, compile_body
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.previews.placed_findings import PlacedFinding, parse_body, place_findings
from signet.core.runtime.graph.guarded_gates import list_error_edges_within
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.tenants.tenant_names import Mention, list_mentions
from signet.core.validation.finding import Finding, has_errors, sort_findings

MAX_FINDINGS = 1_000
# What an author writes, by the kind of its definition.
MODELS: Mapping[str, type[Patch] | type[Automation]] = {"org_patch": Patch, "automation": Automation}


@dataclass(frozen=True, slots=True)
class CompileReport:
    """The result of compiling; `hash` is null if it failed.

    `finding_count` may be greater than the number of findings listed.
    """

    hash: str | None
    finding_count: int
    findings: Sequence[PlacedFinding]


@dataclass(frozen=True, slots=True)
class ArtifactNames:
    """The names in a compiled workflow of what stands outside of it."""

    kind: str
    entity_type: str | None
    mentions: Sequence[Mention]
    # By node: the service account that it runs as, and the action that it runs.
    accounts: Mapping[str, str]
    actions: Mapping[str, str]
    # The nodes whose edge for errors is taken only where no other contract reads such documents.
    error_edges: Sequence[str]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report as JSON, and the names in the workflow if it compiles."""

    text: str
    names: ArtifactNames | None


def compile_text(kind: str, text: str, contract: Contract | None, settings: TenantSettings) -> Compilation:
    """Parse an author's text and compile it."""
    return compile_body(_parse(kind, text), contract, settings)


def place_in_text(kind: str, text: str, findings: Sequence[Finding]) -> tuple[PlacedFinding, ...]:
    return place_findings(findings, _parse(kind, text))


def write_compile_report(
    kind: str, text: str, contract: Contract | None, settings: TenantSettings
) -> WrittenReport:
    body = _parse(kind, text)
    compilation = compile_body(body, contract, settings)
    artifact, findings = compilation.artifact, compilation.findings
    placed = place_findings(findings[:MAX_FINDINGS], body)
    report = CompileReport(artifact.hash if artifact else None, len(findings), placed)
    return WrittenReport(_write(report), list_names(artifact) if artifact else None)


def add_to_report(report: str, kind: str, text: str, beside: Sequence[Finding]) -> str:
    """Return the report with more findings, in the order that all of them have."""
    known, added = json.loads(report), sort_findings(beside)
    listed = [*(PlacedFinding(**finding) for finding in known["findings"]), *place_in_text(kind, text, added)]
    listed.sort(key=lambda found: (found.severity, found.place, found.code, found.sentence))
    digest = None if has_errors(added) else known["hash"]
    return _write(CompileReport(digest, known["finding_count"] + len(added), listed[:MAX_FINDINGS]))


def list_names(artifact: Artifact) -> ArtifactNames:
    content, nodes = artifact.content, artifact.content["nodes"]
    passed_on = list_passed_on(artifact)
    return ArtifactNames(
        content["kind"],
        content["entity_type"],
        tuple(list_mentions(nodes)),
        {node: config["service_account"] for node, config in passed_on if "service_account" in config},
        {node_id: node["config"]["action"] for node_id, node in nodes.items() if node["type"] == "action"},
        list_error_edges_within(content),
    )


def list_passed_on(artifact: Artifact) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """List the author's nodes that run as the system or as a service account, with what they say."""
    nodes = artifact.content["nodes"]
    return [
        (node_id, config)
        for node_id in artifact.content["topological_order"]
        if (config := nodes[node_id]["config"]).get("run_as", "actor") != "actor"
        and nodes[node_id]["type"] != "policy_gate"
    ]


def _parse(kind: str, text: str) -> Patch | Automation:
    return parse_body(MODELS[kind], json.loads(text))


def _write(report: CompileReport) -> str:
    return orjson.dumps(report).decode()
