"""A tenant's file: the values it may have, and a name for every error."""

from typing import Any

import pytest
from pydantic import ValidationError

from signet.core.tenants.tenant_file import TenantFile

BASE: dict[str, Any] = {"tenant_id": "01900000-0000-7000-8000-000000000001", "name": "acme"}
PERSON = {"user_id": "a", "display_name": "A"}
ACCOUNT = {"id": "erp", "label": "ERP", "roles": ["r"], "owner": "a"}
OF_ACCOUNT = {"roles": [{"role": "r", "permissions": []}], "members": [PERSON]}


def test_the_least_file() -> None:
    tenant = TenantFile.model_validate(BASE)
    assert (tenant.settings.currency, tenant.members) == ("EUR", ())


def test_custom_settings_carry_their_type() -> None:
    custom = {
        "limit": {"type": "int", "value": 5},
        "open": {"type": "bool", "value": True},
        "vendors": {"type": "list of string", "value": ["V"]},
    }
    assert len(TenantFile.model_validate({**BASE, "settings": {"custom": custom}}).settings.custom) == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"extra": 1}, "Extra inputs"),
        ({"tenant_id": "x"}, "valid UUID"),
        ({"settings": {"custom": {"n": {"type": "int", "value": True}}}}, "not of type 'int'"),
        ({"settings": {"custom": {"n": {"type": "bool", "value": 1}}}}, "not of type 'bool'"),
        ({"settings": {"custom": {"n": {"type": "string", "value": 1}}}}, "not of type 'string'"),
        ({"settings": {"custom": {"n": {"type": "list of int", "value": 1}}}}, "not of type 'list of int'"),
        ({"roles": [{"role": "r", "permissions": ["all"]}]}, "match pattern"),
        ({"roles": [{"role": "r", "permissions": []}] * 2}, "the role 'r' stands twice"),
        ({"members": [PERSON, PERSON]}, "the member 'a' stands twice"),
        ({"members": [PERSON, {**PERSON, "user_id": "A"}]}, "the ids 'A' and 'a' look alike"),
        ({"members": [PERSON, {**PERSON, "user_id": "\u0430"}]}, "look alike"),
        ({"members": [{**PERSON, "user_id": "a "}]}, "the id 'a ' begins or ends with a blank"),
        ({"members": [{**PERSON, "user_id": "a\ufe0f"}]}, "holds a character that nobody sees"),
        ({"members": [{**PERSON, "user_id": "a\x7f"}]}, "wants a person's name"),
        ({"members": [{**PERSON, "user_id": "Cli:postgres@local"}]}, "wants a person's name"),
        ({"members": [{**PERSON, "roles": ["ghost"]}]}, "unknown role 'ghost'"),
        ({"members": [{**PERSON, "manager": "ghost"}]}, "manager 'ghost' of a is not a member"),
        ({"members": [{**PERSON, "manager": "a"}]}, "comes back to a"),
        ({"members": [{**PERSON, "user_id": "service:erp"}]}, "wants a person's name"),
        ({**OF_ACCOUNT, "service_accounts": [ACCOUNT] * 2}, "the service account 'erp' stands twice"),
        (
            {**OF_ACCOUNT, "service_accounts": [{**ACCOUNT, "roles": ["ghost"]}]},
            "the service account erp has the unknown role 'ghost'",
        ),
        (
            {**OF_ACCOUNT, "service_accounts": [{**ACCOUNT, "owner": "ghost"}]},
            "the owner 'ghost' of the service account erp is not a member",
        ),
        ({**OF_ACCOUNT, "service_accounts": [{**ACCOUNT, "id": "No Name"}]}, "match pattern"),
        ({**OF_ACCOUNT, "service_accounts": [{**ACCOUNT, "roles": []}]}, "at least 1 item"),
        (
            {
                "members": [
                    {**PERSON, "manager": "b"},
                    {"user_id": "b", "display_name": "B", "manager": "c"},
                    {"user_id": "c", "display_name": "C", "manager": "b"},
                ]
            },
            "the reporting line of a comes back to b",
        ),
    ],
)
def test_a_mistake_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        TenantFile.model_validate({**BASE, **change})


def test_a_line_of_managers_is_fine() -> None:
    members = [PERSON, {"user_id": "b", "display_name": "B", "manager": "a"}]
    assert len(TenantFile.model_validate({**BASE, "members": members}).members) == 2


def test_a_service_account_has_roles_and_a_member_who_owns_it() -> None:
    tenant = TenantFile.model_validate({**BASE, **OF_ACCOUNT, "service_accounts": [ACCOUNT]})
    assert [(account.id, account.roles, account.owner) for account in tenant.service_accounts] == [
        ("erp", ("r",), "a")
    ]


def test_a_text_that_no_database_can_hold_is_a_mistake() -> None:
    with pytest.raises(ValidationError):
        TenantFile.model_validate({**BASE, "name": "ac\x00me"})
