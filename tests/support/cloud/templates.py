"""Questions to templates, in words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Resource = Mapping[str, Any]
FUNCTIONS = {
    "api": "ApiFunction",
    "outbox_relay": "OutboxRelayFunction",
    "node_execution": "NodeExecutionFunction",
    "side_effect_io": "SideEffectIoFunction",
    "janitor": "JanitorFunction",
    "migrator": "MigratorFunction",
}


@dataclass(frozen=True)
class Assembly:
    environment: str
    templates: Mapping[str, Mapping[str, Any]]
    report: Mapping[str, Any]
    warnings: Sequence[str]

    def part(self, name: str) -> Mapping[str, Resource]:
        """Return the resources of one stack."""
        resources: Mapping[str, Resource] = self.templates[f"signet-{self.environment}-{name}"]["Resources"]
        return resources

    def all(self, kind: str) -> list[Resource]:
        return [
            resource
            for template in self.templates.values()
            for resource in template["Resources"].values()
            if resource["Type"] == kind
        ]

    def properties(self, kind: str) -> Mapping[str, Any]:
        """Return the properties of the only resource of this kind."""
        (only,) = self.all(kind)
        properties: Mapping[str, Any] = only["Properties"]
        return properties

    def function(self, name: str) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.part("app")[FUNCTIONS[name]]["Properties"]
        return properties

    def variables_of(self, name: str) -> Mapping[str, Any]:
        variables: Mapping[str, Any] = self.function(name)["Environment"]["Variables"]
        return variables

    def role_of(self, name: str) -> str:
        role: str = self.function(name)["Role"]["Fn::GetAtt"][0]
        return role

    def statements_of(self, name: str) -> list[Mapping[str, Any]]:
        """Return all statements of the function's role, allowing or denying."""
        return list(self.statements_of_role("app", self.role_of(name)))

    def statements_of_role(self, part: str, role: str) -> Iterator[Mapping[str, Any]]:
        for resource in self.part(part).values():
            is_policy = resource["Type"] == "AWS::IAM::Policy"
            if is_policy and {"Ref": role} in resource["Properties"]["Roles"]:
                yield from resource["Properties"]["PolicyDocument"]["Statement"]

    def allowed(self, name: str, action: str) -> list[str]:
        """Return the resources on which the function may do it, as text."""
        return [
            json.dumps(resource)
            for statement in self.statements_of(name)
            if statement["Effect"] == "Allow" and action in listed(statement["Action"])
            for resource in listed(statement.get("Resource", []))
        ]


def listed(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]
