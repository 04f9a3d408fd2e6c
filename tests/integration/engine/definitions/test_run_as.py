"""Publication of steps that run as another: rights are passed on by who has them (notes A11, "pete")."""

from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.engine.definitions.definitions import Published
from tests.support.company import Company
from tests.support.machines import add_account, disable_member, set_account_status

PUBLISHER = ("definition:edit", "definition:publish")


@pytest.fixture(autouse=True)
def unconditional(company: Company) -> None:
    """Publish the contract without conditions: no step here asks people, only the system."""
    company.publish("invoice", version=2, conditions={})


@pytest.fixture
def as_publisher(company: Company) -> Company:
    give(company, "publisher", *PUBLISHER)
    return company


def give(company: Company, role: str, *permissions: str) -> None:
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, %s, %s)"
            " ON CONFLICT (tenant_id, role) DO UPDATE SET permissions = excluded.permissions",
            [company.tenant_id, role, list(permissions)],
        )


def make_patch(**config: Any) -> dict[str, Any]:
    payload = {"ledger_entry": "AP-1", "posted_on": {"$expr": "entity.invoice_date"}}
    action = {"action": "post_to_ledger", "payload": payload, **config}
    return {
        "patch": "own",
        "base": {"entity_type": "invoice", "envelope_version": 2},
        "slots": {"approved_to_active": {"nodes": [{"id": "p", "type": "action", "config": action}]}},
    }


def publish(company: Company, patch: dict[str, Any], *roles: str) -> Published:
    pete = company.caller("pete", *roles)
    draft = company.definitions.create(pete, "org_patch", patch)
    return company.definitions.publish(pete, draft.id)


def as_account(name: str = "posting") -> dict[str, Any]:
    return make_patch(run_as="service_account", service_account=name)


@pytest.mark.parametrize("run_as", ["system", "service_account"])
def test_pete_publishes_no_step_that_may_do_what_he_may_not(as_publisher: Company, run_as: str) -> None:
    company = as_publisher
    add_account(company, "posting", "clerk")
    patch = make_patch(run_as="system") if run_as == "system" else as_account()
    with pytest.raises(Rejected) as refused:
        publish(company, patch, "publisher")
    assert refused.value.code == "RUN_AS_BEYOND_OWN"
    assert "'definition:run_as'" in refused.value.message
    give(company, "passer", "definition:run_as")
    with pytest.raises(Rejected) as refused:
        publish(company, patch, "publisher", "passer")
    assert refused.value.code == "RUN_AS_BEYOND_OWN"
    assert "'invoice:post'" in refused.value.message and "usr:approved_to_active:p" in refused.value.message
    give(company, "poster", "invoice:post")
    with pytest.raises(Rejected) as refused:
        publish(company, patch, "publisher", "poster")
    assert "'definition:run_as'" in refused.value.message
    assert publish(company, patch, "publisher", "passer", "poster").findings == ()


def test_a_step_that_runs_as_the_actor_passes_nothing_on(as_publisher: Company) -> None:
    assert publish(as_publisher, make_patch(), "publisher").findings == ()


@pytest.mark.parametrize(
    ("node_type", "config"),
    [
        ("webhook_out", {"event": "invoice.posted"}),
        ("notification", {"channel": "in_app", "to": [{"by": "role", "role": "clerk"}], "text": "done"}),
    ],
)
def test_what_needs_no_permission_of_its_own_needs_that_of_passing_on(
    as_publisher: Company, node_type: str, config: dict[str, Any]
) -> None:
    node = {"id": "p", "type": node_type, "config": {**config, "run_as": "system"}}
    patch = {**make_patch(), "slots": {"approved_to_active": {"nodes": [node]}}}
    with pytest.raises(Rejected) as refused:
        publish(as_publisher, patch, "publisher")
    assert refused.value.code == "RUN_AS_BEYOND_OWN"
    give(as_publisher, "passer", "definition:run_as")
    assert publish(as_publisher, patch, "publisher", "passer").findings == ()


def test_rolling_back_and_recompiling_pass_rights_on_too(as_publisher: Company) -> None:
    company = as_publisher
    published = publish(company, make_patch(run_as="system"), "admin")
    with company.database.transaction(company.tenant_id) as connection:
        row = connection.execute(
            "SELECT source_id::text FROM workflow_definitions WHERE id = %s", [published.definition_id]
        ).fetchone()
    assert row is not None
    patch_id, pete, ada = (
        UUID(str(row[0])),
        company.caller("pete", "publisher"),
        company.caller("ada", "admin"),
    )
    with pytest.raises(Rejected) as refused:
        company.definitions.roll_back(pete, patch_id)
    assert refused.value.code == "RUN_AS_BEYOND_OWN"
    with pytest.raises(Rejected) as refused:
        company.definitions.recompile(pete, published.definition_id)
    assert refused.value.code == "RUN_AS_BEYOND_OWN"
    again = company.definitions.recompile(ada, published.definition_id)
    back = company.definitions.roll_back(ada, patch_id)
    assert isinstance(again, Published) and isinstance(back, Published)
    assert again.compiled_hash == back.compiled_hash == published.compiled_hash


# --- the account itself ---


def test_an_account_that_cannot_be_used_is_a_finding(company: Company) -> None:
    def find_refusal() -> tuple[str, str, str]:
        with pytest.raises(Rejected) as refused:
            publish(company, as_account(), "admin")
        (mistake,) = refused.value.fields
        return refused.value.code, mistake.code, f"{mistake.pointer} {mistake.message}"

    place = "/slots/approved_to_active/nodes/0"
    code, mistake, sentence = find_refusal()
    assert (code, mistake) == ("DEFINITION_INVALID", "SERVICE_ACCOUNT_UNUSABLE")
    assert sentence.startswith(place) and "the tenant has no service account 'posting'" in sentence
    add_account(company, "posting", "clerk", owner="kim")
    set_account_status(company, "posting", "disabled")
    assert "'posting' is disabled" in find_refusal()[2]
    set_account_status(company, "posting", "active")
    disable_member(company, "kim")
    assert "kim, who owns the service account 'posting', is disabled" in find_refusal()[2]
    add_account(company, "posting", "clerk", owner="carl")
    assert publish(company, as_account(), "admin").findings == ()


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"run_as": "service_account"}, "SERVICE_ACCOUNT_MISSING"),
        ({"run_as": "system", "service_account": "posting"}, "SERVICE_ACCOUNT_UNEXPECTED"),
        ({"service_account": "posting"}, "SERVICE_ACCOUNT_UNEXPECTED"),
        ({"run_as": "service_account", "service_account": "No Name"}, "NODE_CONFIG_INVALID"),
    ],
)
def test_a_name_stands_exactly_where_a_step_runs_as_an_account(
    company: Company, config: dict[str, Any], code: str
) -> None:
    with pytest.raises(Rejected) as refused:
        publish(company, make_patch(**config), "admin")
    assert [mistake.code for mistake in refused.value.fields] == [code]
