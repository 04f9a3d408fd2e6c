"""The schema as pg_dump prints it, without the parts that change from run to run."""

import os
import re
import subprocess
from pathlib import Path

from signet.local.postgres_place import find_programs
from tests.databases import describe_url

_VOLATILE = re.compile(
    r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|)$\n?", re.MULTILINE
)
# Monthly partitions depend on the day of the migration. `tests/store/catalogue.py` checks them instead.
MONTH_PARTITIONS = "public.*_[0-9][0-9][0-9][0-9]_[0-9][0-9]"
_BLOCK_GAP = re.compile(r"\n(?=(CREATE|ALTER|GRANT|REVOKE) )")


def dump_schema(url: str) -> str:
    """Return the schema's statements, separated by one blank line. The URL is an admin's."""
    parts = describe_url(url)
    environment = {"PATH": os.environ.get("PATH", ""), "PGPASSWORD": parts.get("password", "")}
    completed = subprocess.run(
        [
            find_programs(major=18) / "bin" / "pg_dump",
            "--schema-only",
            "--no-comments",
            f"--exclude-table={MONTH_PARTITIONS}",
            f"--host={parts['host']}",
            f"--port={parts['port']}",
            f"--username={parts['user']}",
            parts["dbname"],
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return _BLOCK_GAP.sub("\n\n", _VOLATILE.sub("", completed.stdout)).strip() + "\n"


SCHEMA_FILE = Path(__file__).resolve().parents[2] / "migrations" / "schema.sql"
