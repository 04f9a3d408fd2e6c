"""The persons who keep a document as it is: they wrote what a refusal of an act has read.

What was not done leaves values as they were. Who reads these values has such persons behind them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import list_own_fields
from signet.core.documents.rules import CompiledRule
from signet.core.errors import Failed, Rejected
from signet.core.expressions import Expression, FollowedField
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.business_keys import list_business_keys
from signet.engine.documents.change import DocumentChange, MutationContext
from signet.engine.documents.commands import OfEdit, Operation
from signet.engine.documents.decide import find_permission
from signet.engine.documents.persons.authorship import find_sources
from signet.engine.documents.references import Refs
from signet.store.database import Connection, Database
from signet.store.documents.referenced import list_key_holders, write_hinderers
from signet.store.documents.write import DocumentRow

Hindered = Mapping[UUID, ResponsiblePersons]


@dataclass(frozen=True, slots=True)
class Hinderers:
    """The persons behind the refusals of one transaction, by the document that each left as it was."""

    connection: Connection
    tenant_id: UUID
    refs: Refs
    # The documents that the transaction holds.
    rows: Mapping[UUID, DocumentRow]

    @property
    def of_documents(self) -> Hindered:
        return self.refs.hindered

    def add_by_permission(
        self, operation: Operation, context: MutationContext, refused: Rejected | Failed
    ) -> None:
        """Add who wrote what the condition of a permission has read."""
        row, contract = context.row, context.contract
        if refused.code != "PERMISSION_CONDITION" or row is None or not isinstance(operation, OfEdit):
            return
        permission = str(find_permission(operation, contract))
        own = _list_fields(contract, contract.conditions[permission].expression)
        followed = contract.refs_of_conditions[permission]
        self._add(row, self._find_writers(context, row, own, followed))

    def add_by_rule(
        self, rules: Sequence[CompiledRule], context: MutationContext, change: DocumentChange
    ) -> None:
        """Add who wrote what the rule that rejects has read, where the change does not say it itself.

        Where an action would make a document, the one that it is made of stays as it was.
        """
        made_by, before = change.note.made_by, change.before
        row = before or (self.rows.get(UUID(made_by["document_id"])) if made_by else None)
        if row is None:
            return
        name, new = change.executions[-1]["rule"], change.after.data
        rule = next(each for each in rules if each.rule.name == name)
        own = _list_fields(change.contract, rule.condition.expression) if before is not None else []
        kept = [field for field in own if context.data.get(field) == new.get(field)]
        self._add(row, self._find_writers(replace(context, data=new), row, kept, rule.followed))

    def add_by_keys(self, wanted: Sequence[ChangeOrRefusal], kept: Sequence[ChangeOrRefusal]) -> None:
        """Add who wrote the documents that hold the keys of changes which are not kept."""
        unrefused = {id(change) for change in kept}
        for change in wanted:
            if isinstance(change, DocumentChange) and change.before and id(change) not in unrefused:
                _, keys = list_business_keys(change.parts)
                self._add(change.before, list_key_holders(self.connection, self.tenant_id, keys))

    def write(self) -> None:
        """Write them with the transaction."""
        _write(self.connection, self.of_documents)

    def _find_writers(
        self,
        context: MutationContext,
        row: DocumentRow,
        own: Sequence[str],
        followed: frozenset[FollowedField],
    ) -> ResponsiblePersons:
        of_own = self.refs.persons_of_fields(row, own)
        return of_own | find_sources(context, followed)

    def _add(self, row: DocumentRow, persons: ResponsiblePersons) -> None:
        if persons:
            self.refs.hindered[row.id] = self.refs.hindered.get(row.id, NOBODY) | persons


def keep_hinderers(database: Database, tenant_id: UUID, hindered: Hindered) -> None:
    """Write who is behind refusals in a transaction of its own: that of the refusal rolls back."""

    def write() -> None:
        with database.transaction(tenant_id) as connection:
            _write(connection, hindered)

    if hindered:
        database.run_last(write)


def _write(connection: Connection, hindered: Hindered) -> None:
    """Write them in the one order in which every transaction locks documents."""
    for document_id in sorted(hindered):
        write_hinderers(connection, document_id, hindered[document_id])


def _list_fields(contract: CompiledContract, expression: Expression) -> list[str]:
    """List the declared fields that an expression reads: people write no others."""
    return sorted(list_own_fields([expression]) & contract.contract.fields.keys())
