"""The table of node types: their configuration, their closed set of outcomes, and who may place them.

The compiler, the palette and the docs read this table; the engine registers one handler for each acting type.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from signet.core.compiler import node_configurations as c
from signet.core.validation.strict_model import Strict


@dataclass(frozen=True)
class NodeType:
    name: str
    configuration: type[Strict]
    outcomes: tuple[str, ...]
    summary: str
    # The palette's group of a type that authors place; None for a type that only the compiler makes.
    group: str | None = None
    # Computed in memory without any effect beyond the token, so chains of these cost no round trip.
    is_pure: bool = False
    # Chooses among its edges, and the choice must be on record even when it is empty.
    is_branch: bool = False
    # Waits for a person, the clock or an event from outside.
    waits: bool = False
    # Outcomes that need no edge of their own; `core/runtime/decisions.py` decides where they lead.
    optional_outcomes: frozenset[str] = frozenset()

    @property
    def is_decided(self) -> bool:
        """Return whether core alone decides it; every other node acts, and has a handler in the engine."""
        return self.is_pure or self.name == "parallel_join"


_TYPES = [
    NodeType("start", c.Nothing, ("created", "amended"), "Begins an instance", is_pure=True),
    NodeType("end", c.Nothing, (), "Ends an instance", is_pure=True),
    NodeType(
        "state",
        c.StateConfiguration,
        ("requested", "automatic", "ended", "interrupted"),
        "Holds the document in a status; waits for a request where people decide the way",
        is_pure=True,
        is_branch=True,
        waits=True,
        optional_outcomes=frozenset({"requested", "automatic", "ended", "interrupted"}),
    ),
    NodeType("slot_in", c.SlotConfiguration, ("done",), "Begins a slot", is_pure=True, is_branch=True),
    NodeType("slot_out", c.SlotConfiguration, ("done",), "Ends a slot", is_pure=True),
    NodeType(
        "lifecycle_gate",
        c.LifecycleGateConfiguration,
        ("passed", "refused", "rejected"),
        "Performs a transition, or sends the document back",
        is_branch=True,
        optional_outcomes=frozenset({"refused", "rejected"}),
    ),
    NodeType(
        "policy_gate",
        c.PolicyGateConfiguration,
        ("allowed", "denied"),
        "Checks that the action may run for the person or account that it runs as",
        is_pure=True,
        optional_outcomes=frozenset({"denied"}),
    ),
    NodeType(
        "action",
        c.ActionConfiguration,
        ("done", "error"),
        "Changes a document by a named action",
        group="work",
        optional_outcomes=frozenset({"error"}),
    ),
    NodeType(
        "approval",
        c.ApprovalConfiguration,
        ("approved", "rejected", "expired"),
        "Asks people about this version of the document",
        group="people",
        waits=True,
        optional_outcomes=frozenset({"rejected", "expired"}),
    ),
    NodeType(
        "condition",
        c.Nothing,
        ("done",),
        "Takes the first edge whose condition holds",
        group="flow",
        is_pure=True,
        is_branch=True,
    ),
    NodeType(
        "parallel_split", c.Nothing, ("done",), "Goes on along every edge at once", group="flow", is_pure=True
    ),
    NodeType(
        "parallel_join",
        c.JoinConfiguration,
        ("done", "rejected"),
        "Waits for all branches, or for the first",
        group="flow",
        optional_outcomes=frozenset({"rejected"}),
    ),
    NodeType(
        "wait_timer",
        c.WaitTimerConfiguration,
        ("elapsed",),
        "Waits for time to pass",
        group="wait",
        waits=True,
    ),
    NodeType(
        "wait_event",
        c.WaitEventConfiguration,
        ("received", "timeout"),
        "Waits for an event from outside",
        group="wait",
        waits=True,
        optional_outcomes=frozenset({"timeout"}),
    ),
    NodeType(
        "webhook_out",
        c.WebhookOutConfiguration,
        ("delivered", "error"),
        "Calls an endpoint, or publishes an event, and waits for its confirmation",
        group="outside",
        waits=True,
        optional_outcomes=frozenset({"error"}),
    ),
    NodeType(
        "notification",
        c.NotificationConfiguration,
        ("done", "error"),
        "Tells people",
        group="outside",
        waits=True,
        optional_outcomes=frozenset({"error"}),
    ),
    NodeType(
        "script",
        c.ScriptConfiguration,
        ("done", "error"),
        "Sets variables from expressions",
        group="flow",
        is_pure=True,
        optional_outcomes=frozenset({"error"}),
    ),
    NodeType(
        "rule",
        c.RuleConfiguration,
        ("passed", "rejected"),
        "Asks the tenant's rules",
        group="flow",
        is_pure=True,
        is_branch=True,
        optional_outcomes=frozenset({"rejected"}),
    ),
]

NODE_TYPES: Mapping[str, NodeType] = MappingProxyType({node_type.name: node_type for node_type in _TYPES})
AUTHOR_NODE_TYPES = tuple(node_type.name for node_type in _TYPES if node_type.group)
