"""Edit windows: which one is in force, and what it makes of an edit."""

import pytest

from signet.core.contracts.contract import AMENDED, Contract, EditWindow
from signet.core.documents.edit_window import EditEffect, LiveInstance, Window, decide_edit, find_window
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.broken_contracts import VALID


def load() -> Contract:
    contract, findings = parse_strictly(Contract, VALID)
    assert contract is not None, findings
    return contract


def test_the_window_of_a_live_token_wins_over_that_of_the_status() -> None:
    contract = load()
    status, state = next(iter(contract.states.items()))
    of_status = Window(state.edit, f"status {status}")
    assert find_window(contract, status, None) == of_status
    assert find_window(contract, status, LiveInstance(None, None)) == of_status
    live = LiveInstance("amend_only", "usr:approvals:ask")
    assert find_window(contract, status, live) == Window(EditWindow.AMEND_ONLY, "usr:approvals:ask")


def test_an_amended_document_is_locked() -> None:
    assert find_window(load(), AMENDED, None) == Window(EditWindow.LOCKED, "status amended")


@pytest.mark.parametrize(
    ("window", "effect"),
    [
        (EditWindow.EDITABLE, EditEffect.APPLY),
        (EditWindow.AMEND_ONLY, EditEffect.AMEND),
        (EditWindow.LOCKED, EditEffect.REFUSE),
    ],
)
def test_a_window_decides_about_an_edit(window: EditWindow, effect: EditEffect) -> None:
    assert decide_edit(Window(window, "status draft")) is effect
