"""The table of all routes, and the search for the one of a path and a method."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from signet.api.http.routing import Declared, Resolver
from signet.api.lazy import LOADING
from signet.api.routes.index import RouteEntry
from signet.core.errors import Rejected

# A heading in the reference, and the function that declares its routes in a module below this folder.
GROUPS: Sequence[tuple[str, str]] = (
    ("API keys", "tenants.api_keys.add_api_key_routes"),
    ("Approval chains", "approvals.chains.add_approval_chain_routes"),
    ("Approvals", "approvals.approvals.add_approval_routes"),
    ("Automations", "automations.automations.add_automation_routes"),
    ("Calendars", "calendars.calendars.add_calendar_routes"),
    ("Calendars", "calendars.calendars.add_holiday_import_routes"),
    ("Control changes", "control.control_changes.add_control_change_routes"),
    ("Contracts", "definitions.contracts.add_contract_routes"),
    ("Definitions", "definitions.definitions.add_definition_routes"),
    ("Delegations", "approvals.delegations.add_delegation_routes"),
    ("Designing", "definitions.designer.add_designing_routes"),
    ("Documents", "documents.lists.add_document_list_routes"),
    ("Documents", "documents.documents.add_document_routes"),
    ("Documents", "documents.documents.add_document_acts"),
    ("Documents", "documents.bulk.add_bulk_document_routes"),
    ("Documents", "documents.transition_requests.add_transition_request_routes"),
    ("Documents", "documents.restarts.add_restart_routes"),
    ("Documents", "documents.history.add_document_version_routes"),
    ("Documents", "documents.erasures.add_erasure_routes"),
    ("Documents", "documents.history.add_document_history_routes"),
    ("Effects", "instances.effects.add_effect_routes"),
    ("Events", "integrations.events.add_event_routes"),
    ("Endpoints", "integrations.endpoints.add_endpoint_routes"),
    ("Health", "operations.health.add_health_routes"),
    ("Inbound endpoints", "integrations.inbound_endpoints.add_inbound_endpoint_routes"),
    ("Incidents", "instances.incidents.add_incident_routes"),
    ("Incidents", "instances.incidents.add_repair_routes"),
    ("Instances", "instances.instances.add_instance_lists"),
    ("Instances", "instances.instances.add_instance_routes"),
    ("Instances", "instances.actions.add_instance_acts"),
    ("Instances", "instances.actions.add_token_acts"),
    ("Instances", "instances.moves.add_instance_moves"),
    ("Members", "tenants.members.add_member_routes"),
    ("Metrics", "operations.metrics.add_metrics_routes"),
    ("Notifications", "approvals.notifications.add_notification_routes"),
    ("Operations", "operations.operations.add_operation_routes"),
    ("Operators", "tenants.break_glass.add_break_glass_routes"),
    ("Operators", "tenants.operator.add_operator_routes"),
    ("Org chart", "tenants.org_chart.add_org_chart_routes"),
    ("Reference", "operations.reference.add_reference_routes"),
    ("Roles", "tenants.roles.add_role_routes"),
    ("Rules", "definitions.rules.add_rule_execution_routes"),
    ("Rules", "definitions.rules.add_rule_routes"),
    ("Service accounts", "tenants.service_accounts.add_service_account_routes"),
    ("Templates", "definitions.templates.add_template_routes"),
    ("Tenant", "tenants.own.add_tenant_routes"),
    ("Tenant", "tenants.audit.add_tenant_audit_routes"),
    ("Trials", "definitions.preview.add_trial_routes"),
)
_TAGS = {group: tag for tag, group in GROUPS}
_ALWAYS = ("OPTIONS",)


def load_group(resolver: Resolver, group: str) -> Sequence[Declared]:
    """Load a group into a resolver, once."""
    if group not in resolver.declared:
        module, _, name = group.rpartition(".")
        with LOADING:
            declare = getattr(import_module(f"signet.api.routes.{module}"), name)
        resolver.add(group, _TAGS[group], declare)
    return resolver.declared[group]


def find_declared(resolver: Resolver, entry: RouteEntry) -> Declared:
    """Return the declaration of a route, whose group is loaded for it."""
    declared = load_group(resolver, entry.group)
    return next(one for one in declared if (one.method, one.path) == (entry.method, entry.path))


def load_all_groups(resolver: Resolver) -> None:
    for group in _TAGS:
        load_group(resolver, group)


@dataclass(frozen=True, slots=True)
class MatchedRoute:
    """A route, and the values of the names in its path."""

    entry: RouteEntry
    parts: dict[str, str]


class RouteTable:
    """Routes by the segments of their paths; a spelled-out segment goes before a name."""

    def __init__(self, entries: Iterable[RouteEntry]) -> None:
        self._by_length: dict[int, list[tuple[tuple[str | None, ...], dict[str, RouteEntry]]]] = {}
        paths: dict[str, dict[str, RouteEntry]] = {}
        for entry in entries:
            paths.setdefault(entry.path, {})[entry.method] = entry
        for path, methods in paths.items():
            parts = tuple(None if part.startswith("<") else part for part in path.split("/"))
            self._by_length.setdefault(len(parts), []).append((parts, methods))
        for candidates in self._by_length.values():
            candidates.sort(key=lambda entry: [part is None for part in entry[0]])

    def find(self, method: str, path: str) -> MatchedRoute:
        methods = self.find_methods(path)
        if method in methods:
            entry = methods[method]
            return MatchedRoute(entry, _parse_parts(entry.path, path))
        allowed = write_allowed(methods)
        raise Rejected(
            "METHOD_NOT_ALLOWED",
            "This path does not know this method.",
            remedy=f"Use {' or '.join(sorted(methods))}.",
            details={"allow": allowed},
        )

    def find_methods(self, path: str) -> Mapping[str, RouteEntry]:
        parts = path.split("/")
        for pattern, methods in self._by_length.get(len(parts), ()):
            if all(
                (want is None and part) or want == part for want, part in zip(pattern, parts, strict=True)
            ):
                return methods
        raise Rejected("ROUTE_NOT_FOUND", "There is nothing at this path.")


def write_allowed(methods: Mapping[str, RouteEntry]) -> str:
    """Write the header Allow: HEAD beside GET, and OPTIONS always."""
    head = ("HEAD",) if "GET" in methods else ()
    return ", ".join(sorted({*methods, *head, *_ALWAYS}))


def _parse_parts(pattern: str, path: str) -> dict[str, str]:
    pairs = zip(pattern.split("/"), path.split("/"), strict=True)
    return {name[1:-1]: part for name, part in pairs if name.startswith("<")}
