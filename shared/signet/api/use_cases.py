"""Use cases that the routes call. Each is imported and made at its first use."""

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from signet.api.lazy import LazyAttribute, T
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.secrets import ReadSecret
from signet.store.database import Database

if TYPE_CHECKING:
    from signet.engine.access.waits import RequestWaits
    from signet.engine.approvals.chains import ApprovalChains
    from signet.engine.approvals.delegations import Delegations
    from signet.engine.approvals.inbox import Approvals
    from signet.engine.automations.automations import Automations
    from signet.engine.cache import CompiledCache
    from signet.engine.calendars.calendars import Calendars
    from signet.engine.calendars.holiday_imports import HolidayImports
    from signet.engine.calendars.previews import CalendarPreviews
    from signet.engine.control.changes import ControlChanges, ControlledThings
    from signet.engine.definitions.definitions import Definitions
    from signet.engine.definitions.designer.expressions import Expressions
    from signet.engine.definitions.designer.impact import PublicationImpact
    from signet.engine.definitions.designer.palette import Palette
    from signet.engine.definitions.designer.preview import DefinitionPreview
    from signet.engine.definitions.designer.simulate import DefinitionSimulation
    from signet.engine.definitions.queries import DefinitionsRead
    from signet.engine.definitions.rule_executions import RuleExecutions
    from signet.engine.definitions.rules import Rules
    from signet.engine.definitions.templates import Templates
    from signet.engine.documents.erase import Erasures
    from signet.engine.documents.mutate import Documents
    from signet.engine.documents.queries.lists import DocumentLists
    from signet.engine.documents.queries.timeline import DocumentLife
    from signet.engine.documents.queries.versions import DocumentHistory
    from signet.engine.documents.read import DocumentsRead
    from signet.engine.instances.actions import Instances
    from signet.engine.instances.corrections import Corrections
    from signet.engine.instances.document_restarts import Restarts
    from signet.engine.instances.effect_acts import EffectActs
    from signet.engine.instances.incidents import Incidents
    from signet.engine.instances.moves import InstanceMoves
    from signet.engine.instances.operations import Operations
    from signet.engine.instances.queries import InstancesRead
    from signet.engine.instances.repairs import Repairs
    from signet.engine.integrations.endpoints import Endpoints
    from signet.engine.integrations.inbound_events import InboundEvents
    from signet.engine.integrations.kept_events import SentEvents
    from signet.engine.integrations.notifications import Notifications
    from signet.engine.tenants.api_keys import ApiKeys
    from signet.engine.tenants.break_glass import BreakGlass
    from signet.engine.tenants.members import Members
    from signet.engine.tenants.operator import TenantOperator
    from signet.engine.tenants.org_chart import OrgChart
    from signet.engine.tenants.roles import Roles
    from signet.engine.tenants.service_accounts import ServiceAccounts
    from signet.engine.tenants.settings import TenantAdmin
    from signet.engine.tenants.trail import TenantTrail

# Checks a URL against the hosts that a tenant allows.
CheckUrl = Callable[[str, Sequence[str]], object]


class UseCase(LazyAttribute[T]):
    """A use case of the engine, by `module:Class`, and the attributes that it is made of.

    Its type is named beside, for mypy; a test compares the two.
    """

    def __init__(self, place: str, parts: Sequence[str] = ("database",)) -> None:
        self.place = place
        module, _, name = place.partition(":")
        read_parts = [attrgetter(part) for part in parts]

        def make(use: "UseCases") -> T:
            made: T = getattr(import_module(module), name)(*(read(use) for read in read_parts))
            return made

        super().__init__(make)


class UseCases:
    _compiled: "UseCase[CompiledCache]" = UseCase("signet.engine.cache:CompiledCache", parts=[])

    waits: "UseCase[RequestWaits]" = UseCase(
        "signet.engine.access.waits:RequestWaits", parts=["database", "limits"]
    )

    @LazyAttribute
    def documents(self) -> "Documents":
        from signet.engine.documents.mutate import Documents

        return Documents(self.database, telemetry=self.telemetry)

    instances: "UseCase[Instances]" = UseCase(
        "signet.engine.instances.actions:Instances", parts=["database", "documents.caches", "_compiled"]
    )
    repairs: "UseCase[Repairs]" = UseCase(
        "signet.engine.instances.repairs:Repairs", parts=["database", "documents.caches", "_compiled"]
    )
    corrections: "UseCase[Corrections]" = UseCase(
        "signet.engine.instances.corrections:Corrections",
        parts=["database", "documents.caches", "_compiled"],
    )
    restarts: "UseCase[Restarts]" = UseCase(
        "signet.engine.instances.document_restarts:Restarts",
        parts=["database", "documents.caches", "_compiled"],
    )
    incidents: "UseCase[Incidents]" = UseCase(
        "signet.engine.instances.incidents:Incidents", parts=["database", "_compiled", "instances"]
    )
    documents_read: "UseCase[DocumentsRead]" = UseCase(
        "signet.engine.documents.read:DocumentsRead",
        parts=["database", "_compiled", "documents.caches.contracts"],
    )
    document_lists: "UseCase[DocumentLists]" = UseCase(
        "signet.engine.documents.queries.lists:DocumentLists",
        parts=["database", "documents.caches.contracts"],
    )
    document_history: "UseCase[DocumentHistory]" = UseCase(
        "signet.engine.documents.queries.versions:DocumentHistory"
    )
    erasures: "UseCase[Erasures]" = UseCase("signet.engine.documents.erase:Erasures")
    tenant_trail: "UseCase[TenantTrail]" = UseCase("signet.engine.tenants.trail:TenantTrail")
    document_timeline: "UseCase[DocumentLife]" = UseCase(
        "signet.engine.documents.queries.timeline:DocumentLife",
        parts=["database", "documents.caches.contracts"],
    )
    definitions: "UseCase[Definitions]" = UseCase(
        "signet.engine.definitions.definitions:Definitions", parts=["database", "heavy_calls", "_compiled"]
    )
    definitions_read: "UseCase[DefinitionsRead]" = UseCase(
        "signet.engine.definitions.queries:DefinitionsRead"
    )
    palette: "UseCase[Palette]" = UseCase("signet.engine.definitions.designer.palette:Palette")
    expressions: "UseCase[Expressions]" = UseCase(
        "signet.engine.definitions.designer.expressions:Expressions"
    )
    definition_preview: "UseCase[DefinitionPreview]" = UseCase(
        "signet.engine.definitions.designer.preview:DefinitionPreview", parts=["database", "heavy_calls"]
    )
    definition_simulation: "UseCase[DefinitionSimulation]" = UseCase(
        "signet.engine.definitions.designer.simulate:DefinitionSimulation", parts=["database", "heavy_calls"]
    )
    publication_impact: "UseCase[PublicationImpact]" = UseCase(
        "signet.engine.definitions.designer.impact:PublicationImpact", parts=["database", "heavy_calls"]
    )
    automations: "UseCase[Automations]" = UseCase(
        "signet.engine.automations.automations:Automations", parts=["database", "_compiled"]
    )
    templates: "UseCase[Templates]" = UseCase("signet.engine.definitions.templates:Templates")
    inbound_events: "UseCase[InboundEvents]" = UseCase(
        "signet.engine.integrations.inbound_events:InboundEvents",
        parts=["database", "_secrets", "limits", "telemetry"],
    )

    kept_events: "UseCase[SentEvents]" = UseCase("signet.engine.integrations.kept_events:SentEvents")

    @LazyAttribute
    def endpoints(self) -> "Endpoints":
        from signet.engine.integrations.endpoints import Endpoints

        return Endpoints(self.database, self._make_check())

    instance_moves: "UseCase[InstanceMoves]" = UseCase(
        "signet.engine.instances.moves:InstanceMoves", parts=["database", "documents.caches", "_compiled"]
    )
    effect_acts: "UseCase[EffectActs]" = UseCase(
        "signet.engine.instances.effect_acts:EffectActs", parts=["database", "documents.caches", "_compiled"]
    )
    instances_read: "UseCase[InstancesRead]" = UseCase(
        "signet.engine.instances.queries:InstancesRead", parts=["database", "documents.caches.contracts"]
    )
    operations: "UseCase[Operations]" = UseCase(
        "signet.engine.instances.operations:Operations",
        parts=["database", "instances", "documents.caches", "_compiled"],
    )
    approvals: "UseCase[Approvals]" = UseCase(
        "signet.engine.approvals.inbox:Approvals", parts=["database", "documents.caches"]
    )
    approval_chains: "UseCase[ApprovalChains]" = UseCase("signet.engine.approvals.chains:ApprovalChains")
    calendars: "UseCase[Calendars]" = UseCase("signet.engine.calendars.calendars:Calendars")
    calendar_previews: "UseCase[CalendarPreviews]" = UseCase(
        "signet.engine.calendars.previews:CalendarPreviews"
    )
    holiday_imports: "UseCase[HolidayImports]" = UseCase(
        "signet.engine.calendars.holiday_imports:HolidayImports", parts=["database", "heavy_calls"]
    )
    delegations: "UseCase[Delegations]" = UseCase("signet.engine.approvals.delegations:Delegations")
    notifications: "UseCase[Notifications]" = UseCase(
        "signet.engine.integrations.notifications:Notifications"
    )
    members: "UseCase[Members]" = UseCase("signet.engine.tenants.members:Members")
    roles: "UseCase[Roles]" = UseCase("signet.engine.tenants.roles:Roles")
    org_chart: "UseCase[OrgChart]" = UseCase("signet.engine.tenants.org_chart:OrgChart")
    tenant_admin: "UseCase[TenantAdmin]" = UseCase("signet.engine.tenants.settings:TenantAdmin")
    api_keys: "UseCase[ApiKeys]" = UseCase("signet.engine.tenants.api_keys:ApiKeys")
    service_accounts: "UseCase[ServiceAccounts]" = UseCase(
        "signet.engine.tenants.service_accounts:ServiceAccounts"
    )
    tenant_operator: "UseCase[TenantOperator]" = UseCase("signet.engine.tenants.operator:TenantOperator")
    break_glass: "UseCase[BreakGlass]" = UseCase("signet.engine.tenants.break_glass:BreakGlass")
    rule_executions: "UseCase[RuleExecutions]" = UseCase(
        "signet.engine.definitions.rule_executions:RuleExecutions"
    )
    rules: "UseCase[Rules]" = UseCase(
        "signet.engine.definitions.rules:Rules", parts=["database", "documents.caches.contracts"]
    )

    @LazyAttribute
    def control_changes(self) -> "ControlChanges":
        from signet.engine.control.changes import ControlChanges

        things: dict[str, ControlledThings] = {
            "approval_chain": self.approval_chains,
            "calendar": self.calendars,
            "definition": self.definitions,
            "endpoint": self.endpoints,
            "inbound_endpoint": self.inbound_events,
            "role": self.roles,
            "rule": self.rules,
            "service_account": self.service_accounts,
            "tenant_settings": self.tenant_admin,
        }
        return ControlChanges(self.database, things)

    def __init__(
        self,
        database: Database,
        secrets: ReadSecret,
        make_check: Callable[[], CheckUrl],
        telemetry: Telemetry,
        limits: RequestLimits = DEFAULT_LIMITS,
        heavy_calls: HeavyCalls = IN_PLACE,
    ) -> None:
        self.database = database
        self.limits = limits
        self.heavy_calls = heavy_calls
        self.telemetry = telemetry
        self._secrets = secrets
        self._make_check = make_check

    def unwatched(self) -> "UseCases":
        parts = self._secrets, self._make_check, SILENT, self.limits, self.heavy_calls
        return UseCases(self.database, *parts)

    def make_all(self) -> None:
        for name, part in vars(type(self)).items():
            if isinstance(part, LazyAttribute):
                getattr(self, name)
