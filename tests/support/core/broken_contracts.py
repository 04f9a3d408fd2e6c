"""A valid contract and ways to break it: a pointer, a new value, and the finding with its place."""

import copy
from typing import Any

REMOVE = object()

VALID: dict[str, Any] = {
    "contract": "invoice",
    "fields": {
        "number": {"type": "string", "required": True, "unique": True, "indexed": True, "max_length": 60},
        "vendor": {"type": "string", "default": "V-1"},
        "total": {"type": "decimal", "required": True, "minimum": 0},
        "currency": {"type": "enum", "values": ["EUR", "USD"], "default": "EUR"},
        "contact": {"type": "string", "personal": True},
        "customer": {"type": "ref", "entity_type": "customer", "reads": {"credit": {"type": "decimal"}}},
        "lines": {
            "type": "list",
            "of": {"type": "object", "fields": {"text": {"type": "string", "required": True}}},
            "default": [{"text": "one"}],
        },
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "amend_only"},
        "active": {"edit": "locked", "settled": True},
        "cancelled": {"edit": "locked", "final": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "cancel": {"from": ["draft", "submitted", "active"], "to": "cancelled", "kind": "interrupting"},
        "renew": {"from": ["active"], "to": "active", "kind": "requested"},
        "write_off": {"from": ["submitted", "active"], "to": "cancelled", "kind": "requested"},
    },
    "slots": {
        "before_submit": {"transition": "submit"},
        "again": {"transition": "submit", "from": "amended", "edit": "amend_only"},
        "approval": {"transition": "approve", "stable": True, "edit": "locked"},
        "posting": {"transition": "approve", "position": "after"},
        "telling": {"transition": "cancel", "position": "after"},
        "loss": {"transition": "write_off", "from": "active"},
        "loss_written": {"transition": "write_off", "position": "after"},
    },
    "actions": {
        "post": {
            "kind": "update",
            "payload": {"by": {"type": "string"}},
            "output": {"vendor": {"type": "string"}, "customer": {"type": "ref", "entity_type": "customer"}},
            "set": {"vendor": "{payload.by}"},
        },
        "copy": {"kind": "create", "entity_type": "invoice", "set": {"number": "2", "total": 1}},
        "pay": {"kind": "create", "entity_type": "payment", "set": {"anything": 1}},
        "ask": {"kind": "python", "output": {"answer": {"type": "bool"}}},
    },
    "amendment": {"from": ["active"], "permission": "invoice:change"},
    "deletable_in": ["draft"],
    "conditions": {"invoice:change": "entity.total > 0", "invoice:post": "entity.total > 0"},
    "separation_of_duties": {"deciding": ["submit"], "may_decide": ["creator"]},
}

BROKEN: list[tuple[str, Any, str, str]] = [
    # Shape
    ("/fields/total/minimum", "0", "FIELD_INVALID", "/fields/total/minimum"),
    ("/fields/total/type", REMOVE, "FIELD_INVALID", "/fields/total"),
    ("/fields/lines/of/fields/text/max", 1, "FIELD_INVALID", "/fields/lines/of/fields/text/max"),
    ("/fields/customer/entity_type", REMOVE, "FIELD_INVALID", "/fields/customer/entity_type"),
    ("/states/Draft", {"edit": "locked"}, "FIELD_INVALID", "/states/Draft"),
    ("/transitions/submit/from", "draft", "FIELD_INVALID", "/transitions/submit/from"),
    ("/transitions/cancel/from/1", 7, "FIELD_INVALID", "/transitions/cancel/from/1"),
    ("/slots/again/from", 7, "FIELD_INVALID", "/slots/again/from"),
    ("/contract", REMOVE, "FIELD_INVALID", "/contract"),
    ("/contract", float("nan"), "DOCUMENT_NOT_JSON", ""),
    ("/label", "\0", "DOCUMENT_TEXT_INVALID", "/label"),
    ("/actions/post/set/vendor", {"\0": 1}, "DOCUMENT_TEXT_INVALID", "/actions/post/set/vendor"),
    # Fields
    ("/contract", "store", "NAME_RESERVED", "/contract"),
    ("/fields/status", {"type": "string"}, "NAME_RESERVED", "/fields/status"),
    ("/fields/vendor/min_length", 2000, "FIELD_LIMITS_CROSSED", "/fields/vendor/min_length"),
    ("/fields/total/maximum", -1, "FIELD_LIMITS_CROSSED", "/fields/total/minimum"),
    ("/fields/currency/values/1", "EUR", "ENTRY_TWICE", "/fields/currency/values/1"),
    ("/fields/currency/values/1", "", "FIELD_ENUM_BLANK", "/fields/currency/values/1"),
    ("/fields/currency/values/1", "USD ", "FIELD_ENUM_BLANK", "/fields/currency/values/1"),
    ("/fields/currency/default", "GBP", "FIELD_DEFAULT_INVALID", "/fields/currency/default"),
    ("/fields/vendor/default", 7, "FIELD_DEFAULT_INVALID", "/fields/vendor/default"),
    ("/fields/lines/default/0/text", None, "FIELD_DEFAULT_INVALID", "/fields/lines/default/0/text"),
    ("/fields/lines/of/indexed", True, "FIELD_FLAG_MEANINGLESS", "/fields/lines/of/indexed"),
    ("/fields/lines/of/required", True, "FIELD_FLAG_MEANINGLESS", "/fields/lines/of/required"),
    (
        "/fields/lines/of/fields/text/personal",
        True,
        "FIELD_FLAG_MEANINGLESS",
        "/fields/lines/of/fields/text/personal",
    ),
    (
        "/fields/customer/reads/credit/default",
        0,
        "FIELD_FLAG_MEANINGLESS",
        "/fields/customer/reads/credit/default",
    ),
    ("/actions/post/payload/by/unique", True, "FIELD_FLAG_MEANINGLESS", "/actions/post/payload/by/unique"),
    ("/actions/ask/output/answer/default", 1, "FIELD_DEFAULT_INVALID", "/actions/ask/output/answer/default"),
    ("/fields/lines/indexed", True, "FIELD_INDEX_TYPE", "/fields/lines/indexed"),
    ("/fields/number/max_length", 501, "FIELD_INDEX_TOO_LONG", "/fields/number/max_length"),
    ("/fields/number/required", False, "FIELD_UNIQUE_OPTIONAL", "/fields/number/unique"),
    ("/fields/number/default", "1", "FIELD_UNIQUE_DEFAULT", "/fields/number/default"),
    ("/fields/total/unique", True, "FIELD_UNIQUE_TYPE", "/fields/total/unique"),
    ("/fields/customer/personal", True, "FIELD_PERSONAL_REF", "/fields/customer/personal"),
    ("/fields/number/personal", True, "FIELD_PERSONAL_INDEXED", "/fields/number/personal"),
    # States
    ("/states/draft/initial", False, "INITIAL_MISSING", "/states"),
    ("/states/submitted/initial", True, "INITIAL_SEVERAL", "/states/submitted/initial"),
    ("/states/draft/final", True, "INITIAL_FINAL", "/states/draft/final"),
    ("/states/cancelled/settled", True, "SETTLED_AND_FINAL", "/states/cancelled/settled"),
    ("/states/cancelled/edit", "editable", "FINAL_NOT_LOCKED", "/states/cancelled/edit"),
    ("/states/amended", {"edit": "locked", "final": True}, "STATE_RESERVED", "/states/amended"),
    ("/states/lost", {"edit": "locked", "final": True}, "STATE_UNREACHABLE", "/states/lost"),
    ("/states/cancelled/final", False, "STATE_WITHOUT_EXIT", "/states/cancelled"),
    ("/states/active/final", True, "FINAL_HAS_EXIT", "/transitions/cancel/from/2"),
    ("/states/submitted/settled", True, "SETTLED_HAS_AUTOMATIC_EXIT", "/transitions/approve/from/0"),
    # Authority
    (
        "/transitions/approve/condition",
        "actor.user_id != 'x'",
        "ACTOR_IS_SYSTEM",
        "/transitions/approve/condition",
    ),
    ("/slots/posting/requires", {"approvals": 1}, "REQUIRED_AFTER_GATE", "/slots/posting/requires"),
    (
        "/slots/before_submit/requires",
        {"approvals": 1},
        "REQUIRED_ELSEWHERE_FREE",
        "/slots/before_submit/requires",
    ),
    ("/slots/approval/requires", {"approvals": 0}, "FIELD_INVALID", "/slots/approval/requires/approvals"),
    ("/slots/approval/requires", {}, "FIELD_INVALID", "/slots/approval/requires/approvals"),
    # Transitions
    (
        "/transitions/edit",
        {"from": ["draft"], "to": "active", "kind": "requested"},
        "NAME_RESERVED",
        "/transitions/edit",
    ),
    ("/transitions/submit/from/0", "drafted", "STATE_UNKNOWN", "/transitions/submit/from/0"),
    ("/transitions/submit/to", "sent", "STATE_UNKNOWN", "/transitions/submit/to"),
    ("/transitions/approve/rejected_to", "sent", "STATE_UNKNOWN", "/transitions/approve/rejected_to"),
    ("/transitions/cancel/from/1", "draft", "ENTRY_TWICE", "/transitions/cancel/from/1"),
    ("/transitions/approve/rejected_to", "active", "REJECTED_TO_TARGET", "/transitions/approve/rejected_to"),
    ("/transitions/cancel/rejected_to", "draft", "INTERRUPT_REJECTED", "/transitions/cancel/rejected_to"),
    (
        "/transitions/approve/reason_required",
        True,
        "AUTOMATIC_WITH_REASON",
        "/transitions/approve/reason_required",
    ),
    ("/transitions/approve/to", "submitted", "TRANSITION_TO_ITSELF", "/transitions/approve/from/0"),
    ("/transitions/cancel/to", "active", "TRANSITION_TO_ITSELF", "/transitions/cancel/from/2"),
    (
        "/transitions/expire",
        {"from": ["submitted"], "to": "cancelled", "kind": "automatic"},
        "AUTOMATIC_SEVERAL",
        "/transitions/expire/from/0",
    ),
    ("/transitions/approve/rejected_to", "submitted", "RETURN_NEVER_WAITS", "/states/submitted"),
    ("/transitions/submit/kind", "automatic", "RETURN_NEVER_WAITS", "/states/draft"),
    # Slots
    ("/slots/approval/transition", "aprove", "TRANSITION_UNKNOWN", "/slots/approval/transition"),
    ("/slots/loss/from", REMOVE, "SLOT_FROM_MISSING", "/slots/loss"),
    ("/slots/loss/from", "draft", "SLOT_FROM_UNKNOWN", "/slots/loss/from"),
    ("/slots/loss/from", "amended", "SLOT_FROM_UNKNOWN", "/slots/loss/from"),
    ("/slots/telling/position", "before", "SLOT_BEFORE_INTERRUPT", "/slots/telling/position"),
    ("/slots/telling/from", "draft", "SLOT_FROM_AT_INTERRUPT", "/slots/telling/from"),
    ("/slots/again/from", "draft", "SLOT_PLACE_TAKEN", "/slots/again"),
    (
        "/slots/late",
        {"transition": "write_off", "position": "after", "from": "active"},
        "SLOT_PLACE_TAKEN",
        "/slots/late",
    ),
    ("/slots/approval/edit", "editable", "SLOT_WINDOW_LOOSER", "/slots/approval/edit"),
    ("/slots/posting/edit", "amend_only", "SLOT_WINDOW_LOOSER", "/slots/posting/edit"),
    ("/slots/before_submit/stable", True, "SLOT_STABLE_EDITABLE", "/slots/before_submit/stable"),
    # Amendment
    ("/amendment", REMOVE, "AMENDMENT_MISSING", "/states/submitted/edit"),
    ("/amendment", REMOVE, "AMENDMENT_MISSING", "/slots/again/edit"),
    ("/amendment", REMOVE, "SLOT_FROM_UNKNOWN", "/slots/again/from"),
    ("/amendment/from/0", "gone", "STATE_UNKNOWN", "/amendment/from/0"),
    ("/amendment/from/0", "draft", "AMENDMENT_FROM_NOT_SETTLED", "/amendment/from/0"),
    ("/amendment/from", ["active", "active"], "ENTRY_TWICE", "/amendment/from/1"),
    ("/transitions/submit/kind", "automatic", "AMENDMENT_WITHOUT_REQUEST", "/amendment"),
    # Actions
    ("/actions/delete", {"kind": "python"}, "NAME_RESERVED", "/actions/delete"),
    ("/actions/erase", {"kind": "python"}, "NAME_RESERVED", "/actions/erase"),
    ("/actions/approve", {"kind": "python"}, "ACTION_NAMED_LIKE_TRANSITION", "/actions/approve"),
    ("/actions/post/set", REMOVE, "ACTION_SET_MISSING", "/actions/post"),
    ("/actions/ask/set", {"vendor": "x"}, "ACTION_SET_UNUSED", "/actions/ask/set"),
    ("/actions/post/set/vndor", "x", "ACTION_FIELD_UNKNOWN", "/actions/post/set/vndor"),
    ("/actions/copy/set/vndor", "x", "ACTION_FIELD_UNKNOWN", "/actions/copy/set/vndor"),
    ("/actions/copy/set/number", REMOVE, "ACTION_FIELD_MISSING", "/actions/copy/set"),
    ("/actions/pay/entity_type", REMOVE, "ACTION_ENTITY_TYPE_MISSING", "/actions/pay"),
    ("/actions/post/repeats", "allowed", "ACTION_REPEATS_UNUSED", "/actions/post/repeats"),
    ("/actions/post/entity_type", "payment", "ACTION_ENTITY_TYPE_UNUSED", "/actions/post/entity_type"),
    (
        "/actions/post/output/vndor",
        {"type": "string"},
        "ACTION_OUTPUT_UNKNOWN",
        "/actions/post/output/vndor",
    ),
    ("/actions/post/output/vendor/type", "int", "ACTION_OUTPUT_UNKNOWN", "/actions/post/output/vendor"),
    (
        "/actions/post/output/customer/entity_type",
        "person",
        "ACTION_OUTPUT_UNKNOWN",
        "/actions/post/output/customer",
    ),
    (
        "/actions/post/output/contact",
        {"type": "string"},
        "ACTION_OUTPUT_UNKNOWN",
        "/actions/post/output/contact",
    ),
    (
        "/actions/copy/output",
        {"document_id": {"type": "string"}},
        "ACTION_OUTPUT_UNUSED",
        "/actions/copy/output",
    ),
    # The rest
    ("/deletable_in/0", "drafted", "STATE_UNKNOWN", "/deletable_in/0"),
    ("/deletable_in", ["draft", "draft"], "ENTRY_TWICE", "/deletable_in/1"),
    ("/separation_of_duties/deciding/0", "aprove", "TRANSITION_UNKNOWN", "/separation_of_duties/deciding/0"),
    ("/separation_of_duties/deciding/0", "approve", "DECIDING_AUTOMATIC", "/separation_of_duties/deciding/0"),
    (
        "/separation_of_duties/deciding",
        ["submit", "submit"],
        "ENTRY_TWICE",
        "/separation_of_duties/deciding/1",
    ),
    (
        "/separation_of_duties/may_decide",
        ["editor", "editor"],
        "ENTRY_TWICE",
        "/separation_of_duties/may_decide/1",
    ),
    ("/conditions/order:post", "true", "CONDITION_NEVER_ASKED", "/conditions/order:post"),
    ("/conditions/invoice:erase", "true", "CONDITION_NEVER_ASKED", "/conditions/invoice:erase"),
    ("/conditions/invoice:read", "true", "CONDITION_WITHOUT_USE", "/conditions/invoice:read"),
    ("/conditions/invoice:*", "true", "CONDITION_WITHOUT_USE", "/conditions/invoice:*"),
]


def change(document: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    here: Any = changed
    for part in path:
        here = here[int(part)] if isinstance(here, list) else here[part]
    if isinstance(here, list):
        here[int(last)] = value
    elif value is REMOVE:
        del here[last]
    else:
        here[last] = value
    return changed
