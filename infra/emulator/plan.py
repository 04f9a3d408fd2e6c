"""The parts of one run of the emulator, which `up` gives to the launcher as JSON."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

ACCOUNT = "000000000000"


@dataclass(frozen=True)
class EmulatorPlan:
    """The folders and ports of one run. They belong to it alone, so that two clones run at once."""

    region: str
    gateway_port: int
    # The folder for files of ministack and the functions; gone with the run.
    state: Path
    # The interpreter of the functions, and the folder that stands for /var/runtime.
    function_python: Path
    function_runtime: Path
    # The certificate of the run's own authority, the only one that its functions trust.
    authority: Path
    authority_key: Path
    # The folder and port of the real Postgres, and the door through which functions reach it.
    database_folder: Path
    database_port: int
    door_port: int

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def database_socket(self) -> Path:
        return self.database_folder / f".s.PGSQL.{self.database_port}"

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")


def read_plan(path: Path) -> EmulatorPlan:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for member in fields(EmulatorPlan):
        if member.type is Path:
            values[member.name] = Path(values[member.name])
    return EmulatorPlan(**values)
