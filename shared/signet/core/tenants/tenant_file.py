"""A tenant as its file states it: settings, roles, members and reporting lines."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, JsonValue, model_validator

from signet.core.tenants.allowed_hosts import HostPattern
from signet.core.tenants.user_id import UserId, find_alike, find_id_problem
from signet.core.validation.strict_model import MAX_SAFE_INTEGER, Name, Permission, Strict, is_absent
from signet.core.validation.text import find_text_problem

MAX_MEMBERS = 1_000
MAX_ROLES = 200
MAX_PERMISSIONS = 500
MAX_SERVICE_ACCOUNTS = 100
MAX_CUSTOM_SETTINGS = 200
MAX_WEBHOOK_HOSTS = 100
MAX_SETTING_CHARACTERS = 10_000
MAX_SETTING_ITEMS = 1_000


def _check_text(text: str) -> str:
    problem = find_text_problem(text)
    if problem is not None:
        raise ValueError(problem)
    return text


Text = Annotated[str, AfterValidator(_check_text)]
DisplayName = Annotated[Text, Field(min_length=1, max_length=200)]
Email = Annotated[Text, Field(min_length=3, max_length=320)]
Phone = Annotated[
    str, Field(pattern=r"^\+[1-9][0-9]{6,14}$", description="In the form of E.164, such as +4915112345678.")
]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
TimeZone = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=64,
        description="A name of the IANA database, such as Europe/Berlin. Another one moves no open wait.",
    ),
]
Language = Annotated[str, Field(pattern=r"^[a-z]{2}(-[A-Z]{2})?$")]
SettingType = Literal["string", "int", "bool", "date", "timestamp", "list of string", "list of int"]


class CustomSetting(Strict):
    """A setting of the tenant's own; expressions read it as `org.<name>` with this type."""

    type: SettingType
    value: JsonValue

    @model_validator(mode="after")
    def _value_has_type(self) -> "CustomSetting":
        if not _fits(self.type, self.value):
            raise ValueError(f"the value is not of type '{self.type}'")
        return self


def _fits(setting_type: str, value: object) -> bool:
    item_type = setting_type.removeprefix("list of ")
    if item_type != setting_type:
        if not isinstance(value, list) or len(value) > MAX_SETTING_ITEMS:
            return False
        return all(_fits(item_type, item) for item in value)
    if item_type == "bool":
        return isinstance(value, bool)
    if item_type == "int":
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_SAFE_INTEGER
    if not isinstance(value, str) or len(value) > MAX_SETTING_CHARACTERS:
        return False
    return find_text_problem(value) is None


WebhookHosts = Annotated[
    tuple[HostPattern, ...],
    Field(
        strict=False,
        fail_fast=True,
        max_length=MAX_WEBHOOK_HOSTS,
        description="The only hosts that workflows may call; by default all of the public internet.",
    ),
]


FourEyes = Annotated[
    bool,
    Field(
        description="Whether each change of contracts, definitions, chains, endpoints, rules and settings"
        " takes two people. One person switches it on; switching it off takes two."
    ),
]


DefaultCalendar = Annotated[
    Name, Field(description="The business calendar of waits and approvals that name none.")
]


class TenantSettings(Strict):
    currency: Currency = "EUR"
    time_zone: TimeZone = "UTC"
    language: Language = "en"
    custom: Annotated[Mapping[Name, CustomSetting], Field(max_length=MAX_CUSTOM_SETTINGS)] = {}
    webhook_hosts: WebhookHosts = ()
    four_eyes: FourEyes = False
    # Left out where there is none: settings from before it stay as they are.
    calendar: Annotated[DefaultCalendar | None, Field(exclude_if=is_absent)] = None

    def make_values(self) -> dict[str, Any]:
        """Return the values of `org` in expressions, without the id and the name of the tenant.

        No condition reads `four_eyes`: it guards the conditions themselves.
        """
        own = {name: setting.value for name, setting in self.custom.items()}
        return {**own, "currency": self.currency, "time_zone": self.time_zone, "language": self.language}


class Member(Strict):
    user_id: UserId
    display_name: DisplayName
    email: Email | None = None
    phone: Phone | None = None
    roles: Annotated[tuple[Name, ...], Field(strict=False, max_length=MAX_ROLES)] = ()
    manager: UserId | None = None


class Role(Strict):
    role: Name
    permissions: Annotated[tuple[Permission, ...], Field(strict=False, max_length=MAX_PERMISSIONS)]


class ServiceAccount(Strict):
    """An account that steps of definitions run as; a member owns it."""

    id: Name
    label: DisplayName
    roles: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=MAX_ROLES)]
    owner: UserId


class TenantContent(Strict):
    name: DisplayName
    settings: TenantSettings = TenantSettings()
    roles: Annotated[tuple[Role, ...], Field(strict=False, max_length=MAX_ROLES)] = ()
    members: Annotated[tuple[Member, ...], Field(strict=False, max_length=MAX_MEMBERS)] = ()
    service_accounts: Annotated[
        tuple[ServiceAccount, ...], Field(strict=False, max_length=MAX_SERVICE_ACCOUNTS)
    ] = ()

    @model_validator(mode="after")
    def _names_agree(self) -> "TenantContent":
        mistakes = [*_doubled("role", [r.role for r in self.roles])]
        mistakes += _doubled("member", [m.user_id for m in self.members])
        mistakes += _unclear_ids([m.user_id for m in self.members])
        roles, users = {r.role for r in self.roles}, {m.user_id for m in self.members}
        for member in self.members:
            mistakes += [
                f"{member.user_id} has the unknown role '{role}'"
                for role in member.roles
                if role not in roles
            ]
            if member.manager is not None and member.manager not in users:
                mistakes.append(f"the manager '{member.manager}' of {member.user_id} is not a member")
        mistakes += _reporting_circles({m.user_id: m.manager for m in self.members})
        mistakes += _mistaken_accounts(self.service_accounts, roles, users)
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self


class TenantFile(TenantContent):
    tenant_id: Annotated[UUID, Field(strict=False)]


def _doubled(kind: str, names: list[str]) -> list[str]:
    return [f"the {kind} '{name}' stands twice" for name in sorted({n for n in names if names.count(n) > 1})]


def _mistaken_accounts(
    accounts: Iterable[ServiceAccount], roles: Collection[str], users: Collection[str]
) -> Iterator[str]:
    accounts = list(accounts)
    yield from _doubled("service account", [account.id for account in accounts])
    for account in accounts:
        for role in account.roles:
            if role not in roles:
                yield f"the service account {account.id} has the unknown role '{role}'"
        if account.owner not in users:
            yield f"the owner '{account.owner}' of the service account {account.id} is not a member"


def _unclear_ids(user_ids: list[str]) -> list[str]:
    problems = ((user_id, find_id_problem(user_id)) for user_id in user_ids)
    unclear = [f"the id '{user_id}' {problem}" for user_id, problem in problems if problem]
    return [
        *unclear,
        *(f"the ids '{later}' and '{first}' look alike" for later, first in find_alike(user_ids)),
    ]


def _reporting_circles(managers: Mapping[str, str | None]) -> list[str]:
    """Find reporting circles: nobody may be their own manager at any distance."""
    for user_id in managers:
        seen, person = {user_id}, managers[user_id]
        while person is not None and person in managers:
            if person in seen:
                return [f"the reporting line of {user_id} comes back to {person}"]
            seen.add(person)
            person = managers[person]
    return []
