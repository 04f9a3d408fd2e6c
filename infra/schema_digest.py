"""What of the migrations a deployment must notice."""

import hashlib
from pathlib import Path

MIGRATIONS = Path(__file__).resolve().parents[1] / "migrations"


def digest_of(folder: Path) -> str:
    """Another migration, another digest: then the migrator runs."""
    files = [path.name.encode() + b"\0" + path.read_bytes() for path in sorted(folder.glob("0*.sql"))]
    return hashlib.sha256(b"\0".join(files)).hexdigest()
