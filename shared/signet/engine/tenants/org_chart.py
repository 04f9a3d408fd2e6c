"""Reporting lines, by which approvals by a manager go. They form no circle."""

from dataclasses import dataclass

from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import administering
from signet.engine.access.read import reading
from signet.engine.access.seen_versions import ANY_VERSION, require_seen_or_new
from signet.engine.tenants.members import member_not_found
from signet.engine.tenants.self_grants import require_other_line
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants.people import ReportingLine as ReportingLine

READ_LINES, EDIT_LINES = "org_chart:read", "org_chart:edit"


@dataclass(frozen=True, slots=True)
class SavedLine:
    line: ReportingLine
    is_new: bool


@dataclass(frozen=True, slots=True)
class OrgChart:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> list[ReportingLine]:
        with reading(self.database, principal) as read:
            read.require(READ_LINES)
            return people.list_lines(read.connection, principal.tenant_id, after, limit)

    def read(self, principal: Principal, user_id: str) -> ReportingLine:
        with reading(self.database, principal) as read:
            read.require(READ_LINES)
            line = people.find_line(read.connection, principal.tenant_id, user_id)
            if line is None:
                raise Rejected("REPORTING_LINE_NOT_FOUND", f"'{user_id}' has no manager")
            return line

    def set_manager(
        self, caller: Caller, user_id: str, manager_id: str, expected_version: int | None = ANY_VERSION
    ) -> SavedLine:
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_LINES)
            require_other_line(act, user_id, manager_id)
            # One after the other: two at once could close a circle that neither of them sees.
            lock_administration(act.connection, tenant_id)
            before = people.find_member(act.connection, tenant_id, user_id)
            if before is None:
                raise member_not_found(user_id)
            manager = people.find_member(act.connection, tenant_id, manager_id)
            if manager is None or manager.status != "active":
                mistake = FieldError("/manager_id", "MEMBER_UNKNOWN", "wants an active member")
                raise Rejected("FIELDS_INVALID", "the manager is no active member", fields=(mistake,))
            if people.is_above(act.connection, tenant_id, user_id, below=manager_id):
                raise Rejected("ORG_CHART_CYCLE", f"{manager_id} reports to {user_id}, or is the same person")
            line = people.find_line(act.connection, tenant_id, user_id)
            what, current = f"the line of '{user_id}'", line.version if line else None
            require_seen_or_new(what, "REPORTING_LINE_VERSION_CONFLICT", current, expected_version)
            line = people.set_manager(act.connection, tenant_id, user_id, manager_id, author_of(caller))
            if line is None:
                raise Defect("LINE_LOST", "a reporting line was not written")
            if before.manager_id != manager_id:
                detail = {"manager_before": before.manager_id, "manager": manager_id}
                act.note(("member", user_id), "set_manager", detail)
        return SavedLine(line, is_new=before.manager_id is None)

    def remove_manager(self, caller: Caller, user_id: str) -> None:
        """Remove the manager of a member; without one, there is nothing to do."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_LINES)
            require_other_line(act, user_id, None)
            lock_administration(act.connection, tenant_id)
            before = people.find_member(act.connection, tenant_id, user_id)
            if before is None:
                raise member_not_found(user_id)
            if people.remove_manager(act.connection, tenant_id, user_id, author_of(caller)):
                detail = {"manager_before": before.manager_id, "manager": None}
                act.note(("member", user_id), "set_manager", detail)
