"""Every route × every role of another company × the victim's data, made from the OpenAPI document."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.http_client import Client, ClientAnswer

# The roles of the outsider, in the outsider's own company.
ROLES: Mapping[str, tuple[str, ...]] = {
    "administrator": ("admin",),
    "clerk": ("clerk",),
    "reader": ("reader",),
    "nobody": (),
}
# The bodies of routes that want one; {names} are the ids or names of the victim's things.
BODIES: Mapping[str, Any] = {
    "start_automation": {"payload": {}},
    **{act: {"note": "why"} for act in ("pause_automation", "stop_automations")},
    "save_chain": {"name": "own_chain", "steps": [{"approvers": [{"by": "user", "user": "carl"}]}]},
    "decide_approval": {"vote": "approved"},
    "decide_approvals": {"decisions": [{"request_id": "{approval_id}", "vote": "approved"}]},
    "delegate": {
        "delegate_id": "mona",
        "from_time": "2026-01-01T00:00:00Z",
        "to_time": "2026-01-02T00:00:00Z",
    },
    "create_document": {"entity_type": "invoice", "id": "{document_id}", "data": {}},
    "create_documents": {"documents": [{"entity_type": "invoice", "id": "{document_id}", "data": {}}]},
    "change_document": {"patch": {"cost_center": "X"}},
    "replace_document": {"data": {}},
    "run_action": {"payload": {"cost_center": "X", "owner": "carl"}},
    "amend_document": {"patch": {"cost_center": "X"}},
    "request_transition": {"transition": "submit"},
    "save_rule": {
        "phase": "before",
        "condition": {"expression": "true"},
        "actions": [{"kind": "reject", "message": "no"}],
    },
    "save_calendar": {
        "zone": "UTC",
        "years": {"first": 2026, "last": 2026},
        "hours": {"monday": ["09:00-17:00"]},
    },
    "preview_calendar": {
        "zone": "UTC",
        "years": {"first": 2026, "last": 2026},
        "hours": {"monday": ["09:00-17:00"]},
    },
    "import_holidays": {"content": "nonsense", "years": {"first": 2026, "last": 2026}},
    "erase_personal_values": {"reason": "asked"},
    "read_notifications": {"ids": ["{notification_id}"]},
    "put_member": {"display_name": "Anna"},
    "put_role": {"permissions": []},
    "put_manager": {"manager_id": "carl"},
    "change_tenant": {"name": "another"},
    "publish_definition": {"replaces": "invoice_approval"},
    "archive_definition": {"accept": ["FALLS_BACK", "ASKS_NOBODY"]},
    "confirm_control_change": {"hash": "0" * 64},
    "reject_control_change": {"reason": "not ours"},
    "create_api_key": {"name": "own", "roles": ["clerk"]},
    "propose_api_key_owner": {"owner_id": "carl"},
    "put_service_account": {"label": "Posting", "roles": ["clerk"], "owner_id": "carl"},
    "install_tenant": {"name": "another"},
    "put_tenant_status": {"status": "active"},
    "propose_break_glass": {"request_id": "{approval_id}", "user_id": "carl", "reason": "why"},
    "grant_tenant_quota": {"capacity": 1, "refill_seconds": 1},
    **{f"{act}_instance": {"reason": "why"} for act in ("pause", "retry", "cancel", "fail")},
    **{name: {"reason": "why", "token": "T"} for name in ("advance_instance", "cancel_instance_token")},
    "restart_document": {"reason": "why"},
    "correct_document": {"reason": "why", "patch": {"cost_center": "X"}},
    "ask_people_again": {"reason": "why", "token": "T"},
    "skip_instance_node": {"reason": "why", "token": "T"},
    "send_instance": {"reason": "why", "node": "sys:state:draft"},
    "retry_incidents": {"reason": "why", "code": "STEP_FAILED"},
    "care_for_incident": {"assignee": None, "note": "mine"},
    "send_event": {"key": "paid:R-1", "id": "m-1"},
    "replay_event": {"reason": "why"},
    "send_signed_event": {"data": {"invoice": "R-1"}},
    "create_endpoint": {"name": "own_erp", "url": "https://erp.example.com/", "secrets": ["own_erp"]},
    "replace_endpoint": {"url": "https://erp.example.com/", "secrets": ["erp"]},
    "create_inbound_endpoint": {"name": "own_bank", "key_prefix": "paid:", "secrets": ["own_bank"]},
    "replace_inbound_endpoint": {"key_prefix": "paid:", "secrets": ["bank"]},
    "move_instance": {"to": 1, "dry_run": True},
    "move_instances": {"to": 1, "items": [{"id": "{instance_id}", "version": 1}]},
    "act_on_instances": {
        "act": "pause",
        "reason": "why",
        "items": [{"id": "{instance_id}", "version": 1}],
    },
    "requeue_dead_letters": {"ids": ["{dead_letter_id}"]},
    "discard_dead_letters": {"ids": ["{dead_letter_id}"], "reason": "why"},
    **{act: {"reason": "why"} for act in ("try_effect_now", "withdraw_effect")},
    "create_contract": {},
    "replace_contract": {"contract": "{entity_type}"},
    "create_definition": {"patch": "own", "base": {"entity_type": "{entity_type}", "envelope_version": 1}},
    "replace_definition": {},
    "check_expression": {"text": "true", "definition_id": "{definition_id}", "node_id": "sys:start"},
    "simulate_definition": {},
    "put_canvas": {"positions": {}},
}
# The query parameters of routes that need some.
QUERIES: Mapping[str, Mapping[str, Any]] = {
    "list_movable_instances": {"entity_type": "invoice", "workflow": "invoice", "to": 1},
    "list_documents": {"entity_type": "invoice"},
}
_NAME = re.compile(r"{(\w+)}")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Each tenant gives these names itself: PUT makes a missing one, even if other tenants have it.
OWN_NAMES = frozenset({"user_id", "role"})
CONFLICTS = (409, 412, 423)
# Names in paths that belong to no tenant.
NOBODYS = ("version", "template")


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    name: str
    parameters: frozenset[str]
    has_body: bool
    names: tuple[str, ...] = field(default=())

    @property
    def is_of_one_thing(self) -> bool:
        """Return whether its path names something that belongs to a tenant."""
        return any(name not in NOBODYS for name in self.names)

    @property
    def makes_its_own(self) -> bool:
        return self.method == "PUT" and set(self.names) <= OWN_NAMES

    @property
    def is_for_operators(self) -> bool:
        return "tenant_id" in self.names

    @property
    def is_list(self) -> bool:
        return "cursor" in self.parameters

    def call(
        self,
        client: Client,
        things: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
        **headers: Any,
    ) -> ClientAnswer:
        body = _write(BODIES[self.name], things) if self.has_body else None
        if "if-match" in self.parameters:
            headers = {"if_match": '"1"', **headers}
        asked = {**QUERIES.get(self.name, {}), **(query or {})}
        return client.call(self.method, _fill(self.path, things), body, query=asked, **headers)


def list_operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in sorted(document["paths"].items()):
        for method, operation in sorted(methods.items()):
            if operation["security"] in ([], [{"metrics": []}]):
                continue
            yield Operation(
                method.upper(),
                path,
                operation["operationId"],
                frozenset(parameter["name"].lower() for parameter in operation.get("parameters", ())),
                "requestBody" in operation,
                tuple(_NAME.findall(path)),
            )


def _fill(text: str, things: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: things.get(found[1], found[0]), text)


def _write(body: Any, things: Mapping[str, str]) -> Any:
    return json.loads(_fill_text(json.dumps(body), things))


def _fill_text(text: str, things: Mapping[str, str]) -> str:
    for name, value in things.items():
        text = text.replace(f'"{{{name}}}"', json.dumps(value))
    return text


def find_leaks(answer: ClientAnswer, ids: frozenset[str], sent: Mapping[str, str], mark: str) -> list[str]:
    """Return the victim's ids and marks in an answer that were not sent with the request."""
    text = answer.text + json.dumps(dict(answer.headers))
    found = (set(_ID.findall(text)) & ids) - set(sent.values())
    return sorted(found) + ([mark] if mark in text else [])


def describe(answer: ClientAnswer, sent: Mapping[str, str]) -> tuple[Any, ...]:
    """Return everything by which an outsider can tell two answers apart."""
    if not answer.text:
        return (answer.status,)
    body = answer.body
    if isinstance(body, dict):
        body.pop("instance", None)
    # Ids are replaced first, because one may contain a short value.
    text = _ID.sub("…", json.dumps(body, sort_keys=True))
    for value in sent.values():
        text = text.replace(value, "…")
    return answer.status, text
