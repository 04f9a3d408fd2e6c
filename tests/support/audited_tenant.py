"""Audited documents, written as the API writes them, for tests that attack them afterwards."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg

from signet.core.audit.trail import SALT_BYTES, AuditEntry, VersionMark, chain_all, commit
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.documents.personal_data import make_reference
from signet.engine.audit.trail import MAX_ROWS_PER_SEAL, Sealing, seal_tenant
from signet.ids import make_id
from signet.store.audit.write import append_rows, read_heads, read_horizon, read_transaction
from signet.store.database import Connection, Database
from tests.support.database.unguarded import execute_unguarded

MAX_SETTLE_SECONDS = 60
Admin = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class Audited:
    """A tenant's documents and the databases of two roles that work on them."""

    tenant_id: UUID
    api: Database
    janitor: Database

    def make_contract(self) -> None:
        with self.api.transaction(self.tenant_id) as connection:
            connection.execute(
                "INSERT INTO contracts (tenant_id, entity_type, version, status, body, hash, created_by,"
                " published_at) VALUES (%s, 'case', 1, 'published', '{}', repeat('a', 64), 'carl', now())"
                " ON CONFLICT DO NOTHING",
                [self.tenant_id],
            )

    def write(self, document_id: UUID, versions: Sequence[int], data: dict[str, Any] | None = None) -> None:
        """Write each version in a transaction of its own."""
        for version in versions:
            with self.api.transaction(self.tenant_id) as connection:
                self.write_version(connection, document_id, version, data or {"amount": version})

    def settle(self, until: int | None = None) -> None:
        """Wait until no older transaction runs. Parallel tests share the server and hold the horizon back."""
        deadline = time.monotonic() + MAX_SETTLE_SECONDS
        with self.api.transaction(self.tenant_id) as connection:
            limit = until or read_transaction(connection).xid
        while time.monotonic() < deadline:
            with self.api.transaction(self.tenant_id) as connection:
                if read_horizon(connection).xmin >= limit:
                    return
            time.sleep(0.01)
        raise AssertionError("another transaction of this server does not end")

    def seal(self, max_rows: int = MAX_ROWS_PER_SEAL, until: int | None = None) -> Sealing:
        self.settle(until)
        return seal_tenant(self.janitor, self.tenant_id, max_rows_per_seal=max_rows)

    def write_version(
        self, connection: Connection, document_id: UUID, version: int, data: dict[str, Any]
    ) -> None:
        now = read_horizon(connection).now
        values = {"t": self.tenant_id, "d": document_id, "v": version, "now": now, "id": make_id()}
        stored = canonical_bytes(data)
        connection.execute(
            "INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data,"
            " creator_id, created_at, updated_at) VALUES (%(t)s, %(d)s, 'case', 1, 'draft', %(v)s, %(data)s,"
            " 'carl', %(now)s, %(now)s) ON CONFLICT (tenant_id, id) DO UPDATE SET version = excluded.version",
            {**values, "data": stored.decode()},
        )
        snapshot = canonical_bytes({"version": version, "data": data})
        connection.execute(
            "INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id,"
            " created_at) VALUES (%(t)s, %(d)s, %(v)s, %(id)s, %(snapshot)s, %(hash)s, 'carl', %(now)s)",
            {**values, "snapshot": snapshot.decode(), "hash": hash_bytes(snapshot)},
        )
        entry = AuditEntry(
            id=make_id(),
            tenant_id=self.tenant_id,
            subject_type="document",
            subject_id=str(document_id),
            action="update",
            actor_id="carl",
            via="api",
            at=now,
            after=VersionMark(version, hash_bytes(snapshot)),
            changes={name: {"after": value} for name, value in data.items()},
        )
        heads = read_heads(connection, self.tenant_id, [entry.subject])
        append_rows(connection, chain_all(heads, [entry], read_transaction(connection)))

    def write_personal(self, document_id: UUID, field: str, value: str) -> UUID:
        """Write a first version with a personal value in it."""
        identifier, salt = make_id(), os.urandom(SALT_BYTES)
        with self.api.transaction(self.tenant_id) as connection:
            data = {field: make_reference(str(identifier), commit(salt, value))}
            self.write_version(connection, document_id, 1, data)
            connection.execute(
                "INSERT INTO personal_values (tenant_id, id, document_id, field, salt, value, created_at)"
                " VALUES (%s, %s, %s, %s, %s, to_jsonb(%s::text), now())",
                [self.tenant_id, identifier, document_id, field, salt, value],
            )
        return identifier


def make_document(audited: Audited, versions: int) -> UUID:
    document_id = uuid4()
    audited.write(document_id, range(1, versions + 1))
    return document_id


def tamper(admin: Admin, statement: str, values: Sequence[object] = ()) -> None:
    """Change rows as the server's owner, past every trigger."""
    assert execute_unguarded(admin, statement.encode(), values) > 0, "the attack hit nothing"
