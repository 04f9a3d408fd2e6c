"""A run of chaos or of outages, the calm after it, and what is then expected of the town."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import LiteralString

import psycopg

from signet.core.errors import SignetError
from signet.store.database import Database, PoolSettings
from tests.chaos.acts import do_something
from tests.chaos.outages import OUTAGES, suffer
from tests.chaos.town import Town
from tests.chaos.writer import Writer
from tests.support.database.runtime_roles import as_role
from tests.support.stored_violations import list_violations

# Calm has come when nothing is left to do. It never comes where nothing has been done for so many seconds.
CALM_SECONDS = 60.0
VOTES_AT_ONCE = 50
LOOK_SECONDS = 0.25
MOST_PAUSE_SECONDS = 1.5
# Codes of a defect: no outage may be told as one.
DEFECTS = ("INTERNAL_ERROR", "DATABASE_BROKEN", "DATABASE_REFUSED", "TRACEBACK")
# What waits for its next try is due, as if time had passed. Leases are short, and end by themselves.
LATER: tuple[LiteralString, ...] = (
    "UPDATE workflow_events_outbox SET due_at = now()"
    " WHERE status IN ('pending', 'failed') AND due_at > now()",
    "UPDATE workflow_side_effects_outbox SET due_at = now()"
    " WHERE status IN ('pending', 'failed') AND due_at > now()",
)
LEFT: LiteralString = (
    "SELECT 'trigger ' || status FROM workflow_events_outbox WHERE status <> 'completed'"
    " UNION ALL SELECT 'effect ' || status FROM workflow_side_effects_outbox WHERE status <> 'completed'"
    " UNION ALL SELECT 'instance ' || status FROM workflow_instances WHERE status = 'paused'"
    " UNION ALL SELECT 'request ' || transition FROM transition_requests WHERE status = 'open'"
    " UNION ALL SELECT 'document ' || status FROM documents"
    " WHERE entity_type <> 'task' AND status NOT IN ('active', 'draft')"
)
UNKNOWN: LiteralString = (
    "SELECT id::text FROM unnest(%s::uuid[]) AS id"
    " WHERE NOT EXISTS (SELECT FROM documents d WHERE d.id = id.id)"
)
UNCOUNTED: LiteralString = (
    "SELECT id::text FROM unnest(%s::uuid[]) AS id"
    " WHERE NOT EXISTS (SELECT FROM approval_decisions d WHERE d.request_id = id.id)"
)
TWICE: LiteralString = (
    "SELECT 'document ' || (data ->> 'number'), count(*) FROM documents WHERE entity_type <> 'task'"
    " GROUP BY 1 HAVING count(*) > 1"
    " UNION ALL SELECT 'request of ' || document_id, count(*) FROM transition_requests"
    " WHERE transition = 'submit' GROUP BY 1 HAVING count(*) > 1"
    " UNION ALL SELECT 'vote on ' || request_id, count(*) FROM approval_decisions"
    " GROUP BY 1 HAVING count(*) > 1"
)
UNASKED: LiteralString = (
    "SELECT id::text FROM unnest(%s::uuid[]) AS id"
    " WHERE NOT EXISTS (SELECT FROM transition_requests q"
    " WHERE q.document_id = id.id AND q.transition = 'submit')"
)
CHILDREN: LiteralString = (
    "SELECT data ->> 'title', count(*) FROM documents WHERE entity_type = 'task'"
    " GROUP BY 1 HAVING count(*) <> 1"
)
ORPHANS: LiteralString = (
    "SELECT d.data ->> 'number' FROM documents d WHERE d.status = 'active' AND NOT EXISTS ("
    "SELECT FROM documents t WHERE t.entity_type = 'task'"
    " AND t.data ->> 'title' = 'for ' || (d.data ->> 'number'))"
)
SENT: LiteralString = "SELECT id FROM workflow_side_effects_outbox WHERE status = 'completed'"


@dataclass
class Outcome:
    """The acts on the town, and the wrongs that were found afterwards."""

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    calm_seconds: float = 0.0

    def describe(self, town: Town) -> Iterator[str]:
        yield f"done: {_count(self.done)}"
        yield f"acknowledged: {_count(Counter({k: len(v) for k, v in town.acknowledged.items()}))}"
        yield f"callers were told: {_count(town.told)}"
        sent = town.deliveries()
        yield f"delivered: {len(sent)} messages, {len({each for each, _ in sent})} of them once or more"
        yield f"calm after {self.calm_seconds:.1f} s, violations: {len(self.wrong)}"
        yield from (f"  WRONG {each}" for each in self.wrong)


def bring_chaos(town: Town, seconds: float, seed: int) -> Outcome:
    """Kill and restart what serves the town, until the time is up."""
    outcome, chance = Outcome(), Random(seed)
    town.populate()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.1, MOST_PAUSE_SECONDS))
        outcome.done[do_something(town, chance)] += 1
        town.tend_processes()
    return _calm_down(town, outcome)


def bring_outages(town: Town, seconds: float) -> Outcome:
    """Take away what the database needs, one thing after the other, while the town works on."""
    outcome = Outcome()
    town.populate()
    for name in OUTAGES:
        if name == "disk full" and town.disk is None:
            outcome.done["disk full: not here, nobody may mount a small disk"] += 1
            continue
        time.sleep(min(3.0, seconds))
        suffer(town, name, seconds)
        outcome.done[f"{name} {seconds:.0f} s"] += 1
        town.tend_processes()
    return _calm_down(town, outcome)


def _calm_down(town: Town, outcome: Outcome) -> Outcome:
    """Let nobody make more, decide what is open, and let the workers do what is left."""
    began = time.monotonic()
    for process in (*town.writers, *town.apis):
        process.kill()
    town.writers, town.apis = [], []
    town.tend_processes()
    database = Database(as_role(town.url, "signet_api"), PoolSettings())
    try:
        left, changed_at = _list_left(town, database), began
        while left and time.monotonic() < changed_at + CALM_SECONDS:
            time.sleep(LOOK_SECONDS)
            before, left = left, _list_left(town, database)
            changed_at = time.monotonic() if len(left) < len(before) else changed_at
    finally:
        database.close()
    outcome.calm_seconds = time.monotonic() - began
    outcome.wrong += [f"left undone: {_count(Counter(left))}"] if left else []
    outcome.wrong += [f"callers were told {code} ({town.told[code]})" for code in DEFECTS if town.told[code]]
    outcome.wrong += _find_wrongs(town)
    return outcome


def _list_left(town: Town, database: Database) -> list[str]:
    """Decide what is open, let time pass, and list what is left."""
    try:
        Writer(database, town.tenant_id, town.entity_type, town.hear).vote(VOTES_AT_ONCE)
        for statement in LATER:
            town.ask(statement)
        return [str(what) for (what,) in town.ask(LEFT)]
    except (SignetError, psycopg.OperationalError) as error:
        return [f"the database is away: {error}"]


def _find_wrongs(town: Town) -> Iterator[str]:
    """Find what was acknowledged and is not there, what was done twice, and what is violated."""
    for kind, query in (("made", UNKNOWN), ("asked", UNASKED), ("voted", UNCOUNTED)):
        for (row_id,) in town.ask(query, sorted(town.acknowledged[kind])):
            yield f"{kind}, acknowledged, and not there: {row_id}"
    yield from (f"the API has refused {count} with {code}" for code, count in town.refused.items())
    yield from (f"{what} is there {count} times" for what, count in town.ask(TWICE))
    yield from (f"{title} was made {count} times" for title, count in town.ask(CHILDREN))
    yield from (f"{number} has no child" for (number,) in town.ask(ORPHANS))
    yield from _find_wrong_deliveries(town)
    for name, where in list_violations(town.url, town.tenant_id, grace_seconds=60.0):
        yield f"{name}: {where}"


def _find_wrong_deliveries(town: Town) -> Iterator[str]:
    bodies: dict[str, set[str]] = {}
    for message_id, body in town.deliveries():
        bodies.setdefault(message_id, set()).add(body)
    yield from (f"message {each} came with other bodies" for each, found in bodies.items() if len(found) > 1)
    for (message_id,) in town.ask(SENT):
        if str(message_id) not in bodies:
            yield f"message {message_id} counts as delivered, and did not arrive"


def _count(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counted.items())) or "nothing"
