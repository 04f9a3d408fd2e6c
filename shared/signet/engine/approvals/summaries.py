"""Summaries of the documents of a page, in one statement: only the declared fields are read."""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from signet.core.documents.summary import DocumentSummary, list_summary_fields, summarize
from signet.engine.cache import ContractCache
from signet.store.database import Connection

# An entity type, and the version of its contract.
ContractName = tuple[str, int]
ReadFields = Callable[[Connection, UUID, Collection[UUID], Collection[str]], Mapping[UUID, Mapping[str, Any]]]


def read_summaries(
    connection: Connection,
    tenant_id: UUID,
    contracts: ContractCache,
    contract_of: Mapping[UUID, ContractName],
    read_fields: ReadFields,
) -> dict[UUID, DocumentSummary]:
    """Read the summary of each id; `read_fields` reads fields of what the ids name."""
    compiled = {named: contracts.read(connection, tenant_id, *named) for named in set(contract_of.values())}
    fields = {name for one in compiled.values() if one is not None for name in list_summary_fields(one)}
    found = read_fields(connection, tenant_id, list(contract_of), sorted(fields)) if fields else {}
    summaries = {}
    for key, named in contract_of.items():
        contract = compiled[named]
        summaries[key] = (
            DocumentSummary(None, None) if contract is None else summarize(contract, found.get(key, {}))
        )
    return summaries
