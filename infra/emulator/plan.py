"""What one run of the emulator is made of, told by `up` to the launcher as JSON."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

ACCOUNT = "000000000000"


@dataclass(frozen=True)
class EmulatorPlan:
    """All folders and ports belong to this run alone, so that two clones run at once."""

    region: str
    gateway_port: int
    # What ministack and the functions write; gone with the run.
    state: Path
    # The interpreter of the functions, and the folder that stands for /var/runtime.
    function_python: Path
    function_runtime: Path
    # The certificate of the run's own authority: all that its functions trust.
    authority: Path
    authority_key: Path
    # Of the real Postgres; and where the functions find the door to it.
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
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for each in fields(EmulatorPlan):
        if each.type is Path:
            told[each.name] = Path(told[each.name])
    return EmulatorPlan(**told)
