"""Expressions that follow a ref see the document it names, as it is at this moment."""

import tempfile
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from signet.authoring.files import read_document
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.engine.documents.commands import (
    Applied,
    Create,
    Delete,
    Operation,
    RequestTransition,
    RunAction,
    Update,
)
from signet.engine.documents.mutate import Documents
from signet.engine.documents.references import RefQuery
from signet.store.database import Database, PoolSettings
from tests.support.company import EXAMPLES, INVOICE, Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.open_documents import caller_of_step, opened

Admin = Connection[tuple[Any, ...]]
NO = {"kind": "reject", "message": "no"}
CUSTOMER: dict[str, Any] = {
    "contract": "customer",
    "fields": {
        "name": {"type": "string", "required": True},
        "limit": {"type": "int"},
        "is_blocked": {"type": "bool"},
        "contact": {"type": "string", "personal": True},
        "secret": {"type": "string"},
    },
    "states": {"known": {"edit": "editable", "initial": True, "settled": True}},
    "deletable_in": ["known"],
}
REF = {
    "type": "ref",
    "entity_type": "customer",
    "reads": {
        "name": {"type": "string"},
        "limit": {"type": "int"},
        "is_blocked": {"type": "bool"},
        "contact": {"type": "string"},
        "status": {"type": "string"},
    },
}
ACTIONS = {
    "note": {"kind": "update", "set": {"cost_center": "{entity.customer.name}"}},
    "plan": {
        "kind": "create",
        "entity_type": "invoice",
        "set": {**INVOICE, "number": "R-plan", "vendor_id": "{entity.customer.name}"},
    },
    "meet": {"kind": "create", "entity_type": "customer", "set": {"name": "New", "contact": "Erna"}},
}


@pytest.fixture
def company(company: Company) -> Company:
    publish(company)
    return company


def publish(company: Company, version: int = 2, **conditions: str) -> None:
    if version == 2:
        company.definitions.create_contract(company.caller(), CUSTOMER)
        company.definitions.publish_contract(company.caller(), "customer", 1)
    fields = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    company.publish(
        "invoice",
        version=version,
        fields={**fields, "customer": REF, "payer": REF},
        actions=ACTIONS,
        conditions={f"invoice:{name}": text for name, text in conditions.items()},
    )


def do(company: Company, operation: Operation) -> Applied:
    return company.documents.mutate(company.caller(), operation)


def refuse(company: Company, operation: Operation) -> Rejected:
    with pytest.raises(Rejected) as caught:
        do(company, operation)
    return caught.value


def customer(company: Company, **data: Any) -> UUID:
    return do(company, Create("customer", {"name": "Ann", **data})).document_id


def invoice(company: Company, customer_id: UUID | None = None, **data: Any) -> UUID:
    ref = {} if customer_id is None else {"customer": str(customer_id)}
    return do(company, Create("invoice", {**INVOICE, "number": f"R-{uuid4()}", **ref, **data})).document_id


def is_allowed(company: Company, document_id: UUID) -> bool:
    """Return whether the document may be edited under the permission's condition."""
    outcomes = company.documents.mutate_many(company.caller(), [Update(document_id, 1, {})])
    if isinstance(outcomes[0], Rejected):
        assert outcomes[0].code == "PERMISSION_CONDITION"
        return False
    return True


def test_a_condition_sees_what_is_true_now(company: Company) -> None:
    publish(company, 3, edit="entity.customer.is_blocked != true && entity.customer.limit > 5")
    ann = customer(company, limit=10)
    document_id = invoice(company, ann)
    do(company, Update(document_id, 1, {"cost_center": "C"}))
    do(company, Update(ann, 1, {"is_blocked": True}))
    assert refuse(company, Update(document_id, 2, {})).code == "PERMISSION_CONDITION"
    do(company, Update(ann, 2, {"is_blocked": False}))
    do(company, Update(document_id, 2, {}))


@pytest.mark.parametrize(
    ("condition", "data", "allowed"),
    [
        ("entity.customer.limit == 10", {"limit": 10}, True),
        ("entity.customer.limit == null", {}, True),
        ("entity.customer.status == 'known'", {}, True),
        # Personal values are not read through a ref.
        ("entity.customer.contact == null", {"contact": "Erna"}, True),
        ("entity.customer.contact == 'Erna'", {"contact": "Erna"}, False),
    ],
)
def test_what_a_ref_reads(company: Company, condition: str, data: dict[str, Any], allowed: bool) -> None:
    publish(company, 3, edit=condition)
    assert is_allowed(company, invoice(company, customer(company, **data))) is allowed


def deleted(company: Company) -> UUID:
    found = customer(company, limit=10)
    do(company, Delete(found, 1))
    return found


def of_another_type(company: Company) -> UUID:
    return invoice(company)


def of_another_tenant(company: Company) -> UUID:
    other = make_company(company.database)
    publish_for_other(other)
    return customer(other, limit=10)


def publish_for_other(other: Company) -> None:
    other.definitions.create_contract(other.caller(), CUSTOMER)
    other.definitions.publish_contract(other.caller(), "customer", 1)


NOT_THERE: dict[str, Callable[[Company], UUID | None]] = {
    "no id": lambda company: None,
    "no such document": lambda company: uuid4(),
    "deleted": deleted,
    "another type": of_another_type,
    "another tenant": of_another_tenant,
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_not_there_says_nothing(company: Company, name: str) -> None:
    publish(company, 3, edit="entity.customer.name == null && entity.customer.status == null")
    assert is_allowed(company, invoice(company, NOT_THERE[name](company)))


def test_only_what_the_ref_declares_is_read(company: Company) -> None:
    ann = customer(company, limit=10, secret="s")
    document_id = invoice(company, ann)
    with opened(company, document_id) as documents:
        contract = documents.contract_of(documents.row(document_id))
        context = documents.make_context(
            company.caller(),
            contract,
            documents.row(document_id),
            frozenset({("customer", "limit"), ("customer", "status")}),
        )
        refs = context.env(context.data, status="draft", version=1)["refs"]
    assert refs == {"customer": {"limit": 10, "status": "known"}}


def test_a_rule_follows_the_ref_that_a_change_brings(company: Company) -> None:
    company.add_rule("blocked", "before", "entity.customer.is_blocked == true", NO)
    fine, blocked = customer(company), customer(company, is_blocked=True)
    document_id = invoice(company, fine)
    assert refuse(company, Update(document_id, 1, {"customer": str(blocked)})).code == "RULE_REJECTED"
    refused = Create("invoice", {**INVOICE, "number": "R-x", "customer": str(blocked)})
    assert refuse(company, refused).code == "RULE_REJECTED"
    do(company, Update(document_id, 1, {"customer": str(fine).upper()}))


def test_a_rule_follows_the_ref_that_another_rule_set(company: Company) -> None:
    blocked = customer(company, is_blocked=True)
    sets = {"kind": "set", "values": {"customer": str(blocked)}}
    company.add_rule("sets", "before", "entity.cost_center == 'bad'", sets, priority=1)
    company.add_rule("blocked", "before", "entity.customer.is_blocked == true", NO, priority=2)
    company.add_rule("tells", "after", "entity.payer.name == 'nobody'", NO)
    document_id = invoice(company, customer(company))
    assert refuse(company, Update(document_id, 1, {"cost_center": "bad"})).code == "RULE_REJECTED"
    do(company, Update(document_id, 1, {"cost_center": "good"}))


def test_an_action_sets_and_makes_what_a_ref_says(company: Company, admin: Admin) -> None:
    document_id = invoice(company, customer(company, name="Ann & Co"))
    do(company, RunAction(document_id, 1, "note", {}))
    do(company, RunAction(document_id, 2, "plan", {}))
    found = admin.execute(
        "SELECT data ->> 'cost_center', data ->> 'vendor_id' FROM documents WHERE entity_type = 'invoice'"
        " ORDER BY created_at"
    )
    assert found.fetchall() == [("Ann & Co", "V-100"), (None, "Ann & Co")]


def test_a_transaction_sees_what_it_has_changed_itself(company: Company) -> None:
    publish(company, 3, edit="entity.customer.is_blocked != true")
    ann = customer(company)
    document_id = invoice(company, ann)
    update = Update(document_id, 1, {"cost_center": "C"})
    with opened(company, ann, document_id) as documents:
        assert not isinstance(documents.decide(company.caller(), update), Rejected)
        documents.execute(company.caller(), Update(ann, 1, {"is_blocked": True}))
        refused = documents.execute(company.caller(), update)
        assert isinstance(refused, Rejected) and refused.code == "PERMISSION_CONDITION"
        documents.execute(company.caller(), Delete(ann, 2))
        assert isinstance(documents.execute(company.caller(), update), Applied)


def test_a_transaction_sees_what_it_has_made_itself(company: Company) -> None:
    new = "entity.customer.name == 'New' && entity.customer.status == 'known'"
    company.add_rule("new", "before", f"{new} && entity.customer.contact == null", NO)
    document_id = invoice(company)
    with opened(company, document_id) as documents:
        met = documents.execute(company.caller(), RunAction(document_id, 1, "meet", {}))
        assert isinstance(met, Applied) and met.output is not None
        update = Update(document_id, 1, {"customer": met.output["document_id"]})
        refused = documents.execute(company.caller(), update)
    assert isinstance(refused, Rejected) and refused.code == "RULE_REJECTED"


def test_who_becomes_an_editor_in_the_transaction_is_behind_what_steps_may_write(company: Company) -> None:
    ann = customer(company)
    document_id = invoice(company, ann)
    with opened(company, ann, document_id) as documents:
        row = documents.row(document_id)
        query = RefQuery(documents.contract_of(row), frozenset({("customer", "status")}), row.data)
        before = documents.refs.persons_of(query)
        documents.widen_editors(ann, frozenset({"zoe"}))
        assert documents.refs.persons_of(query) - before == {"zoe"}


def test_a_workflows_own_step_asks_for_no_refs_of_conditions(company: Company) -> None:
    publish(company, 3, note="entity.payer.name == 'nobody'")
    made = do(company, Create("invoice", {**INVOICE, "number": "R-9", "customer": str(customer(company))}))
    with opened(company, made.document_id) as documents:
        step = caller_of_step(company, made.instance_id)
        outcome = documents.execute(step, RunAction(made.document_id, None, "note", {}))
    assert isinstance(outcome, Applied) and outcome.version == 2


# --- costs ---


@pytest.fixture
def alone(company: Company, owner_url: str) -> Iterator[Company]:
    """Yield the company with one connection, so that its traffic can be recorded."""
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=1))
    yield Company(database, company.tenant_id, Documents(database), company.definitions)
    database.close()


def count_trips(company: Company, act: Callable[[], Any]) -> int:
    act()  # fills the caches before the count
    with company.database.tenantless_transaction() as connection:
        wire = connection.pgconn
    with tempfile.TemporaryFile() as trace:
        wire.trace(trace.fileno())
        act()
        wire.untrace()
        trace.seek(0)
        return sum(b"ReadyForQuery" in line for line in trace.read().splitlines())


def update_of(company: Company, *ids: UUID) -> Callable[[], Any]:
    versions = dict.fromkeys(ids, 0)

    def act() -> None:
        for document_id in ids:
            versions[document_id] += 1
        operations = [Update(one, version, {"cost_center": "C"}) for one, version in versions.items()]
        outcomes = company.documents.mutate_many(company.caller(), operations)
        assert all(isinstance(outcome, Applied) for outcome in outcomes), outcomes

    return act


def test_who_follows_no_ref_pays_for_none(alone: Company) -> None:
    publish(alone, 3, submit="entity.customer.is_blocked != true")
    alone.add_rule("blocked", "before", "entity.customer.is_blocked == true", NO, operations=["delete"])
    ids = [invoice(alone, customer(alone)) for _ in range(3)]
    assert count_trips(alone, update_of(alone, ids[0])) == 2
    assert count_trips(alone, update_of(alone, *ids[1:])) == 2


def test_all_refs_of_a_batch_are_read_at_once(alone: Company) -> None:
    alone.add_rule("payer", "after", "entity.payer.is_blocked == true", NO)
    # A rule without a ref reads no other document.
    before = count_trips(alone, update_of(alone, *[invoice(alone) for _ in range(5)]))
    publish(alone, 3, edit="entity.customer.is_blocked != true")
    ids = [invoice(alone, customer(alone), payer=str(customer(alone))) for _ in range(5)]
    assert count_trips(alone, update_of(alone, *ids)) == before + 1


def test_a_wave_reads_the_refs_of_many_documents_at_once(alone: Company) -> None:
    ids = [invoice(alone, customer(alone, name=f"Ann {n}")) for n in range(5)]

    def look(followed: frozenset[FollowedField]) -> list[Any]:
        with opened(alone, *ids) as documents:
            rows = [documents.row(one) for one in ids]
            contract = documents.contract_of(rows[0])
            documents.refs.load([RefQuery(contract, followed, row.data) for row in rows])
            context = [documents.make_context(alone.caller(), contract, row, followed) for row in rows]
            return [one.env(one.data, status="draft", version=1)["refs"] for one in context]

    both = frozenset({("customer", "name"), ("payer", "name")})
    assert [refs["customer"]["name"] for refs in look(both)] == [f"Ann {n}" for n in range(5)]
    assert look(frozenset()) == [{}] * 5
    before = count_trips(alone, lambda: look(frozenset()))
    assert count_trips(alone, lambda: look(both)) == before + 1


def test_a_request_for_a_transition_asks_for_the_refs_of_its_own_condition(company: Company) -> None:
    publish(company, 3, submit="entity.customer.is_blocked != true")
    fine, blocked = invoice(company, customer(company)), invoice(company, customer(company, is_blocked=True))
    do(company, RequestTransition(fine, 1, "submit"))
    assert refuse(company, RequestTransition(blocked, 1, "submit")).code == "PERMISSION_CONDITION"
