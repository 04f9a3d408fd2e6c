"""A TCP proxy between a client and Postgres that knows where messages end, and cuts at the Nth of them.

    with WireProxy(host, port) as proxy:
        connect(port=proxy.port)
        proxy.arm(Cut(FROM_CLIENT, 3, is_delivered=False))

It counts, over all connections from the moment it is armed, the messages of each direction. The startup
message has no type byte; a request for encryption is refused, so that what follows can be read.
"""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

FROM_CLIENT, FROM_SERVER = "from client", "from server"
SSL_REQUEST, GSS_REQUEST = 80877103, 80877104
BACKEND_KEY_DATA = b"K"
CHUNK = 65_536


@dataclass(frozen=True)
class Cut:
    """The message at which a connection ends, and whether that message still arrives."""

    direction: str
    number: int
    is_delivered: bool


class _Wire:
    """One connection: two sockets, and the incomplete message of each."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.ends = {FROM_CLIENT: client, FROM_SERVER: server}
        self.is_started = False
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
        self._cut: Cut | None = None
        self._act: Callable[[], None] | None = None
        self._seen = {FROM_CLIENT: 0, FROM_SERVER: 0}
        # The server process of the cut connection; 0 before a cut.
        self.cut_backend = 0

    def __enter__(self) -> "WireProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for wire in self._wires:
            wire.close()

    def arm(self, cut: Cut | None, act: Callable[[], None] | None = None) -> None:
        """Count messages from now on, and cut at this place unless `cut` is None.

        `act` runs just before the cut.
        """
        with self._cutting:
            pass  # waits for an earlier cut
        with self._lock:
            self._cut, self._act = cut, act
            self._seen = {FROM_CLIENT: 0, FROM_SERVER: 0}
            self.cut_backend = 0

    def seen(self, direction: str) -> int:
        with self._lock:
            return self._seen[direction]

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
                kept = self._pass_on(wire, direction, kept + chunk)
        wire.close()

    def _pass_on(self, wire: _Wire, direction: str, kept: bytes) -> bytes:
        """Send every whole message on, joined where no cut comes between; return the rest."""
        ready = b""
        while (size := self._size_of_first(wire, direction, kept)) is not None and size <= len(kept):
            message, kept = kept[:size], kept[size:]
            if self._note_start(wire, direction, message):
                continue
            if cut := self._begin_cut(wire, direction):
                with suppress(OSError):
                    wire.other(direction).sendall(ready + (message if cut.is_delivered else b""))
                wire.close()
                self._cutting.release()
                return b""
            ready += message
        wire.other(direction).sendall(ready)
        return kept

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

    def _begin_cut(self, wire: _Wire, direction: str) -> Cut | None:
        """Return the cut if it is due now; the next arm() then waits until it is made."""
        with self._lock:
            self._seen[direction] += 1
            cut, act = self._cut, self._act
            if cut is None or cut.direction != direction or cut.number != self._seen[direction]:
                return None
            self._cut, self.cut_backend = None, wire.backend or -1
            self._cutting.acquire()
        if act is not None:
            act()
        return cut
