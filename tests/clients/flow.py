"""A flow on the generated Python client, with its types alone: publish, create, list, ask, decide, read.

It is given the address of the API, and a token of each person.
"""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from signet_client import AuthenticatedClient
from signet_client.api.approvals import decide_approval, get_approval, list_decided, list_inbox
from signet_client.api.contracts import publish_contract, put_contract_forward
from signet_client.api.definitions import publish_definition, put_definition_forward
from signet_client.api.documents import create_document, get_document, list_documents, request_transition
from signet_client.api.templates import use_template
from signet_client.models import (
    Applied,
    ApprovalRequest,
    DecidedApprovalPage,
    DocumentAtWork,
    DocumentPage,
    DocumentRequest,
    DocumentRequestData,
    GatewayRefusal,
    InboxItem,
    InboxItemPage,
    NewDecision,
    NewDecisionVote,
    NewRequest,
    Problem,
    Published,
    PutForward,
    TransitionRequestRecord,
    UsedTemplate,
    VoteResult,
)

T = TypeVar("T")
WAIT_SECONDS = 60.0
INVOICE = {"number": "R-1", "vendor_id": "V-100", "invoice_date": "2026-11-18", "grand_total": 260000}


def main(url: str, sam_token: str, ada_token: str, carl_token: str, fiona_token: str) -> None:
    sam, ada, carl, fiona = (
        AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)
        for token in (sam_token, ada_token, carl_token, fiona_token)
    )
    publish(sam, ada)
    document = create(carl)
    ask(carl, document)
    item = wait_for(lambda: find_in_inbox(fiona, document))
    decide(fiona, carl, item)
    ended = wait_for(lambda: find_active(carl, document))
    print(f"active at version {ended.version}")


def publish(sam: AuthenticatedClient, ada: AuthenticatedClient) -> None:
    used = use_template.sync("invoice", client=sam)
    assert isinstance(used, UsedTemplate) and used.contract is not None, used
    name, version, seen = used.contract.entity_type, used.contract.version, '"1"'
    meant = put_contract_forward.sync(name, version, client=sam, if_match=seen)
    assert isinstance(meant, PutForward), meant
    contract = publish_contract.sync(name, version, client=ada, if_match=seen)
    assert contract is not None and not isinstance(contract, Problem | GatewayRefusal), contract
    forward = put_definition_forward.sync(used.definitions[0].id, client=sam, if_match=seen)
    assert isinstance(forward, PutForward), forward
    definition = publish_definition.sync(used.definitions[0].id, client=ada, if_match=seen)
    assert isinstance(definition, Published), definition


def create(carl: AuthenticatedClient) -> Applied:
    body = DocumentRequest(entity_type="invoice", data=DocumentRequestData.from_dict(INVOICE))
    made = create_document.sync(client=carl, body=body, idempotency_key="first")
    assert isinstance(made, Applied), made
    refused = create_document.sync(client=carl, body=body)
    assert isinstance(refused, Problem) and refused.code == "KEY_TAKEN", refused
    page = list_documents.sync(client=carl, entity_type="invoice", limit=10)
    assert isinstance(page, DocumentPage), page
    assert [one.id for one in page.items] == [made.document_id] and page.next_cursor is None, page
    return made


def ask(carl: AuthenticatedClient, document: Applied) -> None:
    asked = request_transition.sync(
        document.document_id,
        client=carl,
        body=NewRequest(transition="submit", reason="agreed"),
        if_match=f'"{document.version}"',
        prefer="wait=5",
    )
    assert isinstance(asked, TransitionRequestRecord | Applied), asked


def find_in_inbox(fiona: AuthenticatedClient, document: Applied) -> InboxItem | None:
    page = list_inbox.sync(client=fiona, entity_type="invoice")
    assert isinstance(page, InboxItemPage), page
    return next((item for item in page.items if item.document_id == document.document_id), None)


def decide(fiona: AuthenticatedClient, carl: AuthenticatedClient, item: InboxItem) -> None:
    shown = get_approval.sync(item.request_id, client=fiona)
    assert isinstance(shown, ApprovalRequest) and item.may_decide and item.title == "R-1", shown
    body = NewDecision(vote=NewDecisionVote.APPROVED, reason="seen")
    refused = decide_approval.sync(item.request_id, client=carl, body=body)
    assert isinstance(refused, Problem) and refused.status == 403, refused
    decided = decide_approval.sync(item.request_id, client=fiona, body=body)
    assert isinstance(decided, VoteResult) and decided.request_status == "approved", decided
    page = list_decided.sync(client=fiona)
    assert isinstance(page, DecidedApprovalPage), page
    assert [(one.request_id, one.title) for one in page.items] == [(item.request_id, "R-1")], page


def find_active(carl: AuthenticatedClient, document: Applied) -> DocumentAtWork | None:
    read = get_document.sync(document.document_id, client=carl)
    assert isinstance(read, DocumentAtWork), read
    return read if read.status == "active" else None


def wait_for(find: Callable[[], T | None]) -> T:
    """Look until it is there, as the worker needs a moment."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := find()) is None:
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
