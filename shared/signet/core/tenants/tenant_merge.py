"""The next state of a tenant, from three: its file, the file that was installed last, and what is there.

What the file has changed is written. What people have changed since then stays as they left it, and is named.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from signet.core.tenants.tenant_file import Member, Role, ServiceAccount, TenantContent, TenantSettings

_CUSTOM = "custom."
_FIELDS = ("display_name", "email", "phone", "manager")
# What a tenant without any record of a file has installed: nothing is known of it.
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class MemberState:
    display_name: str
    email: str | None = None
    phone: str | None = None
    manager: str | None = None
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountState:
    label: str
    owner: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TenantState:
    """A tenant as its file states it. A setting of its own is named `custom.<name>`."""

    name: str
    settings: Mapping[str, Any]
    roles: Mapping[str, tuple[str, ...]]
    members: Mapping[str, MemberState]
    accounts: Mapping[str, AccountState] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class TenantMerge:
    """The state to write: of roles and members only those that change.

    `changes` says what changes, for the audit trail. `kept` says what differs from the file and stays.
    """

    name: str
    settings: TenantSettings
    roles: list[Role] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    accounts: list[ServiceAccount] = field(default_factory=list)
    changes: dict[str, Any] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    def note(self, part: str, name: str, change: Mapping[str, Any]) -> None:
        self.changes.setdefault(part, {})[name] = dict(change)


def state_of(content: TenantContent) -> TenantState:
    settings = flatten_settings(content.settings)
    if "four_eyes" not in content.settings.model_fields_set:
        # Silence about it leaves it as it is: no file switches it off unnoticed.
        del settings["four_eyes"]
    return TenantState(
        content.name,
        settings,
        {role.role: tuple(dict.fromkeys(role.permissions)) for role in content.roles},
        {
            member.user_id: MemberState(
                member.display_name,
                member.email,
                member.phone,
                member.manager,
                tuple(dict.fromkeys(member.roles)),
            )
            for member in content.members
        },
        {
            account.id: AccountState(account.label, account.owner, tuple(dict.fromkeys(account.roles)))
            for account in content.service_accounts
        },
    )


def parse_state(stored: Mapping[str, Any]) -> TenantState:
    """Parse the JSON that `to_json` wrote, maybe of an older release with fewer settings."""
    return TenantState(
        stored["name"],
        stored["settings"],
        {role: tuple(permissions) for role, permissions in stored["roles"].items()},
        {
            user_id: MemberState(**{**member, "roles": tuple(member["roles"])})
            for user_id, member in stored["members"].items()
        },
        {
            account_id: AccountState(**{**account, "roles": tuple(account["roles"])})
            for account_id, account in stored.get("accounts", {}).items()
        },
    )


def flatten_settings(settings: TenantSettings) -> dict[str, Any]:
    values = settings.model_dump(mode="json")
    own = {_CUSTOM + name: setting for name, setting in values.pop("custom").items()}
    return {**values, **own}


def merge_tenant(
    installed: TenantState | None, found: TenantState | None, wanted: TenantState
) -> TenantMerge:
    """Merge the file that is wanted into what was found, as seen from the file that was installed last.

    Where no installation is on record, all that is there stays, and only what is missing is added.
    """
    if found is None:
        found = TenantState("", flatten_settings(TenantSettings()), {}, {})
        installed = found
    base: Any = _UNKNOWN if installed is None else installed
    merge = TenantMerge(found.name, TenantSettings())
    merge.name = _choose(merge, "the name", _get(base, "name"), found.name, wanted.name)
    if merge.name != found.name:
        merge.changes["name"] = {"before": found.name or None, "after": merge.name}
    merge.settings = _merge_settings(merge, _get(base, "settings"), found.settings, wanted.settings)
    known = _merge_roles(merge, _get(base, "roles"), found.roles, wanted.roles)
    _merge_members(merge, _get(base, "members"), found.members, wanted.members, known)
    _merge_accounts(merge, _get(base, "accounts"), found.accounts, wanted.accounts, known)
    return merge


def _get(base: Any, part: str) -> Any:
    return base if base is _UNKNOWN else getattr(base, part)


def _choose(merge: TenantMerge, what: str, installed: Any, found: Any, wanted: Any) -> Any:
    """Choose the file's value where nobody has changed what it was installed with."""
    if found in (wanted, installed):
        return wanted
    merge.kept.append(f"{what} is not as in the file")
    return found


def _merge_settings(
    merge: TenantMerge, installed: Any, found: Mapping[str, Any], wanted: Mapping[str, Any]
) -> TenantSettings:
    merged: dict[str, Any] = {}
    # A file that was silent about a setting was installed with its default.
    base = {} if installed is _UNKNOWN else {**flatten_settings(TenantSettings()), **installed}
    for name in sorted({*found, *wanted, *base}):
        before = found.get(name)
        if name not in wanted and not name.startswith(_CUSTOM):
            if before is not None:
                merged[name] = before
            continue
        at_last = _UNKNOWN if installed is _UNKNOWN else base.get(name)
        if at_last is _UNKNOWN and before is None:
            at_last = None  # it is missing, and is added
        after = _choose(merge, f"the setting {name}", at_last, before, wanted.get(name))
        if after is not None:
            merged[name] = after
        if after != before:
            merge.note("settings", name, {"before": before, "after": after})
    own = {name.removeprefix(_CUSTOM): value for name, value in merged.items() if name.startswith(_CUSTOM)}
    common = {name: value for name, value in merged.items() if not name.startswith(_CUSTOM)}
    return TenantSettings.model_validate({**common, "custom": own})


def _merge_roles(
    merge: TenantMerge,
    installed: Any,
    found: Mapping[str, tuple[str, ...]],
    wanted: Mapping[str, tuple[str, ...]],
) -> set[str]:
    """Merge the roles of the file; return the names of all roles that there are then."""
    known = set(found)
    for role, permissions in wanted.items():
        before = found.get(role)
        if before is None and installed is not _UNKNOWN and role in installed:
            merge.kept.append(f"the role {role} was deleted")
            continue
        known.add(role)
        if before is None:
            after = permissions
        else:
            at_last = () if installed is _UNKNOWN else installed.get(role, ())
            knows = installed is not _UNKNOWN
            after = _merge_names(merge, f"the role {role}", at_last, before, permissions, knows=knows)
        if after != before:
            merge.roles.append(Role(role=role, permissions=after))
            held = None if before is None else list(before)
            merge.note("roles", role, {"permissions_before": held, "permissions": list(after)})
    return known


def _merge_members(
    merge: TenantMerge,
    installed: Any,
    found: Mapping[str, MemberState],
    wanted: Mapping[str, MemberState],
    known_roles: set[str],
) -> None:
    for user_id, member in wanted.items():
        before = found.get(user_id)
        if before is None:
            roles = _keep_known(merge, user_id, member.roles, known_roles)
            after = MemberState(member.display_name, member.email, member.phone, member.manager, roles)
        else:
            at_last = _UNKNOWN if installed is _UNKNOWN else installed.get(user_id, MemberState(""))
            after = _merge_member(merge, user_id, at_last, before, member, known_roles)
        if after != before:
            merge.members.append(Member(user_id=user_id, **asdict(after)))
            _note_member(merge, user_id, before, after)


def _merge_member(
    merge: TenantMerge,
    user_id: str,
    installed: Any,
    found: MemberState,
    wanted: MemberState,
    known_roles: set[str],
) -> MemberState:
    values = {}
    for name in _FIELDS:
        at_last, now, new = _get(installed, name), getattr(found, name), getattr(wanted, name)
        values[name] = _choose(merge, f"the {name} of {user_id}", at_last, now, new)
    knows = installed is not _UNKNOWN
    had = installed.roles if knows else ()
    roles = _merge_names(merge, user_id, had, found.roles, wanted.roles, knows=knows)
    added = _keep_known(merge, user_id, [role for role in roles if role not in found.roles], known_roles)
    return MemberState(**values, roles=tuple(role for role in roles if role in (*found.roles, *added)))


def _merge_accounts(
    merge: TenantMerge,
    installed: Any,
    found: Mapping[str, AccountState],
    wanted: Mapping[str, AccountState],
    known_roles: set[str],
) -> None:
    for account_id, account in wanted.items():
        holder, before = f"the service account {account_id}", found.get(account_id)
        if before is None:
            after = replace(account, roles=_keep_known(merge, holder, account.roles, known_roles))
        else:
            at_last = _UNKNOWN if installed is _UNKNOWN else installed.get(account_id, AccountState("", ""))
            after = _merge_account(merge, holder, at_last, before, account, known_roles)
        # An account without any role could do nothing, and is left as it is, or out.
        if after != before and after.roles:
            merge.accounts.append(ServiceAccount(id=account_id, **asdict(after)))
            roles = list(before.roles) if before else []
            change: dict[str, Any] = {"roles_before": roles, "roles": list(after.roles)}
            change |= {"owner_before": before.owner if before else None, "owner": after.owner}
            merge.note("service_accounts", account_id, change)


def _merge_account(
    merge: TenantMerge,
    holder: str,
    installed: Any,
    found: AccountState,
    wanted: AccountState,
    known_roles: set[str],
) -> AccountState:
    label = _choose(merge, f"the label of {holder}", _get(installed, "label"), found.label, wanted.label)
    owner = _choose(merge, f"the owner of {holder}", _get(installed, "owner"), found.owner, wanted.owner)
    knows = installed is not _UNKNOWN
    had = installed.roles if knows else ()
    roles = _merge_names(merge, holder, had, found.roles, wanted.roles, knows=knows)
    added = _keep_known(merge, holder, [role for role in roles if role not in found.roles], known_roles)
    return AccountState(label, owner, tuple(role for role in roles if role in (*found.roles, *added)))


def _keep_known(
    merge: TenantMerge, user_id: str, roles: Iterable[str], known_roles: set[str]
) -> tuple[str, ...]:
    kept = tuple(role for role in roles if role in known_roles)
    missing = [role for role in roles if role not in known_roles]
    merge.kept += [f"{user_id} is without '{role}', which the file gives" for role in missing]
    return kept


def _merge_names(
    merge: TenantMerge,
    holder: str,
    installed: tuple[str, ...],
    found: tuple[str, ...],
    wanted: tuple[str, ...],
    *,
    knows: bool,
) -> tuple[str, ...]:
    """Merge what a role or a member holds: add what the file gives newly, take what it no longer gives."""
    added = [name for name in wanted if knows and name not in installed and name not in found]
    taken = {name for name in installed if name not in wanted}
    merged = (*(name for name in found if name not in taken), *added)
    given, missing = [n for n in merged if n not in wanted], [n for n in wanted if n not in merged]
    merge.kept += [f"{holder} has '{name}', which the file does not give" for name in given]
    merge.kept += [f"{holder} is without '{name}', which the file gives" for name in missing]
    return merged


def _note_member(merge: TenantMerge, user_id: str, before: MemberState | None, after: MemberState) -> None:
    """Note a change without names and addresses, because audit rows stay for ever."""
    changed = [
        name
        for name in (*_FIELDS, "roles")
        if before is None or getattr(before, name) != getattr(after, name)
    ]
    change: dict[str, Any] = {
        "changed": changed,
        "roles_before": list(before.roles) if before else [],
        "roles": list(after.roles),
    }
    if "manager" in changed:
        change |= {"manager_before": before.manager if before else None, "manager": after.manager}
    merge.note("members", user_id, change)
