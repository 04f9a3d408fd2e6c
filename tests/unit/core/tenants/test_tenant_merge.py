"""A tenant's file meets what was installed before, and what people have changed since."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from signet.core.tenants.tenant_file import TenantContent
from signet.core.tenants.tenant_merge import TenantMerge, TenantState, merge_tenant, parse_state, state_of

FILE: Mapping[str, Any] = {
    "name": "acme",
    "settings": {"currency": "EUR", "custom": {"limit": {"type": "int", "value": 5}}},
    "roles": [
        {"role": "clerk", "permissions": ["invoice:create", "invoice:edit"]},
        {"role": "manager", "permissions": ["invoice:approve"]},
    ],
    "members": [
        {"user_id": "mona", "display_name": "Mona", "roles": ["manager"]},
        {"user_id": "carl", "display_name": "Carl", "roles": ["clerk"], "manager": "mona"},
    ],
}


def make(**changes: Any) -> TenantState:
    return state_of(TenantContent.model_validate({**FILE, **changes}))


def with_carl(**changes: Any) -> TenantState:
    return make(members=[FILE["members"][0], {**FILE["members"][1], **changes}])


SAME = make()


def roles_of(merge: TenantMerge) -> dict[str, tuple[str, ...]]:
    return {member.user_id: member.roles for member in merge.members}


def test_a_new_tenant_is_what_its_file_says() -> None:
    merge = merge_tenant(None, None, SAME)
    assert (merge.name, merge.settings.currency) == ("acme", "EUR")
    other = merge_tenant(None, None, make(settings={"currency": "USD", "four_eyes": True}))
    assert (other.settings.currency, other.settings.four_eyes, other.kept) == ("USD", True, [])
    assert merge.settings.custom["limit"].value == 5
    assert [role.role for role in merge.roles] == ["clerk", "manager"]
    assert roles_of(merge) == {"mona": ("manager",), "carl": ("clerk",)}
    assert merge.kept == []
    assert merge.changes["name"] == {"before": None, "after": "acme"}
    assert merge.changes["roles"]["manager"] == {
        "permissions_before": None,
        "permissions": ["invoice:approve"],
    }
    assert merge.changes["members"]["carl"] == {
        "changed": ["display_name", "email", "phone", "manager", "roles"],
        "roles_before": [],
        "roles": ["clerk"],
        "manager_before": None,
        "manager": "mona",
    }


def test_the_same_again_changes_nothing() -> None:
    merge = merge_tenant(SAME, SAME, SAME)
    assert (merge.changes, merge.kept, merge.roles, merge.members) == ({}, [], [], [])


def test_what_the_file_changes_is_written() -> None:
    wanted = make(
        name="acme two",
        settings={"currency": "USD"},
        roles=[{"role": "clerk", "permissions": ["invoice:edit", "invoice:read"]}, FILE["roles"][1]],
        members=[
            {"user_id": "mona", "display_name": "Mona", "roles": ["manager", "clerk"]},
            {"user_id": "carl", "display_name": "Carl", "email": "carl@a.example"},
            {"user_id": "dora", "display_name": "Dora", "roles": ["clerk"]},
        ],
    )
    merge = merge_tenant(SAME, SAME, wanted)
    assert (merge.name, merge.settings.currency, merge.settings.custom) == ("acme two", "USD", {})
    assert [(role.role, role.permissions) for role in merge.roles] == [
        ("clerk", ("invoice:edit", "invoice:read"))
    ]
    assert roles_of(merge) == {"mona": ("manager", "clerk"), "carl": (), "dora": ("clerk",)}
    assert merge.changes["settings"] == {
        "currency": {"before": "EUR", "after": "USD"},
        "custom.limit": {"before": {"type": "int", "value": 5}, "after": None},
    }
    assert merge.changes["members"]["carl"]["changed"] == ["email", "manager", "roles"]
    assert "carl@a.example" not in str(merge.changes), "what is noted stays for ever"
    assert merge.kept == []


def test_what_people_changed_since_stays_and_is_named() -> None:
    found = make(
        name="renamed",
        settings={"currency": "CHF", "custom": {}},
        roles=[{"role": "clerk", "permissions": ["invoice:create", "invoice:read"]}],
        members=[
            {"user_id": "mona", "display_name": "Mona M.", "email": "mona@a.example"},
            {"user_id": "carl", "display_name": "Carl", "roles": ["clerk"]},
        ],
    )
    found = replace(found, members={**found.members, "mona": replace(found.members["mona"], roles=("boss",))})
    merge = merge_tenant(SAME, found, SAME)
    assert merge.changes == {} and merge.roles == [] and merge.members == []
    assert (merge.name, merge.settings.currency) == ("renamed", "CHF")
    assert merge.kept == [
        "the name is not as in the file",
        "the setting currency is not as in the file",
        "the setting custom.limit is not as in the file",
        "the role clerk has 'invoice:read', which the file does not give",
        "the role clerk is without 'invoice:edit', which the file gives",
        "the role manager was deleted",
        "the display_name of mona is not as in the file",
        "the email of mona is not as in the file",
        "mona has 'boss', which the file does not give",
        "mona is without 'manager', which the file gives",
        "the manager of carl is not as in the file",
    ]


def test_what_both_changed_stays_as_people_left_it() -> None:
    merge = merge_tenant(SAME, with_carl(display_name="Carlo"), with_carl(display_name="Carla", roles=[]))
    assert merge.members[0].display_name == "Carlo" and roles_of(merge) == {"carl": ()}
    assert merge.kept == ["the display_name of carl is not as in the file"]


def test_a_role_that_was_given_since_is_not_taken_and_one_that_was_taken_is_not_given() -> None:
    merge = merge_tenant(SAME, with_carl(roles=["manager"]), SAME)
    assert roles_of(merge) == {}
    # The file gives another one now: that alone is added.
    merge = merge_tenant(with_carl(roles=[]), with_carl(roles=["manager"]), with_carl(roles=["clerk"]))
    assert roles_of(merge) == {"carl": ("manager", "clerk")}
    assert merge.kept == ["carl has 'manager', which the file does not give"]


def test_a_role_that_was_deleted_is_given_to_nobody() -> None:
    found = make(roles=[FILE["roles"][1]], members=[FILE["members"][0]])
    merge = merge_tenant(SAME, found, SAME)
    assert merge.roles == [] and roles_of(merge) == {"carl": ()}
    assert merge.kept == [
        "the role clerk was deleted",
        "carl is without 'clerk', which the file gives",
    ]


def test_a_member_who_was_made_since_keeps_their_own() -> None:
    """Give the roles to a member that the file names newly, and change nothing else that is written."""
    installed = make(members=[FILE["members"][0]])
    merge = merge_tenant(installed, with_carl(display_name="Carlo", roles=["manager"], manager=None), SAME)
    (carl,) = merge.members
    assert (carl.display_name, carl.roles, carl.manager) == ("Carlo", ("manager", "clerk"), "mona")


@pytest.mark.parametrize("found", [with_carl(roles=["manager"]), with_carl(email="carl@a.example", roles=[])])
def test_without_a_record_all_that_is_there_stays(found: TenantState) -> None:
    found = replace(found, name="renamed", settings={**found.settings, "currency": "CHF"})
    wanted = make(
        settings={"custom": {**FILE["settings"]["custom"], "open": {"type": "bool", "value": True}}},
        roles=[*FILE["roles"], {"role": "reader", "permissions": ["invoice:read"]}],
        members=[*FILE["members"], {"user_id": "dora", "display_name": "Dora", "roles": ["reader"]}],
    )
    merge = merge_tenant(None, found, wanted)
    assert (merge.name, merge.settings.currency, set(merge.settings.custom)) == (
        "renamed",
        "CHF",
        {"limit", "open"},
    )
    assert [role.role for role in merge.roles] == ["reader"]
    assert roles_of(merge) == {"dora": ("reader",)}
    assert merge.kept


def test_without_a_record_the_same_is_no_change() -> None:
    merge = merge_tenant(None, SAME, SAME)
    assert (merge.changes, merge.kept) == ({}, [])


def test_a_state_is_kept_as_json_and_read_by_a_later_release() -> None:
    stored = SAME.to_json()
    assert parse_state(stored) == SAME
    del stored["settings"]["language"]
    assert merge_tenant(parse_state(stored), SAME, SAME).changes == {}
    german = make(settings={**FILE["settings"], "language": "de"})
    assert merge_tenant(parse_state(stored), SAME, german).settings.language == "de"


def test_silence_about_four_eyes_leaves_them_open() -> None:
    """Switch nothing off by leaving it out; a file that says so does."""
    on, silent, off = (
        make(settings={**FILE["settings"], **more})
        for more in ({"four_eyes": True}, {}, {"four_eyes": False})
    )
    assert merge_tenant(on, on, silent).settings.four_eyes is True
    assert merge_tenant(on, on, silent).changes == {}
    assert merge_tenant(silent, on, silent).kept == []
    assert merge_tenant(on, on, off).settings.four_eyes is False
    # The tenant has a value, also where its file was silent.
    assert merge_tenant(silent, off, on).settings.four_eyes is True
    assert merge_tenant(silent, on, off).settings.four_eyes is True


ACCOUNTS = [{"id": "posting", "label": "Posting", "roles": ["clerk"], "owner": "mona"}]


def test_service_accounts_are_merged_like_members() -> None:
    with_account = make(service_accounts=ACCOUNTS)
    (account,) = merge_tenant(SAME, SAME, with_account).accounts
    assert (account.id, account.roles, account.owner) == ("posting", ("clerk",), "mona")
    assert merge_tenant(with_account, with_account, with_account).changes == {}
    assert parse_state(with_account.to_json()) == with_account

    taken_over = make(service_accounts=[{**ACCOUNTS[0], "owner": "carl", "roles": ["manager"]}])
    merge = merge_tenant(with_account, taken_over, with_account)
    assert merge.changes == {} and merge.kept == [
        "the owner of the service account posting is not as in the file",
        "the service account posting has 'manager', which the file does not give",
        "the service account posting is without 'clerk', which the file gives",
    ]
    more = make(service_accounts=[{**ACCOUNTS[0], "label": "Books", "roles": ["clerk", "manager"]}])
    merge = merge_tenant(with_account, with_account, more)
    assert merge.changes["service_accounts"]["posting"] == {
        "roles_before": ["clerk"],
        "roles": ["clerk", "manager"],
        "owner_before": "mona",
        "owner": "mona",
    }
    assert merge.accounts[0].label == "Books"


def test_a_service_account_whose_roles_are_gone_is_left_out() -> None:
    found = make(roles=[FILE["roles"][1]], members=[FILE["members"][0]])
    merge = merge_tenant(SAME, found, make(service_accounts=ACCOUNTS))
    assert merge.accounts == []
    assert "the service account posting is without 'clerk', which the file gives" in merge.kept
