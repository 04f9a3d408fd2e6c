"""Bounds of what nodes make of expressions: rendered templates, lists that are acted on, kept variables.

An expression cannot make a text longer. But a template may name one text often, a list may name it for each
item, and a variable may keep it again and again.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.expressions.byte_budget import BudgetSpent, ByteBudget, fits
from signet.core.expressions.render import Rendered, refuse_too_large
from signet.core.runtime.workflow import WorkflowNode

# Of all variables of an instance: as much as a document may hold.
MAX_VARIABLES_BYTES = 1_048_576
# Of what all items of a list are given, with what they read, write and give back.
MAX_LIST_BYTES = 16 * 1_048_576


def render(node: WorkflowNode, pointer: str, env: Environment) -> Rendered:
    """Render a template of the node. A refusal names the node and the place of the template in it."""
    rendered = node.templates[pointer](env)
    if isinstance(rendered, Rejected):
        return refuse_too_large(f"{pointer.removeprefix('/')} of {node.id}: ")
    return rendered


def check_variables(
    node: WorkflowNode, context: Mapping[str, Any], new: Mapping[str, Any]
) -> Rejected | None:
    """Refuse variables with which those of the instance would be too large."""
    if fits({**context, **new}, MAX_VARIABLES_BYTES):
        return None
    return _refuse_variables(f"with what {node.id} sets, the variables of the workflow")


def check_room(node: WorkflowNode, context: Mapping[str, Any]) -> Rejected | None:
    """Refuse a node that would keep an answer where no variable fits any more, before it acts."""
    if not node.sets_variables or fits(context, MAX_VARIABLES_BYTES):
        return None
    return _refuse_variables(f"{node.id} would keep its answer, and the variables of the workflow")


class ListBudget:
    """The bytes that the items of a list may take together, and why it is refused once they take more."""

    def __init__(self, node: WorkflowNode) -> None:
        self._node = node
        self.refused: Rejected | None = None
        self._all = ByteBudget(MAX_LIST_BYTES)
        self._kept = ByteBudget(MAX_VARIABLES_BYTES)

    def take(self, given: Any, output: Any, written_bytes: int) -> None:
        """Take what an item was given, gave back and wrote."""
        try:
            self._all.take(written_bytes)
            self._all.take_value(given)
            self._all.take_value(output)
        except BudgetSpent:
            self._refuse("take", MAX_LIST_BYTES)
            return
        try:
            if self._node.config["save_as"]:
                self._kept.take_value(output)
        except BudgetSpent:
            self._refuse("give back", MAX_VARIABLES_BYTES)

    def _refuse(self, verb: str, limit: int) -> None:
        sentence = f"{self._node.id} acts on a list whose items together {verb} more than {limit} bytes"
        remedy = "Shorten the list, or have each item read or give back less."
        self.refused = Rejected("LIST_TOO_LARGE", sentence, remedy=remedy)


def _refuse_variables(subject: str) -> Rejected:
    sentence = f"{subject} take more than {MAX_VARIABLES_BYTES} bytes"
    remedy = "Have the workflow keep less: ids instead of long texts, and no variable twice."
    return Rejected("VARIABLES_TOO_LARGE", sentence, remedy=remedy)
