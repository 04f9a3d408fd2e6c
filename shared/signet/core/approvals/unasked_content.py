"""Content that nobody was asked about, in documents that come of one about which people had decided.

What an action made of an approved document was approved with it. An amendment of it is another document. So
is one in which a person has typed over a value that the action gave.
"""

from collections.abc import Collection

from signet.core.compiler.envelope import state_node
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract, EditWindow
from signet.core.errors import Rejected
from signet.core.runtime.graph.guarded_gates import list_nodes_behind
from signet.core.runtime.workflow import Workflow

AMENDMENT_UNASKED = "AMENDMENT_UNASKED"
EDIT_UNASKED = "EDIT_UNASKED"
_REMEDY = "Have people decide about the document first. An edited value can be put back."


def describe_unasked(*, is_amendment: bool, is_decided: bool, typed_over: Collection[str]) -> str | None:
    """Return what people were not asked about; `typed_over` are given values that a person has changed since.

    It concerns documents that come of an approved one. `is_decided` says that people have decided about this
    one itself.
    """
    if is_amendment and not is_decided:
        return (
            f"{AMENDMENT_UNASKED}: the original was approved with what it was made of,"
            " and nobody has decided about this"
        )
    if typed_over:
        fields = ", ".join(sorted(typed_over))
        return f"{EDIT_UNASKED}: a person has changed {fields}, and nobody has decided about it since"
    return None


def refuse_unasked(problem: str) -> Rejected:
    """Refuse a person what steps of the document's workflow are held for."""
    code, _, sentence = problem.partition(": ")
    return Rejected(code, sentence, remedy=_REMEDY)


def list_accepted(contract: Contract) -> list[str]:
    """List the statuses in which the contract accepts that people edit behind approvals."""
    return [name for name, state in contract.states.items() if state.after_approval is not None]


def list_made_behind(workflow: Workflow, contract: Contract) -> list[tuple[str, str]]:
    """List the actions that make documents behind approvals, with their types. People run the others."""
    behind, made = list_nodes_behind(workflow.content), []
    for name, action in contract.actions.items():
        nodes = [node.id for node in workflow.nodes.values() if node.config.get("action") == name]
        is_behind = not behind.isdisjoint(nodes) if nodes else workflow.has_approvals
        if action.entity_type is not None and is_behind:
            made.append((name, action.entity_type))
    return made


def list_open_states(workflow: Workflow, contract: CompiledContract) -> list[str]:
    """List the states where people may edit, and a way that settles the document asks nobody about it."""
    return [
        name
        for name, state in contract.contract.states.items()
        if state.edit is EditWindow.EDITABLE
        and state.after_approval is None
        and not state.settled
        and workflow.look_ahead(contract, state_node(name)).may_settle_unasked
    ]


def moves_on(contract: Contract, transition: str, to: str, *, may_ask: bool) -> bool:
    """Return whether a gate settles a document, or closes it for edits with nobody left to ask.

    What ends it for good moves nothing on, and an interrupt may stop it at any time. A transition that
    decides has asked the person who wants it.
    """
    state = contract.states[to]
    if transition in contract.separation_of_duties.deciding:
        return False
    is_stopped = state.final or contract.transitions[transition].kind == "interrupting"
    return state.settled or not (may_ask or is_stopped or state.edit is EditWindow.EDITABLE)
