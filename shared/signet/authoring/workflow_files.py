"""A folder of author files as one compiled workflow.

A folder holds `contract.yaml`, `patch.yaml` or `automation.yaml`. A patch without a contract beside it is
for the contract in the folder named like its entity type, next to its own. The tenant's settings, which
type `org.*`, come from `tenant.yaml` in the folder or in the one around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from signet.authoring.files import read_document
from signet.authoring.scenarios import Scenario, ScenarioFile
from signet.core.artifact import Artifact
from signet.core.compiler import Compilation, compile_automation, compile_effective
from signet.core.contract import Contract
from signet.core.contract_checks import read_contract
from signet.core.envelope import make_envelope
from signet.core.findings import Finding, find
from signet.core.patch import Automation, Patch
from signet.core.strict import Strict, read_strictly
from signet.core.tenancy import TenantFile, TenantSettings

T = TypeVar("T", bound=Strict)
SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class CompiledFiles:
    artifact: Artifact
    contract: Contract | None
    org: Mapping[str, Any]  # the values of `org.*`


@dataclass(frozen=True)
class Sources:
    """What was found; what is not there is None."""

    contract: Contract | None = None
    patch: Patch | None = None
    automation: Automation | None = None
    tenant: TenantFile | None = None

    @property
    def settings(self) -> TenantSettings:
        return self.tenant.settings if self.tenant else TenantSettings()

    @property
    def org(self) -> Mapping[str, Any]:
        fixed = self.settings.model_dump(mode="json", exclude={"custom"})
        own = {name: setting.value for name, setting in self.settings.custom.items()}
        identity = {"id": str(self.tenant.tenant_id), "name": self.tenant.name} if self.tenant else {}
        return {**own, **fixed, **identity}


def compile_files(
    path: Path, *, patch: Path | None = None, tenant: Path | None = None
) -> tuple[CompiledFiles | None, tuple[Finding, ...]]:
    sources, findings = read_sources(path, patch=patch, tenant=tenant)
    if sources is None:
        return None, findings
    compilation = compile_sources(sources)
    if compilation.artifact is None:
        return None, (*findings, *compilation.findings)
    files = CompiledFiles(compilation.artifact, sources.contract, sources.org)
    return files, (*findings, *compilation.findings)


def compile_sources(sources: Sources) -> Compilation:
    if sources.automation is not None:
        return compile_automation(sources.automation, sources.contract, sources.settings)
    if sources.contract is None:
        return Compilation(None, (find("NOTHING_TO_COMPILE", ""),))
    return compile_effective(make_envelope(sources.contract), sources.patch, sources.settings)


def read_sources(
    path: Path, *, patch: Path | None = None, tenant: Path | None = None
) -> tuple[Sources | None, tuple[Finding, ...]]:
    """`path` is a folder, or a contract's file."""
    folder = path if path.is_dir() else path.parent
    contract_file = _find_file(folder, "contract") if path.is_dir() else path
    tenant_file = tenant or _find_file(folder, "tenant") or _find_file(folder.parent, "tenant")
    patch_file = patch or (_find_file(folder, "patch") if path.is_dir() else None)
    automation_file = _find_file(folder, "automation") if path.is_dir() and patch is None else None
    findings: list[Finding] = []
    read_patch = _read(Patch, patch_file, findings)
    automation = _read(Automation, automation_file, findings)
    if contract_file is None:
        contract_file = _find_contract_of(folder, read_patch, automation)
    contract = _read_contract(contract_file, findings)
    sources = Sources(contract, read_patch, automation, _read(TenantFile, tenant_file, findings))
    return (None if findings else sources), tuple(findings)


def read_scenarios(path: Path) -> tuple[tuple[Scenario, ...], tuple[Finding, ...]]:
    findings: list[Finding] = []
    file = _read(ScenarioFile, path, findings)
    return (file.scenarios if file else ()), tuple(findings)


def _find_file(folder: Path, name: str) -> Path | None:
    return next((folder / f"{name}{s}" for s in SUFFIXES if (folder / f"{name}{s}").is_file()), None)


def _find_contract_of(folder: Path, patch: Patch | None, automation: Automation | None) -> Path | None:
    entity_type = patch.base.entity_type if patch else automation.entity_type if automation else None
    return _find_file(folder.parent / entity_type, "contract") if entity_type else None


def _read(model: type[T], path: Path | None, findings: list[Finding]) -> T | None:
    if path is None:
        return None
    document, mistakes = read_document(path)
    if mistakes:
        findings.extend(mistakes)
        return None
    found, mistakes = read_strictly(model, document)
    findings.extend(_in_file(path, mistakes))
    return found


def _read_contract(path: Path | None, findings: list[Finding]) -> Contract | None:
    if path is None:
        return None
    document, mistakes = read_document(path)
    if mistakes:
        findings.extend(mistakes)
        return None
    contract, mistakes = read_contract(document)
    findings.extend(_in_file(path, mistakes))
    return contract


def _in_file(path: Path, findings: tuple[Finding, ...]) -> list[Finding]:
    """Pointers into a document say nothing without the document's name."""
    return [find(f.code, f"{path.name}{f.place}", **f.parameters) for f in findings]
