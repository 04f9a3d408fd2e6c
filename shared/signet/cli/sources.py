"""Author files that belong together: a contract, the patch or automation beside it, and the tenant."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from signet.authoring.files import read_document
from signet.authoring.scenarios import list_simulated_accounts
from signet.cli.console import FileFinding, describe_counts, stop, write, write_findings
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import Compilation, compile_automation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.explain.vocabulary import escape
from signet.core.simulation import SimulatedAccount
from signet.core.tenants.tenant_file import TenantFile, TenantSettings
from signet.core.tenants.tenant_names import TenantNames, check_mentions, list_mentions, make_file_names
from signet.core.validation.finding import Finding, has_errors
from signet.core.validation.strict_model import Strict, parse_strictly

ENDINGS = (".yaml", ".yml", ".json")
KINDS = ("contract", "patch", "automation")

T = TypeVar("T", bound=Strict)


@dataclass
class Sources:
    """The files named on the command line, the ones found with them, and their findings."""

    contract: Contract | None = None
    patch: Patch | None = None
    automation: Automation | None = None
    settings: TenantSettings = field(default_factory=TenantSettings)
    # The roles and members of the tenant's file; without one, nothing says which exist.
    names: TenantNames | None = None
    # The tenant's service accounts; None without the file of a tenant.
    accounts: dict[str, SimulatedAccount] | None = None
    # The file that findings of the compiler are about.
    file: Path = Path()
    found: list[FileFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not has_errors(file_finding.finding for file_finding in self.found)

    def compile(self) -> Artifact | None:
        """Return the compiled workflow, or None; `found` says why not."""
        if not self.is_whole:
            return None
        compilation = Compilation(None, ())
        if self.automation is not None:
            compilation = compile_automation(self.automation, self.contract, self.settings)
        elif self.contract is not None:
            compilation = compile_effective(make_envelope(self.contract), self.patch, self.settings)
        self.add(self.file, compilation.findings)
        if compilation.artifact is not None and self.names is not None:
            mentions = list_mentions(compilation.artifact.content["nodes"])
            self.add(self.file, tuple(check_mentions(mentions, self.names)))
        return compilation.artifact if self.is_whole else None

    def compile_bare(self) -> Compilation:
        """Compile the envelope alone, with nothing in its slots."""
        assert self.contract is not None
        return compile_effective(make_envelope(self.contract), None, self.settings)

    def write_notes(self) -> None:
        for note in self.notes:
            write(escape(note), sys.stderr)

    def add(self, file: Path, findings: tuple[Finding, ...]) -> None:
        self.found += [FileFinding(file, finding) for finding in findings]


def compile_sources(
    path: Path, patch_file: Path | None = None, tenant_file: Path | None = None
) -> tuple[Sources, Artifact | None]:
    """Read and compile what belongs to the path. The artifact is None where findings hold errors."""
    sources = read_sources(path, patch_file, tenant_file)
    return sources, sources.compile()


def write_refusal(path: Path, found: Sequence[FileFinding]) -> None:
    """Write why the workflow does not compile."""
    write_findings(found, sys.stderr)
    write(f"{escape(path)} does not compile: {describe_counts(found)}", sys.stderr)


def read_sources(path: Path, patch_file: Path | None = None, tenant_file: Path | None = None) -> Sources:
    """Read a contract, a patch or an automation, or a folder that holds them."""
    sources = Sources(file=path)
    files = _list_files(path, sources)
    if patch_file is not None:
        if "automation" in files and "contract" not in files:
            stop("--patch fills a contract's slots; an automation has none.")
        files.pop("automation", None)
        files["patch"] = patch_file
    if not files:
        return sources
    for kind in KINDS:
        if kind in files:
            _read_part(kind, files[kind], sources)
    _read_missing_contract(files, sources)
    _read_tenant(tenant_file or _find_tenant(files), sources)
    return sources


def read_contract_file(file: Path, sources: Sources) -> None:
    document, findings = read_document(file)
    if not findings:
        sources.contract, findings = parse_contract(document)
    sources.add(file, findings)


def _list_files(path: Path, sources: Sources) -> dict[str, Path]:
    """Return files by kind: in a folder by their names, else by the content of the one file."""
    if _is_folder(path):
        files = {kind: file for kind in KINDS if (file := _find_file(path, kind)) is not None}
        if not files:
            stop(f"{path} holds no contract.yaml, patch.yaml or automation.yaml.")
        if "patch" in files and "automation" in files:
            sources.notes.append(f"{files.pop('automation')} is not part of this; name it to compile it.")
        return files
    document, findings = read_document(path)
    sources.add(path, findings)
    if findings:
        return {}
    kinds = [kind for kind in KINDS if isinstance(document, dict) and kind in document]
    if not kinds:
        stop(f"{path} is no contract, patch or automation: none of these stands at its top.")
    return {kinds[0]: path}


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # no system has such a name; reading it as a file says so


def _find_file(folder: Path, kind: str) -> Path | None:
    candidates = (folder / f"{kind}{ending}" for ending in ENDINGS)
    return next((file for file in candidates if file.is_file()), None)


def _read_part(kind: str, file: Path, sources: Sources) -> None:
    sources.file = file
    if kind == "contract":
        read_contract_file(file, sources)
        return
    document, findings = read_document(file)
    sources.add(file, findings)
    if findings:
        return
    if kind == "patch":
        sources.patch = _read_as(Patch, file, document, sources)
    else:
        sources.automation = _read_as(Automation, file, document, sources)


def _read_as(model: type[T], file: Path, document: Any, sources: Sources) -> T | None:
    value, findings = parse_strictly(model, document)
    sources.add(file, findings)
    return value


def _read_missing_contract(files: dict[str, Path], sources: Sources) -> None:
    """Read the contract of a lone patch or automation: beside it, or in a folder of the contract's name."""
    if "contract" in files or not sources.is_whole:
        return
    entity_type = _name_entity_type(sources)
    if entity_type is None:
        return
    beside = sources.file.parent
    for folder in (beside, beside.resolve().parent / entity_type):
        file = _find_file(folder, "contract")
        if file is not None:
            files["contract"] = file
            read_contract_file(file, sources)
            return
    if sources.patch is not None:
        stop(
            f"{sources.file} is a patch of '{entity_type}', whose contract.yaml is neither beside it"
            f" nor in ../{entity_type}."
        )


def _name_entity_type(sources: Sources) -> str | None:
    if sources.patch is not None:
        return sources.patch.base.entity_type
    return sources.automation.entity_type if sources.automation is not None else None


def _find_tenant(files: dict[str, Path]) -> Path | None:
    """Return the tenant's file beside the contract, or in the folder around it."""
    file = next(files[kind] for kind in KINDS if kind in files)
    folder = file.resolve().parent
    return next(
        (tenant for place in (folder, folder.parent) if (tenant := _find_file(place, "tenant"))), None
    )


def _read_tenant(file: Path | None, sources: Sources) -> None:
    if file is None:
        return
    document, findings = read_document(file)
    sources.add(file, findings)
    tenant = None if findings else _read_as(TenantFile, file, document, sources)
    if tenant is not None:
        sources.settings = tenant.settings
        roles, members = [role.role for role in tenant.roles], [member.user_id for member in tenant.members]
        sources.names = make_file_names(roles, members)
        sources.accounts = list_simulated_accounts(tenant)
