"""Rejections by rules stay on record, although nothing else of the change does."""

from dataclasses import replace
from typing import Any

import pytest
from psycopg import Connection

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller, CallOrigin
from signet.core.tenants.principal import Principal
from signet.engine.documents.commands import Applied, Create, Operation, Update
from signet.engine.documents.rules import MAX_KEPT
from tests.support.company import INVOICE, Company

Admin = Connection[tuple[Any, ...]]
NO = {"kind": "reject", "message": "too much"}
KEPT = (
    "SELECT e.rule, e.rule_version, e.operation, e.actor_id, s.persons, e.origin, e.evidence -> 'variables'"
    " FROM rule_executions e JOIN responsible_sets s ON (s.tenant_id, s.hash) = (e.tenant_id, e.responsible)"
    " WHERE e.is_rejection ORDER BY e.id"
)
TOO_MUCH = {**INVOICE, "number": "R-2", "grand_total": 500}


@pytest.fixture
def strict(company: Company) -> Company:
    company.add_rule("ceiling", "before", "entity.grand_total == 500", NO, operations=["create", "update"])
    return company


def from_outside(caller: Caller) -> Caller:
    origin = CallOrigin("192.0.2.7", "curl/8")
    return replace(caller, origin=origin, claimed="carl", trace_id="00-rejected")


def test_a_refused_change_leaves_what_the_rule_read_and_who_asked(strict: Company, admin: Admin) -> None:
    with pytest.raises(Rejected, match="too much"):
        strict.documents.mutate(from_outside(strict.caller("carl")), Create("invoice", TOO_MUCH))
    origin = {"via": "test", "address": "192.0.2.7", "agent": "curl/8", "claimed": "carl"}
    read = {"entity.grand_total": 500}
    assert admin.execute(KEPT).fetchall() == [("ceiling", 1, "create", "carl", ["carl"], origin, read)]
    assert admin.execute("SELECT trace_id FROM rule_executions").fetchall() == [("00-rejected",)]
    for table in ("documents", "document_versions", "audit_log WHERE subject_type = 'document'"):
        assert admin.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


@pytest.mark.parametrize("mode", ["all", "each"])
@pytest.mark.parametrize("key", [None, "once"])
def test_each_refused_change_of_a_batch_is_kept_once(
    strict: Company, admin: Admin, mode: Any, key: str | None
) -> None:
    wanted: list[Operation] = [Create("invoice", INVOICE), Create("invoice", TOO_MUCH)]
    outcomes = strict.documents.mutate_many(strict.caller(), wanted, mode, idempotency_key=key)
    assert isinstance(outcomes[0], Applied) is (mode == "each")
    assert [row[:3] for row in admin.execute(KEPT).fetchall()] == [("ceiling", 1, "create")]


def test_a_key_leaves_its_owners(strict: Company, admin: Admin) -> None:
    principal = strict.caller("carl").principal
    machine = Principal(principal.tenant_id, "key:k1", principal.roles, behind=frozenset(("ada", "ben")))
    strict.documents.mutate_many(Caller(machine), [Create("invoice", TOO_MUCH)])
    (kept,) = admin.execute(KEPT).fetchall()
    assert (kept[3], kept[4]) == ("key:k1", ["ada", "ben"])


def test_a_transaction_keeps_so_many_and_no_more(strict: Company, admin: Admin) -> None:
    wanted = [Create("invoice", {**TOO_MUCH, "number": f"R-{n}"}) for n in range(MAX_KEPT + 1)]
    strict.documents.mutate_many(strict.caller(), wanted, "each")
    assert len(admin.execute(KEPT).fetchall()) == MAX_KEPT


def test_what_no_rule_has_stopped_leaves_nothing(strict: Company, admin: Admin) -> None:
    made = strict.documents.mutate(strict.caller(), Create("invoice", INVOICE))
    with pytest.raises(Rejected):
        strict.documents.mutate(strict.caller(), Update(made.document_id, 9, {"grand_total": 500}))
    assert admin.execute(KEPT).fetchall() == []
