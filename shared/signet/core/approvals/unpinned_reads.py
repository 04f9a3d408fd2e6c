"""Reads behind an approval that it pinned not: what only a newer definition reads was shown to nobody."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from signet.core.approvals.pins import Pins, list_pinned_fields
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.expressions import FollowedField
from signet.core.runtime.projection import POINTED_BEHIND
from signet.core.runtime.workflow import Workflow


def list_pointed_behind(
    pins: Pins, data: Mapping[str, Any], reads: Iterable[FollowedField]
) -> frozenset[FollowedField]:
    """List the reads of documents that a step has pointed a ref to behind a gate, where nothing is pinned."""
    pointed = {
        ref: pin for ref, pin in pins.items() if POINTED_BEHIND in pin and pin["document_id"] == data.get(ref)
    }
    return frozenset(
        (ref, name) for ref, name in reads if ref in pointed and name not in pointed[ref]["values"]
    )


def list_unpinned_reads(
    old: Workflow,
    old_contract: CompiledContract,
    new: Workflow,
    new_contract: CompiledContract,
    status: str,
    *,
    is_decided: bool = False,
) -> list[str]:
    """List what the new definition reads of other documents and of variables, and the old pins not.

    A document that no approval has brought to its status has pinned nothing, and is asked about later.
    `is_decided` is what its record says.
    """
    if not _is_approved(old, status, is_decided=is_decided):
        return []
    fields = list_unpinned_fields(old, old_contract, new, new_contract, status, is_decided=is_decided)
    variables = _list_variables(new) - _list_variables(old)
    return sorted((*map(".".join, fields), *(f"context.{name}" for name in variables)))


def list_unpinned_fields(
    old: Workflow,
    old_contract: CompiledContract,
    new: Workflow,
    new_contract: CompiledContract,
    status: str,
    *,
    is_decided: bool = False,
) -> frozenset[FollowedField]:
    """List the fields of other documents that the new definition reads, and the old pins not."""
    if not _is_approved(old, status, is_decided=is_decided):
        return frozenset()
    return list_pinned_fields(new, new_contract, ()) - list_pinned_fields(old, old_contract, ())


def _is_approved(old: Workflow, status: str, *, is_decided: bool) -> bool:
    return old.has_approvals and (is_decided or old.is_behind_approvals(status))


def _list_variables(workflow: Workflow) -> frozenset[str]:
    """List the variables that are read behind any approval as people have seen them."""
    read: Collection[frozenset[str]] = workflow.live_variables.values()
    return frozenset[str]().union(*read)
