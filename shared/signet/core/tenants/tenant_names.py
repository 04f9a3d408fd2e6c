"""Names of a tenant's own things that a workflow, a chain or a contract mentions, and whether they exist."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from signet.core.validation.finding import Finding, make_finding


class NamedKind(StrEnum):
    ROLE = "role"
    MEMBER = "member"
    CHAIN = "chain"
    ENDPOINT = "endpoint"
    ACTION = "action"
    RULE = "rule"
    CALENDAR = "calendar"


_CODES: Mapping[NamedKind, str] = {
    NamedKind.ROLE: "ROLE_UNKNOWN",
    NamedKind.MEMBER: "MEMBER_UNKNOWN",
    NamedKind.CHAIN: "CHAIN_UNKNOWN",
    NamedKind.ENDPOINT: "ENDPOINT_UNKNOWN",
    NamedKind.ACTION: "ACTION_NOWHERE",
    NamedKind.RULE: "RULE_NOWHERE",
    NamedKind.CALENDAR: "CALENDAR_UNKNOWN",
}


# No calendar has this name: it stands for the one that the tenant's settings name.
DEFAULT_CALENDAR = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name with its kind, and the place that mentions it."""

    kind: NamedKind
    name: str
    place: str


# The names that exist, by kind. A kind that is left out is not known here, and nothing of it is checked.
TenantNames = Mapping[NamedKind, frozenset[str]]


def list_mentions(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[Mention]:
    """Return what the nodes of a compiled workflow mention."""
    for node_id, node in nodes.items():
        config = node["config"]
        match node["type"]:
            case "approval":
                yield from _list_asked(config, node_id)
            case "wait_timer" if config.get("business") is not None:
                yield _mention_calendar(config["business"], node_id)
            case "notification":
                for person in config["to"]:
                    yield from list_people(person, node_id)
            case "webhook_out" if config["endpoint"] is not None:
                yield Mention(NamedKind.ENDPOINT, config["endpoint"], node_id)
            case "rule":
                yield from (Mention(NamedKind.RULE, name, node_id) for name in config["rules"])
            # An action with a dot is none of the contract's; those were checked against the contract.
            case "action" if "." in config["action"]:
                yield Mention(NamedKind.ACTION, config["action"], node_id)


def _list_asked(config: Mapping[str, Any], place: str) -> Iterator[Mention]:
    """Return what an approval mentions: its chain, its people, and those that it escalates to."""
    if config["chain"] is not None:
        yield Mention(NamedKind.CHAIN, config["chain"], place)
    escalated = [config["escalate"]["to"]] if config["escalate"] is not None else []
    for person in (*config["approvers"], *escalated):
        yield from list_people(person, place)
    yield from list_calendars_of_stage(config, place)


def list_calendars_of_stage(stage: Mapping[str, Any], place: str) -> Iterator[Mention]:
    """Return the calendars that the deadlines of a stage count in."""
    escalate, remind = stage["escalate"] or {}, stage.get("remind") or {}
    for term in (stage["expire_after"], escalate.get("after"), remind.get("after"), remind.get("every")):
        if isinstance(term, Mapping):
            yield _mention_calendar(term, place)


def _mention_calendar(term: Mapping[str, Any], place: str) -> Mention:
    return Mention(NamedKind.CALENDAR, term["calendar"] or DEFAULT_CALENDAR, place)


def list_people(person: Mapping[str, Any], place: str) -> Iterator[Mention]:
    """Return the role or the user that an approver or a recipient names."""
    if person["by"] == "user":
        yield Mention(NamedKind.MEMBER, person["user"], place)
    role = person.get("role") or person.get("who")
    if role is not None:
        yield Mention(NamedKind.ROLE, role, place)


def check_mentions(mentions: Iterable[Mention], names: TenantNames) -> Iterator[Finding]:
    for mention in dict.fromkeys(mentions):
        known = names.get(mention.kind)
        if known is not None and mention.name not in known:
            is_default = mention.kind is NamedKind.CALENDAR and mention.name == DEFAULT_CALENDAR
            code = "CALENDAR_UNNAMED" if is_default else _CODES[mention.kind]
            yield make_finding(code, mention.place, name=mention.name)


def make_file_names(roles: Iterable[str], members: Iterable[str]) -> TenantNames:
    """Return the names that a tenant's file tells. It holds no chains, and may hold settings alone."""
    told = {NamedKind.ROLE: frozenset(roles), NamedKind.MEMBER: frozenset(members)}
    return {kind: names for kind, names in told.items() if names}
