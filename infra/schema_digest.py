"""The digest of the migrations. A deployment runs the migrator when it has changed."""

import hashlib
from pathlib import Path

MIGRATIONS = Path(__file__).resolve().parents[1] / "migrations"


def digest_of(folder: Path) -> str:
    files = [path.name.encode() + b"\0" + path.read_bytes() for path in sorted(folder.glob("0*.sql"))]
    return hashlib.sha256(b"\0".join(files)).hexdigest()
