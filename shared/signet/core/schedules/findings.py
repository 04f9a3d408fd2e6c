"""Findings about the cron expressions and zones that authors write."""

from signet.core.moments.known_zones import is_known_zone, propose_zones
from signet.core.schedules.cron import CronProblem, parse_cron
from signet.core.validation.finding import Finding, make_finding


def check_cron(text: str, place: str) -> tuple[Finding, ...]:
    found = parse_cron(text)
    if not isinstance(found, CronProblem):
        return ()
    return (make_finding("CRON_INVALID", place, text=text, problem=found.problem, remedy=found.remedy),)


def check_zone(name: str | None, place: str) -> tuple[Finding, ...]:
    """Find a zone that does not exist; without a name it is the tenant's."""
    if name is None or is_known_zone(name):
        return ()
    return (make_finding("ZONE_UNKNOWN", place, zone=name, remedy=propose_zones(name)),)
