"""The node that a document begins again at, where no token says it: the one of its status.

An amendment begins beside the first state of others, with slots of its own. It begins again there: at the
first state of others it would be asked for less than an amendment is asked for.
"""

from signet.core.contracts.contract import AMENDED
from signet.core.runtime.workflow import Workflow


def state_node(status: str) -> str:
    return f"sys:state:{status}"


def begins_amendments(workflow: Workflow, status: str) -> bool:
    """Return whether amendments have a beginning of their own in this status."""
    beginning = workflow.nodes.get(state_node(AMENDED))
    return beginning is not None and beginning.config["state"] == status


def find_beginning(workflow: Workflow) -> str:
    """Return the node of the state that amendments begin at."""
    edges = workflow.nodes["sys:start"].edges
    return (edges.get("amended") or edges["created"])[0].target


def find_resting_state(workflow: Workflow, status: str, *, is_amendment: bool) -> str:
    """Return the node of the state that a document rests at."""
    return state_node(AMENDED if is_amendment and begins_amendments(workflow, status) else status)


def find_reentry(status: str, *, amendments_begin: str | None, is_amendment: bool) -> str:
    """Return the node that a new instance begins at; `amendments_begin` is the status that they begin in."""
    return state_node(AMENDED if is_amendment and status == amendments_begin else status)
