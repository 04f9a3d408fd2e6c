"""Reads a tenant's file."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from signet.core.errors import FieldError, Rejected
from signet.core.tenancy import TenantFile

MAX_FILE_BYTES = 1_048_576


def read_tenant_file(path: Path) -> TenantFile:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Rejected("FILE_UNREADABLE", f"{path}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise Rejected("FILE_TOO_LARGE", f"{path}: a tenant's file has at most {MAX_FILE_BYTES} bytes")
    try:
        return TenantFile.model_validate(yaml.safe_load(content))
    except (yaml.YAMLError, UnicodeError) as error:
        raise Rejected("FILE_NOT_YAML", f"{path}: {error}") from None
    except ValidationError as error:
        fields = tuple(
            FieldError("/" + "/".join(str(part) for part in item["loc"]), item["type"], item["msg"])
            for item in error.errors(include_url=False, include_input=False)
        )
        sentences = "; ".join(f"{field.pointer}: {field.message}" for field in fields)
        raise Rejected("TENANT_INVALID", f"{path}: {sentences}", fields=fields) from None
