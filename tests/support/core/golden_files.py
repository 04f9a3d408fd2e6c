"""Compares a text with its golden file; `SIGNET_WRITE_GOLDEN=1` writes the file again.

Hashes are masked: they change with every compiler, and have tests of their own.
"""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "unit" / "golden"
_SHA_256 = re.compile(r"\b[0-9a-f]{64}\b")


def assert_golden(name: str, text: str) -> None:
    file, masked = FOLDER / name, _SHA_256.sub("<sha-256>", text)
    if os.environ.get("SIGNET_WRITE_GOLDEN"):
        file.write_text(masked, encoding="utf-8")
    assert masked == file.read_text(encoding="utf-8")
