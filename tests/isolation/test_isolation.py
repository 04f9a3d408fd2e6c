"""Other tenants learn nothing through the API: not what a tenant has, not even that it has it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from signet.api.openapi.build import describe_all
from tests.isolation.matrix import BODIES, CONFLICTS, ROLES, Operation, describe, find_leaks, list_operations
from tests.isolation.report import REPORT, write_report
from tests.isolation.victim import MARK, PLACES, Victim, lift_quotas, never_was, standing_victim
from tests.support.changed_lines import expect_fresh
from tests.support.company import make_company
from tests.support.http_client import Client

OPERATIONS = list(list_operations(describe_all()[0]))


def name_key(operation: Operation, role: str) -> str:
    return f"{operation.name}-{role}"


@pytest.fixture(scope="module")
def victim(server_url: str) -> Iterator[Victim]:
    keys = [name_key(one, role) for one in OPERATIONS for role in ROLES]
    with standing_victim(server_url, keys) as made:
        before = made.digest()
        yield made
        assert made.digest() == before, "something of the victim has changed"


@pytest.fixture(scope="module")
def outsiders(victim: Victim) -> dict[str, Client]:
    """Return clients of another company in the same database, one for each role."""
    company = make_company(victim.standing.company.database)
    company.publish("invoice")
    lift_quotas(victim.standing)
    return {
        name: Client(victim.application, company.tenant_id, "carl", roles) for name, roles in ROLES.items()
    }


def test_every_name_in_a_path_and_every_body_is_known() -> None:
    """A new route needs its line in PLACES, or in BODIES."""
    assert {name for one in OPERATIONS for name in one.names} <= set(PLACES)
    assert {one.name for one in OPERATIONS if one.has_body} == set(BODIES)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
@pytest.mark.parametrize("role", ROLES)
def test_another_tenants_things_are_not_there(
    victim: Victim, outsiders: dict[str, Client], operation: Operation, role: str
) -> None:
    client, never = outsiders[role], never_was(victim.things)
    if operation.makes_its_own:
        check_that_names_are_free(victim, client, operation)
        return
    foreign = operation.call(client, victim.things)
    assert find_leaks(foreign, victim.ids, victim.things, MARK) == []
    assert foreign.status < 500
    if operation.is_of_one_thing:
        assert foreign.status not in (200, 201, 202, 204, *CONFLICTS)
        nothing = operation.call(client, never)
        assert describe(foreign, victim.things) == describe(nothing, never)


def check_that_names_are_free(victim: Victim, client: Client, operation: Operation) -> None:
    """Check in new companies, which have nothing of what others look for."""
    answers = []
    for things in (victim.things, never_was(victim.things)):
        company = make_company(victim.standing.company.database)
        answer = operation.call(replace(client, tenant_id=company.tenant_id), things)
        assert find_leaks(answer, victim.ids, things, MARK) == []
        answers.append((answer.status, answer.body.get("code")))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.method == "GET"], ids=lambda one: one.name
)
def test_what_is_looked_for_is_there_to_be_found(victim: Victim, operation: Operation) -> None:
    """Otherwise the matrix would hold because there is nothing to find."""
    client = victim.operator if operation.is_for_operators else victim.admin
    found = operation.call(client, victim.things)
    assert found.status == 200, found.text


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.is_list], ids=lambda one: one.name)
def test_another_tenants_cursor_leads_nowhere(
    victim: Victim, outsiders: dict[str, Client], operation: Operation
) -> None:
    if operation.is_of_one_thing:
        pytest.skip("its things are another tenant's already")
    answered = operation.call(victim.admin, victim.things, {"limit": 1})
    assert answered.status == 200, answered.text
    page = answered.body
    if page["next_cursor"] is None:
        return
    for client in outsiders.values():
        query = {"limit": 1, "cursor": page["next_cursor"]}
        answer = operation.call(client, victim.things, query)
        assert find_leaks(answer, victim.ids, {}, MARK) == []


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.method == "POST"], ids=lambda one: one.name
)
def test_another_tenants_idempotency_key_is_free(
    victim: Victim, outsiders: dict[str, Client], operation: Operation
) -> None:
    """The victim has a key of the same name, with an answer."""
    for role, client in outsiders.items():
        key = name_key(operation, role)
        answer = operation.call(client, never_was(victim.things), idempotency_key=key)
        assert find_leaks(answer, victim.ids, {}, MARK) == []
        if answer.status >= 400:
            assert answer.code != "IDEMPOTENCY_KEY_REUSED"


def test_the_report_is_what_the_matrix_is() -> None:
    expect_fresh(REPORT.read_text(encoding="utf-8"), write_report(OPERATIONS), "make isolation")


def test_the_report_counts_what_runs(request: pytest.FixtureRequest) -> None:
    ran: Counter[Any] = Counter(
        item.originalname
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
    )
    if len(request.session.items) > len(OPERATIONS):
        assert ran["test_another_tenants_things_are_not_there"] == len(OPERATIONS) * len(ROLES)
