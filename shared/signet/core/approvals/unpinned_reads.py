"""Reads behind an approval that it pinned not: what only a newer definition reads was shown to nobody."""

from collections.abc import Collection

from signet.core.approvals.pins import list_pinned_fields
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow


def list_unpinned_reads(
    old: Workflow,
    old_contract: CompiledContract,
    new: Workflow,
    new_contract: CompiledContract,
    status: str,
) -> list[str]:
    """List what the new definition reads of other documents and of variables, and the old pins not.

    A document that no approval has brought to its status has pinned nothing, and is asked about later.
    """
    if not old.has_approvals or not old.is_behind_approvals(status):
        return []
    pinned = list_pinned_fields(old, old_contract, ())
    fields = list_pinned_fields(new, new_contract, ()) - pinned
    variables = _list_variables(new) - _list_variables(old)
    return sorted((*map(".".join, fields), *(f"context.{name}" for name in variables)))


def _list_variables(workflow: Workflow) -> frozenset[str]:
    """List the variables that are read behind any approval as people have seen them."""
    read: Collection[frozenset[str]] = workflow.live_variables.values()
    return frozenset[str]().union(*read)
