"""What each type of node does, in sentences: for the explanation and for reviewing a diff. Total by type."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from signet.core.explain.vocabulary import (
    Vocabulary,
    plain,
    say_count,
    say_duration,
    say_json,
    say_list,
    say_name,
)

Config = Mapping[str, Any]

RUNS_AS = {
    "actor": "the person whose act led here",
    "system": "the system",
    "service_account": "the service account",
}
_CHANNELS = {"email": "by e-mail", "sms": "by text message", "in_app": "in the application"}
_KINDS = {"wait_timer": "wait", "wait_event": "wait for an event", "webhook_out": "call to an endpoint"}
_VERBS = {"approved": "approve", "rejected": "reject", "abstained": "abstain"}
_ORDINALS = {1: "the manager", 2: "the manager's manager"}


def say_step(node_type: str, config: Config, words: Vocabulary) -> list[str]:
    """Whole sentences; where the way leads afterwards stands in the edges."""
    return _SENTENCES[node_type](config, words)


def say_kind(node_type: str) -> str:
    """parallel_split: parallel split"""
    return _KINDS.get(node_type) or say_name(node_type)


def say_person(person: Config, words: Vocabulary) -> str:
    match person["by"]:
        case "user":
            return f'the user "{plain(person["user"])}"'
        case "role":
            pick = "in turn" if person["pick"] == "round_robin" else "the first who is available"
            return f'a person with the role "{say_name(person["role"])}" [{plain(person["role"])}], {pick}'
        case "manager":
            levels = person["levels"]
            manager = _ORDINALS.get(levels, f"the manager {levels} levels up")
            return f"{manager} of {words.say_expression(person['of'])} ({plain(person['of'])})"
        case _:
            whom = words.say_expression(person["expression"])
            return f"whoever is named by {whom} ({plain(person['expression'])})"


def _say_people(people: Sequence[Config], words: Vocabulary) -> str:
    """With more than one, semicolons: the parts have commas of their own."""
    said = [say_person(person, words) for person in people]
    return said[0] if len(said) == 1 else f"{'; '.join(said[:-1])}; and {said[-1]}"


def _say_approval(config: Config, words: Vocabulary) -> list[str]:
    people = config["approvers"]
    if config["chain"] is not None:
        chain = f'"{say_name(config["chain"])}" [{plain(config["chain"])}]'
        asked = f"The approval chain {chain} is asked, stage by stage."
    else:
        asked = f"Asked to approve: {_say_people(people, words)}."
    sentences = [asked, *_say_quorum(config["quorum"], people)]
    if config["escalate"] is not None:
        after, to = config["escalate"]["after"], config["escalate"]["to"]
        sentences.append(
            f"Undecided after {say_duration(after)} ({plain(after)}), it goes on to {say_person(to, words)}."
        )
    if config["expire_after"] is not None:
        after = config["expire_after"]
        sentences.append(f"It expires after {say_duration(after)} ({plain(after)}).")
    reasons = [_VERBS[outcome] for outcome in config["reason_required_for"]]
    if reasons:
        sentences.append(f"Who wants to {say_list(reasons, 'or')} must give a reason.")
    return sentences


def _say_quorum(quorum: str | int, people: Sequence[Config]) -> list[str]:
    if not people:
        return []  # a chain's stages have quorums of their own
    if quorum == "any":
        return ["The first vote decides."]
    if quorum == "all":
        # An expression may name several people.
        is_one = len(people) == 1 and people[0]["by"] != "expression"
        return [
            f"{'This person' if is_one else 'Everybody asked'} must approve; the first rejection rejects."
        ]
    count = say_count(int(quorum), "approval")
    return [f"At least {count} must be given; it is rejected as soon as that cannot be reached."]


def _say_action(config: Config, words: Vocabulary) -> list[str]:
    name = config["action"]
    declared = words.contract.actions.get(name) if words.contract else None
    label = f"{plain(declared.label)} [{name}]" if declared is not None and declared.label else f"[{name}]"
    sentences = [f"The action {label} runs as {RUNS_AS[config['run_as']]}."]
    if declared is not None:
        sentences += _say_declared_action(declared.kind, declared.set, declared.entity_type, words)
    if config["payload"]:
        sentences.append(f"It is given {say_json(config['payload'])}.")
    if config["for_each"] is not None:
        items, limit = words.say_expression(config["for_each"]), config["max_items"]
        sentences.append(
            f"It runs once for each of {items} ({plain(config['for_each'])}), at most {limit} of them."
        )
    return [*sentences, *_say_saved(config, "What it gives back")]


def _say_declared_action(kind: str, values: Config, entity_type: str | None, words: Vocabulary) -> list[str]:
    match kind:
        case "update":
            return [f"It sets in {words.document}: {say_json(values)}."]
        case "create":
            return [
                f'It creates a document of the type "{say_name(entity_type or "")}" with {say_json(values)}.'
            ]
        case _:
            return ["What it does is written in the tenant's Python code."]


def _say_saved(config: Config, what: str) -> list[str]:
    name = config["save_as"]
    return [] if name is None else [f"{what} is kept as {say_name(name)} (context.{name})."]


def _say_timer(config: Config, words: Vocabulary) -> list[str]:
    if config["for"] is not None:
        return [f"The workflow waits for {say_duration(config['for'])} ({plain(config['for'])})."]
    return [f"The workflow waits until {words.say_expression(config['until'])} ({plain(config['until'])})."]


def _say_event(config: Config, words: Vocabulary) -> list[str]:
    sentences = [f'The workflow waits for an event from outside with the key "{plain(config["key"])}".']
    if config["timeout"] is not None:
        sentences.append(f"It waits at most {say_duration(config['timeout'])} ({plain(config['timeout'])}).")
    return [*sentences, *_say_saved(config, "What the event brings")]


def _say_webhook(config: Config, words: Vocabulary) -> list[str]:
    who = RUNS_AS[config["run_as"]]
    event = config.get("event")
    sentences = [
        f'The outside endpoint "{plain(config["endpoint"])}" is called as {who};'
        " the workflow waits for its confirmation."
        if event is None
        else f'The event "{plain(event)}" is published for other systems, as {who};'
        " the workflow waits until the bus has taken it."
    ]
    if config["payload"]:
        sentences.append(f"It is sent {say_json(config['payload'])}.")
    return [*sentences, *_say_saved(config, "Its answer")]


def _say_notification(config: Config, words: Vocabulary) -> list[str]:
    how, who = _CHANNELS[config["channel"]], RUNS_AS[config["run_as"]]
    sentences = [f"Told {how}, as {who}: {_say_people(config['to'], words)}."]
    if config["subject"]:
        sentences.append(f'The subject is "{plain(config["subject"])}".')
    sentences.append(f'The text is "{plain(config["text"])}".')
    waits = (
        "The workflow waits until it is delivered."
        if config["await"]
        else "The workflow does not wait for delivery."
    )
    return [*sentences, waits]


def _say_script(config: Config, words: Vocabulary) -> list[str]:
    return [
        f"The workflow's {say_name(name)} (context.{name}) becomes"
        f" {words.say_expression(text)} ({plain(text)})."
        for name, text in sorted(config["set"].items())
    ]


def _say_rule(config: Config, words: Vocabulary) -> list[str]:
    rules = say_list(f'"{say_name(name)}" [{plain(name)}]' for name in config["rules"])
    return [f"The organisation's rules decide: {rules}."]


def _say_join(config: Config, words: Vocabulary) -> list[str]:
    if config["mode"] == "all":
        return [
            "Every branch must finish before the workflow goes on; a rejection in one cancels the others."
        ]
    return ["The first branch to finish without a rejection goes on and cancels the others."]


def _say_gate(config: Config, words: Vocabulary) -> list[str]:
    sources = say_list((f'"{say_name(state)}"' for state in config["from_states"]), "or")
    return [f'The status changes from {sources} to "{say_name(config["to"])}".']


def _say_state(config: Config, words: Vocabulary) -> list[str]:
    return [f'The status of {words.document} is "{say_name(config["state"])}".']


def _say_policy(config: Config, words: Vocabulary) -> list[str]:
    who, permission = RUNS_AS[config["run_as"]], plain(config["permission"])
    sentence = f"The action [{plain(config['action'])}] runs only if {who} has the permission {permission}."
    if config["permission_condition"] is None:
        return [sentence]
    return [sentence, f"The permission holds only if {words.say_condition(config['permission_condition'])}."]


def _say_slot(verb: str) -> Callable[[Config, Vocabulary], list[str]]:
    return lambda config, words: [f'The tenant\'s own steps "{say_name(config["slot"])}" {verb}.']


def _always(sentence: str) -> Callable[[Config, Vocabulary], list[str]]:
    return lambda config, words: [sentence]


_SENTENCES: Mapping[str, Callable[[Config, Vocabulary], list[str]]] = MappingProxyType(
    {
        "start": _always("The workflow begins."),
        "end": _always("The workflow ends."),
        "state": _say_state,
        "slot_in": _say_slot("begin"),
        "slot_out": _say_slot("end"),
        "lifecycle_gate": _say_gate,
        "policy_gate": _say_policy,
        "action": _say_action,
        "approval": _say_approval,
        "condition": _always("One way on is chosen: the first of these that applies."),
        "parallel_split": _always("All of these begin at the same time."),
        "parallel_join": _say_join,
        "wait_timer": _say_timer,
        "wait_event": _say_event,
        "webhook_out": _say_webhook,
        "notification": _say_notification,
        "script": _say_script,
        "rule": _say_rule,
    }
)
