"""The bundles of Lambda: the same input makes the same bytes, and nothing useless is in them."""

import re
import sys
import zipfile
from pathlib import Path

import botocore
import pytest

from infra.bundle import AWS_SERVICES, TARGETS, BundleTarget, FunctionBundle, make_bundles

ROOT = Path(__file__).resolve().parents[2]
SEEN = {
    "package/__init__.py": "VALUE = {'a': 1, 'b': (1, 2)}\n",
    "package/__init__.pyi": "VALUE: dict[str, object]\n",
    "package/tests/test_it.py": "",
    "package/__pycache__/x.cpython-311.pyc": "",
    "package-1.0.dist-info/METADATA": "Name: package\n",
    "bin/tool": "#!/bin/sh\n",
    "botocore/data/s3/service-2.json": "{}",
    "botocore/data/workspaces/service-2.json": "{}",
    "botocore/data/endpoints.json": "{}",
    "pycparser/__init__.py": "",
}


class Install:
    """An installer without a network that records its time of work, as real ones do."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self._count = 0

    def __call__(self, requirements: Path, into: Path, target: BundleTarget) -> None:
        self._count += 1
        files = {**self._files, "package-1.0.dist-info/RECORD": f"installation {self._count}\n"}
        if requirements.name == "telemetry.txt":
            files["traces/__init__.py"] = ""
        # The order changes each time.
        for name in sorted(files, reverse=bool(self._count % 2)):
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name], encoding="utf-8")
            path.chmod(0o755 if self._count % 2 else 0o600)


def make(into: Path, install: Install, target: str = "local") -> dict[str, FunctionBundle]:
    bundles = make_bundles(TARGETS[target], ROOT / "requirements", into, install)
    return {bundle.archive.stem: bundle for bundle in bundles}


def names_in(bundle: FunctionBundle) -> set[str]:
    with zipfile.ZipFile(bundle.archive) as packed:
        return set(packed.namelist())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FunctionBundle]:
    return make(tmp_path_factory.mktemp("made"), Install(SEEN))


def test_the_same_input_makes_the_same_bytes(made: dict[str, FunctionBundle], tmp_path: Path) -> None:
    install = Install(SEEN)
    install(Path("warm-up.txt"), tmp_path / "elsewhere", TARGETS["local"])
    again = make(tmp_path / "again", install)
    assert {name: one.sha256 for name, one in again.items()} == {
        name: one.sha256 for name, one in made.items()
    }


def test_other_input_makes_others(made: dict[str, FunctionBundle], tmp_path: Path) -> None:
    other = make(tmp_path, Install({**SEEN, "package/__init__.py": "VALUE = 2\n"}))
    assert other["layer"].sha256 != made["layer"].sha256
    assert other["functions"].sha256 == made["functions"].sha256


def test_what_nobody_reads_is_left_out(made: dict[str, FunctionBundle]) -> None:
    names = names_in(made["layer"])
    assert {"python/package/__init__.py", "python/botocore/data/s3/service-2.json"} <= names
    assert {"python/botocore/data/endpoints.json", "python/package-1.0.dist-info/METADATA"} <= names
    gone = ("tests/", "RECORD", ".pyi", "bin/", "workspaces", "pycparser", "signet/cli/", "signet/local/")
    assert [name for name in names for part in gone if f"/{part}" in name or name.endswith(part)] == []


def test_the_layer_has_the_package_its_migrations_and_whom_to_believe(
    made: dict[str, FunctionBundle],
) -> None:
    names = names_in(made["layer"])
    migrations = {f"migrations/{path.name}" for path in (ROOT / "migrations").glob("0*.sql")}
    assert migrations
    assert migrations < names
    assert "migrations/schema.sql" not in names
    assert {
        "python/signet/store/outbox/queue.sql",
        "python/signet/api/openapi/openapi.json",
        "python/signet/api/openapi/reference.html",
        "python/signet/py.typed",
    } < names
    assert {"certificates/amazon-roots.pem", "certificates/rds-eu-central-1.pem"} < names
    assert "functions/api/handler.py" in names_in(made["functions"])


def test_the_layer_of_telemetry_repeats_nothing(made: dict[str, FunctionBundle]) -> None:
    assert {name for name in names_in(made["telemetry"]) if name.endswith(".py")} == {
        "python/traces/__init__.py"
    }


def test_bytecode_is_for_the_target_and_never_checked(made: dict[str, FunctionBundle]) -> None:
    cached = f"python/package/__pycache__/__init__.{sys.implementation.cache_tag}.pyc"
    with zipfile.ZipFile(made["layer"].archive) as packed:
        flags = int.from_bytes(packed.read(cached)[4:8], "little")
    # PEP 552: by hash, and unchecked.
    assert flags == 0b01


def test_without_an_interpreter_of_the_target_there_is_no_bytecode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    other = BundleTarget("lambda", "3.99")
    assert other.interpreter is None
    bundles = make_bundles(other, ROOT / "requirements", tmp_path / "build", Install(SEEN))
    assert [name for bundle in bundles for name in names_in(bundle) if name.endswith(".pyc")] == []


def test_lambda_gets_its_own_processor_and_version() -> None:
    target = TARGETS["lambda"]
    assert (target.version, target.platform) == ("3.14", "aarch64-manylinux_2_28")


def test_every_service_that_is_called_is_carried() -> None:
    called = {
        name
        for path in (ROOT / "shared" / "signet" / "aws").rglob("*.py")
        for name in re.findall(r'(?:clients\.get|\.client)\("(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert called
    assert called <= set(AWS_SERVICES)
    known = Path(botocore.__file__).parent / "data"
    assert [name for name in AWS_SERVICES if not (known / name).is_dir()] == []
