"""Two mutations meet at one document, one key or one contract: they end as if one had followed the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.errors import Rejected, Transient
from signet.engine.documents.commands import (
    Amend,
    Applied,
    Create,
    Delete,
    Operation,
    RequestTransition,
    Update,
)
from signet.store.definitions.write import lock_contracts_of_type
from tests.support.company import INVOICE
from tests.support.database.transaction_steps import holding, second
from tests.support.shared_company import CompanyWithWorkers, standing_company

Make = Callable[[UUID], Operation]


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


def update(document_id: UUID, version: int = 1, **patch: object) -> Update:
    return Update(document_id, version, patch or {"cost_center": "C"})


def delete(document_id: UUID) -> Delete:
    return Delete(document_id, 1)


def amend(document_id: UUID) -> Amend:
    return Amend(document_id, 1, {"grand_total": 5})


def submit(document_id: UUID) -> RequestTransition:
    return RequestTransition(document_id, 1, "submit")


def cancel(document_id: UUID) -> RequestTransition:
    return RequestTransition(document_id, 1, "cancel", "wrong")


@dataclass(frozen=True)
class MutationMeeting:
    first: Make
    second: Make
    # The second one's result after the first commits: a code, or the version it makes.
    expected: str | int
    status: str = "draft"
    window: str = "editable"


CONFLICT = "DOCUMENT_VERSION_CONFLICT"
MEETINGS = {
    "update, update": MutationMeeting(update, update, CONFLICT),
    "update, delete": MutationMeeting(update, delete, CONFLICT),
    "delete, update": MutationMeeting(delete, update, "DOCUMENT_NOT_FOUND"),
    "update, amend": MutationMeeting(update, amend, CONFLICT, "active"),
    "amend, update": MutationMeeting(amend, update, 2, "active"),
    "amend, amend": MutationMeeting(amend, amend, "AMENDMENT_OPEN", "active"),
    "edit that amends, edit that amends": MutationMeeting(
        update, update, CONFLICT, "submitted", "amend_only"
    ),
    "request, edit": MutationMeeting(submit, update, 2),
    "edit, request": MutationMeeting(update, submit, CONFLICT),
    "request, request": MutationMeeting(submit, cancel, 1),
    "request, delete": MutationMeeting(submit, delete, 2),
}


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
@pytest.mark.parametrize("name", MEETINGS)
def test_the_second_decides_on_what_the_first_left(
    standing: CompanyWithWorkers, name: str, commits: bool
) -> None:
    meeting = MEETINGS[name]
    document_id = standing.create().document_id
    standing.put_at(document_id, meeting.status, meeting.window)
    with holding(standing, [meeting.first(document_id)], commits=commits):
        other = second(standing, meeting.second(document_id))
        standing.wait_until_blocked()
    outcome = other.result()
    if not commits:
        assert isinstance(outcome, Applied)
    elif isinstance(meeting.expected, int):
        assert isinstance(outcome, Applied) and outcome.version == meeting.expected
    else:
        assert isinstance(outcome, Rejected) and outcome.code == meeting.expected
    if meeting.expected == CONFLICT and isinstance(outcome, Rejected):
        assert outcome.details["current_version"] == 2
    check_versions(standing, document_id)
    (open_requests,) = standing.row(
        "SELECT count(*) FROM transition_requests WHERE document_id = %s AND status = 'open'", document_id
    )
    assert open_requests <= 1


def check_versions(standing: CompanyWithWorkers, document_id: UUID) -> None:
    """Expect versions without gaps, an audit row for each mutation, and at most one amendment."""
    (current, versions) = standing.row(
        "SELECT d.version, array_agg(v.version ORDER BY v.version) FROM documents d"
        " JOIN document_versions v ON v.document_id = d.id WHERE d.id = %s GROUP BY d.version",
        document_id,
    )
    assert versions == list(range(1, current + 1))
    chain = standing.rows(
        "SELECT seq, previous_hash, hash FROM audit_log WHERE subject_id = %s ORDER BY seq", str(document_id)
    )
    assert [seq for seq, _, _ in chain] == list(range(1, len(chain) + 1))
    assert [previous for _, previous, _ in chain[1:]] == [own for _, _, own in chain[:-1]]
    (amendments,) = standing.row("SELECT count(*) FROM documents WHERE amended_from_id = %s", document_id)
    assert amendments <= 1


def test_time_goes_on_along_a_chain(standing: CompanyWithWorkers) -> None:
    """Date the transaction that began first but wrote second after the one in between."""
    document_id, company = standing.create().document_id, standing.company
    with company.database.transaction(company.tenant_id) as early:
        assert isinstance(second(standing, update(document_id)).result(), Applied)
        company.documents.apply(early, company.caller("early"), [update(document_id, 2)])
    for query in (
        "SELECT created_at FROM audit_log WHERE subject_id = %s::text ORDER BY seq",
        "SELECT created_at FROM document_versions WHERE document_id::text = %s::text ORDER BY version",
    ):
        times = [at for (at,) in standing.admin.execute(query, [str(document_id)]).fetchall()]
        assert len(times) == 3 and times == sorted(times)


def test_a_request_that_was_edited_away_says_so(standing: CompanyWithWorkers) -> None:
    document_id = standing.create().document_id
    with holding(standing, [submit(document_id)]):
        other = second(standing, update(document_id))
        standing.wait_until_blocked()
    assert isinstance(other.result(), Applied)
    requests = standing.rows(
        "SELECT transition, status, outcome FROM transition_requests WHERE document_id = %s", document_id
    )
    assert requests == [("submit", "superseded", "edited")]


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
def test_two_new_documents_want_one_key(standing: CompanyWithWorkers, commits: bool) -> None:
    data = {**INVOICE, "number": f"R-{uuid4()}"}
    with holding(standing, [Create("invoice", data)], commits=commits):
        other = second(standing, Create("invoice", data))
        standing.wait_until_blocked()
    outcome = other.result()
    if commits:
        assert isinstance(outcome, Rejected)
        assert (outcome.code, outcome.fields[0].pointer) == ("KEY_TAKEN", "/number")
    else:
        assert isinstance(outcome, Applied)
    holders = standing.row("SELECT count(*) FROM document_keys WHERE value = %s", data["number"])
    documents = standing.row("SELECT count(*) FROM documents WHERE t2 = %s", data["number"])
    assert holders == documents == (1,)


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
def test_two_new_documents_want_one_id(standing: CompanyWithWorkers, commits: bool) -> None:
    wanted = uuid4()
    make = [Create("invoice", {**INVOICE, "number": f"R-{uuid4()}"}, id=wanted) for _ in range(2)]
    with holding(standing, [make[0]], commits=commits):
        other = second(standing, make[1])
        standing.wait_until_blocked()
    outcome = other.result()
    if commits:
        assert isinstance(outcome, Transient) and outcome.code == "DATABASE_CONTENDED"
        again = second(standing, make[1]).result()
        assert isinstance(again, Rejected) and again.code == "DOCUMENT_EXISTS"
    else:
        assert isinstance(outcome, Applied) and outcome.document_id == wanted


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
def test_a_key_that_is_being_given_up(standing: CompanyWithWorkers, commits: bool) -> None:
    one, two, number = standing.create(), standing.create(), f"R-{uuid4()}"
    standing.company.documents.mutate(standing.company.caller(), update(one.document_id, number=number))
    with holding(standing, [update(one.document_id, 2, number=f"R-{uuid4()}")], commits=commits):
        other = second(standing, update(two.document_id, number=number))
        standing.wait_until_blocked()
    outcome = other.result()
    assert isinstance(outcome, Applied) if commits else isinstance(outcome, Rejected)
    holders = standing.rows("SELECT document_id FROM document_keys WHERE value = %s", number)
    assert holders == [(two.document_id if commits else one.document_id,)]


def test_two_documents_swap_their_keys_in_one_batch_or_not_at_all(standing: CompanyWithWorkers) -> None:
    numbers = [f"R-{uuid4()}", f"R-{uuid4()}"]
    one, two = (standing.create(number=number).document_id for number in numbers)
    swap: list[Operation] = [update(one, number=numbers[1]), update(two, number=numbers[0])]
    company = standing.company
    for half in swap:
        with pytest.raises(Rejected) as caught:
            company.documents.mutate(company.caller(), half)
        assert caught.value.code == "KEY_TAKEN"
    outcomes = company.documents.mutate_many(company.caller(), swap)
    assert all(isinstance(outcome, Applied) for outcome in outcomes)
    holders = standing.rows(
        "SELECT document_id FROM document_keys WHERE value = ANY (%s) ORDER BY array_position(%s, value)",
        numbers,
        numbers,
    )
    assert holders == [(two,), (one,)]


def test_a_deadlock_over_keys_is_said_to_have_changed_nothing(standing: CompanyWithWorkers) -> None:
    """Swap keys in two transactions that wait for each other. One is told to try again."""
    numbers = sorted([f"R-{uuid4()}", f"R-{uuid4()}"])
    _, two = (standing.create(number=number).document_id for number in numbers)
    with psycopg.connect(standing.admin_url) as first:
        try:
            first.execute("SET LOCAL deadlock_timeout = '60s'")  # the other one finds the deadlock
        except psycopg.errors.InsufficientPrivilege:
            pytest.skip("only a superuser may say who finds it")
        tenant = str(standing.company.tenant_id)
        first.execute("SELECT set_config('signet.tenant_id', %s, true)", [tenant])
        first.execute("DELETE FROM document_keys WHERE value = %s", [numbers[0]])
        other = second(standing, update(two, number=numbers[0]))
        standing.wait_until_blocked()
        first.execute("DELETE FROM document_keys WHERE value = %s", [numbers[1]])
        first.rollback()
    outcome = other.result()
    assert isinstance(outcome, Transient) and outcome.code == "DATABASE_CONTENDED"
    assert standing.row("SELECT version FROM documents WHERE id = %s", two) == (1,)
    assert standing.row("SELECT document_id FROM document_keys WHERE value = %s", numbers[1]) == (two,)


def test_batches_in_opposite_order_wait_instead_of_blocking_each_other(standing: CompanyWithWorkers) -> None:
    ids = [standing.create().document_id for _ in range(5)]
    with holding(standing, [update(one) for one in ids]):
        other = second(standing, *[update(one) for one in reversed(ids)])
        standing.wait_until_blocked()
    outcome = other.result()
    assert isinstance(outcome, Rejected) and outcome.code == CONFLICT
    for one in ids:
        check_versions(standing, one)


def test_publishing_and_creating_do_not_wait_for_each_other(standing: CompanyWithWorkers) -> None:
    company = standing.company
    with company.database.transaction(company.tenant_id) as publisher:
        lock_contracts_of_type(publisher, company.tenant_id, "invoice")
        assert standing.create().version == 1
    created = Create("invoice", {**INVOICE, "number": f"R-{uuid4()}"}, id=uuid4())
    with holding(standing, [created]):
        company.publish("invoice", version=2)
    again = standing.create()
    query = "SELECT contract_version FROM documents WHERE id = %s"
    assert standing.row(query, created.id) == (1,)
    assert standing.row(query, again.document_id) == (2,)
