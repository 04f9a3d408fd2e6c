"""The simulation of a definition: in memory, over one document, with a script of outside events.

Steps, the size of the request and the size of the evidence in the answer are bounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.compiler.artifact import Artifact
from signet.core.contracts.contract import Contract
from signet.core.contracts.field_values import validate_fields
from signet.core.errors import FieldError, Rejected
from signet.core.previews.simulation_report import write_simulation_report
from signet.core.simulation import SimulatedAccount, WorldScript
from signet.core.tenants.principal import Principal
from signet.core.tenants.service_accounts import UNUSABLE
from signet.core.tenants.tenant_names import NamedKind, list_mentions
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.calendars.stored_calendars import read_stored_calendar
from signet.engine.definitions.compilation import find_newest_contract, read_settings
from signet.engine.definitions.definitions import READ
from signet.engine.definitions.designer.preview import read_contract_of, read_workflow, require_readable
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls, choose_place
from signet.store.calendars.calendars import find_in_force
from signet.store.database import Database
from signet.store.tenants.service_accounts import (
    RunningAccountRow,
    find_running_problem,
    read_running_accounts,
)
from signet.zones import find_zone

MAX_STEPS = 1_000
MAX_SENT_BYTES, MAX_SENT_DEPTH = 262_144, 30


@dataclass(frozen=True, slots=True)
class SimulationInput:
    """The document as it would be made, and the script of outside events."""

    document: Mapping[str, Any]
    # None means now.
    start: datetime | None = None
    birth: str = "created"
    requests: Sequence[str] = ()
    approvals: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, Any] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, bool] = field(default_factory=dict)
    refs: Mapping[str, Any] = field(default_factory=dict)
    payload: Any = None
    user_id: str = "simulated"
    roles: Sequence[str] = ()
    permissions: Sequence[str] = ("*:*",)
    max_steps: int = MAX_STEPS


@dataclass(frozen=True, slots=True)
class DefinitionSimulation:
    database: Database
    calls: HeavyCalls = IN_PLACE

    def run(self, principal: Principal, definition_id: UUID, simulation_input: SimulationInput) -> str:
        """Return the report of a simulation as JSON, for it may be long and was written elsewhere."""
        _require_bounded(simulation_input)
        with reading(self.database, principal) as read:
            read.require(READ)
            # Any of them may be long: what it does follows from its script, and not from its size.
            place = choose_place(self.calls, read.connection, principal.tenant_id, is_large=True)
            artifact = read_workflow(read, require_readable(read, definition_id), self.calls)
            contract = read_contract_of(read, artifact) or find_newest_contract(
                read.connection, principal.tenant_id, artifact.content["entity_type"]
            )
            now = simulation_input.start or read.transaction.now
            script = _make_script(read, artifact, contract, simulation_input)
            document = _require_document(contract, simulation_input)
            max_steps = min(simulation_input.max_steps, MAX_STEPS)
            return place.call(write_simulation_report, artifact, document, script, now, max_steps)


def _require_bounded(simulation_input: SimulationInput) -> None:
    sent = [
        simulation_input.document,
        simulation_input.events,
        simulation_input.outputs,
        simulation_input.refs,
        simulation_input.payload,
    ]
    if _is_deep(sent):
        raise Rejected("REQUEST_INVALID", f"nothing may be nested deeper than {MAX_SENT_DEPTH} levels")
    if len(orjson.dumps(sent)) > MAX_SENT_BYTES:
        raise Rejected("BODY_TOO_LARGE", f"a simulation takes at most {MAX_SENT_BYTES} bytes of input")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_SENT_DEPTH + 2):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _require_document(contract: Contract | None, simulation_input: SimulationInput) -> Mapping[str, Any]:
    if contract is None:
        return simulation_input.document
    if simulation_input.birth == "amended" and contract.amendment is None:
        where = FieldError("/birth", "AMENDMENT_MISSING", "the contract allows no amendments")
        raise Rejected(
            "REQUEST_INVALID", "A document of this type cannot begin as an amendment.", fields=(where,)
        )
    document, mistakes = validate_fields(contract.fields, dict(simulation_input.document))
    if document is None:
        fields = tuple(
            FieldError(f"/document{mistake.pointer}", mistake.code, mistake.message) for mistake in mistakes
        )
        raise Rejected("FIELDS_INVALID", "the contract does not allow this document", fields=fields)
    return document


def _make_script(
    read: ReadTransaction, artifact: Artifact, contract: Contract | None, simulation_input: SimulationInput
) -> WorldScript:
    tenant_id = read.principal.tenant_id
    values = read_settings(read.connection, tenant_id).make_values()
    return WorldScript(
        requests=simulation_input.requests,
        approvals=simulation_input.approvals,
        events=simulation_input.events,
        effects=simulation_input.effects,
        outputs=simulation_input.outputs,
        rules=simulation_input.rules,
        actor={"user_id": simulation_input.user_id, "roles": list(simulation_input.roles)},
        permissions=simulation_input.permissions,
        org={**values, "id": str(tenant_id), "name": read.transaction.tenant_name},
        refs=simulation_input.refs,
        payload=simulation_input.payload,
        birth=simulation_input.birth,
        accounts=_read_accounts(read, artifact),
        contract=contract,
        find_zone=find_zone,
        calendars=_read_calendars(read, artifact),
    )


def _read_calendars(read: ReadTransaction, artifact: Artifact) -> dict[str, BusinessCalendar]:
    """Read the calendars that the workflow counts in, as they are now."""
    mentions = list_mentions(artifact.content["nodes"])
    names = {mention.name for mention in mentions if mention.kind is NamedKind.CALENDAR}
    found = {name: find_in_force(read.connection, read.principal.tenant_id, name or None) for name in names}
    return {
        name: read_stored_calendar(row.name, row.body)
        for name, row in found.items()
        if row.name is not None and row.body is not None
    }


def _read_accounts(read: ReadTransaction, artifact: Artifact) -> dict[str, SimulatedAccount]:
    """Read the service accounts that the workflow names, as they are now."""
    named = (node["config"].get("service_account") for node in artifact.content["nodes"].values())
    names = {str(name) for name in named if name is not None}
    rows = read_running_accounts(read.connection, read.principal.tenant_id, names) if names else {}
    return {name: _make_account(name, rows.get(name)) for name in names}


def _make_account(name: str, row: RunningAccountRow | None) -> SimulatedAccount:
    problem = find_running_problem(name, row)
    if row is None or problem is not None:
        return SimulatedAccount(problem=f"{UNUSABLE}: {problem}")
    return SimulatedAccount(row.roles, [p for role in row.roles for p in row.permissions.get(role, ())])
