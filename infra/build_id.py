"""The build that a deployment brings: a digest of the bundles that its functions run from."""

import hashlib
from pathlib import Path

BUILD_CHARACTERS = 16


def read_build_id(bundle: Path) -> str:
    """Return the same id for the same bytes. Each answer of the API names it."""
    digest = hashlib.sha256()
    for archive in sorted(bundle.glob("*.zip")):
        digest.update(hashlib.sha256(archive.read_bytes()).digest())
    return digest.hexdigest()[:BUILD_CHARACTERS]
