"""Composition root of the engine, and of operators' commands on it."""

from functools import cache

from signet.authoring.extensions import load_extensions
from signet.core.errors import Rejected
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.dispatch.consumer import BatchedWakeUps, QueueConsumer
from signet.engine.dispatch.relay import Relay
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.discards import Discards
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.effect_acts import EffectActs
from signet.engine.instances.incidents import Incidents
from signet.engine.instances.moves import InstanceMoves
from signet.engine.instances.repairs import Repairs
from signet.engine.telemetry import SILENT, Telemetry
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_queued_wake_ups, make_wake


def make_caches() -> DocumentCaches:
    return DocumentCaches(ContractCache(), RuleBook())


def make_worker(database: Database, telemetry: Telemetry = SILENT) -> Worker:
    return Worker(database, make_caches(), CompiledCache(), telemetry=telemetry)


def make_approvals(database: Database) -> Approvals:
    return Approvals(database, make_caches())


def make_instances(database: Database) -> Instances:
    return Instances(database, make_caches(), CompiledCache())


def make_repairs(database: Database) -> Repairs:
    return Repairs(database, make_caches(), CompiledCache())


def make_corrections(database: Database) -> Corrections:
    return Corrections(database, make_caches(), CompiledCache())


def make_restarts(database: Database) -> Restarts:
    return Restarts(database, make_caches(), CompiledCache())


def make_incidents(database: Database) -> Incidents:
    return Incidents(database, CompiledCache(), make_instances(database))


def make_effect_acts(database: Database) -> EffectActs:
    return EffectActs(database, make_caches(), CompiledCache())


def make_discards(database: Database) -> Discards:
    return Discards(database, make_caches(), CompiledCache())


def make_moves(database: Database) -> InstanceMoves:
    return InstanceMoves(database, make_caches(), CompiledCache())


@cache
def get_consumer() -> QueueConsumer:
    """Return the consumer of the events queue."""
    settings, telemetry = get_settings(), get_telemetry()
    load_extensions(settings.extensions)
    wake_ups = BatchedWakeUps("events", make_wake(settings))
    worker = make_worker(make_database(settings, wake_ups), telemetry)
    return QueueConsumer(worker.has_more_after, wake_ups, telemetry)


@cache
def get_relay() -> Relay:
    settings = get_settings()
    wake_ups = make_queued_wake_ups(settings)
    if wake_ups is None:
        raise Rejected("SETTINGS_INVALID", "the relay has nobody to wake: SIGNET_EVENTS_QUEUE_URL is not set")
    return Relay(make_database(settings), wake_ups.send, get_telemetry())
