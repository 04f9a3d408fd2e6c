"""The use cases that the routes call. Each is imported and made when it is first asked for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from signet.api.lazy import MadeOnce
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
    from signet.engine.definitions.designer.impact import Foreseeing
    from signet.engine.definitions.designer.palette import Palette
    from signet.engine.definitions.designer.preview import Trials
    from signet.engine.definitions.designer.simulate import Simulating
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
    from signet.engine.instances.moves import Moving
    from signet.engine.instances.operations import Operations
    from signet.engine.instances.queries import InstancesRead
    from signet.engine.integrations.endpoints import Endpoints
    from signet.engine.integrations.inbound_events import InboundEvents
    from signet.engine.integrations.notifications import Notifications
    from signet.engine.tenants.api_keys import ApiKeys
    from signet.engine.tenants.members import Members
    from signet.engine.tenants.operator import Tenancies
    from signet.engine.tenants.org_chart import OrgChart
    from signet.engine.tenants.roles import Roles
    from signet.engine.tenants.settings import OwnTenant

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
            if isinstance(part, MadeOnce):
                getattr(self, name)

    @MadeOnce
    def _compiled(self) -> "CompiledCache":
        from signet.engine.cache import CompiledCache

        return CompiledCache()

    @MadeOnce
    def documents(self) -> "Documents":
        from signet.engine.documents.mutate import Documents

        return Documents(self.database, telemetry=self.telemetry)

    @MadeOnce
    def instances(self) -> "Instances":
        from signet.engine.instances.actions import Instances

        return Instances(self.database, self.documents.caches, self._compiled)

    @MadeOnce
    def documents_read(self) -> "DocumentsRead":
        from signet.engine.documents.read import DocumentsRead

        return DocumentsRead(self.database)

    @MadeOnce
    def document_lists(self) -> "DocumentLists":
        from signet.engine.documents.queries.lists import DocumentLists

        return DocumentLists(self.database, self.documents.caches.contracts)

    @MadeOnce
    def document_history(self) -> "DocumentHistory":
        from signet.engine.documents.queries.versions import DocumentHistory

        return DocumentHistory(self.database)

    @MadeOnce
    def erasures(self) -> "Erasures":
        from signet.engine.documents.erase import Erasures

        return Erasures(self.database)

    @MadeOnce
    def document_life(self) -> "DocumentLife":
        from signet.engine.documents.queries.timeline import DocumentLife

        return DocumentLife(self.database, self.documents.caches.contracts)

    @MadeOnce
    def definitions(self) -> "Definitions":
        from signet.engine.definitions.definitions import Definitions

        return Definitions(self.database)

    @MadeOnce
    def definitions_read(self) -> "DefinitionsRead":
        from signet.engine.definitions.queries import DefinitionsRead

        return DefinitionsRead(self.database)

    @MadeOnce
    def palette(self) -> "Palette":
        from signet.engine.definitions.designer.palette import Palette

        return Palette(self.database)

    @MadeOnce
    def expressions(self) -> "Expressions":
        from signet.engine.definitions.designer.expressions import Expressions

        return Expressions(self.database)

    @MadeOnce
    def trials(self) -> "Trials":
        from signet.engine.definitions.designer.preview import Trials

        return Trials(self.database)

    @MadeOnce
    def simulating(self) -> "Simulating":
        from signet.engine.definitions.designer.simulate import Simulating

        return Simulating(self.database)

    @MadeOnce
    def foreseeing(self) -> "Foreseeing":
        from signet.engine.definitions.designer.impact import Foreseeing

        return Foreseeing(self.database)

    @MadeOnce
    def templates(self) -> "Templates":
        from signet.engine.definitions.templates import Templates

        return Templates(self.database)

    @MadeOnce
    def inbound_events(self) -> "InboundEvents":
        from signet.engine.integrations.inbound_events import InboundEvents

        return InboundEvents(self.database, self._secrets)

    @MadeOnce
    def endpoints(self) -> "Endpoints":
        from signet.engine.integrations.endpoints import Endpoints

        return Endpoints(self.database, self._make_check())

    @MadeOnce
    def moving(self) -> "Moving":
        from signet.engine.instances.moves import Moving

        return Moving(self.database, self.documents.caches, self._compiled)

    @MadeOnce
    def instances_read(self) -> "InstancesRead":
        from signet.engine.instances.queries import InstancesRead

        return InstancesRead(self.database, self.documents.caches.contracts)

    @MadeOnce
    def operations(self) -> "Operations":
        from signet.engine.instances.operations import Operations

        return Operations(self.database, self.instances, self.documents.caches, self._compiled)

    @MadeOnce
    def approvals(self) -> "Approvals":
        from signet.engine.approvals.inbox import Approvals

        return Approvals(self.database, self.documents.caches)

    @MadeOnce
    def approval_chains(self) -> "ApprovalChains":
        from signet.engine.approvals.chains import ApprovalChains

        return ApprovalChains(self.database)

    @MadeOnce
    def delegations(self) -> "Delegations":
        from signet.engine.approvals.delegations import Delegations

        return Delegations(self.database)

    @MadeOnce
    def notifications(self) -> "Notifications":
        from signet.engine.integrations.notifications import Notifications

        return Notifications(self.database)

    @MadeOnce
    def members(self) -> "Members":
        from signet.engine.tenants.members import Members

        return Members(self.database)

    @MadeOnce
    def roles(self) -> "Roles":
        from signet.engine.tenants.roles import Roles

        return Roles(self.database)

    @MadeOnce
    def org_chart(self) -> "OrgChart":
        from signet.engine.tenants.org_chart import OrgChart

        return OrgChart(self.database)

    @MadeOnce
    def own_tenant(self) -> "OwnTenant":
        from signet.engine.tenants.settings import OwnTenant

        return OwnTenant(self.database)

    @MadeOnce
    def api_keys(self) -> "ApiKeys":
        from signet.engine.tenants.api_keys import ApiKeys

        return ApiKeys(self.database)

    @MadeOnce
    def tenancies(self) -> "Tenancies":
        from signet.engine.tenants.operator import Tenancies

        return Tenancies(self.database)

    @MadeOnce
    def rules(self) -> "Rules":
        from signet.engine.definitions.rules import Rules

        return Rules(self.database, self.documents.caches.contracts)
