"""The compiled workflow as it is stored: canonical JSON text and its SHA-256.

The engine runs nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.errors import Rejected

# It changes only when an artifact's meaning changes (design §4); the engine also runs the previous one.
COMPILER_VERSION = "1"
RUNNABLE_COMPILER_VERSIONS = frozenset({COMPILER_VERSION})


@dataclass(frozen=True)
class Artifact:
    text: str
    hash: str
    content: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Send another process the text alone, which it parses for itself."""
        return parse_artifact, (self.text, self.hash)


def make_artifact(content: dict[str, Any]) -> Artifact:
    stored = canonical_bytes(content)
    return Artifact(stored.decode(), hash_bytes(stored), content)


def parse_artifact(text: str, expected_hash: str) -> Artifact:
    """Return the stored artifact if its hash is right; the hash is of the stored bytes (WF-07)."""
    if hash_bytes(text.encode()) != expected_hash:
        raise Rejected("WORKFLOW_HASH_MISMATCH", "the compiled workflow does not match its hash")
    content = json.loads(text)
    version = content.get("compiler_version")
    if version not in RUNNABLE_COMPILER_VERSIONS:
        raise Rejected(
            "WORKFLOW_COMPILER_STALE",
            f"the workflow was compiled by compiler {version}; this release runs {COMPILER_VERSION}",
            remedy="Have an administrator recompile the definition.",
        )
    return Artifact(text, expected_hash, content)
