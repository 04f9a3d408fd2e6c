"""Published contracts, loaded once a process: they never change, so the cache is only bounded."""

import json
from collections import OrderedDict
from uuid import UUID

from signet.core.canonical import hash_bytes
from signet.core.contract import Contract
from signet.core.errors import Defect
from signet.core.loaded_contract import LoadedContract
from signet.core.strict import read_strictly
from signet.store.database import Connection
from signet.store.definitions import read_contract_row

MAX_CACHED_CONTRACTS = 500
_Key = tuple[UUID, str, int]


class ContractCache:
    def __init__(self) -> None:
        self._loaded: OrderedDict[_Key, LoadedContract] = OrderedDict()

    def read(
        self, connection: Connection, tenant_id: UUID, entity_type: str, version: int
    ) -> LoadedContract | None:
        key = (tenant_id, entity_type, version)
        loaded = self._loaded.get(key)
        if loaded is not None:
            return loaded
        row = read_contract_row(connection, tenant_id, entity_type, version)
        if row is None or row.status == "draft":
            return None
        loaded = load_contract(row.body, row.hash)
        self._loaded[key] = loaded
        while len(self._loaded) > MAX_CACHED_CONTRACTS:
            self._loaded.popitem(last=False)
        return loaded


def load_contract(body: str, expected_hash: str) -> LoadedContract:
    if hash_bytes(body.encode()) != expected_hash:
        raise Defect("CONTRACT_HASH_MISMATCH", "a stored contract is not the one its hash was made of")
    contract, findings = read_strictly(Contract, json.loads(body))
    if contract is None:
        raise Defect("CONTRACT_UNREADABLE", f"a stored contract cannot be read: {findings[0].sentence}")
    return LoadedContract(contract, expected_hash)
