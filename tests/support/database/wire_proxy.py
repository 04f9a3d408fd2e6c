"""A TCP proxy between a client and Postgres that knows where messages end, and breaks in at the Nth of them.

    with WireProxy(host, port) as proxy:
        connect(port=proxy.port)
        proxy.arm(Cut(FROM_CLIENT, 3, is_delivered=False))   # the connection ends
        proxy.arm(Silence(FROM_SERVER, 3))                   # nothing is heard of it any more
        proxy.arm(Answer(3, "53100"))                        # the server refuses the third statement

It counts, over all connections from the moment it is armed, the messages of each direction, and the
statements. The startup message has no type byte; a request for encryption is refused, so that what follows
can be read.
"""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

FROM_CLIENT, FROM_SERVER = "from client", "from server"
# A kind of its own: what asks the server to do something, the start of a connection included. A rollback is
# not counted, because no server refuses one.
STATEMENTS = "statements"
SSL_REQUEST, GSS_REQUEST = 80877103, 80877104
BACKEND_KEY_DATA = b"K"
QUERY, PARSE = b"Q", b"P"
ROLLBACK, BEGIN = b"ROLLBACK", b"BEGIN"
CHUNK = 65_536


@dataclass(frozen=True)
class Cut:
    """The message at which a connection ends, and whether that message still arrives."""

    direction: str
    number: int
    is_delivered: bool


@dataclass(frozen=True)
class Silence:
    """The message from which on a connection says nothing in either direction, and stays open."""

    direction: str
    number: int


@dataclass(frozen=True)
class Answer:
    """The statement that is not done: the server refuses it with this SQLSTATE.

    The server itself raises the error, so that its transaction fails too. A fatal one ends the connection.
    A lasting one refuses each later statement as well, until the proxy is armed again.
    """

    number: int
    state: str
    is_fatal: bool = False
    is_lasting: bool = False


Fault = Cut | Silence | Answer


class _Wire:
    """One connection: two sockets, and the incomplete message of each."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.ends = {FROM_CLIENT: client, FROM_SERVER: server}
        self.is_started = False
        self.is_silent = False
        self.backend = 0

    def other(self, direction: str) -> socket.socket:
        return self.ends[FROM_SERVER if direction == FROM_CLIENT else FROM_CLIENT]

    def close(self) -> None:
        for end in self.ends.values():
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class WireProxy:
    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._cutting = threading.Lock()
        self._wires: list[_Wire] = []
        self._fault: Fault | None = None
        self._act: Callable[[], None] | None = None
        self._seen = dict.fromkeys((FROM_CLIENT, FROM_SERVER, STATEMENTS), 0)
        # The server process of the connection that ended or fell silent; 0 before.
        self.cut_backend = 0
        # The statements that were refused.
        self.answered = 0

    def __enter__(self) -> "WireProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for wire in self._wires:
            wire.close()

    def arm(self, fault: Fault | None, act: Callable[[], None] | None = None) -> None:
        """Count from now on, and break in at the place that `fault` names.

        `act` runs just before a cut.
        """
        with self._cutting:
            pass  # waits for an earlier cut
        with self._lock:
            self._fault, self._act = fault, act
            self._seen = dict.fromkeys((FROM_CLIENT, FROM_SERVER, STATEMENTS), 0)
            self.cut_backend = 0
            self.answered = 0

    def seen(self, kind: str) -> int:
        """Return the count of a direction's messages, or of the statements."""
        with self._lock:
            return self._seen[kind]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = _Wire(client, server)
            self._wires.append(wire)
            for direction in (FROM_CLIENT, FROM_SERVER):
                threading.Thread(target=self._pump, args=(wire, direction), daemon=True).start()

    def _pump(self, wire: _Wire, direction: str) -> None:
        kept = b""
        with suppress(OSError):
            while chunk := wire.ends[direction].recv(CHUNK):
                if not wire.is_silent:
                    kept = self._pass_on(wire, direction, kept + chunk)
        wire.close()

    def _pass_on(self, wire: _Wire, direction: str, kept: bytes) -> bytes:
        """Send every whole message on, joined where nothing breaks in between; return the rest."""
        ready = b""
        while (size := self._size_of_first(wire, direction, kept)) is not None and size <= len(kept):
            message, kept = kept[:size], kept[size:]
            is_start = direction == FROM_CLIENT and not wire.is_started
            if self._note_start(wire, direction, message):
                continue
            fault = self._begin_fault(wire, direction, is_start or _is_statement(direction, message))
            if isinstance(fault, Answer) and not (fault.is_fatal or is_start):
                message = _refuse(message, fault.state)
            elif fault is not None:
                self._end_here(wire, direction, fault, ready, message)
                return b""
            ready += message
        wire.other(direction).sendall(ready)
        return kept

    def _end_here(self, wire: _Wire, direction: str, fault: Fault, ready: bytes, message: bytes) -> None:
        """Let nothing more through after the messages that are ready."""
        with suppress(OSError):
            is_last = isinstance(fault, Cut) and fault.is_delivered
            wire.other(direction).sendall(ready + (message if is_last else b""))
            if isinstance(fault, Answer):
                wire.ends[FROM_CLIENT].sendall(_write_fatal(fault.state))
        if isinstance(fault, Silence):
            return
        wire.close()
        if isinstance(fault, Cut):
            self._cutting.release()

    @staticmethod
    def _size_of_first(wire: _Wire, direction: str, kept: bytes) -> int | None:
        if direction == FROM_CLIENT and not wire.is_started:
            return struct.unpack("!I", kept[:4])[0] if len(kept) >= 8 else None
        return 1 + struct.unpack("!I", kept[1:5])[0] if len(kept) >= 5 else None

    def _note_start(self, wire: _Wire, direction: str, message: bytes) -> bool:
        """Return whether the proxy has answered the message itself: a request for encryption."""
        if direction == FROM_CLIENT and not wire.is_started:
            (code,) = struct.unpack("!I", message[4:8])
            if code in (SSL_REQUEST, GSS_REQUEST):
                wire.ends[FROM_CLIENT].sendall(b"N")
                return True
            wire.is_started = True
        elif direction == FROM_SERVER and message[:1] == BACKEND_KEY_DATA:
            (wire.backend,) = struct.unpack("!I", message[5:9])
        return False

    def _begin_fault(self, wire: _Wire, direction: str, is_statement: bool) -> Fault | None:
        """Return the fault if it is due now; after a cut, the next arm() waits until it is made."""
        with self._lock:
            self._seen[direction] += 1
            self._seen[STATEMENTS] += is_statement
            fault, act = self._fault, self._act
            if fault is None or not self._is_due(fault, direction, is_statement):
                return None
            if isinstance(fault, Answer):
                self.answered += 1
            if not (isinstance(fault, Answer) and fault.is_lasting):
                self._fault = None
            if isinstance(fault, Silence):
                wire.is_silent = True
            if not isinstance(fault, Answer) or fault.is_fatal:
                self.cut_backend = wire.backend or -1
            if isinstance(fault, Cut):
                self._cutting.acquire()
        if act is not None:
            act()
        return fault

    def _is_due(self, fault: Fault, direction: str, is_statement: bool) -> bool:
        if isinstance(fault, Answer):
            count = self._seen[STATEMENTS]
            return is_statement and (count == fault.number or (fault.is_lasting and count > fault.number))
        return fault.direction == direction and fault.number == self._seen[direction]


def _is_statement(direction: str, message: bytes) -> bool:
    """Return whether a message holds a statement. One with parameters is told by its Parse message."""
    return (
        direction == FROM_CLIENT
        and message[:1] in (QUERY, PARSE)
        and not message[5:].lstrip(b"\0").startswith(ROLLBACK)
    )


def _refuse(message: bytes, state: str) -> bytes:
    """Return the same message with a statement that fails with the state.

    What follows of a pipeline is skipped by the server, up to the Sync. A transaction that the message begins
    has begun when it fails.
    """
    failing = f"DO $$BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '{state}'; END$$".encode()
    if message[:1] == QUERY:
        begins, _, _ = message[5:].partition(b";")
        return _pack(QUERY, (begins + b"; " if begins.startswith(BEGIN) else b"") + failing + b"\0")
    parse = _pack(PARSE, b"\0" + failing + b"\0" + struct.pack("!H", 0))
    bind = _pack(b"B", b"\0\0" + struct.pack("!HHH", 0, 0, 0))
    return parse + bind + _pack(b"E", b"\0" + struct.pack("!I", 0))


def _write_fatal(state: str) -> bytes:
    return _pack(b"E", f"SFATAL\0VFATAL\0C{state}\0Minjected\0\0".encode())


def _pack(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content
