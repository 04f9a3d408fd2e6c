"""The original of an amendment under approval, as far as it keeps the amendment from settling."""

from dataclasses import dataclass
from uuid import UUID

from signet.engine.cache import ContractCache
from signet.engine.documents.amendments import foresee_movement
from signet.store.database import Connection


@dataclass(frozen=True, slots=True)
class MovedOriginal:
    """The reason that keeps an amendment from settling: its original is gone, or has moved on."""

    code: str
    message: str


def read_moved_original(
    connection: Connection, tenant_id: UUID, contracts: ContractCache, document_id: UUID
) -> MovedOriginal | None:
    moved = foresee_movement(
        connection,
        tenant_id,
        document_id,
        lambda row: contracts.read(connection, tenant_id, row.entity_type, row.contract_version),
    )
    return None if moved is None else MovedOriginal(moved.code, moved.message)
