"""What a tenant is made of, as its file states it: settings, roles, members and who reports to whom."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, JsonValue, model_validator

from signet.core.strict import Name, Permission, Strict

MAX_MEMBERS = 1_000
MAX_ROLES = 200
MAX_PERMISSIONS = 500
MAX_CUSTOM_SETTINGS = 200

UserId = Annotated[str, Field(min_length=1, max_length=200)]
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
        return isinstance(value, list) and all(_fits(item_type, item) for item in value)
    if item_type == "bool":
        return isinstance(value, bool)
    if item_type == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str)


class TenantSettings(Strict):
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "EUR"
    time_zone: Annotated[str, Field(min_length=1, max_length=64)] = "UTC"
    language: Annotated[str, Field(pattern=r"^[a-z]{2}(-[A-Z]{2})?$")] = "en"
    custom: Annotated[Mapping[Name, CustomSetting], Field(max_length=MAX_CUSTOM_SETTINGS)] = {}

    def read_values(self) -> dict[str, Any]:
        """What `org.*` gives in an expression, apart from the tenant's id and name."""
        own = {name: setting.value for name, setting in self.custom.items()}
        return {**own, "currency": self.currency, "time_zone": self.time_zone, "language": self.language}


class Member(Strict):
    user_id: UserId
    display_name: Annotated[str, Field(min_length=1, max_length=200)]
    email: Annotated[str, Field(min_length=3, max_length=320)] | None = None
    roles: Annotated[tuple[Name, ...], Field(strict=False, max_length=MAX_ROLES)] = ()
    manager: UserId | None = None


class Role(Strict):
    role: Name
    permissions: Annotated[tuple[Permission, ...], Field(strict=False, max_length=MAX_PERMISSIONS)]


class TenantFile(Strict):
    tenant_id: Annotated[UUID, Field(strict=False)]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    settings: TenantSettings = TenantSettings()
    roles: Annotated[tuple[Role, ...], Field(strict=False, max_length=MAX_ROLES)] = ()
    members: Annotated[tuple[Member, ...], Field(strict=False, max_length=MAX_MEMBERS)] = ()

    @model_validator(mode="after")
    def _names_agree(self) -> "TenantFile":
        mistakes = [*_doubled("role", [r.role for r in self.roles])]
        mistakes += _doubled("member", [m.user_id for m in self.members])
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
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self


def _doubled(kind: str, names: list[str]) -> list[str]:
    return [f"the {kind} '{name}' stands twice" for name in sorted({n for n in names if names.count(n) > 1})]


def _reporting_circles(managers: Mapping[str, str | None]) -> list[str]:
    """Nobody may be their own manager, however many steps up."""
    for user_id in managers:
        seen, person = {user_id}, managers[user_id]
        while person is not None and person in managers:
            if person in seen:
                return [f"the reporting line of {user_id} comes back to {person}"]
            seen.add(person)
            person = managers[person]
    return []
