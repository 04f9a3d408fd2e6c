"""Postgres's own pgbench as a runtime role: the same rows on the same server without Python."""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from signet.local.postgres_place import find_programs
from signet.store.schema.server import act_as

CLIENTS, THREADS = 4, 2


def run_pgbench(url: str, role: str, scripts: Mapping[str, int], seconds: float) -> float:
    """Return the transactions a second of these scripts, each chosen as often as its weight says."""
    described = conninfo_to_dict(act_as(url, role))
    parts = {name: str(value) for name, value in described.items() if value is not None}
    environment = {**os.environ, "PGPASSWORD": parts.get("password", ""), "PGOPTIONS": parts["options"]}
    command = [str(find_programs(major=18) / "bin" / "pgbench"), "-n", "-M", "prepared"]
    command += ["-c", str(CLIENTS), "-j", str(THREADS), "-T", str(max(1, round(seconds)))]
    command += ["-h", parts["host"], "-p", parts["port"], "-U", parts["user"]]
    with tempfile.TemporaryDirectory() as folder:
        for number, (script, weight) in enumerate(scripts.items()):
            path = Path(folder) / f"{number}.sql"
            path.write_text(script, encoding="utf-8")
            command += ["-f", f"{path}@{weight}"]
        completed = subprocess.run(
            [*command, parts["dbname"]],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 60,
        )
    figure = re.search(r"tps = ([0-9.]+)", completed.stdout)
    if completed.returncode != 0 or figure is None:
        raise RuntimeError(f"pgbench did not run: {completed.stderr}")
    return float(figure[1])
