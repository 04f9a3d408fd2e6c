"""The use cases that the routes call. Each is imported and made when it is first asked for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from signet.api.lazy import LazyAttribute
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.secrets import ReadSecret
from signet.store.database import Database

if TYPE_CHECKING:
    from signet.engine.approvals.chains import ApprovalChains
    from signet.engine.approvals.delegations import Delegations
    from signet.engine.approvals.inbox import Approvals
    from signet.engine.cache import CompiledCache
    from signet.engine.definitions.definitions import Definitions
    from signet.engine.definitions.designer.expressions import Expressions
    from signet.engine.definitions.designer.impact import PublicationImpact
    from signet.engine.definitions.designer.palette import Palette
    from signet.engine.definitions.designer.preview import DefinitionPreview
    from signet.engine.definitions.designer.simulate import DefinitionSimulation
    from signet.engine.definitions.queries import DefinitionsRead
    from signet.engine.definitions.rules import Rules
    from signet.engine.definitions.templates import Templates
    from signet.engine.documents.erase import Erasures
    from signet.engine.documents.mutate import Documents
    from signet.engine.documents.queries.lists import DocumentLists
    from signet.engine.documents.queries.timeline import DocumentLife
    from signet.engine.documents.queries.versions import DocumentHistory
    from signet.engine.documents.read import DocumentsRead
    from signet.engine.instances.actions import Instances
    from signet.engine.instances.moves import InstanceMoves
    from signet.engine.instances.operations import Operations
    from signet.engine.instances.queries import InstancesRead
    from signet.engine.integrations.endpoints import Endpoints
    from signet.engine.integrations.inbound_events import InboundEvents
    from signet.engine.integrations.notifications import Notifications
    from signet.engine.tenants.api_keys import ApiKeys
    from signet.engine.tenants.members import Members
    from signet.engine.tenants.operator import TenantOperator
    from signet.engine.tenants.org_chart import OrgChart
    from signet.engine.tenants.roles import Roles
    from signet.engine.tenants.settings import TenantAdmin

# Of a URL, and the hosts that a tenant allows.
CheckUrl = Callable[[str, Sequence[str]], object]


class UseCases:
    def __init__(
        self,
        database: Database,
        secrets: ReadSecret,
        make_check: Callable[[], CheckUrl],
        telemetry: Telemetry,
    ) -> None:
        self.database = database
        self.telemetry = telemetry
        self._secrets = secrets
        self._make_check = make_check

    def unwatched(self) -> "UseCases":
        return UseCases(self.database, self._secrets, self._make_check, SILENT)

    def make_all(self) -> None:
        for name, part in vars(type(self)).items():
            if isinstance(part, LazyAttribute):
                getattr(self, name)

    @LazyAttribute
    def _compiled(self) -> "CompiledCache":
        from signet.engine.cache import CompiledCache

        return CompiledCache()

    @LazyAttribute
    def documents(self) -> "Documents":
        from signet.engine.documents.mutate import Documents

        return Documents(self.database, telemetry=self.telemetry)

    @LazyAttribute
    def instances(self) -> "Instances":
        from signet.engine.instances.actions import Instances

        return Instances(self.database, self.documents.caches, self._compiled)

    @LazyAttribute
    def documents_read(self) -> "DocumentsRead":
        from signet.engine.documents.read import DocumentsRead

        return DocumentsRead(self.database)

    @LazyAttribute
    def document_lists(self) -> "DocumentLists":
        from signet.engine.documents.queries.lists import DocumentLists

        return DocumentLists(self.database, self.documents.caches.contracts)

    @LazyAttribute
    def document_history(self) -> "DocumentHistory":
        from signet.engine.documents.queries.versions import DocumentHistory

        return DocumentHistory(self.database)

    @LazyAttribute
    def erasures(self) -> "Erasures":
        from signet.engine.documents.erase import Erasures

        return Erasures(self.database)

    @LazyAttribute
    def document_timeline(self) -> "DocumentLife":
        from signet.engine.documents.queries.timeline import DocumentLife

        return DocumentLife(self.database, self.documents.caches.contracts)

    @LazyAttribute
    def definitions(self) -> "Definitions":
        from signet.engine.definitions.definitions import Definitions

        return Definitions(self.database)

    @LazyAttribute
    def definitions_read(self) -> "DefinitionsRead":
        from signet.engine.definitions.queries import DefinitionsRead

        return DefinitionsRead(self.database)

    @LazyAttribute
    def palette(self) -> "Palette":
        from signet.engine.definitions.designer.palette import Palette

        return Palette(self.database)

    @LazyAttribute
    def expressions(self) -> "Expressions":
        from signet.engine.definitions.designer.expressions import Expressions

        return Expressions(self.database)

    @LazyAttribute
    def definition_preview(self) -> "DefinitionPreview":
        from signet.engine.definitions.designer.preview import DefinitionPreview

        return DefinitionPreview(self.database)

    @LazyAttribute
    def definition_simulation(self) -> "DefinitionSimulation":
        from signet.engine.definitions.designer.simulate import DefinitionSimulation

        return DefinitionSimulation(self.database)

    @LazyAttribute
    def publication_impact(self) -> "PublicationImpact":
        from signet.engine.definitions.designer.impact import PublicationImpact

        return PublicationImpact(self.database)

    @LazyAttribute
    def templates(self) -> "Templates":
        from signet.engine.definitions.templates import Templates

        return Templates(self.database)

    @LazyAttribute
    def inbound_events(self) -> "InboundEvents":
        from signet.engine.integrations.inbound_events import InboundEvents

        return InboundEvents(self.database, self._secrets)

    @LazyAttribute
    def endpoints(self) -> "Endpoints":
        from signet.engine.integrations.endpoints import Endpoints

        return Endpoints(self.database, self._make_check())

    @LazyAttribute
    def instance_moves(self) -> "InstanceMoves":
        from signet.engine.instances.moves import InstanceMoves

        return InstanceMoves(self.database, self.documents.caches, self._compiled)

    @LazyAttribute
    def instances_read(self) -> "InstancesRead":
        from signet.engine.instances.queries import InstancesRead

        return InstancesRead(self.database, self.documents.caches.contracts)

    @LazyAttribute
    def operations(self) -> "Operations":
        from signet.engine.instances.operations import Operations

        return Operations(self.database, self.instances, self.documents.caches, self._compiled)

    @LazyAttribute
    def approvals(self) -> "Approvals":
        from signet.engine.approvals.inbox import Approvals

        return Approvals(self.database, self.documents.caches)

    @LazyAttribute
    def approval_chains(self) -> "ApprovalChains":
        from signet.engine.approvals.chains import ApprovalChains

        return ApprovalChains(self.database)

    @LazyAttribute
    def delegations(self) -> "Delegations":
        from signet.engine.approvals.delegations import Delegations

        return Delegations(self.database)

    @LazyAttribute
    def notifications(self) -> "Notifications":
        from signet.engine.integrations.notifications import Notifications

        return Notifications(self.database)

    @LazyAttribute
    def members(self) -> "Members":
        from signet.engine.tenants.members import Members

        return Members(self.database)

    @LazyAttribute
    def roles(self) -> "Roles":
        from signet.engine.tenants.roles import Roles

        return Roles(self.database)

    @LazyAttribute
    def org_chart(self) -> "OrgChart":
        from signet.engine.tenants.org_chart import OrgChart

        return OrgChart(self.database)

    @LazyAttribute
    def tenant_admin(self) -> "TenantAdmin":
        from signet.engine.tenants.settings import TenantAdmin

        return TenantAdmin(self.database)

    @LazyAttribute
    def api_keys(self) -> "ApiKeys":
        from signet.engine.tenants.api_keys import ApiKeys

        return ApiKeys(self.database)

    @LazyAttribute
    def tenant_operator(self) -> "TenantOperator":
        from signet.engine.tenants.operator import TenantOperator

        return TenantOperator(self.database)

    @LazyAttribute
    def rules(self) -> "Rules":
        from signet.engine.definitions.rules import Rules

        return Rules(self.database, self.documents.caches.contracts)
