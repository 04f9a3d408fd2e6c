"""Nodes of a compiled workflow that run as another than who acts, and the accounts among them."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import Compilation
from signet.core.validation.finding import Finding, has_errors, make_finding, sort_findings
from signet.store.database import Connection
from signet.store.tenants.service_accounts import find_running_problem, read_running_accounts


def check_accounts(connection: Connection, tenant_id: UUID, compilation: Compilation) -> Compilation:
    """Add the service accounts that no step of the tenant can run as; that leaves no artifact."""
    if compilation.artifact is None:
        return compilation
    found = tuple(_find_unusable(connection, tenant_id, compilation.artifact))
    findings = sort_findings((*compilation.findings, *found))
    return Compilation(None if has_errors(found) else compilation.artifact, findings)


def list_passed_on(artifact: Artifact) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the author's nodes that run as the system or as a service account, with what they say."""
    nodes = artifact.content["nodes"]
    for node_id in artifact.content["topological_order"]:
        config = nodes[node_id]["config"]
        if nodes[node_id]["type"] != "policy_gate" and config.get("run_as", "actor") != "actor":
            yield node_id, config


def _find_unusable(connection: Connection, tenant_id: UUID, artifact: Artifact) -> Iterator[Finding]:
    named = {
        node_id: config["service_account"]
        for node_id, config in list_passed_on(artifact)
        if "service_account" in config
    }
    accounts = read_running_accounts(connection, tenant_id, set(named.values())) if named else {}
    for node_id, account in named.items():
        problem = find_running_problem(account, accounts.get(account))
        if problem is not None:
            yield make_finding("SERVICE_ACCOUNT_UNUSABLE", node_id, account=account, problem=problem)
