"""Connections and transactions. A transaction sees the rows of one tenant, or of none.

Opened by itself, each of these takes a connection and ends with COMMIT or ROLLBACK:

    transaction(tenant)           BEGIN                              one tenant
    shared_transaction(tenant)    BEGIN                              one tenant, and others join it
    snapshot(tenant)              BEGIN REPEATABLE READ READ ONLY    one tenant, as of one moment
    pipelined(tenant, opening)    BEGIN with the opening statement, COMMIT with the closing ones
    claim(tenant, statement)      BEGIN, the statement and COMMIT in one message
    tenantless_transaction()      BEGIN                              no tenant's rows

Within a shared transaction the same thread opens:

    shared_transaction(tenant)
    ├── transaction(tenant)           a savepoint
    ├── shared_transaction(tenant)    a savepoint, which others join
    ├── snapshot(tenant)              nothing new: it reads what was written so far
    ├── pipelined(tenant, opening)    a savepoint, with each statement sent by itself
    ├── claim(tenant, statement)      a savepoint
    └── tenantless_transaction()      a transaction of its own, on another connection

Another tenant's transaction within it is a defect. Wake-ups are sent after the outermost COMMIT.
"""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout

from signet.core.errors import Defect, Rejected
from signet.store.deadlines import (
    BEYOND_STATEMENT_SECONDS,
    KERNEL_LIMITS,
    AnswerDeadline,
    ServerSilent,
    hang_up,
)
from signet.store.pipeline import Connection as Connection
from signet.store.pipeline import (
    DeferredStatement,
    PipelinedTransaction,
    send_closing,
    send_opening,
    send_whole,
)
from signet.store.responsible_sets import StoreConnection, WrittenSets, take_new_sets
from signet.store.sqlstates import SILENT, translate_failure
from signet.store.wake_ups import Wake, WakeUp, no_wake_up, take_wake_ups

# A text that is not in the encoding of the database, or that JSON says and no text can hold.
_NO_TEXT = ("22021", "22P05")


@dataclass(frozen=True)
class PoolSettings:
    """Limits of a process's connections: a Lambda keeps one connection, a local server a few."""

    size: int = 1
    idle_count: int = 0
    idle_seconds: float = 60.0
    lifetime_seconds: float = 900.0
    wait_seconds: float = 5.0
    connect_seconds: int = 5
    # For a lock, and for a whole statement; 0 is without limit.
    lock_seconds: float = 5.0
    statement_seconds: float = 30.0
    # For us, between two statements: a process that stands still holds no lock and no snapshot for longer.
    idle_in_transaction_seconds: float = 60.0


class _NewestFirstPool(ConnectionPool[StoreConnection]):
    """A pool that gives out the connection that came back last.

    Each has plans and caches of its own on the server. In turn, all of them would have to be warm.
    """

    def _get_ready_connection(self, timeout: float | None) -> StoreConnection | None:
        # The driver takes the first and appends what comes back. It holds its lock around both.
        self._pool.rotate(1)
        return super()._get_ready_connection(timeout)


@dataclass(frozen=True)
class _SharedTransaction:
    """A shared transaction, which those opened within it join."""

    tenant_id: UUID
    connection: Connection
    # Is run when it has ended, committed or not.
    last_acts: list[Callable[[], None]]


class Database:
    """A pool of connections, opened at its first use so that importing and wiring cost no connection.

    `wake` receives the wake-ups of a transaction after its commit. `make_password` makes one for each new
    connection, where passwords are short-lived.
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
        self._written_sets = WrittenSets()
        # Set for the transaction and not for the session, which a pooler gives to others.
        self._limits = ", ".join(
            f"set_config('{name}', '{round(seconds * 1_000)}ms', true)"
            for name, seconds in [
                ("lock_timeout", settings.lock_seconds),
                ("statement_timeout", settings.statement_seconds),
                ("idle_in_transaction_session_timeout", settings.idle_in_transaction_seconds),
            ]
        )
        # Above the server's own limit, so that it is the last to speak.
        limit = settings.statement_seconds
        self._deadline = AnswerDeadline(limit + BEYOND_STATEMENT_SECONDS if limit else None)
        self._in_use: set[StoreConnection] = set()
        # Per thread: other threads have transactions of their own.
        self._shared: ContextVar[_SharedTransaction | None] = ContextVar("shared", default=None)
        # A pooler needs this: no named prepared statements, no implicit transaction.
        parameters = {
            "prepare_threshold": None,
            "autocommit": True,
            "connect_timeout": settings.connect_seconds,
            "application_name": "signet",
            **KERNEL_LIMITS,
        }

        def make_parameters() -> dict[str, Any]:
            return parameters if make_password is None else {**parameters, "password": make_password()}

        self._pool = _NewestFirstPool(
            url,
            connection_class=StoreConnection,
            min_size=settings.idle_count,
            max_size=settings.size,
            max_idle=settings.idle_seconds,
            max_lifetime=settings.lifetime_seconds,
            timeout=settings.wait_seconds,
            reconnect_timeout=settings.wait_seconds,
            open=False,
            configure=self._configure,
            kwargs=make_parameters,
        )

    @contextmanager
    def transaction(self, tenant_id: UUID) -> Iterator[Connection]:
        """Open a transaction that sees exactly this tenant."""
        if not isinstance(tenant_id, UUID):
            raise Defect("TENANT_MISSING", "a transaction was asked for without a tenant")
        if (shared := self._find_shared(tenant_id)) is not None:
            with shared.transaction():
                yield shared
            return
        with self._open(_write_begin(tenant_id, self._limits)) as connection:
            yield connection

    @contextmanager
    def shared_transaction(self, tenant_id: UUID) -> Iterator[Connection]:
        """Open a transaction that the same thread's later ones join, each as a savepoint.

        Thus a use case and the record of its request are written together or not at all.
        """
        around = self._shared.get()
        last_acts: list[Callable[[], None]] = [] if around is None else around.last_acts
        try:
            with self.transaction(tenant_id) as connection:
                token = self._shared.set(_SharedTransaction(tenant_id, connection, last_acts))
                try:
                    yield connection
                finally:
                    self._shared.reset(token)
        finally:
            if around is None:
                for act in last_acts:
                    act()

    def run_last(self, act: Callable[[], None]) -> None:
        """Run it at once, or when the shared transaction around it has ended, committed or not.

        A refusal rolls back all that its request wrote. This is the way to write something with it.
        """
        shared = self._shared.get()
        if shared is None:
            act()
        else:
            shared.last_acts.append(act)

    @contextmanager
    def snapshot(self, tenant_id: UUID) -> Iterator[Connection]:
        """Open a transaction that reads one tenant as of one moment, and refuses writes."""
        if (shared := self._find_shared(tenant_id)) is not None:
            yield shared
            return
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._open(_write_begin(tenant_id, self._limits, begin)) as connection:
            yield connection

    @contextmanager
    def tenantless_transaction(self) -> Iterator[Connection]:
        """Open a transaction that sees no tenant's rows, for dispatch and the state of the server."""
        with self._open(f"BEGIN; SELECT {self._limits}") as connection:
            yield connection

    @contextmanager
    def pipelined(self, tenant_id: UUID, opening: DeferredStatement) -> Iterator[PipelinedTransaction]:
        """Open a transaction of two round trips: BEGIN with `opening`, COMMIT with the closing statements.

        Half the round trips of a short transaction are half of its cost (docs/decisions/0008).
        """
        if (shared := self._find_shared(tenant_id)) is not None:
            with shared.transaction():
                pipeline = PipelinedTransaction(
                    shared, shared.execute(opening.text, opening.values).fetchall()
                )
                yield pipeline
                for statement in pipeline.closing:
                    shared.execute(statement.text, statement.values)
            return
        with self._open_pipelined(_write_begin(tenant_id, self._limits), opening) as pipeline:
            yield pipeline

    def claim(self, tenant_id: UUID, statement: DeferredStatement) -> list[tuple[Any, ...]]:
        """Run one statement in one message with its COMMIT, and return its rows.

        The commit does not wait for the disk: what a crash of the server takes back is due again. Where the
        message fails, it may have been done.
        """
        if (shared := self._find_shared(tenant_id)) is not None:
            with shared.transaction():
                return shared.execute(statement.text, statement.values).fetchall()
        self._pool.open()
        begin = _write_begin(tenant_id, f"{self._limits}, set_config('synchronous_commit', 'off', true)")
        with self._translating(lambda: True), self._take_connection() as connection:
            return send_whole(connection, begin, statement)

    def hurry(self, seconds: float) -> None:
        """End what waits for the server now, and wait no longer than this from now on: the process ends."""
        self._deadline.seconds = self._pool.timeout = seconds
        for connection in list(self._in_use):
            hang_up(connection)

    def close(self) -> None:
        self._pool.close()

    def _configure(self, connection: StoreConnection) -> None:
        set_json_loads(_parse_json, connection)
        connection.written_sets = self._written_sets
        connection.deadline = self._deadline

    def _find_shared(self, tenant_id: UUID) -> Connection | None:
        shared = self._shared.get()
        if shared is None:
            return None
        if shared.tenant_id != tenant_id:
            raise Defect("TENANT_MIXED", "a transaction of one tenant was to hold another's")
        return shared.connection

    @contextmanager
    def _open(self, begin: str) -> Iterator[Connection]:
        with self._open_pipelined(begin, None) as pipeline:
            yield pipeline.connection

    @contextmanager
    def _open_pipelined(
        self, begin: str, opening: DeferredStatement | None
    ) -> Iterator[PipelinedTransaction]:
        self._pool.open()
        is_committing = False
        wake_ups: Collection[WakeUp] = ()
        # Leaving the block on an exception rolls back.
        with self._translating(lambda: is_committing), self._begin(begin, opening) as pipeline:
            yield pipeline
            is_committing = True
            new_sets, insert = take_new_sets(pipeline.connection)
            if insert is not None:
                pipeline.closing.insert(0, insert)
            send_closing(pipeline)
            wake_ups = take_wake_ups(pipeline.connection)
            self._written_sets.add(new_sets)
        if wake_ups:
            self._wake(wake_ups)

    @contextmanager
    def _translating(self, is_committing: Callable[[], bool]) -> Iterator[None]:
        """Translate what the driver raises; during a commit its outcome may be unknown."""
        try:
            yield
        except PoolTimeout as error:
            raise SILENT.make_error() from error
        except (psycopg.Error, UnicodeEncodeError) as error:
            if isinstance(error, ServerSilent):
                self._pool.drain()  # the idle ones may be lost too
            if _is_about_text(error):
                raise _refuse_text() from error
            if isinstance(error, psycopg.Error) and (
                failure := translate_failure(error, is_committing=is_committing())
            ):
                raise failure from error
            raise

    @contextmanager
    def _begin(self, begin: str, opening: DeferredStatement | None) -> Iterator[PipelinedTransaction]:
        """Begin on a connection of the pool; on a new one, where the first broke while it was idle.

        Its BEGIN finds that out before anything has happened. So no connection is checked beforehand.
        """
        with ExitStack() as leaving:
            connection = leaving.enter_context(self._take_connection())
            try:
                rows = send_opening(connection, begin, opening)
            except psycopg.Error as error:
                if not connection.broken or isinstance(error, ServerSilent):
                    raise
                leaving.close()
                self._pool.drain()
                connection = leaving.enter_context(self._take_connection())
                rows = send_opening(connection, begin, opening)
            # These are left from an earlier transaction, which was rolled back.
            take_wake_ups(connection)
            take_new_sets(connection)
            yield PipelinedTransaction(connection, rows)

    @contextmanager
    def _take_connection(self) -> Iterator[StoreConnection]:
        with self._pool.connection() as connection:
            self._in_use.add(connection)
            try:
                yield connection
            finally:
                self._in_use.discard(connection)


def is_intact(connection: Connection) -> bool:
    """Return whether the transaction can go on: a statement that fails ends it too."""
    return connection.info.transaction_status is TransactionStatus.INTRANS


def _write_begin(tenant_id: UUID, limits: str, begin: str = "BEGIN") -> str:
    """Write BEGIN and the settings as one message; a UUID's text needs no quoting."""
    return f"{begin}; SELECT set_config('signet.tenant_id', '{UUID(str(tenant_id))}', true), {limits}"


def _parse_json(text: str | bytes) -> Any:
    """Parse JSON by orjson in a fifth of the time, because documents are most of what is read.

    The standard library parses the few texts that orjson refuses: numbers beyond the range of a float.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def _is_about_text(error: Exception) -> bool:
    """Return whether a text has characters that Postgres keeps nowhere; for NUL the driver names no state."""
    if isinstance(error, psycopg.DataError):
        return error.sqlstate in (*_NO_TEXT, None)
    return isinstance(error, UnicodeEncodeError)


def _refuse_text() -> Rejected:
    sentence = "a text contains NUL or half of a surrogate pair, which no database keeps"
    return Rejected("REQUEST_INVALID", sentence, remedy="Take the character out.")
