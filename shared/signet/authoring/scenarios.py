"""Scenarios beside a workflow: documents, a script of outside events, and the expected results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field as Constraint
from pydantic import JsonValue

from signet.authoring.files import read_document
from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.contracts.contract import Contract
from signet.core.contracts.field_values import validate_fields
from signet.core.errors import FieldError
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import (
    SimulatedAccount,
    Simulation,
    WorldScript,
    find_script_mistakes,
    simulate,
)
from signet.core.tenants.tenant_file import TenantFile
from signet.core.tenants.tenant_names import DEFAULT_CALENDAR
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import Strict, parse_strictly
from signet.zones import find_zone

MAX_SCENARIOS = 1_000
MAX_CALENDARS = 10
DEFAULT_START = "2026-01-01T00:00:00.000000Z"

Answers = Mapping[str, str]


class Expectation(Strict):
    """The expected result; omitted parts are not compared. Nodes are named by the last part of their ids."""

    status: str | None = None
    document_status: str | None = None
    document: Mapping[str, JsonValue] = {}
    asked: tuple[str, ...] | None = None
    waiting: tuple[str, ...] | None = None
    path: tuple[str, ...] | None = None


class Scenario(Strict):
    name: Annotated[str, Constraint(min_length=1, max_length=200)]
    document: Mapping[str, JsonValue] = {}
    start: str = DEFAULT_START
    birth: str = "created"
    requests: tuple[str, ...] = ()
    approvals: Answers = {}
    events: Mapping[str, JsonValue] = {}
    effects: Answers = {}
    outputs: Mapping[str, JsonValue] = {}
    rules: Mapping[str, bool] = {}
    refs: Mapping[str, JsonValue] = {}
    payload: JsonValue = None
    actor: Mapping[str, JsonValue] = {"user_id": "simulated", "roles": []}
    permissions: tuple[str, ...] = ("*:*",)
    # The first is also the one of the tenant's settings.
    calendars: Annotated[tuple[BusinessCalendar, ...], Constraint(max_length=MAX_CALENDARS)] = ()
    expect: Expectation | None = None


class ScenarioFile(Strict):
    scenarios: Annotated[tuple[Scenario, ...], Constraint(min_length=1, max_length=MAX_SCENARIOS)]


def read_scenarios(path: Path) -> tuple[tuple[Scenario, ...], tuple[Finding, ...]]:
    document, findings = read_document(path)
    if findings:
        return (), findings
    file, findings = parse_strictly(ScenarioFile, document)
    return (file.scenarios if file else ()), findings


def list_simulated_accounts(tenant: TenantFile) -> dict[str, SimulatedAccount]:
    """List the service accounts of a tenant's file by id, with the permissions of their roles."""
    permissions = {role.role: role.permissions for role in tenant.roles}
    return {
        account.id: SimulatedAccount(
            account.roles, [permission for role in account.roles for permission in permissions[role]]
        )
        for account in tenant.service_accounts
    }


@dataclass(frozen=True, slots=True)
class ScenarioPlace:
    """The surroundings of scenarios: the workflow with its contract, the tenant's settings and accounts."""

    workflow: Workflow
    org: Mapping[str, Any]
    accounts: Mapping[str, SimulatedAccount] | None = None
    contract: Contract | None = None

    def run(self, scenario: Scenario) -> Simulation | list[FieldError]:
        """Run the scenario, or return what it says that the workflow or the contract does not fit."""
        script = self._make_script(scenario)
        document, mistakes = dict(scenario.document), find_script_mistakes(self.workflow, script)
        if self.contract is not None:
            read, wrong = validate_fields(self.contract.fields, document)
            mistakes += [replace(mistake, pointer=f"/document{mistake.pointer}") for mistake in wrong]
            document = read or document
        start = datetime.fromisoformat(scenario.start).astimezone(UTC)
        return mistakes or simulate(self.workflow, document, script, start)

    def _make_script(self, scenario: Scenario) -> WorldScript:
        return WorldScript(
            requests=scenario.requests,
            approvals=scenario.approvals,
            events=scenario.events,
            effects=scenario.effects,
            outputs=scenario.outputs,
            rules=scenario.rules,
            actor=scenario.actor,
            permissions=scenario.permissions,
            org=self.org,
            refs=scenario.refs,
            payload=scenario.payload,
            birth=scenario.birth,
            accounts=self.accounts,
            contract=self.contract,
            find_zone=find_zone,
            calendars=_name_calendars(scenario.calendars),
        )


def _name_calendars(calendars: Sequence[BusinessCalendar]) -> dict[str, BusinessCalendar]:
    first = {DEFAULT_CALENDAR: calendars[0]} if calendars else {}
    return first | {calendar.calendar: calendar for calendar in calendars}


def compare(expected: Expectation, simulation: Simulation) -> list[str]:
    """Return each difference in a sentence, and none if all is as expected."""
    actual: dict[str, Any] = {
        "status": simulation.status,
        "document_status": simulation.document_status,
        "asked": tuple(asked.node.rsplit(":", 1)[-1] for asked in simulation.asked),
        "waiting": tuple(wait.node.rsplit(":", 1)[-1] for wait in simulation.waiting),
        "path": tuple(shorten(step.step.node) for step in simulation.steps),
    }
    differences = [
        f"{name} is {actual[name]!r}, expected {wanted!r}"
        for name in actual
        if (wanted := getattr(expected, name)) is not None and wanted != actual[name]
    ]
    for name, value in expected.document.items():
        if simulation.document.get(name) != value:
            differences.append(f"document.{name} is {simulation.document.get(name)!r}, expected {value!r}")
    return differences


def shorten(node_id: str) -> str:
    """Return the last part of a node's id, or `policy` for a policy gate."""
    return "policy" if node_id.startswith("sys:policy:") else node_id.rsplit(":", 1)[-1]
