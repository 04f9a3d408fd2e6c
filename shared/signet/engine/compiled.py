"""Compiled workflows in memory: by hash, found by (definition id, version), verified when loaded (WF-07)."""

import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from signet.core.artifact import read_artifact
from signet.core.errors import Rejected
from signet.core.workflow import Workflow
from signet.store.database import Connection
from signet.store.definitions import read_compiled

MAX_CACHED_WORKFLOWS = 200
TTL_SECONDS = 300.0
_Key = tuple[UUID, UUID, int]


class CompiledCache:
    """Two tenants with the same workflow share one: what is keyed by its hash cannot differ."""

    def __init__(self, read_seconds: Callable[[], float] = time.monotonic) -> None:
        # How long a process holds something is no fact of the domain: its own clock serves.
        self._read_seconds = read_seconds
        self._found: OrderedDict[_Key, tuple[float, str]] = OrderedDict()
        self._loaded: OrderedDict[str, Workflow] = OrderedDict()

    def read(self, connection: Connection, tenant_id: UUID, definition_id: UUID, version: int) -> Workflow:
        key, moment = (tenant_id, definition_id, version), self._read_seconds()
        held = self._found.get(key)
        if held is not None and moment - held[0] < TTL_SECONDS and held[1] in self._loaded:
            self._loaded.move_to_end(held[1])
            return self._loaded[held[1]]
        stored = read_compiled(connection, tenant_id, definition_id, version)
        if stored is None:
            raise Rejected(
                "DEFINITION_NOT_FOUND", f"there is no compiled definition {definition_id} version {version}"
            )
        # Verified before the cache is asked: a changed row must not hide behind what its hash once named.
        artifact = read_artifact(*stored)
        workflow = self._loaded.get(artifact.hash) or Workflow(artifact)
        self._keep(key, moment, workflow)
        return workflow

    def _keep(self, key: _Key, moment: float, workflow: Workflow) -> None:
        self._found[key] = (moment, workflow.hash)
        self._found.move_to_end(key)
        self._loaded[workflow.hash] = workflow
        self._loaded.move_to_end(workflow.hash)
        while len(self._loaded) > MAX_CACHED_WORKFLOWS:
            self._loaded.popitem(last=False)
        while len(self._found) > MAX_CACHED_WORKFLOWS * 10:
            self._found.popitem(last=False)
