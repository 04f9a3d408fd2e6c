"""Decisions about a start: whether an automation starts now, later or not at all, in a fixed order."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from signet.core.automations.chain import MAX_DEPTH, Chain, Link, describe_chain
from signet.core.automations.trigger import Overlap, StartLimits

# All automations of a tenant together.
TENANT_STARTS_PER_MINUTE = 1_000
TENANT_OPEN_INSTANCES = 10_000
# How long a start waits until open instances are counted again.
COUNT_AGAIN_SECONDS = 30.0

Verdict = Literal["not_started", "ignored", "too_deep", "delayed", "queued", "replaces"]


@dataclass(frozen=True, slots=True)
class StartRefusal:
    """The reason why a start is not made as it is asked for, in words that a person reads."""

    verdict: Verdict
    code: str
    sentence: str
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StartSwitches:
    """The switches of people: a note where one is off."""

    stop_note: str | None
    is_archived: bool
    pause_note: str | None


@dataclass(frozen=True, slots=True)
class StartMeter:
    """The last minute that had a start, and the number of its starts."""

    minute: datetime | None
    count: int

    def count_in(self, moment: datetime) -> int:
        return self.count if self.minute == _minute_of(moment) else 0

    def add(self, moment: datetime) -> "StartMeter":
        return StartMeter(_minute_of(moment), self.count_in(moment) + 1)


@dataclass(frozen=True, slots=True)
class OpenCounts:
    """The numbers of open instances, and of starts that wait for one."""

    of_tenant: int
    of_automation: int
    with_key: int
    queued: int


def check_switches(switches: StartSwitches) -> StartRefusal | None:
    if switches.stop_note is not None:
        sentence = f"all automations are stopped: {switches.stop_note}"
        return StartRefusal("not_started", "AUTOMATIONS_STOPPED", sentence)
    if switches.is_archived:
        return StartRefusal(
            "not_started", "AUTOMATION_ARCHIVED", "the automation was archived before it started"
        )
    if switches.pause_note is not None:
        return StartRefusal(
            "not_started", "AUTOMATION_PAUSED", f"the automation is paused: {switches.pause_note}"
        )
    return None


def check_chain(trigger: Mapping[str, Any], link: Link, chain: Chain) -> StartRefusal | None:
    """Stop what goes round in a circle, and what goes on for too long without one."""
    repeat = trigger.get("repeat") or "stop"
    if link in chain and repeat != "allow":
        sentence = f"it has started for this before in the same chain: {describe_chain((*chain, link))}"
        verdict: Verdict = "ignored" if repeat == "ignore" else "not_started"
        return StartRefusal(verdict, "AUTOMATION_LOOP", sentence)
    if len(chain) >= MAX_DEPTH:
        sentence = (
            f"more than {MAX_DEPTH} automations have started each other: {describe_chain((*chain, link))}"
        )
        return StartRefusal("too_deep", "AUTOMATION_TOO_DEEP", sentence)
    return None


def check_rates(
    limits: StartLimits, own: StartMeter, of_tenant: StartMeter, now: datetime
) -> StartRefusal | None:
    """Delay what is over the starts of this minute. Nothing is lost by that."""
    wait = (_minute_of(now) + timedelta(minutes=1) - now).total_seconds()
    if own.count_in(now) >= limits.starts_per_minute:
        sentence = f"the automation has had {limits.starts_per_minute} starts in this minute"
        return StartRefusal("delayed", "STARTS_OVER_LIMIT", sentence, wait)
    if of_tenant.count_in(now) >= TENANT_STARTS_PER_MINUTE:
        sentence = f"all automations have had {TENANT_STARTS_PER_MINUTE} starts in this minute"
        return StartRefusal("delayed", "STARTS_OVER_LIMIT", sentence, wait)
    return None


def check_open(overlap: Overlap, limits: StartLimits, counts: OpenCounts) -> StartRefusal | None:
    """Decide by what is open: the same key first, because what replaces another opens no more."""
    if counts.with_key and overlap.mode != "allow":
        return _decide_overlap(overlap, counts.queued)
    if counts.of_automation >= limits.open_instances:
        sentence = f"{limits.open_instances} instances of the automation are open"
        return StartRefusal("delayed", "OPEN_OVER_LIMIT", sentence, COUNT_AGAIN_SECONDS)
    if counts.of_tenant >= TENANT_OPEN_INSTANCES:
        sentence = f"{TENANT_OPEN_INSTANCES} instances of automations are open"
        return StartRefusal("delayed", "OPEN_OVER_LIMIT", sentence, COUNT_AGAIN_SECONDS)
    return None


def _decide_overlap(overlap: Overlap, queued: int) -> StartRefusal:
    what = "the automation" if overlap.per == "automation" else "the automation for this document"
    if overlap.mode == "replace":
        return StartRefusal(
            "replaces", "OVERLAP_REPLACES", f"it waits until an instance of {what} is cancelled"
        )
    if overlap.mode == "skip":
        return StartRefusal("not_started", "OVERLAP_SKIPPED", f"an instance of {what} is open")
    if queued >= overlap.at_most:
        sentence = f"an instance of {what} is open, and {queued} starts wait for it"
        return StartRefusal("not_started", "OVERLAP_QUEUE_FULL", sentence)
    return StartRefusal("queued", "OVERLAP_QUEUED", f"it waits until an instance of {what} has ended")


def name_overlap_key(overlap: Overlap, automation_id: str, document_id: str | None, instance_id: str) -> str:
    """Name what counts together, of which one instance is open at a time. Behind `/` begins what is apart."""
    if overlap.mode == "allow":
        return f"{automation_id}/{instance_id}"
    document = document_id if overlap.per == "document" else None
    return f"{automation_id}/{document or ''}"


def _minute_of(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
