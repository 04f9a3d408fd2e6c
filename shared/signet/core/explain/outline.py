"""The parts that the chapters of an explanation share: the workflow, its words, and statement numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.compiler.slot_graph import DEFAULT_PRIORITY
from signet.core.contracts.contract import Contract
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.vocabulary import Vocabulary, describe_name, escape
from signet.core.runtime.graph.guarded_gates import list_states_behind

WINDOWS = {
    "editable": "An edit changes the document itself.",
    "amend_only": "An edit does not change the document: it makes an amendment, a new document that begins"
    " again and needs new approvals. A settled document stays in force until its amendment settles; any other"
    " is final at once.",
    "locked": "Nobody can edit the document.",
}
_OUTCOMES = {
    "approved": "If approved",
    "rejected": "If rejected",
    "expired": "If it expires",
    "done": "Then",
    "error": "If it fails",
    "passed": "If they pass",
    "elapsed": "Then",
    "received": "When it arrives",
    "timeout": "If it does not arrive in time",
    "delivered": "When it is confirmed",
}


@dataclass(frozen=True)
class NumberedLine:
    text: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A statement that is written once every statement has its number; `key` is the node it is about."""

    write: Callable[[], NumberedLine]
    key: str = ""


@dataclass(frozen=True)
class Chapter:
    title: str
    entries: list[Entry]
    key: str = ""


@dataclass
class Outline:
    workflow: WorkflowReading
    contract: Contract | None
    words: Vocabulary
    numbers: dict[str, str] = field(default_factory=dict)
    # A contract of the tenant lets other documents read these.
    is_read: bool = False

    def name(self, node_id: str) -> str:
        """Return the name of a node: its label, or its purpose."""
        node = self.workflow.nodes[node_id]
        if node.get("label"):
            return f'"{escape(node["label"])}"'
        config = node["config"]
        by_config = config.get("transition") or config.get("state") or config.get("slot")
        return f'"{describe_name(by_config)}"' if by_config else f'"{self.workflow.label_of(node_id)}"'

    def is_editable_behind(self, node_id: str) -> bool:
        """Return whether an edit in the state changes what people have approved, or decided by a request."""
        state = self.workflow.config_of(node_id)["state"]
        is_editable = self.workflow.window_of(node_id) == "editable"
        deciding = self.contract.separation_of_duties.deciding if self.contract is not None else ()
        return is_editable and state in list_states_behind(self.workflow.content, deciding=deciding)

    def refer(self, node_id: str) -> str:
        number = self.numbers.get(node_id)
        return f"{self.name(node_id)} ({number})" if number else self.name(node_id)

    def lead_to(self, node_id: str) -> str:
        """Describe the node that an edge leads to."""
        node_id = self.workflow.pass_policy(node_id)
        match self.workflow.type_of(node_id):
            case "slot_out":
                return self.lead_to(self.workflow.exit_of(self.workflow.slot_of(node_id)))
            case "lifecycle_gate":
                return f"the gate {self.refer(node_id)}"
            case "state":
                return f"the state {self.refer(node_id)}"
            case "end":
                return "the end"
            case _:
                return self.refer(node_id)

    def describe_edge(self, edge: Mapping[str, Any]) -> str:
        """Describe one edge of a step: its condition and its destination."""
        when = _OUTCOMES.get(edge["on"], f"On {edge['on']}")
        condition = edge.get("condition")
        if condition is not None:
            phrase = f"if {self.words.describe_condition(condition['text'])}"
            when = f"If{phrase[2:]}" if when == "Then" else f"{when}, and {phrase}"
        elif edge["priority"] == DEFAULT_PRIORITY:
            when = "Otherwise" if when == "Then" else f"{when}, and otherwise"
        label = f' ("{escape(edge["label"])}")' if edge.get("label") else ""
        return f"{when}{label}: {self._describe_destination(edge)}."

    def _describe_destination(self, edge: Mapping[str, Any]) -> str:
        destination = self.lead_to(edge["target"])
        if edge["on"] in REJECTING and self.workflow.type_of(edge["target"]) in ("slot_out", "parallel_join"):
            return f"the rejection goes to {destination}"
        if edge["role"] == "exit":
            return f"{destination}; everything that runs beside it is cancelled"
        return f"{destination}{self._describe_rejection(edge)}"

    def _describe_rejection(self, edge: Mapping[str, Any]) -> str:
        """Say what a rejection becomes that was drawn on to a step, where the step leads to gate or join."""
        workflow, source = self.workflow, edge["source"]
        if not self.is_told_of_rejections(edge["target"]) or not workflow.keeps_rejection(edge):
            return ""
        if source in workflow.always_rejected:
            return ", still rejected"
        return "; what was rejected before is still rejected" if source in workflow.reached_rejected else ""

    def is_told_of_rejections(self, node_id: str) -> bool:
        """Return whether the node, or the gate behind its slot, asks if what comes was rejected."""
        workflow = self.workflow
        if workflow.type_of(node_id) == "slot_out":
            node_id = workflow.exit_of(workflow.slot_of(node_id))
        return workflow.type_of(node_id) in ("lifecycle_gate", "parallel_join")
