"""Plans at 200,000 rows, for each role: each index answers a query, and no large table is read without one.

One test has one database, so that it is filled once on every worker of a test run.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import class_row

from signet.store.database import Connection, Database, PoolSettings
from signet.store.documents.write import lock_statement, parse_locked_documents
from signet.store.instances.lists import END
from signet.store.instances.waves import open_wave, parse_opened_wave
from signet.store.outbox.due_tenants import due_tenants
from signet.store.outbox.measures import measure_queue
from signet.store.outbox.queue import EFFECTS, EVENTS, EVER, Queue, claim, fill
from signet.store.schema.server import use_database
from signet.store.tenants.eligibility import read_eligibility_changes
from tests.integration.store.plans.probes import API, LARGE, ROW, SMALL, WORKER, Probe
from tests.integration.store.plans.queries import LISTED, LISTS, QUEUE, list_probes
from tests.support.database.queue_rows import Admin
from tests.support.database.runtime_roles import as_role
from tests.support.database.server import drop_database, make_database

SCRIPT = Path(__file__).with_name("rows.sql")
TABLES = [
    "documents",
    "document_versions",
    "transition_requests",
    "workflow_instances",
    "workflow_step_executions",
    "workflow_step_receipts",
    "workflow_events_outbox",
    "workflow_side_effects_outbox",
    "workflow_outbox_receipts",
    "workflow_event",
    "approval_chains",
    "approval_requests",
    "approval_seats",
    "approval_decisions",
    "approval_delegations",
    "notifications",
    "eligibility_changes",
    "break_glass_proposals",
    "control_changes",
]
# Indexes of tables that are small beside these; some queries need them.
OF_PEOPLE = {"members_pkey", "member_roles_by_role"}
LARGE_FROM = 1000  # rows; a smaller table may be scanned
Node = Mapping[str, Any]


@pytest.fixture
def filled(server_url: str) -> Iterator[str]:
    """Yield an admin's URL of the filled database."""
    name = f"signet_{uuid4().hex}"
    make_database(server_url, name, os.environ["SIGNET_TEST_TEMPLATE"])
    url = use_database(server_url, name)
    try:
        with psycopg.connect(url, autocommit=True) as admin:
            if admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (
                True,
            ):
                pytest.skip("only a superuser may put rows there without their foreign keys")
            admin.execute(SCRIPT.read_bytes())
        yield url
    finally:
        drop_database(server_url, name)


def list_indexes(admin: Admin) -> set[str]:
    found = admin.execute(
        "SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid"
        " WHERE i.indrelid = ANY (%s::regclass[])",
        [TABLES],
    )
    return {name for (name,) in found}


def test_every_index_is_there_for_a_query(admin: Admin) -> None:
    """Require a query in plan_queries.py for each index; an index without one is only a cost."""
    probed = {probe.index for probe in list_probes()}
    assert probed - OF_PEOPLE == list_indexes(admin)


def test_every_index_answers_its_query_and_no_large_table_is_scanned(filled: str) -> None:
    with psycopg.connect(filled) as admin:
        catalogue = Catalogue(admin)
    databases = {role: Database(as_role(filled, role), PoolSettings(size=1)) for role in (API, WORKER)}
    try:
        wrong = [find for probe in list_probes() for find in check(probe, databases[probe.role], catalogue)]
        assert wrong == []
        check_that_a_scan_is_found(databases[API], catalogue)
        for queue in (EVENTS, EFFECTS):
            check_that_one_partition_is_read(queue, databases[WORKER], catalogue)
            check_that_claims_scan_nothing(queue, databases[WORKER])
            check_that_dispatch_scans_nothing(queue, databases[WORKER])
            check_that_measuring_scans_nothing(queue, databases[API])
        check_that_lists_read_their_page(databases[API], catalogue)
        check_that_mutations_scan_nothing(databases[API])
        check_that_waves_scan_nothing(databases[WORKER])
        check_that_votes_scan_nothing(databases[API])
    finally:
        for database in databases.values():
            database.close()


class Catalogue:
    """The meaning of names in a plan: the table's index behind a partition's, and the large tables."""

    def __init__(self, admin: Admin) -> None:
        rows = admin.execute(
            "SELECT x.relname, coalesce(root.relname, x.relname) FROM pg_class x"
            " LEFT JOIN pg_inherits i ON i.inhrelid = x.oid LEFT JOIN pg_class root ON root.oid = i.inhparent"
            " WHERE x.relkind IN ('i', 'I')"
        )
        self.index_of: dict[str, str] = dict(rows.fetchall())
        counted = admin.execute("SELECT relname FROM pg_class WHERE reltuples >= %s", [LARGE_FROM])
        self.large = {name for (name,) in counted.fetchall()}
        (self.created_at,) = admin.execute(
            "SELECT created_at FROM workflow_events_outbox WHERE id = %s", [ROW]
        ).fetchone() or (None,)
        assert self.large >= {"documents", "workflow_instances", "workflow_step_receipts"}


def check(probe: Probe, database: Database, catalogue: Catalogue) -> Iterator[str]:
    for tenant_id in (LARGE, SMALL):
        nodes = list(explain(probe, database, tenant_id, catalogue))
        used = {catalogue.index_of[node["Index Name"]] for node in nodes if "Index Name" in node}
        if tenant_id == LARGE and probe.index not in used:
            yield f"{probe.index} is not used, but {sorted(used)}: {probe.text}"
        scanned = {
            node["Relation Name"]
            for node in nodes
            if node["Node Type"] == "Seq Scan" and node["Relation Name"] in catalogue.large
        }
        if scanned:
            yield f"{sorted(scanned)} are scanned for {tenant_id}: {probe.text}"


def explain(
    probe: Probe, database: Database, tenant_id: UUID, catalogue: Catalogue, options: str = "FORMAT JSON"
) -> Iterator[Node]:
    """Yield every node of the plan that the role gets for exactly these values."""
    created_at = catalogue.created_at
    values = {"created_at": created_at, "created_ats": [created_at], **probe.values, "tenant_id": tenant_id}
    with database.transaction(tenant_id) as connection:
        found = connection.execute(f"EXPLAIN ({options}) {probe.text}", values).fetchone()
    assert found is not None
    plan: Any = found[0]
    yield from walk(plan[0]["Plan"])


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", ()):
        yield from walk(child)


def check_that_a_scan_is_found(database: Database, catalogue: Catalogue) -> None:
    text = "SELECT FROM documents WHERE tenant_id = %(tenant_id)s AND creator_id = 'x'"
    found = list(check(Probe("documents_by_n1", text, {}, API), database, catalogue))
    assert any("is not used" in each for each in found), found
    text = "SELECT FROM documents WHERE creator_id = 'x'"
    found = list(check(Probe("documents_by_n1", text, {}, API), database, catalogue))
    assert any("are scanned" in each for each in found), found


def check_that_one_partition_is_read(queue: Queue[Any], database: Database, catalogue: Catalogue) -> None:
    """Expect one partition for a row with a known key, even if the plan knows it only when it runs."""
    values = {
        "ids": [ROW],
        "claim_id": ROW,
        "errors": ["why"],
        "delays": [1.0],
        "finals": [False],
        "delay_seconds": 1.0,
    }
    for name in ("relock", "complete", "release", "fail"):
        probe = Probe("", fill(QUEUE[name], queue), values)
        nodes = explain(probe, database, LARGE, catalogue, "ANALYZE, TIMING OFF, FORMAT JSON")
        read = [node["Relation Name"] for node in nodes if "Relation Name" in node and node["Actual Loops"]]
        expected = f"{queue.table}_{catalogue.created_at:%Y_%m}"
        assert {each for each in read if each != queue.table} == {expected}, (name, read)


def check_that_lists_read_their_page(database: Database, catalogue: Catalogue) -> None:
    """Expect no more rows of each workflow and status than a page has, however many there are."""
    lists: Mapping[str, Mapping[str, Any]] = {
        "list_by_status": {"statuses": ["running", "completed"]},
        "list_by_definition": {"statuses": ["running", "completed"], "entity_type": "invoice"},
    }
    for name, more in lists.items():
        probe = Probe("", LISTS[name], {**LISTED, **more, "before": END, "limit": 50}, API)
        nodes = list(explain(probe, database, LARGE, catalogue, "ANALYZE, TIMING OFF, FORMAT JSON"))
        read = sum(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            for node in nodes
            if node.get("Relation Name") == "workflow_instances"
        )
        of_type = 5  # workflows
        assert 50 <= read <= 50 * 2 * of_type, (name, read)


# EXPLAIN does not show the queries inside a function, so the table's counters are read.
READ_COUNTERS = """
    SELECT coalesce(sum(seq_tup_read), 0)::bigint AS by_scans,
           coalesce(sum(idx_tup_fetch), 0)::bigint AS by_keys
    FROM pg_stat_xact_user_tables WHERE relname ~ '^(document|transition_request|workflow_|eligibility_)'"""


def check_that_claims_scan_nothing(queue: Queue[Any], database: Database) -> None:
    """Expect a claim to read the rows that it takes, however many are due; it is not kept."""
    with database.transaction(LARGE) as connection, connection.transaction(force_rollback=True):
        with counting(connection) as read:
            rows = claim(connection, queue, at_most=50, lease_seconds=60, claim_id=ROW)
    assert len(rows) == 50
    assert read.by_scans == 0
    assert read.by_keys < 5 * len(rows)


def check_that_dispatch_scans_nothing(queue: Queue[Any], database: Database) -> None:
    with database.tenantless_transaction() as connection, counting(connection) as read:
        (found,) = due_tenants(connection, queue, at_most=10)
    assert (found.tenant_id, found.due_count) == (LARGE, 1000)
    assert read.by_scans == 0
    assert read.by_keys < 3_500, "of 4,000 due rows 2,000 are read in their order, and 1,000 are counted"


def check_that_measuring_scans_nothing(queue: Queue[Any], database: Database) -> None:
    with database.tenantless_transaction() as connection, counting(connection) as read:
        found = measure_queue(connection, queue)
    assert (found.pending, found.failed, found.processing, found.dead_letter) == (2000, 2000, 2000, 2000)
    assert read.by_scans == 0
    # This includes the rows that due_tenants() counts, of the one tenant that has waited longest.
    assert read.by_keys < 9_100, "what is counted, and nothing of the 192,000 that are over"


def check_that_mutations_scan_nothing(database: Database) -> None:
    statement = lock_statement([ROW], ["clerk"])
    with database.transaction(LARGE) as connection, counting(connection) as read:
        assert parse_locked_documents(connection.execute(statement.text, statement.values).fetchone())[
            0
        ].keys() == {ROW}
    assert read.by_scans == 0
    assert read.by_keys < 10


def check_that_waves_scan_nothing(database: Database) -> None:
    with database.transaction(LARGE) as connection:
        rows = claim(connection, EVENTS, at_most=50, lease_seconds=60, claim_id=ROW)
        statement = open_wave(rows, ROW)
        with counting(connection) as read:
            opened = parse_opened_wave(connection.execute(statement.text, statement.values).fetchone())
    assert opened is not None and len(opened.triggers) == len(rows) > 1
    assert read.by_scans == 0
    assert read.by_keys < 20 * len(rows)


def check_that_votes_scan_nothing(database: Database) -> None:
    """Expect the changes about one person and one role to be found, among those of all."""
    with database.transaction(LARGE) as connection, counting(connection) as read:
        read_eligibility_changes(
            connection, LARGE, since=EVER, user_ids=["u0"], roles=["r0"], concerned=["u1"]
        )
    assert read.by_scans == 0
    assert read.by_keys < 1_000, "of 60,000"


@dataclass
class Read:
    by_scans: int = 0
    by_keys: int = 0


@contextmanager
def counting(connection: Connection) -> Iterator[Read]:
    """Yield the number of rows that the block reads."""
    before, read = count_reads(connection), Read()
    yield read
    after = count_reads(connection)
    read.by_scans, read.by_keys = after.by_scans - before.by_scans, after.by_keys - before.by_keys


def count_reads(connection: Connection) -> Read:
    with connection.cursor(row_factory=class_row(Read)) as cursor:
        return cursor.execute(READ_COUNTERS).fetchone() or Read()
