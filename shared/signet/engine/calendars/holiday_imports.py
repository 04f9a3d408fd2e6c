"""Holidays from iCalendar files, as the `holidays` of a calendar. Nothing is saved."""

from collections.abc import Sequence
from dataclasses import dataclass

from signet.core.calendars.business_calendar import CoveredYears
from signet.core.calendars.ics_holidays import import_holidays
from signet.core.previews.placed_findings import PlacedFinding, place_findings, reject_findings
from signet.core.tenants.principal import Principal
from signet.core.validation.finding import Severity
from signet.engine.access.read import reading
from signet.engine.calendars.calendars import EDIT
from signet.engine.definitions.heavy_calls import HeavyCalls, require_turn
from signet.store.database import Database
from signet.zones import find_zone


@dataclass(frozen=True, slots=True)
class WrittenHoliday:
    """A holiday as an entry of a calendar."""

    date: str
    name: str


@dataclass(frozen=True, slots=True)
class HolidayImport:
    """The holidays of a file, with warnings about what was left out."""

    holidays: Sequence[WrittenHoliday]
    findings: Sequence[PlacedFinding]


@dataclass(frozen=True, slots=True)
class HolidayImports:
    database: Database
    heavy_calls: HeavyCalls

    def run(
        self, principal: Principal, content: str, years: CoveredYears, zone: str, *, opaque_only: bool = False
    ) -> HolidayImport:
        """Import the holidays of the years. A file may hold many rules, so that one runs at a time."""
        find_zone(zone)
        with reading(self.database, principal) as read:
            read.require(EDIT)
            require_turn(read.connection, principal.tenant_id)
            found = self.heavy_calls.call(
                import_file, content.encode(), (years.first, years.last), zone, opaque_only=opaque_only
            )
        if any(finding.severity == Severity.ERROR.value for finding in found.findings):
            raise reject_findings(found.findings)
        return found


def import_file(content: bytes, years: tuple[int, int], zone: str, *, opaque_only: bool) -> HolidayImport:
    """Import from plain values, so that another process may do it."""
    covered = CoveredYears(first=years[0], last=years[1])
    holidays, findings = import_holidays(content, covered, find_zone(zone), opaque_only=opaque_only)
    entries = [WrittenHoliday(str(holiday.date), holiday.name) for holiday in holidays]
    return HolidayImport(entries, place_findings(findings))
