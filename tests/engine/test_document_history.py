"""The versions and requests of a document, page by page, for people who may read it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.commands import Create, Delete, RequestTransition, Update
from signet.engine.documents.queries.versions import DocumentHistory
from tests.engine.conftest import INVOICE, Company, make_company


@pytest.fixture
def history(company: Company) -> DocumentHistory:
    return DocumentHistory(company.database)


@pytest.fixture
def invoice(company: Company) -> UUID:
    """Create an invoice that two people edited and three asked to submit."""
    made = company.documents.mutate(
        company.caller(), Create("invoice", {**INVOICE, "vendor_contact": "Erna"})
    )
    edits: list[tuple[str, dict[str, Any]]] = [
        ("anna", {"grand_total": 70000}),
        ("carl", {"vendor_contact": "Zacharias"}),
    ]
    for version, (who, patch) in enumerate(edits, start=1):
        company.documents.mutate(company.caller(who), Update(made.document_id, version, patch))
    for who in ("anna", "ben", "carl"):
        request = RequestTransition(made.document_id, 3, "submit", f"{who} is in a hurry")
        company.documents.mutate(company.caller(who), request)
    return made.document_id


def test_its_versions_the_newest_first(company: Company, history: DocumentHistory, invoice: UUID) -> None:
    reader = company.principal("rita", "reader")
    versions = history.list_versions(reader, invoice)
    assert [(each.version, each.actor_id, each.status) for each in versions] == [
        (3, "carl", "draft"),
        (2, "anna", "draft"),
        (1, "carl", "draft"),
    ]
    assert len({each.hash for each in versions}) == len({each.snapshot_id for each in versions}) == 3
    (newest,) = history.list_versions(reader, invoice, limit=1)
    assert newest == versions[0]
    assert history.list_versions(reader, invoice, before=newest.version) == versions[1:]
    assert history.list_versions(reader, invoice, before=1) == []


def test_one_version_as_it_was(company: Company, history: DocumentHistory, invoice: UUID) -> None:
    reader = company.principal("rita", "reader")
    found = [history.read_version(reader, invoice, version) for version in (1, 2, 3)]
    assert [each.data["grand_total"] for each in found] == [60000, 70000, 70000]
    assert [each.data["vendor_contact"] for each in found] == ["Erna", "Erna", "Zacharias"]
    assert [each.hash for each in found] == [each.hash for each in history.list_versions(reader, invoice)][
        ::-1
    ]
    for version in (0, 4, 2**63):
        with pytest.raises(Rejected) as caught:
            history.read_version(reader, invoice, version)
        assert caught.value.code == "DOCUMENT_NOT_FOUND"


def test_what_was_asked_of_it_the_newest_first(
    company: Company, history: DocumentHistory, invoice: UUID
) -> None:
    reader = company.principal("rita", "reader")
    requests = history.list_requests(reader, invoice)
    assert [(each.actor_id, each.status, each.document_version) for each in requests] == [
        ("carl", "open", 3),
        ("ben", "superseded", 3),
        ("anna", "superseded", 3),
    ]
    assert requests[0].reason == "carl is in a hurry"
    pages = []
    before = None
    while page := history.list_requests(reader, invoice, limit=1, before=before):
        pages += page
        before = (page[-1].created_at, page[-1].id)
    assert pages == requests


def read_versions(history: DocumentHistory, company: Company, document_id: UUID) -> object:
    return history.list_versions(company.principal("rita", "clerk"), document_id)


def read_version(history: DocumentHistory, company: Company, document_id: UUID) -> object:
    return history.read_version(company.principal("rita", "clerk"), document_id, 1)


def read_requests(history: DocumentHistory, company: Company, document_id: UUID) -> object:
    return history.list_requests(company.principal("rita", "clerk"), document_id)


@pytest.mark.parametrize("read", [read_versions, read_version, read_requests])
def test_what_is_not_there_and_what_may_not_be_read_are_answered_alike(
    company: Company,
    history: DocumentHistory,
    invoice: UUID,
    read: Callable[[DocumentHistory, Company, UUID], object],
) -> None:
    deleted = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": "R-2"}))
    company.documents.mutate(company.caller(), Delete(deleted.document_id, 1))
    other = make_company(company.database)
    cases = [(company, invoice), (company, uuid4()), (company, deleted.document_id), (other, invoice)]
    for who, document_id in cases:
        with pytest.raises(Rejected) as caught:
            read(history, who, document_id)
        assert caught.value.code == "DOCUMENT_NOT_FOUND"
