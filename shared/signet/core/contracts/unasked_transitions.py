"""Automatic transitions that nobody is asked about while no patch fills the slot before them."""

from collections.abc import Iterator

from signet.core.contracts.contract import Contract
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


def find_unasked_transitions(contract: Contract) -> Iterator[Finding]:
    """Yield a finding for each slot whose voters would need a permission, and which asks nobody by itself.

    A slot that requires approvals keeps its gate shut, so that nothing passes it.
    """
    for name, slot in contract.slots.items():
        transition = contract.transitions[slot.transition]
        is_asked = slot.position == "before" and transition.kind == "automatic" and slot.requires is None
        if is_asked and transition.permission is not None:
            yield make_finding(
                "NOBODY_ASKED_YET",
                point(("slots", name)),
                slot=name,
                transition=slot.transition,
                permission=transition.permission,
            )
