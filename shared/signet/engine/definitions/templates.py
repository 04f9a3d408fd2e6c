"""Templates that a tenant may begin with, saved as drafts of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from signet.authoring.templates import Template, load_templates
from signet.core.compiler.patch import Automation, Patch
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import parse_body
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.definitions.contracts import ContractDraft, parse_contract_document, write_contract
from signet.engine.definitions.definitions import EDIT, EDIT_CONTRACT, READ, Draft, insert_draft
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.definitions.write import next_contract_version


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    name: str
    label: str
    summary: str
    entity_type: str | None
    has_patch: bool
    has_automation: bool


@dataclass(frozen=True, slots=True)
class UsedTemplate:
    """The drafts of a template; the contract must be published before the patch."""

    contract: ContractDraft | None
    definitions: Sequence[Draft]


@dataclass(frozen=True, slots=True)
class Templates:
    database: Database

    def list(self, principal: Principal) -> Sequence[TemplateRecord]:
        with reading(self.database, principal) as read:
            read.require(READ)
        return [_show(template) for template in load_templates().values()]

    def use(self, caller: Caller, name: str) -> UsedTemplate:
        """Save the contract as the next version of its type, and the patch pinned to that version."""
        with administering(self.database, caller) as act:
            act.require(EDIT_CONTRACT)
            act.require(EDIT)
            template = load_templates().get(name)
            if template is None:
                raise Rejected("TEMPLATE_NOT_FOUND", f"there is no template '{name}'")
            lock_administration(act.connection, caller.principal.tenant_id)
            contract = _save_contract(act, template)
            return UsedTemplate(contract, _save_definitions(act, template, contract))


def _save_contract(act: AdminTransaction, template: Template) -> ContractDraft | None:
    if template.contract is None:
        return None
    entity_type = template.contract["contract"]
    version = next_contract_version(act.connection, act.caller.principal.tenant_id, entity_type)
    contract, findings = parse_contract_document({**template.contract, "version": version})
    revision, digest = write_contract(act, contract)
    return ContractDraft(entity_type, version, revision, digest, findings)


def _save_definitions(
    act: AdminTransaction, template: Template, contract: ContractDraft | None
) -> list[Draft]:
    drafts = []
    if template.patch is not None:
        base: dict[str, Any] = {**template.patch["base"]}
        if contract is not None:
            base["envelope_version"] = contract.version
        patch = parse_body(Patch, {**template.patch, "base": base})
        drafts.append(insert_draft(act, "org_patch", patch))
    if template.automation is not None:
        drafts.append(insert_draft(act, "automation", parse_body(Automation, template.automation)))
    return drafts


def _show(template: Template) -> TemplateRecord:
    contract = template.contract
    return TemplateRecord(
        name=template.name,
        label=template.label,
        summary=template.summary,
        entity_type=contract["contract"] if contract is not None else None,
        has_patch=template.patch is not None,
        has_automation=template.automation is not None,
    )
