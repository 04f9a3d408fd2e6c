"""The town that chaos comes to: a server of its own, a tenant with documents, and processes that serve it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from signet.core.tenants.principal import Principal
from signet.local.member_token import write_member_token
from signet.local.postgres import PostgresServer, running_postgres
from signet.store.database import Database, PoolSettings
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.store.schema.server import create_database, let_act_as, use_database
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.chaos.api import HOST
from tests.chaos.worker import DELIVERED
from tests.support.company import make_company
from tests.support.database.catalogue import RUNTIME_ROLES
from tests.support.database.runtime_roles import as_role
from tests.support.effects import add_endpoint
from tests.support.generated.lives import TASK
from tests.support.repair.contract import LOOK, slot
from tests.support.repair.scene import RepairScene
from tests.support.shared_company import CompanyWithWorkers
from tests.support.workflow_stage import CALL, CONTRACT, WorkflowStage

ROOT = Path(__file__).resolve().parents[2]
POST: dict[str, Any] = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
SPAWN: dict[str, Any] = {"id": "spawn", "type": "action", "config": {"action": "spawn", "run_as": "system"}}
ACTIONS = {
    **CONTRACT["actions"],
    "spawn": {"kind": "create", "entity_type": "task", "set": {"title": "for {entity.number}"}},
}
WORKERS, WRITERS, CALLERS = 2, 1, 2
# What the tables of a few minutes fit into, and what they grow by in each minute more.
SMALL_DISK_MEGABYTES, MEGABYTES_A_MINUTE = 200, 50
CONNECT_SECONDS, PATIENCE_SECONDS, STOP_SECONDS, READY_SECONDS = 10, 20.0, 60.0, 60.0


@dataclass
class Process:
    """A child that is started again when it is killed."""

    module: str
    arguments: tuple[str, ...]
    told: Counter[str]
    hear: Callable[[str, str], None]
    running: subprocess.Popen[str] | None = None
    _ears: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.running = subprocess.Popen(
            [sys.executable, "-m", self.module, *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._ears = [
            threading.Thread(target=ear, args=(self.running,), daemon=True)
            for ear in (self._listen, self._watch)
        ]
        for ear in self._ears:
            ear.start()

    def send(self, number: int) -> None:
        assert self.running is not None
        self.running.send_signal(number)

    def kill(self) -> None:
        """End it without a word; what it has said is read to its end."""
        if self.running is None:
            return
        self.running.kill()
        self.running.wait()
        for ear in self._ears:
            ear.join()
        for pipe in (self.running.stdin, self.running.stdout, self.running.stderr):
            if pipe is not None:
                pipe.close()

    def has_ended(self) -> bool:
        return self.running is not None and self.running.poll() is not None

    def _listen(self, running: subprocess.Popen[str]) -> None:
        assert running.stdout is not None
        for line in running.stdout:
            words = line.split()
            # The API writes its log there.
            if line.endswith("\n") and len(words) == 2:
                self.hear(*words)

    def _watch(self, running: subprocess.Popen[str]) -> None:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("Traceback"):
                self.told["TRACEBACK"] += 1
            if self.told["TRACEBACK"]:
                sys.stderr.write(line)


@dataclass
class Town:
    server: PostgresServer
    url: str
    tenant_id: UUID
    entity_type: str
    folder: Path
    # The small disk that holds the tables, where one could be made.
    disk: Path | None = None
    # How often callers were told each code.
    told: Counter[str] = field(default_factory=Counter)
    # What the database has acknowledged, by kind.
    acknowledged: dict[str, set[UUID]] = field(
        default_factory=lambda: {"made": set(), "asked": set(), "voted": set()}
    )
    # What the API may not refuse, by code.
    refused: Counter[str] = field(default_factory=Counter)
    workers: list[Process] = field(default_factory=list)
    # Those that make documents and vote: some past the API, some over HTTP.
    writers: list[Process] = field(default_factory=list)
    apis: list[Process] = field(default_factory=list)

    @property
    def processes(self) -> list[Process]:
        return [*self.apis, *self.workers, *self.writers]

    def hear(self, kind: str, what: str) -> None:
        """Note what the database has acknowledged, or how it refused."""
        if kind == "failed":
            self.told[what] += 1
        elif kind == "refused":
            self.refused[what] += 1
        else:
            self.acknowledged[kind].add(UUID(what))

    def populate(self) -> None:
        worker = ("tests.chaos.worker", (self.url, str(self.folder)))
        writer = ("tests.chaos.writer", (self.url, str(self.tenant_id), self.entity_type))
        self.workers = [Process(*worker, self.told, self.hear) for _ in range(WORKERS)]
        port, secret = str(_find_port()), token_hex(32)
        maker, voter = (
            write_member_token(secret, Principal(self.tenant_id, name, roles))
            for name, roles in (("carl", ("admin",)), ("anna", ("voter",)))
        )
        caller = ("tests.chaos.caller", (port, self.entity_type, maker, voter))
        self.apis = [Process("tests.chaos.api", (self.url, port, secret), self.told, self.hear)]
        self.writers = [
            *(Process(*writer, self.told, self.hear) for _ in range(WRITERS)),
            *(Process(*caller, self.told, self.hear) for _ in range(CALLERS)),
        ]
        for process in self.processes:
            process.start()
        until = time.monotonic() + READY_SECONDS
        while not self.deliveries() or not all(self.acknowledged.values()):
            if time.monotonic() > until:
                raise RuntimeError(f"nothing flows after {READY_SECONDS} s; told were {dict(self.told)}")
            time.sleep(0.05)

    def tend_processes(self) -> None:
        """Start the processes again that have ended."""
        for process in self.processes:
            if process.has_ended():
                process.kill()
                process.start()

    def tend_server(self) -> bool:
        """Start the server again that was shut down. Return whether it ended without being pressed.

        Asked to end in the middle of its recovery, PostgreSQL 18 may wait for ever.
        """
        # It would give up a server that ends so often by itself.
        self.server._ended.clear()
        until, is_pressed = time.monotonic() + PATIENCE_SECONDS, False
        while not self.server.tend():
            if time.monotonic() > until and not is_pressed:
                os.kill(self.server.pid, signal.SIGQUIT)
                until, is_pressed = until + STOP_SECONDS, True
            elif time.monotonic() > until:
                raise RuntimeError(f"the server did not end within {STOP_SECONDS} s of SIGQUIT")
            time.sleep(0.05)
        return not is_pressed

    def end(self) -> None:
        for process in self.processes:
            process.kill()

    def ask(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
            found = connection.execute(query, values)
            return found.fetchall() if found.description else []

    def deliveries(self) -> list[tuple[str, str]]:
        """Return the id and the hash of the body of each message that arrived."""
        path = self.folder / DELIVERED
        lines = path.read_text().splitlines() if path.exists() else []
        return [(words[0], words[1]) for line in lines if len(words := line.split()) == 2]


@contextmanager
def standing_town(folder: Path, *, disk_megabytes: int = 0) -> Iterator[Town]:
    """Yield a town whose server keeps what it commits, also when it is killed."""
    with ExitStack() as leaving:
        server = leaving.enter_context(running_postgres(folder / "state"))
        create_database(server.url, "chaos")
        # Beside the data, where the server's own account may go; it ends before the disk goes.
        place = server.data_directory.parent / "small_disk"
        disk = leaving.enter_context(small_disk(place, disk_megabytes)) if disk_megabytes else None
        if disk is not None:
            leaving.callback(_quit, server)
            _move_to(disk, server)
        url = use_database(server.url, "chaos")
        migrate_up(url, read_migrations(MIGRATIONS_FOLDER), say=lambda _: None)
        for role in RUNTIME_ROLES:
            let_act_as(url, role)
        tenant_id, entity_type = _settle(url)
        town = Town(server, url, tenant_id, entity_type, folder, disk)
        leaving.callback(town.end)
        yield town


def _find_port() -> int:
    """Find a port that is free, and that each API of the town takes in turn."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])


def _quit(server: PostgresServer) -> None:
    os.kill(server.pid, signal.SIGQUIT)
    server._process.wait(STOP_SECONDS)


def _move_to(disk: Path, server: PostgresServer) -> None:
    """Let the tables of the database be on this disk; the log of writes stays where it is."""
    tables, owner = disk / "tables", server.data_directory.stat()
    tables.mkdir(mode=0o700)
    os.chown(tables, owner.st_uid, owner.st_gid)
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE TABLESPACE small LOCATION '{tables}'".encode())
        admin.execute("ALTER DATABASE chaos SET TABLESPACE small")


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path | None]:
    """Yield a disk of so many megabytes; None where this machine lets nobody mount one."""
    folder.mkdir()
    options = f"size={megabytes}m,mode=0711"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        folder.rmdir()
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def _settle(url: str) -> tuple[UUID, str]:
    """Publish what the documents go through: two approvals' people, a call, a child."""
    database = Database(as_role(url, "signet_api"), PoolSettings(size=2))
    worker = Database(as_role(url, "signet_worker"), PoolSettings())
    try:
        company = make_company(database)
        with psycopg.connect(url, autocommit=True) as admin:
            stage = WorkflowStage(CompanyWithWorkers(company, admin, url), worker)
            scene = RepairScene(stage)
            scene.hire()
            company.definitions.create_contract(company.caller(), TASK)
            company.definitions.publish_contract(company.caller(), "task", 1)
            slots = {"checks": slot(POST, CALL), "approval": slot(LOOK), "posting": slot(SPAWN)}
            entity_type = stage.publish({**CONTRACT, "actions": ACTIONS}, **slots)
            add_endpoint(stage)
        return company.tenant_id, entity_type
    finally:
        database.close()
        worker.close()
