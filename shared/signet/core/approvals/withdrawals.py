"""The reasons for which approvals count no more, as the people who were asked read them."""

from collections.abc import Collection

from signet.core.runtime.document_changes import (
    ANOTHER_REQUEST,
    CORRECTED,
    EDITED,
    REQUEST_WITHDRAWN,
    SENT_BY_OPERATOR,
)

# Stands among changed refs for a request that has pinned none.
OLDER_RELEASE = "*"
# Begins the name of a variable there.
OF_VARIABLES = "context."


def describe_withdrawal(because: str, changed_refs: Collection[str], erased_fields: Collection[str]) -> str:
    """Describe why an instance was sent back, and what has changed."""
    if because == EDITED:
        return "the document was edited"
    if because == SENT_BY_OPERATOR:
        return "an operator has sent the workflow back"
    if because in (REQUEST_WITHDRAWN, CORRECTED):
        return because
    if because == ANOTHER_REQUEST:
        return "a new request begins the way again"
    variables = sorted(name for name in changed_refs if name.startswith(OF_VARIABLES))
    refs = sorted(set(changed_refs) - {OLDER_RELEASE, *variables})
    parts = []
    if refs:
        parts.append(f"what the document refers to has changed: {', '.join(refs)}")
    if variables:
        parts.append(f"variables of the workflow have changed: {', '.join(variables)}")
    if erased_fields:
        parts.append(f"personal values were erased: {', '.join(sorted(erased_fields))}")
    return "; ".join(parts) or "it was asked by an older release"
