"""Edit windows: an edit is applied, becomes an amendment, or is refused."""

from dataclasses import dataclass
from enum import StrEnum

from signet.core.contracts.contract import AMENDED, Contract, EditWindow

# What people can do about a document that nobody may edit.
UNLOCK = (
    "Ask for a transition that leads to where it may be edited. A settled document is amended (POST"
    " /v1/documents/{document_id}/amendments). Where its open incident lists `correct`, it is corrected."
)


class EditEffect(StrEnum):
    APPLY = "apply"
    AMEND = "amend"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Window:
    """The window in force, and its holder: a node of the live workflow, or the status."""

    window: EditWindow
    held_by: str


@dataclass(frozen=True, slots=True)
class LiveInstance:
    """The part of a live workflow that a mutation must know."""

    edit_window: str | None
    edit_window_node: str | None


def find_window(contract: Contract, status: str, live: LiveInstance | None) -> Window:
    """Find the window: a live token's wins over that of the status."""
    if live is not None and live.edit_window is not None:
        return Window(EditWindow(live.edit_window), live.edit_window_node or "")
    if status == AMENDED:
        return Window(EditWindow.LOCKED, f"status {AMENDED}")
    return Window(contract.states[status].edit, f"status {status}")


def decide_edit(window: Window) -> EditEffect:
    match window.window:
        case EditWindow.EDITABLE:
            return EditEffect.APPLY
        case EditWindow.AMEND_ONLY:
            return EditEffect.AMEND
        case _:
            return EditEffect.REFUSE
