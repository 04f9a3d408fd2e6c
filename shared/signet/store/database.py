"""Connections and transactions. A transaction belongs to one tenant or to none; none sees no rows."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout

from signet.core.errors import Defect, Transient
from signet.store.wake_ups import Wake, WakeUp, WakingConnection, no_wake_up, take_wake_ups

# RDS Proxy pins a session on a longer text: then the values go as parameters.
MAX_MESSAGE_CHARACTERS = 15_000

Connection = psycopg.Connection[tuple[object, ...]]
# By SQLSTATE: deadlock and serialization failure (40), a lock that was not waited for; and limits (54).
_CONTENTION = ("40001", "40P01", "55P03")
_CANCELLED = "57014"
_LIMIT_OF_THE_SERVER = "54"


@dataclass(frozen=True)
class PoolSettings:
    """A Lambda keeps one connection; a local server a few."""

    size: int = 1
    idle_count: int = 0
    idle_seconds: float = 60.0
    lifetime_seconds: float = 900.0
    wait_seconds: float = 5.0
    connect_seconds: int = 5
    # How long a statement may wait for a lock, and take in all; 0 is without end.
    lock_seconds: float = 5.0
    statement_seconds: float = 30.0


@dataclass(frozen=True)
class PreparedText:
    text: str
    values: Mapping[str, Any]


@dataclass
class PipelinedTransaction:
    """A transaction under way: what its opening statement answered, and what is to go with its COMMIT."""

    connection: Connection
    opening_rows: list[tuple[Any, ...]]
    # In this order, after everything that was executed meanwhile.
    closing: list[PreparedText] = field(default_factory=list)

    @property
    def first_row(self) -> tuple[Any, ...] | None:
        return self.opening_rows[0] if self.opening_rows else None


@dataclass(frozen=True)
class _Joined:
    """The transaction that others are to be part of."""

    tenant_id: UUID
    connection: Connection


class Database:
    """Opens its pool on first use, so that importing and wiring cost no connection.

    `wake` is told of the work that a transaction has written, after its commit. `make_password` is asked for
    each new connection, where passwords do not last.
    """

    def __init__(
        self,
        url: str,
        settings: PoolSettings,
        *,
        wake: Wake = no_wake_up,
        make_password: Callable[[], str] | None = None,
    ) -> None:
        self._wake = wake
        # Of the transaction, not of the session: a pooler gives the session to others.
        self._limits = ", ".join(
            f"set_config('{name}', '{round(seconds * 1_000)}ms', true)"
            for name, seconds in [
                ("lock_timeout", settings.lock_seconds),
                ("statement_timeout", settings.statement_seconds),
            ]
        )
        # Of this thread: others of the process have transactions of their own.
        self._joined: ContextVar[_Joined | None] = ContextVar("joined", default=None)
        # Pooler-safe: no named prepared statements, no implicit transaction.
        how = {
            "prepare_threshold": None,
            "autocommit": True,
            "connect_timeout": settings.connect_seconds,
            "application_name": "signet",
        }

        def describe_how() -> dict[str, Any]:
            return how if make_password is None else {**how, "password": make_password()}

        self._pool: ConnectionPool[WakingConnection] = ConnectionPool(
            url,
            connection_class=WakingConnection,
            min_size=settings.idle_count,
            max_size=settings.size,
            max_idle=settings.idle_seconds,
            max_lifetime=settings.lifetime_seconds,
            timeout=settings.wait_seconds,
            reconnect_timeout=settings.wait_seconds,
            open=False,
            configure=_configure,
            kwargs=describe_how,
        )

    @contextmanager
    def transaction(self, tenant_id: UUID) -> Iterator[Connection]:
        """One transaction that sees exactly this tenant."""
        if not isinstance(tenant_id, UUID):
            raise Defect("TENANT_MISSING", "a transaction was asked for without a tenant")
        if (joined := self._find_joined(tenant_id)) is not None:
            with joined.transaction():
                yield joined
            return
        with self._transacted(self._begin_of(tenant_id)) as connection:
            yield connection

    @contextmanager
    def shared_transaction(self, tenant_id: UUID) -> Iterator[Connection]:
        """A transaction that those opened within it, by the same thread, are part of: each a savepoint.

        So that what a use case does, and that it was asked for, are written together or not at all.
        """
        with self.transaction(tenant_id) as connection:
            token = self._joined.set(_Joined(tenant_id, connection))
            try:
                yield connection
            finally:
                self._joined.reset(token)

    def _find_joined(self, tenant_id: UUID) -> Connection | None:
        joined = self._joined.get()
        if joined is None:
            return None
        if joined.tenant_id != tenant_id:
            raise Defect("TENANT_MIXED", "a transaction of one tenant was to hold another's")
        return joined.connection

    @contextmanager
    def snapshot(self, tenant_id: UUID) -> Iterator[Connection]:
        """Many reads of one tenant as of one moment; writes are refused."""
        if (joined := self._find_joined(tenant_id)) is not None:
            yield joined
            return
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transacted(self._begin_of(tenant_id, begin)) as connection:
            yield connection

    @contextmanager
    def tenantless_transaction(self) -> Iterator[Connection]:
        """One transaction that sees no tenant's rows: the state of the server, and dispatch."""
        with self._transacted(f"BEGIN; SELECT {self._limits}") as connection:
            yield connection

    @contextmanager
    def pipelined(self, tenant_id: UUID, opening: PreparedText) -> Iterator[PipelinedTransaction]:
        """A transaction of two round trips: BEGIN goes with the first statement, COMMIT with the last.

        Written as one message each, with the values as literals: half the round trips of a short transaction
        are half of what it costs (docs/decisions/0008).
        """
        if (joined := self._find_joined(tenant_id)) is not None:
            with joined.transaction():
                pipeline = PipelinedTransaction(
                    joined, joined.execute(opening.text, opening.values).fetchall()
                )
                yield pipeline
                for statement in pipeline.closing:
                    joined.execute(statement.text, statement.values)
            return
        with self._begun(self._begin_of(tenant_id), opening) as pipeline:
            yield pipeline

    def _begin_of(self, tenant_id: UUID, begin: str = "BEGIN") -> str:
        """One round trip for all of it; a UUID's text needs no quoting."""
        return (
            f"{begin}; SELECT set_config('signet.tenant_id', '{UUID(str(tenant_id))}', true), {self._limits}"
        )

    @contextmanager
    def _transacted(self, begin: str) -> Iterator[Connection]:
        with self._begun(begin, None) as pipeline:
            yield pipeline.connection

    @contextmanager
    def _begun(self, begin: str, opening: PreparedText | None) -> Iterator[PipelinedTransaction]:
        self._pool.open()
        is_committing = False
        wake_ups: Collection[WakeUp] = ()
        try:
            # Leaving the block on an exception rolls back.
            with self._connected(begin, opening) as pipeline:
                yield pipeline
                is_committing = True
                _close(pipeline)
                wake_ups = take_wake_ups(pipeline.connection)
        except PoolTimeout as error:
            raise _unavailable() from error
        except psycopg.OperationalError as error:
            raise _read_failure(error, is_committing=is_committing) from error
        if wake_ups:
            self._wake(wake_ups)

    @contextmanager
    def _connected(self, begin: str, opening: PreparedText | None) -> Iterator[PipelinedTransaction]:
        """One that broke while it lay idle is found out by its BEGIN, when nothing has happened yet.

        So no connection needs to be asked beforehand whether it is still there.
        """
        with ExitStack() as leaving:
            connection = leaving.enter_context(self._pool.connection())
            try:
                rows = _open(connection, begin, opening)
            except psycopg.OperationalError:
                if not connection.broken:
                    raise
                leaving.close()
                self._pool.check()
                connection = leaving.enter_context(self._pool.connection())
                rows = _open(connection, begin, opening)
            # Of a transaction before it, which was rolled back.
            take_wake_ups(connection)
            yield PipelinedTransaction(connection, rows)

    def close(self) -> None:
        self._pool.close()


def is_intact(connection: Connection) -> bool:
    """Whether its transaction can go on: a statement that fails takes it along."""
    return connection.info.transaction_status is TransactionStatus.INTRANS


def _configure(connection: Connection) -> None:
    set_json_loads(_read_json, connection)


def _read_json(text: str | bytes) -> Any:
    """Documents are most of what is read: orjson takes a fifth of the time, and the few that it refuses
    (numbers beyond what a float holds) are read as before."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def _open(connection: Connection, begin: str, opening: PreparedText | None) -> list[tuple[Any, ...]]:
    if opening is None:
        connection.execute(begin)
        return []
    cursor = connection.execute(f"{begin}; {_write(connection, opening)}")
    while cursor.nextset():
        pass
    return cursor.fetchall()


def _close(pipeline: PipelinedTransaction) -> None:
    """One round trip either way: as one message where it is short, else as a pipeline."""
    connection, closing = pipeline.connection, pipeline.closing
    if not closing:
        connection.commit()
        return
    if sum(_count_characters(statement) for statement in closing) <= MAX_MESSAGE_CHARACTERS:
        message = "; ".join([*(_write(connection, statement) for statement in closing), "COMMIT"])
        if len(message) <= MAX_MESSAGE_CHARACTERS:
            connection.execute(message)
            return
    with connection.pipeline():
        for statement in closing:
            connection.execute(statement.text, statement.values)
        connection.execute("COMMIT")


def _count_characters(statement: PreparedText) -> int:
    """As literals at the least: what is long anyway need not be written to be found too long."""
    return sum(len(value) for value in statement.values.values() if isinstance(value, str))


def _write(connection: Connection, statement: PreparedText) -> str:
    """With its values as literals, for a message of several statements."""
    return psycopg.ClientCursor(connection).mogrify(statement.text, statement.values)


def _read_failure(error: psycopg.OperationalError, *, is_committing: bool) -> Exception:
    """Every answer but one says that nothing was changed: whoever was cut off in a commit cannot know."""
    state = error.sqlstate or ""
    if state.startswith(_CONTENTION):
        return Transient("DATABASE_CONTENDED", "another transaction was in the way; nothing was changed")
    if state == _CANCELLED:
        sentence = "a statement took longer than it may, or was cancelled; nothing was changed"
        return Transient("STATEMENT_TIMED_OUT", sentence)
    if state.startswith(_LIMIT_OF_THE_SERVER):
        return Defect("DATABASE_REFUSED", f"a statement is beyond what the server can do ({state})")
    if is_committing:
        return Transient(
            "OUTCOME_UNKNOWN",
            "the connection broke during the commit: whether anything was changed is not known",
            remedy="Repeat the same request with the same idempotency key: it happens once.",
        )
    return _unavailable()


def _unavailable() -> Transient:
    return Transient("DATABASE_UNAVAILABLE", "the database cannot be reached; nothing was changed")
