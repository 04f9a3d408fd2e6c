"""A tenant's file in YAML, read and checked."""

from pathlib import Path

from signet.authoring.files import read_document
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.tenant_file import TenantFile
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import parse_strictly
from signet.wiring.process import MIGRATIONS_FOLDER

EXAMPLES_FOLDER = MIGRATIONS_FOLDER.parent / "examples"
# The tenant whose people `make run` greets.
DEMO_FILE = EXAMPLES_FOLDER / "tenant.yaml"


def read_tenant_file(path: Path) -> TenantFile:
    document, mistakes = read_document(path)
    if mistakes:
        raise _reject(path, mistakes)
    tenant, mistakes = parse_strictly(TenantFile, document)
    if tenant is None:
        raise _reject(path, mistakes)
    return tenant


def _reject(path: Path, mistakes: tuple[Finding, ...]) -> Rejected:
    fields = tuple(FieldError(mistake.place, mistake.code, mistake.sentence) for mistake in mistakes)
    return Rejected("TENANT_INVALID", f"{path}: {' '.join(m.sentence for m in mistakes)}", fields=fields)
