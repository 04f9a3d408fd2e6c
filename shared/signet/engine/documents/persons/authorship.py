"""The persons behind a change of a document: its editors, its fields, and what it makes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import find_people_behind
from signet.core.approvals.pins import list_pinned_persons
from signet.core.contracts.contract import AMENDED
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.tenants.caller import Caller
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons, find_overflow, join_responsible
from signet.engine.documents.change import DocumentChange, MutationContext
from signet.engine.documents.commands import Operation, RunAction
from signet.engine.documents.references import RefQuery
from signet.store.database import Connection
from signet.store.documents.referenced import STATUS
from signet.store.documents.write import read_editors, write_editors

# The name in `field_versions` that stands for each field without an entry of its own. A document of an
# older release has none: there it is not known who changed such a field last.
EVERY_OTHER_FIELD = "*"
# The acts whose values a person sends.
_TYPED = frozenset(("create", "update", "correct"))


def list_editors(change: DocumentChange) -> list[str]:
    """List the editors after this change: an edit by a person adds them."""
    editors, subject = list(change.editors), change.caller.principal.subject
    is_edit = change.caller.instance_id is None and change.writes_document and change.after.status != AMENDED
    return [*editors, subject] if is_edit and subject not in editors else editors


def join_editors(change: DocumentChange, stored: Mapping[str, Any]) -> ResponsiblePersons:
    """Return the persons who count as editors after this change: of an edit, and of any other new content."""
    wrote = change.wrote_before | change.content_responsible
    if change.before is None:
        return wrote
    is_edit = change.caller.instance_id is None and (change.after.is_deleted or _may_write_content(change))
    has_new_content = change.before.data != stored
    joined = wrote | change.caller.principal.responsible if is_edit or has_new_content else wrote
    # A full document can still be deleted.
    return wrote if change.after.is_deleted and find_overflow(joined) else joined


def _may_write_content(change: DocumentChange) -> bool:
    """Return whether the change may write content: a vote, a request, a gate and a deletion do not."""
    after = change.after
    ends_document = after.is_deleted or after.status == AMENDED
    return change.writes_document and not change.keeps_content and not ends_document


def list_changed_fields(change: DocumentChange, stored: Mapping[str, Any]) -> dict[str, int]:
    """Return the fields that the change gives other values, each with its version."""
    before, version = change.before, change.after.version
    if before is None:
        return {EVERY_OTHER_FIELD: version}
    is_same = before.data == stored
    names = () if is_same else before.data.keys() | stored.keys()
    changed = {name: version for name in names if before.data.get(name) != stored.get(name)}
    if before.status != change.after.status:
        changed[STATUS] = version
    return changed


def add_editors(
    connection: Connection, tenant_id: UUID, document_id: UUID, persons: ResponsiblePersons
) -> None:
    """Count persons as editors of a locked document, or refuse more than a set may hold.

    They have changed what people decide about, and have made no version: by erasure, or by an answer.
    """
    editors = read_editors(connection, tenant_id, document_id)
    joined = join_responsible(editors, persons)
    if joined != editors:
        write_editors(connection, tenant_id, document_id, joined)


def persons_of_version(change: DocumentChange) -> ResponsiblePersons:
    """Return the persons behind a version. Who reads the document has them as editors.

    What a person types is theirs. Actions, rules, steps and gates write because of what the document said: so
    everybody who wrote it is behind that. Where they are too many for a set, nobody is left out: of a version
    without one, all who wrote the document count.
    """
    if _is_typed(change):
        return change.responsible
    before = change.before
    return change.responsible | change.wrote_before | (before.creator_responsible if before else NOBODY)


def _is_typed(change: DocumentChange) -> bool:
    """Return whether the new version says what its caller sent, and nothing else that is new."""
    is_plain = not (change.caller.instance_id or change.amended_from or change.is_set_by_rules)
    return is_plain and change.note.action in _TYPED


def derive_caller(change: DocumentChange) -> Caller:
    """Make the caller of a document that an action makes: everyone behind its origin is behind it too."""
    principal, origin = change.caller.principal, change.before
    of_origin = find_people_behind(origin, (), None).everyone
    behind = principal.responsible | change.content_responsible | of_origin
    return replace(change.caller, principal=replace(principal, behind=behind))


def find_sources_of(operation: Operation, context: MutationContext) -> ResponsiblePersons:
    """Find who stands behind what an operation reads: its action, and the condition of its permission.

    Each person who wrote what the steps before have read is an editor of the document. So all of its editors
    count where a value comes from a variable.
    """
    if not isinstance(operation, RunAction):
        return find_sources(context, context.followed)
    of_refs = find_sources(context, context.followed | operation.sources)
    if context.row is None or not operation.reads_variables:
        return of_refs
    return of_refs | context.row.editor_responsible


def find_sources(context: MutationContext, reads: frozenset[FollowedField]) -> ResponsiblePersons:
    """Find who last changed these fields of other documents: of the approved value, where that is read."""
    if not reads:
        return NOBODY
    held = {ref: pin for ref, pin in context.pins.items() if pin["document_id"] == context.data.get(ref)}
    approved = {ref for ref, name in reads if ref in held and name in held[ref]["values"]}
    current = frozenset((ref, name) for ref, name in reads if name not in held.get(ref, {}).get("values", ()))
    of_current = context.refs.persons_of(RefQuery(context.contract, current, context.data))
    return of_current | list_pinned_persons({ref: held[ref] for ref in approved})


def find_responsible_overflow(change: DocumentChange) -> Rejected | None:
    """Return why more persons would be responsible for a document than a set holds.

    A change that makes nobody an editor is always possible, so that such a document can still be
    rejected, cancelled and deleted.
    """
    for part in change.parts:
        overflow = find_overflow(_list_persons(part))
        if overflow is not None:
            return overflow
    return None


def _list_persons(change: DocumentChange) -> ResponsiblePersons:
    """List the persons of the largest set that the change writes."""
    if change.before is None or change.content_responsible or _may_write_content(change):
        return change.wrote_before | change.responsible
    return change.responsible
