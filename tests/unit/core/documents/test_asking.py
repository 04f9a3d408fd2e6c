"""What a document refuses of every request, whoever asks."""

from uuid import UUID

import pytest

from signet.core.documents.asking import AskedDocument, check_asking, suspends
from tests.support.core.small_workflows import CONTRACT, make_contract

SUSPENDING = make_contract(amendment={"from": ["active"], "while_open": "suspended"})
BY_PERSON = {"reason": "look", "is_by_person": True}
BY_ENGINE = {"reason": "dead", "is_by_person": False}


@pytest.mark.parametrize(
    ("name", "document", "code"),
    [
        ("submit", AskedDocument("draft"), None),
        ("submit", AskedDocument("active"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", AskedDocument("submitted"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", AskedDocument("cancelled"), "TRANSITION_NOT_POSSIBLE"),
        ("submit", AskedDocument("draft", BY_PERSON), "INSTANCE_PAUSED"),
        ("submit", AskedDocument("draft", BY_ENGINE), "INSTANCE_PAUSED"),
        ("cancel", AskedDocument("draft", BY_PERSON), "INSTANCE_PAUSED"),
        ("cancel", AskedDocument("draft", BY_ENGINE), None),
        ("submit", AskedDocument("draft", None, UUID(int=1)), None),
        ("cancel", AskedDocument("active", None, UUID(int=1)), None),
    ],
)
def test_a_request_is_refused(name: str, document: AskedDocument, code: str | None) -> None:
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
    refused = check_asking(contract, "renew", AskedDocument("active", None, UUID(int=1)))
    assert refused is not None and refused.code == "AMENDMENT_OPEN"
    assert refused.details == {"amendment_open": str(UUID(int=1))}


def test_without_an_interrupt_a_pause_names_none() -> None:
    transitions = {"submit": {"from": ["draft"], "to": "submitted", "kind": "requested"}}
    contract = make_contract(transitions=transitions, slots={})
    refused = check_asking(contract, "submit", AskedDocument("draft", BY_ENGINE))
    assert refused is not None and refused.remedy == "Have an operator retry it, then ask again."
