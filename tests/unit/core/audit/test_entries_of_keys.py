"""The audit entry of a machine's act: which key was sent, and whose it was."""

import json
from uuid import UUID

from signet.core.audit.trail import Transaction, chain, make_entry
from signet.core.tenants.caller import Caller, CallOrigin
from signet.core.tenants.principal import KeyOfPrincipal, Principal
from tests.support.core.audit_trail import NOON, TENANT


def describe(principal: Principal) -> tuple[str, dict[str, object]]:
    detail = {"status": "draft"}
    entry = make_entry(UUID(int=9), Caller(principal), TENANT, NOON, ("document", "d1"), "create", detail)
    assert detail == {"status": "draft"}, "the caller's own detail stays as it is"
    return entry.actor_id, dict(entry.detail)


def test_an_entry_tells_the_key_and_its_owner() -> None:
    keys = [KeyOfPrincipal(UUID(int=number), "erp", owner) for number, owner in ((1, "ada"), (2, "kim"))]
    entries = [describe(Principal(TENANT, f"key:{key.id}", (), key=key)) for key in keys]
    assert entries == [
        (
            f"key:{UUID(int=1)}",
            {"status": "draft", "key": {"id": str(UUID(int=1)), "name": "erp", "owner": "ada"}},
        ),
        (
            f"key:{UUID(int=2)}",
            {"status": "draft", "key": {"id": str(UUID(int=2)), "name": "erp", "owner": "kim"}},
        ),
    ]


def test_the_entry_of_a_persons_act_names_no_key() -> None:
    assert describe(Principal(TENANT, "ada", ())) == ("ada", {"status": "draft"})


def test_the_entry_of_a_request_holds_where_it_came_from() -> None:
    origin = CallOrigin("10.0.3.7", "curl/8")
    for caller, expected in (
        (Caller(Principal(TENANT, "ada", ()), origin=origin), {"address": "10.0.3.7", "agent": "curl/8"}),
        (Caller(Principal(TENANT, "ada", ()), origin=CallOrigin("10.0.3.7")), {"address": "10.0.3.7"}),
        (Caller(Principal(TENANT, "ada", ())), None),
    ):
        entry = make_entry(UUID(int=9), caller, TENANT, NOON, ("document", "d1"), "create", {})
        row = chain(None, entry, Transaction(1, 7))
        assert json.loads(row.content).get("origin") == expected
