"""Firings: they are stored without a value of the document, and read as they were."""

from signet.core.automations.chain import Link
from signet.core.automations.firings import Firing, describe_firing, make_change_payload

ACTOR = {"id": "carl", "roles": ["clerk"], "responsible": ["carl"]}


def test_a_change_is_stored_and_read() -> None:
    stored = make_change_payload(ACTOR, ("D-1", "invoice", 3), "action:post", (Link("chase", "D-1"),))
    firing = Firing.from_json(stored)
    assert firing == Firing("change", ACTOR, "D-1", "invoice", 3, "action:post", (Link("chase", "D-1"),))
    assert describe_firing(firing) == {
        "cause": "change",
        "actor": "carl",
        "document_id": "D-1",
        "version": 3,
        "act": "action:post",
        "chain": ["chase (D-1)"],
    }


def test_a_start_by_hand_has_no_document() -> None:
    firing = Firing("manual", ACTOR, payload={"count": 3})
    assert Firing.from_json(firing.to_json()) == firing
    assert firing.to_json()["document"] is None
    assert describe_firing(firing) == {"cause": "manual", "actor": "carl"}
