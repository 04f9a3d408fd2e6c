"""Refusals of requests that are the same for every person."""

from uuid import UUID

import pytest

from signet.core.documents.request_check import RequestedDocument, check_asking, suspends
from tests.support.core.small_workflows import CONTRACT, make_contract

SUSPENDING = make_contract(amendment={"from": ["active"], "while_open": "suspended"})
BY_PERSON = {"reason": "look", "is_by_person": True}
BY_ENGINE = {"reason": "dead", "is_by_person": False}


@pytest.mark.parametrize(
    ("name", "document", "code"),
    [
        ("submit", RequestedDocument("draft"), None),
        ("submit", RequestedDocument("active"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", RequestedDocument("submitted"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", RequestedDocument("cancelled"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", RequestedDocument("draft", BY_PERSON), "INSTANCE_PAUSED"),
        ("submit", RequestedDocument("draft", BY_ENGINE), "INSTANCE_PAUSED"),
        ("cancel", RequestedDocument("draft", BY_PERSON), "INSTANCE_PAUSED"),
        ("cancel", RequestedDocument("draft", BY_ENGINE), None),
        ("submit", RequestedDocument("draft", None, UUID(int=1)), None),
        ("cancel", RequestedDocument("active", None, UUID(int=1)), None),
    ],
)
def test_a_request_is_refused(name: str, document: RequestedDocument, code: str | None) -> None:
    refused = check_asking(SUSPENDING, name, document)
    assert (refused.code if refused is not None else None) == code


def test_an_open_amendment_suspends_what_is_settled() -> None:
    assert suspends(SUSPENDING, "active", None)
    assert not suspends(SUSPENDING, "draft", None)
    assert not suspends(SUSPENDING, "active", "cancel")
    assert not suspends(make_contract(amendment={"from": ["active"]}), "active", None)


def test_what_begins_settled_again_is_refused_with_the_amendment() -> None:
    renew = {"from": ["active"], "to": "active", "kind": "requested"}
    amendment = {"from": ["active"], "while_open": "suspended"}
    contract = make_contract(amendment=amendment, transitions={**CONTRACT["transitions"], "renew": renew})
    refused = check_asking(contract, "renew", RequestedDocument("active", None, UUID(int=1)))
    assert refused is not None and refused.code == "AMENDMENT_OPEN"
    assert refused.details == {"amendment_open": str(UUID(int=1))}


def test_without_an_interrupt_a_pause_names_none() -> None:
    transitions = {"submit": {"from": ["draft"], "to": "submitted", "kind": "requested"}}
    contract = make_contract(transitions=transitions, slots={})
    refused = check_asking(contract, "submit", RequestedDocument("draft", BY_ENGINE))
    assert refused is not None and refused.remedy == "Have an operator retry it, then ask again."
