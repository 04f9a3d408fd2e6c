"""All routes there are, and which of them a path and a method mean."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from signet.api.loading import LOADING
from signet.api.routes.index import RouteEntry
from signet.api.routing import Declared, Resolver
from signet.core.errors import Rejected

# Heading in the reference; and who declares what stands below it: a module beside this one, a function.
GROUPS: Sequence[tuple[str, str]] = (
    ("API keys", "api_keys.add_api_key_routes"),
    ("Approval chains", "approval_chains.add_approval_chain_routes"),
    ("Approvals", "approvals.add_approval_routes"),
    ("Contracts", "contracts.add_contract_routes"),
    ("Definitions", "definitions.add_definition_routes"),
    ("Delegations", "delegations.add_delegation_routes"),
    ("Designing", "designing.add_designing_routes"),
    ("Documents", "document_lists.add_document_list_routes"),
    ("Documents", "documents.add_document_routes"),
    ("Documents", "documents.add_document_acts"),
    ("Documents", "bulk_documents.add_bulk_document_routes"),
    ("Documents", "transition_requests.add_transition_request_routes"),
    ("Documents", "document_history.add_document_version_routes"),
    ("Documents", "erasures.add_erasure_routes"),
    ("Documents", "document_history.add_document_history_routes"),
    ("Events", "events.add_event_routes"),
    ("Endpoints", "endpoints.add_endpoint_routes"),
    ("Health", "health.add_health_routes"),
    ("Inbound endpoints", "inbound_endpoints.add_inbound_endpoint_routes"),
    ("Instances", "instances.add_instance_lists"),
    ("Instances", "instances.add_instance_routes"),
    ("Instances", "instance_acts.add_instance_acts"),
    ("Instances", "instance_acts.add_token_acts"),
    ("Instances", "instance_moves.add_instance_moves"),
    ("Members", "members.add_member_routes"),
    ("Metrics", "metrics.add_metrics_routes"),
    ("Notifications", "notifications.add_notification_routes"),
    ("Operations", "operations.add_operation_routes"),
    ("Operators", "tenants.add_operator_routes"),
    ("Org chart", "org_chart.add_org_chart_routes"),
    ("Reference", "reference.add_reference_routes"),
    ("Roles", "roles.add_role_routes"),
    ("Rules", "rules.add_rule_routes"),
    ("Templates", "templates.add_template_routes"),
    ("Tenant", "tenant.add_tenant_routes"),
    ("Trials", "trials.add_trial_routes"),
)
_TAGS = {group: tag for tag, group in GROUPS}
_ALWAYS = ("OPTIONS",)


def load_group(resolver: Resolver, group: str) -> Sequence[Declared]:
    """Once for each resolver."""
    if group not in resolver.declared:
        module, _, name = group.partition(".")
        with LOADING:
            declare = getattr(import_module(f"signet.api.routes.{module}"), name)
        resolver.add(group, _TAGS[group], declare)
    return resolver.declared[group]


def load_all_groups(resolver: Resolver) -> None:
    for group in _TAGS:
        load_group(resolver, group)


@dataclass(frozen=True, slots=True)
class Found:
    """A route, and what its path says for each name."""

    entry: RouteEntry
    parts: dict[str, str]


class RouteTable:
    """By the segments of a path; a name stands for any one, and what is spelled out goes before it."""

    def __init__(self, entries: Iterable[RouteEntry]) -> None:
        self._by_length: dict[int, list[tuple[tuple[str | None, ...], dict[str, RouteEntry]]]] = {}
        paths: dict[str, dict[str, RouteEntry]] = {}
        for one in entries:
            paths.setdefault(one.path, {})[one.method] = one
        for path, methods in paths.items():
            parts = tuple(None if part.startswith("<") else part for part in path.split("/"))
            self._by_length.setdefault(len(parts), []).append((parts, methods))
        for known in self._by_length.values():
            known.sort(key=lambda one: [part is None for part in one[0]])

    def find(self, method: str, path: str) -> Found:
        methods = self.find_methods(path)
        if method in methods:
            entry = methods[method]
            return Found(entry, _read_parts(entry.path, path))
        allowed = write_allowed(methods)
        raise Rejected(
            "METHOD_NOT_ALLOWED",
            "This path does not know this method.",
            remedy=f"Use {' or '.join(sorted(methods))}.",
            details={"allow": allowed},
        )

    def find_methods(self, path: str) -> Mapping[str, RouteEntry]:
        parts = path.split("/")
        for wanted, methods in self._by_length.get(len(parts), ()):
            if all((want is None and part) or want == part for want, part in zip(wanted, parts, strict=True)):
                return methods
        raise Rejected("ROUTE_NOT_FOUND", "There is nothing at this path.")


def _read_parts(wanted: str, path: str) -> dict[str, str]:
    pairs = zip(wanted.split("/"), path.split("/"), strict=True)
    return {name[1:-1]: part for name, part in pairs if name.startswith("<")}


def write_allowed(methods: Mapping[str, RouteEntry]) -> str:
    """For the header Allow: HEAD goes wherever GET does, and OPTIONS always."""
    head = ("HEAD",) if "GET" in methods else ()
    return ", ".join(sorted({*methods, *head, *_ALWAYS}))
