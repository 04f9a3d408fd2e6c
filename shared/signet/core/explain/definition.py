"""An auditor's reading of a compiled workflow: numbered statements in plain English that one could sign.

The contract gives the explanation its labels and units, and says who may decide. An explanation without the
contract says only what the artifact holds.
"""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from signet.core.canonical_json import content_hash
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.graph import ENVELOPE
from signet.core.contracts.contract import Contract
from signet.core.control.authorship import ControlAuthors
from signet.core.explain.approvals import write_approvals
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.authors import describe_control
from signet.core.explain.lifecycle import write_gates, write_states
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.outline import Chapter, Entry, NumberedLine, Outline
from signet.core.explain.slots import write_slots
from signet.core.explain.vocabulary import Vocabulary, describe_count, describe_list, describe_name, escape
from signet.core.tenants.machine_label import MachineLabel
from signet.core.validation.unclear_text import find_unclear, write_out

WIDTH = 100
_CONFIRMATION = ":confirmation"  # no slot and no node is called so
_TRIGGERS = {
    "create": "a document is created",
    "mutation": "a document is changed",
    "transition": "the status of a document changes",
    "event": "an event arrives from outside",
    "cron": "the time comes",
    "manual": "a person starts it",
}


@dataclass(frozen=True)
class ExplainedStatement:
    number: str
    text: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    number: int
    title: str
    statements: tuple[ExplainedStatement, ...]


def explain(
    artifact: Artifact,
    contract: Contract | None = None,
    control: ControlAuthors | None = None,
    machines: Mapping[str, MachineLabel] = MappingProxyType({}),
    *,
    is_draft: bool = False,
    is_read: bool = False,
) -> tuple[Section, ...]:
    """Explain a workflow. The contract must be the one that it was compiled from.

    `control` says who wrote and published it, where that is on record. `machines` are labels of the service
    accounts that it names, by their subjects. `is_read` says that other documents may read those of its type.
    """
    pinned = artifact.content.get("contract")
    if contract is not None and pinned is not None and content_hash(contract.to_json()) != pinned["hash"]:
        raise ValueError("the workflow was compiled from another contract")
    workflow = WorkflowReading(artifact.content)
    words = Vocabulary(artifact.content["entity_type"], contract, machines)
    outline = Outline(workflow, contract, words, is_read=is_read)
    made_by = None if control is None else describe_control(control, is_draft=is_draft)
    chapters = _list_chapters(outline, artifact, made_by)
    for number, chapter in enumerate(chapters, 1):
        outline.numbers[chapter.key] = str(number)
        for index, entry in enumerate(chapter.entries, 1):
            outline.numbers[entry.key] = f"{number}.{index}"
    return tuple(_write_section(number, chapter) for number, chapter in enumerate(chapters, 1))


def explain_in_text(
    artifact: Artifact,
    contract: Contract | None,
    control: ControlAuthors,
    machines: Mapping[str, MachineLabel],
    *,
    is_draft: bool,
    is_read: bool,
) -> str:
    sections = explain(artifact, contract, control, machines, is_draft=is_draft, is_read=is_read)
    return "\n".join(write_explanation(sections))


def write_explanation(sections: tuple[Section, ...]) -> list[str]:
    return list(_write_lines(sections))


def _list_chapters(outline: Outline, artifact: Artifact, made_by: str | None) -> list[Chapter]:
    is_automation = outline.workflow.content["kind"] == "automation"
    fixed = [_write_trigger(outline)] if is_automation else [write_states(outline), write_gates(outline)]
    return [
        _write_head(outline, artifact, made_by),
        *fixed,
        *(write_slots(outline) or [_write_nothing_added()]),
        write_approvals(outline),
        _write_policies(outline),
        _write_fixed(outline),
        _write_confirmation(outline, artifact),
    ]


def _write_section(number: int, chapter: Chapter) -> Section:
    statements = []
    for index, entry in enumerate(chapter.entries, 1):
        line = entry.write()
        statements.append(ExplainedStatement(f"{number}.{index}", line.text, line.parts))
    return Section(number, chapter.title, tuple(statements))


def _write_lines(sections: tuple[Section, ...]) -> Iterator[str]:
    for section in sections:
        if section.number > 1:
            yield ""
        title = f"{section.number}. {section.title}"
        yield from (title, "=" * len(title))
        for statement in section.statements:
            yield from _wrap(statement.text, f"{statement.number:<5} ", 6)
            for letter, part in enumerate(statement.parts):
                yield from _wrap(part, f"      {_letter(letter)}) ", 9)


def _letter(index: int) -> str:
    """Return the letter of a part: a, b, … z, aa, ab and so on."""
    letters = ""
    while index >= 0:
        letters = chr(ord("a") + index % 26) + letters
        index = index // 26 - 1
    return letters


def _wrap(text: str, begin: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _make_entries(*sentences: str) -> list[Entry]:
    return [Entry(partial(NumberedLine, sentence)) for sentence in sentences]


def _write_head(outline: Outline, artifact: Artifact, made_by: str | None) -> Chapter:
    content = artifact.content
    entity = content["entity_type"]
    name = f'"{describe_name(content["name"])}" [{escape(content["name"])}]'
    documents = (
        f'documents of the type "{describe_name(entity)}" [{escape(entity)}]' if entity else "no document"
    )
    if content["kind"] == "automation":
        lines = [
            f"This statement describes the automation {name}, version {content['version']}."
            f" It is about {documents}."
        ]
    else:
        contract, envelope = content["contract"], content["envelope"]
        what = "with what the organisation added" if content["kind"] == "effective" else "with nothing added"
        lines = [
            f"This statement describes the workflow {name} for {documents}, {what}.",
            f"The contract of these documents has the version {contract['version']}."
            f" SHA-256: {contract['hash']}",
            "The fixed part (the envelope) follows from the contract and has the version"
            f" {envelope['version']}. SHA-256: {envelope['hash']}",
        ]
    lines.append(
        f"The workflow was compiled by compiler {escape(content['compiler_version'])}. The engine runs the"
        f" compiled workflow and nothing else. SHA-256: {artifact.hash}"
    )
    if made_by is not None:
        lines.append(made_by)
    lines += _describe_unclear(outline)
    return Chapter("What this statement is about", _make_entries(*lines))


def _describe_unclear(outline: Outline) -> Iterator[str]:
    """Say which texts may not say what the reader sees, with what they are made of."""
    contract = outline.contract.to_json() if outline.contract is not None else {}
    written = (write_out(text) for _, text in find_unclear([outline.workflow.content, contract]))
    texts = [f"'{escape(text)}'" for text in dict.fromkeys(written)]
    if texts:
        yield (
            "ATTENTION. Some texts hold characters that nobody sees, or letters of two scripts in one word."
            f" They may not say what you read: {describe_list(texts)}."
        )


_CLOCK = {
    "zone": "The schedule is read in the time zone {}.",
    "gap": 'Where the clock leaves out its time, the rule is "{}".',
    "fold": 'Where the clock shows its time twice, the rule is "{}".',
}


def _write_trigger(outline: Outline) -> Chapter:
    trigger = outline.workflow.content["trigger"]
    lines = [f"It starts when {_TRIGGERS[trigger['on']]}."]
    names = {
        "action": "action",
        "from": "status before",
        "to": "status after",
        "key": "key",
        "cron": "schedule",
    }
    lines += [
        f'It starts only with the {word} "{escape(trigger[key])}".'
        for key, word in names.items()
        if trigger[key] is not None
    ]
    if fields := trigger.get("fields"):
        named = describe_list([f'"{describe_name(name)}" [{escape(name)}]' for name in fields], "or")
        lines.append(f"It starts only where {named} has changed.")
    lines += [sentence.format(escape(trigger[key])) for key, sentence in _CLOCK.items() if key in trigger]
    if trigger["condition"] is not None:
        lines.append(f"It starts only if {outline.words.describe_condition(trigger['condition'])}.")
    return Chapter("What starts it", _make_entries(*lines, *_describe_bounds(outline.workflow.content)))


_OVERLAPS = {
    "allow": "It starts beside its instances that are open.",
    "skip": "It does not start while {} is open.",
    "queue": "It waits while {} is open. At most {} starts wait; one more does not start.",
    "replace": "It has {} cancelled that is open, and starts then.",
}
_REPEATS = {
    "ignore": "What it starts itself, also by way of others, is left out without a note.",
    "allow": "It may start itself, also by way of others, up to a chain of 16.",
}


def _describe_bounds(content: Mapping[str, Any]) -> Iterator[str]:
    """Describe what keeps a firing from starting, as far as the author says anything of it."""
    if (repeat := content["trigger"].get("repeat")) in _REPEATS:
        yield _REPEATS[repeat]
    if overlap := content.get("overlap"):
        of_document = " for the same document" if overlap["per"] == "document" else ""
        yield _OVERLAPS[overlap["mode"]].format(f"an instance of it{of_document}", overlap["at_most"])
    if limits := content.get("limits"):
        starts, instances = limits["starts_per_minute"], limits["open_instances"]
        yield (
            f"It starts at most {describe_count(starts, 'time')} in a minute, and has at most"
            f" {describe_count(instances, 'instance')} open. What is over that waits."
        )


def _write_nothing_added() -> Chapter:
    return Chapter(
        "Added by the organisation",
        _make_entries("The organisation added nothing: only the fixed part runs."),
    )


def _write_policies(outline: Outline) -> Chapter:
    gates = outline.workflow.in_order("policy_gate")
    repeated = _make_entries(*_describe_repeats(outline))
    if not gates:
        none = _make_entries("The workflow runs no actions, so there are no policy gates.")
        return Chapter("What the policy gates guard", [*none, *repeated])
    lead = (
        "Before each action stands a policy gate. It checks whether the action may run for the person, the"
        " system or the service account that it runs as. No way leads around the gate; an action that is not"
        " allowed does not run."
    )
    guards = [Entry(partial(_describe_policy, outline, gate)) for gate in gates]
    return Chapter("What the policy gates guard", [*_make_entries(lead), *guards, *repeated])


def _describe_repeats(outline: Outline) -> Iterator[str]:
    """Describe the actions that make documents as often as people like, though people decided once."""
    actions = outline.contract.actions if outline.contract is not None else {}
    for name in (name for name, action in actions.items() if action.repeats is not None):
        yield (
            f"People with its permission may run the action {describe_name(name)} by hand behind an approval,"
            " as often as they like. Each time it may make documents, and nobody is asked again."
        )


def _describe_policy(outline: Outline, gate: str) -> NumberedLine:
    action = outline.refer(outline.workflow.pass_policy(gate))
    sentences = describe_step("policy_gate", outline.workflow.config_of(gate), outline.words)
    return NumberedLine(f"[{escape(gate)}] guards {action}. {' '.join(sentences)}")


def _describe_notice(outline: Outline) -> Iterator[str]:
    """Describe who is told of a step that is held, where the contract names a role beside the requester."""
    notice = outline.contract.on_incident if outline.contract is not None else None
    if notice is not None:
        yield (
            "A step that cannot go on is held, and does nothing meanwhile. The person who asked is told, and"
            f" so is every holder of the role {describe_name(notice.role)}."
        )


def _write_fixed(outline: Outline) -> Chapter:
    workflow = outline.workflow
    if workflow.content["kind"] == "automation":
        return Chapter("What nobody can change", _make_entries(_PUBLISHED))
    states = workflow.in_order("state")
    gates = workflow.in_order("lifecycle_gate")
    edges = sum(1 for edge in workflow.content["edges"].values() if edge["provenance"] == ENVELOPE)
    is_whole = workflow.content["system_gate_integrity"]["valid"]
    entries = [
        Entry(
            lambda: NumberedLine(
                f"The fixed part consists of {describe_count(len(states), 'state')}"
                f" ({describe_list(map(outline.refer, states))}),"
                f" {describe_count(len(gates), 'gate')} ({describe_list(map(outline.refer, gates))}), and"
                f" {describe_count(edges, 'connection')} between them."
            )
        ),
        *_make_entries(
            "The compiler has verified that every part of it is present and as the contract states it."
            if is_whole
            else "PARTS OF IT ARE MISSING. This workflow must not run.",
            "Only a gate changes the status. Who may ask for a change, what a gate checks and where a"
            " rejection leads are part of the fixed part.",
            "The organisation's steps stand only in the places that the contract leaves open. They can make"
            " editing stricter there, never looser.",
            *_describe_notice(outline),
            _PUBLISHED,
        ),
    ]
    return Chapter("What nobody can change", entries)


_PUBLISHED = (
    "A published workflow is never altered: any change makes another one, with another SHA-256. Compiling"
    " the same sources again gives the same SHA-256."
)


def _write_confirmation(outline: Outline, artifact: Artifact) -> Chapter:
    def confirm() -> NumberedLine:
        last = outline.numbers[_CONFIRMATION].partition(".")[0]
        return NumberedLine(
            f"I have read sections 1 to {int(last) - 1}."
            f" They describe the compiled workflow {artifact.hash}.",
            (
                "Name: ______________________________",
                "Date: ______________________________",
                "Signature: _________________________",
            ),
        )

    return Chapter("Confirmation", [Entry(confirm, _CONFIRMATION)])
