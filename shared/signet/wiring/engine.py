"""The engine: what moves documents, and what operators do to what moves."""

from signet.engine.compiled import CompiledCache
from signet.engine.documents.contracts import ContractCache
from signet.engine.documents.opened import DocumentCaches
from signet.engine.documents.rules import RuleBook
from signet.engine.instances import Instances
from signet.engine.moving import Moving
from signet.engine.telemetry import SILENT, Telemetry
from signet.engine.waves.worker import Worker
from signet.store.database import Database


def make_caches() -> DocumentCaches:
    return DocumentCaches(ContractCache(), RuleBook())


def make_worker(database: Database, telemetry: Telemetry = SILENT) -> Worker:
    return Worker(database, make_caches(), CompiledCache(), telemetry=telemetry)


def make_instances(database: Database) -> Instances:
    return Instances(database, make_caches(), CompiledCache())


def make_moving(database: Database) -> Moving:
    return Moving(database, make_caches(), CompiledCache())
