"""Drafts: changed only from the version last seen, with permission, and with a line in the audit trail."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.company import Company

# What the examples name is there.
pytestmark = pytest.mark.usefixtures("named_things")

Admin = Connection[tuple[Any, ...]]
PATCH = "invoice/patch.yaml"


def second(**changes: Any) -> dict[str, Any]:
    return read_example("invoice/contract.yaml") | {"version": 2, **changes}


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(Rejected) as caught:
        call()
    return caught.value.code


def test_a_contract_draft_is_replaced_by_who_has_seen_it(company: Company) -> None:
    caller, definitions = company.caller(), company.definitions
    draft = definitions.create_contract(caller, second())
    assert (draft.entity_type, draft.version, draft.revision) == ("invoice", 2, 1)
    assert refused(lambda: definitions.create_contract(caller, second())) == "DRAFT_EXISTS"
    replaced = definitions.replace_contract(caller, "invoice", 2, 1, second(label="Other"))
    assert replaced.revision == 2 and replaced.hash != draft.hash
    conflict = "DRAFT_VERSION_CONFLICT"
    assert refused(lambda: definitions.replace_contract(caller, "invoice", 2, 1, second())) == conflict
    assert refused(lambda: definitions.publish_contract(caller, "invoice", 2, 1)) == conflict
    assert refused(lambda: definitions.delete_contract(caller, "invoice", 2, 1)) == conflict
    other = second(version=3)
    assert (
        refused(lambda: definitions.replace_contract(caller, "invoice", 2, 2, other)) == "DEFINITION_INVALID"
    )
    assert definitions.publish_contract(caller, "invoice", 2, 2).version == 2
    assert refused(lambda: definitions.publish_contract(caller, "invoice", 2)) == "VERSION_FROZEN"
    assert (
        refused(lambda: definitions.replace_contract(caller, "invoice", 2, 3, second())) == "VERSION_FROZEN"
    )


def test_a_deleted_contract_draft_leaves_its_version_free(company: Company) -> None:
    caller, definitions = company.caller(), company.definitions
    definitions.create_contract(caller, second())
    definitions.delete_contract(caller, "invoice", 2, 1)
    assert refused(lambda: definitions.delete_contract(caller, "invoice", 2, 1)) == "ENTITY_TYPE_UNKNOWN"
    assert definitions.create_contract(caller, second()).revision == 2


def test_a_definition_draft_is_replaced_by_who_has_seen_it(company: Company) -> None:
    caller, definitions, patch = company.caller(), company.definitions, read_example(PATCH)
    draft = definitions.create(caller, "org_patch", patch, {"amount": [1, 2]})
    definitions.move_canvas(caller, draft.id, {"amount": [3, 4]})
    assert definitions.replace(caller, draft.id, 1, patch | {"label": "Other"}).revision == 2
    conflict = "DRAFT_VERSION_CONFLICT"
    assert refused(lambda: definitions.replace(caller, draft.id, 1, patch)) == conflict
    assert refused(lambda: definitions.publish(caller, draft.id, 1)) == conflict
    assert refused(lambda: definitions.delete(caller, draft.id, 1)) == conflict
    renamed = patch | {"patch": "another"}
    assert refused(lambda: definitions.replace(caller, draft.id, 2, renamed)) == "DEFINITION_INVALID"
    definitions.publish(caller, draft.id, 2)
    assert refused(lambda: definitions.replace(caller, draft.id, 3, patch)) == "VERSION_FROZEN"
    assert refused(lambda: definitions.delete(caller, draft.id, 3)) == "VERSION_FROZEN"


def test_a_deleted_draft_is_gone(company: Company) -> None:
    draft = company.definitions.create(company.caller(), "org_patch", read_example(PATCH))
    company.definitions.delete(company.caller(), draft.id, 1)
    gone = "DEFINITION_NOT_FOUND"
    assert refused(lambda: company.definitions.delete(company.caller(), draft.id, 1)) == gone


def test_what_cannot_be_kept_is_a_finding(company: Company) -> None:
    patch = read_example(PATCH)
    patch["slots"]["submitted_to_approved"]["nodes"][0]["label"] = "half \0 a label"
    with pytest.raises(Rejected) as caught:
        company.definitions.create(company.caller(), "org_patch", patch)
    (field,) = caught.value.fields
    assert field.pointer == "/slots/submitted_to_approved/nodes/0/label"
    assert field.code == "DOCUMENT_TEXT_INVALID" and field.remedy


def test_a_draft_that_does_not_compile_cannot_be_rolled_back_to_half_way(
    company: Company, admin: Admin
) -> None:
    """Create and publish the new version in one transaction: a failure leaves no draft behind."""
    patch_id = company.definitions.create(company.caller(), "org_patch", read_example(PATCH)).id
    company.definitions.publish(company.caller(), patch_id)
    company.publish("invoice", version=2)
    assert refused(lambda: company.definitions.roll_back(company.caller(), patch_id)) == "DEFINITION_INVALID"
    assert admin.execute("SELECT count(*) FROM workflow_definitions WHERE status = 'draft'").fetchone() == (
        0,
    )


def test_a_default_has_no_canvas(company: Company, admin: Admin) -> None:
    row = admin.execute("SELECT id FROM workflow_definitions WHERE is_default").fetchone()
    assert row is not None
    envelope: Any = row[0]
    assert (
        refused(lambda: company.definitions.move_canvas(company.caller(), envelope, {})) == "VERSION_FROZEN"
    )


ACTS: dict[str, tuple[str, Callable[[Company, Caller], object]]] = {
    "create_contract": ("contract:edit", lambda c, a: c.definitions.create_contract(a, second())),
    "replace_contract": (
        "contract:edit",
        lambda c, a: c.definitions.replace_contract(a, "invoice", 1, 1, second()),
    ),
    "delete_contract": ("contract:edit", lambda c, a: c.definitions.delete_contract(a, "invoice", 1, 1)),
    "publish_contract": ("contract:publish", lambda c, a: c.definitions.publish_contract(a, "invoice", 1)),
    "create": ("definition:edit", lambda c, a: c.definitions.create(a, "org_patch", read_example(PATCH))),
    "replace": ("definition:edit", lambda c, a: c.definitions.replace(a, uuid4(), 1, {})),
    "delete": ("definition:edit", lambda c, a: c.definitions.delete(a, uuid4(), 1)),
    "move_canvas": ("definition:edit", lambda c, a: c.definitions.move_canvas(a, uuid4(), {})),
    "publish": ("definition:publish", lambda c, a: c.definitions.publish(a, uuid4())),
    "archive": ("definition:publish", lambda c, a: c.definitions.archive(a, uuid4())),
    "roll_back": ("definition:publish", lambda c, a: c.definitions.roll_back(a, uuid4())),
    "recompile": ("definition:publish", lambda c, a: c.definitions.recompile(a, uuid4())),
}


@pytest.mark.parametrize("act", ACTS)
def test_each_act_wants_its_permission(company: Company, admin: Admin, act: str) -> None:
    """Refuse with all permissions but this one; with it, expect another answer."""
    permission, call = ACTS[act]
    others = {"contract:edit", "contract:publish", "definition:read", "definition:edit", "definition:publish"}
    for role, granted in (("all_but", others - {permission}), ("all", others)):
        admin.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, %s, %s)",
            [company.tenant_id, role, sorted(granted)],
        )
    with pytest.raises(Rejected) as caught:
        call(company, company.caller("eve", "all_but"))
    assert (caught.value.code, permission in caught.value.message) == ("PERMISSION_DENIED", True)
    try:
        call(company, company.caller("eve", "all"))
    except Rejected as rejected:
        assert rejected.code != "PERMISSION_DENIED"


def test_the_trail_says_who_did_it_and_by_which_call(company: Company, admin: Admin) -> None:
    company.definitions.create(company.caller("dora", "admin"), "org_patch", read_example(PATCH))
    rows = admin.execute(
        "SELECT actor_id, content::jsonb ->> 'trace_id' FROM audit_log WHERE action = 'save_draft'"
    ).fetchall()
    assert rows == [("dora", "00-test")]
