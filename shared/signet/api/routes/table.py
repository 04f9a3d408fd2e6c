"""All routes there are, and which of them a path and a method mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from signet.api.routes.api_keys import add_api_key_routes
from signet.api.routes.approval_chains import add_approval_chain_routes
from signet.api.routes.approvals import add_approval_routes
from signet.api.routes.bulk_documents import add_bulk_document_routes
from signet.api.routes.contracts import add_contract_routes
from signet.api.routes.definitions import add_definition_routes
from signet.api.routes.delegations import add_delegation_routes
from signet.api.routes.designing import add_designing_routes
from signet.api.routes.document_history import add_document_history_routes, add_document_version_routes
from signet.api.routes.document_lists import add_document_list_routes
from signet.api.routes.documents import add_document_acts, add_document_routes
from signet.api.routes.erasures import add_erasure_routes
from signet.api.routes.events import add_event_routes
from signet.api.routes.health import add_health_routes
from signet.api.routes.inbound_endpoints import add_inbound_endpoint_routes
from signet.api.routes.instance_acts import add_instance_acts, add_token_acts
from signet.api.routes.instances import add_instance_lists, add_instance_routes
from signet.api.routes.members import add_member_routes
from signet.api.routes.metrics import add_metrics_routes
from signet.api.routes.moving import add_moving_routes
from signet.api.routes.notifications import add_notification_routes
from signet.api.routes.operations import add_operation_routes
from signet.api.routes.org_chart import add_org_chart_routes
from signet.api.routes.reference import add_reference_routes
from signet.api.routes.roles import add_role_routes
from signet.api.routes.rules import add_rule_routes
from signet.api.routes.templates import add_template_routes
from signet.api.routes.tenant import add_tenant_routes
from signet.api.routes.tenants import add_operator_routes
from signet.api.routes.transition_requests import add_transition_request_routes
from signet.api.routes.trials import add_trial_routes
from signet.api.routing import Declared, Routes
from signet.core.errors import Rejected

# Heading in the reference, and who declares what stands below it.
Groups = Sequence[tuple[str, Callable[[Routes], None]]]
GROUPS: Groups = (
    ("API keys", add_api_key_routes),
    ("Approval chains", add_approval_chain_routes),
    ("Approvals", add_approval_routes),
    ("Contracts", add_contract_routes),
    ("Definitions", add_definition_routes),
    ("Delegations", add_delegation_routes),
    ("Designing", add_designing_routes),
    ("Documents", add_document_list_routes),
    ("Documents", add_document_routes),
    ("Documents", add_document_acts),
    ("Documents", add_bulk_document_routes),
    ("Documents", add_transition_request_routes),
    ("Documents", add_document_version_routes),
    ("Documents", add_erasure_routes),
    ("Documents", add_document_history_routes),
    ("Events", add_event_routes),
    ("Health", add_health_routes),
    ("Inbound endpoints", add_inbound_endpoint_routes),
    ("Instances", add_instance_lists),
    ("Instances", add_instance_routes),
    ("Instances", add_instance_acts),
    ("Instances", add_token_acts),
    ("Instances", add_moving_routes),
    ("Members", add_member_routes),
    ("Metrics", add_metrics_routes),
    ("Notifications", add_notification_routes),
    ("Operations", add_operation_routes),
    ("Operators", add_operator_routes),
    ("Org chart", add_org_chart_routes),
    ("Reference", add_reference_routes),
    ("Roles", add_role_routes),
    ("Rules", add_rule_routes),
    ("Templates", add_template_routes),
    ("Tenant", add_tenant_routes),
    ("Trials", add_trial_routes),
)
_ALWAYS = ("OPTIONS",)


def add_all_routes(resolver: APIGatewayHttpResolver, groups: Groups) -> list[Declared]:
    declared: list[Declared] = []
    for tag, add in groups:
        add(Routes(resolver, tag, declared))
    return declared


@dataclass(frozen=True, slots=True)
class Found:
    """A route, and what its path says for each name."""

    declared: Declared
    parts: dict[str, str]


class RouteTable:
    """By the segments of a path; a name stands for any one, and what is spelled out goes before it."""

    def __init__(self, declared: Sequence[Declared]) -> None:
        self._by_length: dict[int, list[tuple[tuple[str | None, ...], dict[str, Declared]]]] = {}
        paths: dict[str, dict[str, Declared]] = {}
        for one in declared:
            paths.setdefault(one.path, {})[one.method] = one
        for path, methods in paths.items():
            parts = tuple(None if part.startswith("<") else part for part in path.split("/"))
            self._by_length.setdefault(len(parts), []).append((parts, methods))
        for entries in self._by_length.values():
            entries.sort(key=lambda entry: [part is None for part in entry[0]])

    def find(self, method: str, path: str) -> Found:
        methods = self.find_methods(path)
        if method in methods:
            declared = methods[method]
            return Found(declared, _read_parts(declared.path, path))
        allowed = write_allowed(methods)
        raise Rejected(
            "METHOD_NOT_ALLOWED",
            "This path does not know this method.",
            remedy=f"Use {' or '.join(sorted(methods))}.",
            details={"allow": allowed},
        )

    def find_methods(self, path: str) -> Mapping[str, Declared]:
        parts = path.split("/")
        for wanted, methods in self._by_length.get(len(parts), ()):
            if all((want is None and part) or want == part for want, part in zip(wanted, parts, strict=True)):
                return methods
        raise Rejected("ROUTE_NOT_FOUND", "There is nothing at this path.")


def _read_parts(wanted: str, path: str) -> dict[str, str]:
    pairs = zip(wanted.split("/"), path.split("/"), strict=True)
    return {name[1:-1]: part for name, part in pairs if name.startswith("<")}


def write_allowed(methods: Mapping[str, Declared]) -> str:
    """For the header Allow: HEAD goes wherever GET does, and OPTIONS always."""
    head = ("HEAD",) if "GET" in methods else ()
    return ", ".join(sorted({*methods, *head, *_ALWAYS}))
