"""A company with a database of its own that lasts for a whole module, for tests that only add documents."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg

from signet.engine.documents.commands import Applied, Create
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import use_database
from tests.support.company import INVOICE, Company, make_company
from tests.support.database.runtime_roles import as_role, expect_clean_sessions
from tests.support.database.server import drop_database, make_database
from tests.support.database.unguarded import execute_unguarded

Admin = psycopg.Connection[tuple[Any, ...]]
WAIT_SECONDS = 20.0
POLL_SECONDS = 0.002
IS_CAMPAIGN = bool(os.environ.get("SIGNET_TEST_CAMPAIGN"))


@dataclass(frozen=True)
class CompanyWithWorkers:
    company: Company
    admin: Admin
    admin_url: str

    @property
    def api_url(self) -> str:
        return as_role(self.admin_url, "signet_api")

    def create(self, **changes: Any) -> Applied:
        """Create a document with a number of its own."""
        data = {**INVOICE, "number": f"R-{uuid4()}", **changes}
        return self.company.documents.mutate(self.company.caller(), Create("invoice", data))

    def put_at(self, document_id: UUID, status: str, window: str) -> None:
        """Write the status and the edit window that the engine would have written."""
        self.run_unguarded("UPDATE documents SET status = %s WHERE id = %s", status, document_id)
        self.run("UPDATE workflow_instances SET edit_window = %s WHERE entity_id = %s", window, document_id)

    def run(self, statement: LiteralString, *values: Any) -> None:
        self.admin.execute(statement, values)

    def run_unguarded(self, statement: LiteralString, *values: Any) -> None:
        """Run a statement past the triggers, as nobody but a superuser can."""
        execute_unguarded(self.admin, statement, values)

    def rows(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        return self.admin.execute(query, values).fetchall()

    def row(self, query: LiteralString, *values: Any) -> tuple[Any, ...]:
        (found,) = self.rows(query, *values)
        return found

    def wait_until(self, query: LiteralString, *values: Any) -> None:
        """Wait until the query's one value is true."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.row(query, *values) != (True,):
            assert time.monotonic() < deadline, f"not within {WAIT_SECONDS} s: {query}"
            time.sleep(POLL_SECONDS)

    def wait_until_blocked(self, count: int = 1) -> None:
        """Wait until this many backends wait for a lock."""
        self.wait_until(
            "SELECT count(*) = %s FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'",
            count,
        )


@contextmanager
def standing_company(server_url: str) -> Iterator[CompanyWithWorkers]:
    name = f"signet_{uuid4().hex}"
    make_database(server_url, name, os.environ["SIGNET_TEST_TEMPLATE"])
    url = use_database(server_url, name)
    database = Database(as_role(url, "signet_api"), PoolSettings(size=8))
    try:
        company = make_company(database)
        company.publish("invoice")
        with psycopg.connect(url, autocommit=True) as admin:
            yield CompanyWithWorkers(company, admin, url)
    finally:
        database.close()
        expect_clean_sessions(url)
        drop_database(server_url, name)
