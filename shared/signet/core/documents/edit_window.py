"""What an edit does where the document is: go through, make an amendment, or meet a closed door."""

from dataclasses import dataclass
from enum import StrEnum

from signet.core.contracts.contract import AMENDED, Contract, EditWindow


class EditEffect(StrEnum):
    APPLY = "apply"
    AMEND = "amend"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Window:
    """The window that holds, and who holds it: a node of the live workflow, or the document's status."""

    window: EditWindow
    held_by: str


@dataclass(frozen=True, slots=True)
class LiveInstance:
    """As much of a running or paused workflow as a mutation must know."""

    edit_window: str | None
    edit_window_node: str | None


def find_window(contract: Contract, status: str, live: LiveInstance | None) -> Window:
    """A live token's window wins over the status's; without a workflow the status's holds."""
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
