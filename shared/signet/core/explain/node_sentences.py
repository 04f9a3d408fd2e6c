"""Sentences about each type of node, for explanations and for reviews of a diff; every type has some."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from signet.core.calendars.terms import describe_term, read_term
from signet.core.explain.vocabulary import (
    Vocabulary,
    describe_calendar_duration,
    describe_count,
    describe_duration,
    describe_json,
    describe_list,
    describe_name,
    escape,
)

Config = Mapping[str, Any]

_RUNS_AS = {
    "actor": "the person whose act led here",
    "system": "the system",
}
_CHANNELS = {"email": "by e-mail", "sms": "by text message", "in_app": "in the application"}
_KINDS = {"wait_timer": "wait", "wait_event": "wait for an event", "webhook_out": "call to an endpoint"}
_VERBS = {"approved": "approve", "rejected": "reject", "abstained": "abstain"}
_ORDINALS = {1: "the manager", 2: "the manager's manager"}


def describe_step(node_type: str, config: Config, words: Vocabulary) -> list[str]:
    """Return whole sentences about a node; its edges are described elsewhere."""
    return _SENTENCES[node_type](config, words)


def describe_kind(node_type: str) -> str:
    """Return the type's name in words: `parallel_split` is a parallel split."""
    return _KINDS.get(node_type) or describe_name(node_type)


def describe_person(person: Config, words: Vocabulary) -> str:
    match person["by"]:
        case "user":
            return f'the user "{escape(person["user"])}"'
        case "role":
            pick = "in turn" if person["pick"] == "round_robin" else "all who hold it"
            return (
                f'a person with the role "{describe_name(person["role"])}" [{escape(person["role"])}], {pick}'
            )
        case "manager":
            levels = person["levels"]
            manager = _ORDINALS.get(levels, f"the manager {levels} levels up")
            return f"{manager} of {words.describe_expression(person['of'])} ({escape(person['of'])})"
        case _:
            people = words.describe_expression(person["expression"])
            who = person.get("who")
            role = f' who holds the role "{describe_name(who)}" [{escape(who)}]' if who is not None else ""
            return f"each person named by {people} ({escape(person['expression'])}){role}"


def _describe_runner(config: Config, words: Vocabulary) -> str:
    """Name the one that a node runs as."""
    if config["run_as"] == "service_account":
        return words.describe_account(config.get("service_account"))
    return _RUNS_AS[config["run_as"]]


def _describe_people(people: Sequence[Config], words: Vocabulary) -> str:
    """Join people with semicolons, because the parts have commas of their own."""
    described = [describe_person(person, words) for person in people]
    return described[0] if len(described) == 1 else f"{'; '.join(described[:-1])}; and {described[-1]}"


def _describe_approval(config: Config, words: Vocabulary) -> list[str]:
    people = config["approvers"]
    if config["chain"] is not None:
        chain = f'"{describe_name(config["chain"])}" [{escape(config["chain"])}]'
        asked = f"The approval chain {chain} is asked, stage by stage."
    else:
        asked = f"Asked to approve: {_describe_people(people, words)}."
    sentences = [asked, *_describe_quorum(config["quorum"], people)]
    if config["escalate"] is not None:
        after, to = config["escalate"]["after"], config["escalate"]["to"]
        sentences.append(
            f"Undecided after {_describe_deadline(after)}, it goes on to {describe_person(to, words)}."
        )
    if config["expire_after"] is not None:
        sentences.append(f"It expires after {_describe_deadline(config['expire_after'])}.")
    sentences += _describe_reminders(config)
    sentences += _describe_voters(config, words)
    reasons = [_VERBS[outcome] for outcome in config["reason_required_for"]]
    if reasons:
        sentences.append(f"A person who wants to {describe_list(reasons, 'or')} must give a reason.")
    return sentences


def _describe_deadline(term: str | Config) -> str:
    return f"{describe_duration(term)} ({escape(term)})" if isinstance(term, str) else _describe_term(term)


def _describe_reminders(config: Config) -> list[str]:
    """Describe when those who have not decided are reminded; a workflow from before reminders has none."""
    remind = config.get("remind")
    if remind is None:
        return []
    again = f", then every {_describe_deadline(remind['every'])}" if remind["at_most"] > 1 else ""
    count = describe_count(remind["at_most"], "time")
    return [
        f"Those who have not decided are reminded after {_describe_deadline(remind['after'])}{again}:"
        f" at most {count}."
    ]


def _describe_voters(config: Config, words: Vocabulary) -> Iterator[str]:
    """Describe the terms of all voters; a workflow from before them has none."""
    permission = config.get("permission")
    if permission is not None:
        yield f"Each person who votes needs the permission {escape(permission)} as well."
        condition = words.contract.conditions.get(permission) if words.contract is not None else None
        if condition is not None:
            described = words.describe_condition(condition)
            yield f"The permission holds only if {described}; the acting person is the one who votes."
    if config.get("same_person") is not None:
        yield "The same person may approve here and in every other approval that allows it too."


def _describe_quorum(quorum: str | int, people: Sequence[Config]) -> list[str]:
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
    count = describe_count(int(quorum), "approval")
    return [f"At least {count} must be given; it is rejected as soon as that cannot be reached."]


def _describe_action(config: Config, words: Vocabulary) -> list[str]:
    name = config["action"]
    declared = words.contract.actions.get(name) if words.contract else None
    label = f"{escape(declared.label)} [{name}]" if declared is not None and declared.label else f"[{name}]"
    sentences = [f"The action {label} runs as {_describe_runner(config, words)}."]
    if declared is not None:
        sentences += _describe_declared_action(declared.kind, declared.set, declared.entity_type, words)
    if config["payload"]:
        sentences.append(f"It is given {describe_json(config['payload'])}.")
    if config["for_each"] is not None:
        items, limit = words.describe_expression(config["for_each"]), config["max_items"]
        sentences.append(
            f"It runs once for each of {items} ({escape(config['for_each'])}), at most {limit} of them."
            + (
                " What is done stays when another fails."
                if config.get("each") == "keep"
                else " Where one fails, none of them is done."
            )
        )
    return [*sentences, *_describe_saved(config, "What it gives back")]


def _describe_declared_action(
    kind: str, values: Config, entity_type: str | None, words: Vocabulary
) -> list[str]:
    match kind:
        case "update":
            return [f"It sets in {words.document}: {describe_json(values)}."]
        case "create":
            return [
                f'It creates a document of the type "{describe_name(entity_type or "")}"'
                f" with {describe_json(values)}."
            ]
        case _:
            return ["What it does is written in the tenant's Python code."]


def _describe_saved(config: Config, what: str) -> list[str]:
    name = config["save_as"]
    return [] if name is None else [f"{what} is kept as {describe_name(name)} (context.{name})."]


def _describe_timer(config: Config, words: Vocabulary) -> list[str]:
    return [*_describe_moment(config, words), *_describe_following(config)]


def _describe_following(config: Config) -> list[str]:
    if not config.get("follow"):
        return []
    return ["It is computed again when the document, the settings or the calendar change."]


def _describe_term(term: Config) -> str:
    """Describe a term of a calendar: `3 working days of the calendar "office"`."""
    named = (
        f'the calendar "{escape(term["calendar"])}"' if term["calendar"] else "the organisation's calendar"
    )
    return f"{describe_term(read_term(term))} of {named}"


def _describe_moment(config: Config, words: Vocabulary) -> list[str]:
    zone = config.get("zone")
    if config.get("business") is not None:
        return [f"The workflow waits for {_describe_term(config['business'])}."]
    clock = f"in the time zone {'of the organisation' if zone is None else escape(zone)}"
    if config["for"] is not None:
        length = f"{describe_calendar_duration(config['for'])} ({escape(config['for'])})"
        return [f"The workflow waits for {length}.", *_describe_clock(zone, "Days and months are counted")]
    if config.get("next") is not None:
        return [
            f'The workflow waits until the next time of the schedule "{escape(config["next"])}", {clock}.'
        ]
    at = f", at {config['at']} {clock}" if config.get("at") is not None else ""
    until = f"{words.describe_expression(config['until'])} ({escape(config['until'])}){at}"
    return [f"The workflow waits until {until}.", *([] if at else _describe_clock(zone, "A date begins"))]


def _describe_clock(zone: str | None, what: str) -> list[str]:
    return [] if zone is None else [f"{what} in the time zone {escape(zone)}."]


def _describe_event(config: Config, words: Vocabulary) -> list[str]:
    keys = [f'"{escape(key)}"' for key in config.get("any_of") or [config["key"]]]
    which = f"with the key {keys[0]}" if len(keys) == 1 else f"with one of the keys {', '.join(keys)}"
    sentences = [f"The workflow waits for an event from outside {which}."]
    if config.get("schema") is not None:
        sentences.append(f"It takes what fits the schema {describe_json(config['schema'])}.")
    if config.get("condition") is not None:
        sentences.append(f"It takes an event only if {words.describe_condition(config['condition'])}.")
    if config["timeout"] is not None:
        sentences.append(
            f"It waits at most {describe_duration(config['timeout'])} ({escape(config['timeout'])})."
        )
    return [*sentences, *_describe_saved(config, "What the event brings")]


def _describe_webhook(config: Config, words: Vocabulary) -> list[str]:
    who = _describe_runner(config, words)
    event = config.get("event")
    sentences = [
        f'The outside endpoint "{escape(config["endpoint"])}" is called as {who};'
        " the workflow waits for its confirmation."
        if event is None
        else f'The event "{escape(event)}" is published for other systems, as {who};'
        " the workflow waits until the bus has taken it."
    ]
    if config["payload"]:
        sentences.append(f"It is sent {describe_json(config['payload'])}.")
    return [*sentences, *_describe_patience(config), *_describe_saved(config, "Its answer")]


def _describe_patience(config: Config) -> list[str]:
    """Describe how often it is tried, and how long its answer may take."""
    sentences, retry = [], config.get("retry")
    if retry is not None:
        every = f", {retry['every']} apart" if retry["every"] else ""
        until = f", for {retry['until']} at the most" if retry["until"] else ""
        sentences.append(f"It is tried up to {describe_count(retry['attempts'], 'time')}{every}{until}.")
    if config.get("timeout") is not None:
        sentences.append(f"Without an answer within {config['timeout']} it has failed, and is not sent.")
    return sentences


def _describe_notification(config: Config, words: Vocabulary) -> list[str]:
    how, who = _CHANNELS[config["channel"]], _describe_runner(config, words)
    sentences = [f"A message is sent {how}, as {who}, to: {_describe_people(config['to'], words)}."]
    if config["subject"]:
        sentences.append(f'The subject is "{escape(config["subject"])}".')
    sentences.append(f'The text is "{escape(config["text"])}".')
    waits = (
        "The workflow waits until it is delivered."
        if config["await"]
        else "The workflow does not wait for delivery."
    )
    return [*sentences, waits, *_describe_patience(config)]


def _describe_script(config: Config, words: Vocabulary) -> list[str]:
    return [
        f"The workflow's {describe_name(name)} (context.{name}) becomes"
        f" {words.describe_expression(text)} ({escape(text)})."
        for name, text in sorted(config["set"].items())
    ]


def _describe_rule(config: Config, words: Vocabulary) -> list[str]:
    rules = describe_list(f'"{describe_name(name)}" [{escape(name)}]' for name in config["rules"])
    return [f"The organisation's rules decide: {rules}."]


def _describe_join(config: Config, words: Vocabulary) -> list[str]:
    if config["mode"] == "all":
        return [
            "Every branch must finish before the workflow goes on; a rejection in one cancels the others."
        ]
    return ["The first branch to finish without a rejection goes on and cancels the others."]


def _describe_gate(config: Config, words: Vocabulary) -> list[str]:
    sources = describe_list((f'"{describe_name(state)}"' for state in config["from_states"]), "or")
    return [f'The status changes from {sources} to "{describe_name(config["to"])}".']


def _describe_state(config: Config, words: Vocabulary) -> list[str]:
    return [f'The status of {words.document} is "{describe_name(config["state"])}".']


def _describe_policy(config: Config, words: Vocabulary) -> list[str]:
    who, permission = _describe_runner(config, words), escape(config["permission"])
    sentence = f"The action [{escape(config['action'])}] runs only if {who} has the permission {permission}."
    if config["permission_condition"] is None:
        return [sentence]
    return [
        sentence,
        f"The permission holds only if {words.describe_condition(config['permission_condition'])}.",
    ]


def _describe_slot(verb: str) -> Callable[[Config, Vocabulary], list[str]]:
    return lambda config, words: [f'The tenant\'s own steps "{describe_name(config["slot"])}" {verb}.']


def _always(sentence: str) -> Callable[[Config, Vocabulary], list[str]]:
    return lambda config, words: [sentence]


_SENTENCES: Mapping[str, Callable[[Config, Vocabulary], list[str]]] = MappingProxyType(
    {
        "start": _always("The workflow begins."),
        "end": _always("The workflow ends."),
        "state": _describe_state,
        "slot_in": _describe_slot("begin"),
        "slot_out": _describe_slot("end"),
        "lifecycle_gate": _describe_gate,
        "policy_gate": _describe_policy,
        "action": _describe_action,
        "approval": _describe_approval,
        "condition": _always("One way on is chosen: the first of these that applies."),
        "parallel_split": _always("All of these begin at the same time."),
        "parallel_join": _describe_join,
        "wait_timer": _describe_timer,
        "wait_event": _describe_event,
        "webhook_out": _describe_webhook,
        "notification": _describe_notification,
        "script": _describe_script,
        "rule": _describe_rule,
    }
)
