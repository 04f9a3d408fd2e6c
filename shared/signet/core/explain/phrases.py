"""Parts of the sentences about instances: moments, nodes, transitions, and how a sentence begins and ends."""

from datetime import UTC, datetime

from signet.core.explain.node_sentences import describe_kind
from signet.core.explain.outline import Outline
from signet.core.explain.vocabulary import describe_name, escape


def describe_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def describe_node(outline: Outline, node_id: str) -> str:
    """Name a node in the middle of a sentence: `the gate "Submit"`."""
    node_type = outline.workflow.type_of(node_id)
    match node_type:
        case "start" | "end":
            return f"the {node_type}"
        case "lifecycle_gate":
            return f"the gate {outline.name(node_id)}"
        case "policy_gate":
            return f"the policy gate of {outline.name(outline.workflow.pass_policy(node_id))}"
        case _:
            return f"the {describe_kind(node_type)} {outline.name(node_id)}"


def name_transition(outline: Outline, name: str) -> str:
    declared = outline.contract.transitions.get(name) if outline.contract is not None else None
    return f'"{escape(declared.label) if declared is not None and declared.label else describe_name(name)}"'


def begin_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def end_sentence(text: str) -> str:
    """End a sentence with one mark, also if a person's words in it already end with one."""
    sentence = escape(text).strip()
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
