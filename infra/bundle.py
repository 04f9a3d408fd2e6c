"""Makes the archives that Lambda unpacks, without Docker: a layer, a telemetry layer and the functions.

The same input gives the same bytes with the same zlib: files in order, without times, owners or notes of the
installer.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from signet.api.openapi.build import renew_page

ROOT = Path(__file__).resolve().parents[1]
# Lambda takes 250 MB, all layers together. The bound is near what is there: nothing large comes unseen.
MAX_BUNDLE_BYTES = 72_000_000
# boto3 comes with the descriptions of 400 services, which is most of it. The functions call these.
AWS_SERVICES = ("events", "s3", "sesv2", "sns")
# No Lambda imports these modules of our own, nor the ones of others below.
_NOT_ON_LAMBDA = ("cli", "local")
_NEVER_IMPORTED = (
    "aws_lambda_powertools/event_handler/openapi/swagger_ui",
    "aws_lambda_powertools/utilities/auth_alpha",
    "aws_lambda_powertools/utilities/circuit_breaker",
    "aws_lambda_powertools/utilities/data_masking",
    "aws_lambda_powertools/utilities/feature_flags",
    "aws_lambda_powertools/utilities/idempotency",
    "aws_lambda_powertools/utilities/kafka",
    "aws_lambda_powertools/utilities/parameters",
    "aws_lambda_powertools/utilities/streaming",
    "boto3/examples",
    "cffi",  # cryptography has the part that it needs in one library
    "pycparser",
)
_NEVER_READ = ("__pycache__", "tests", "bin")
# They differ from one installation to the next; `.pyi` is for editors.
_NOTES = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", ".lock")
_MEGABYTE = 1_000_000
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_EARLIEST_SECONDS = 315_532_800
_COMPRESSION = 6


@dataclass(frozen=True)
class BundleTarget:
    name: Literal["lambda", "local"]
    version: str
    # The platform as uv and pip call it; None is this machine.
    platform: str | None = None
    pip_platforms: tuple[str, ...] = ()

    @property
    def interpreter(self) -> str | None:
        """Return an interpreter that compiles for the target.

        Bytecode depends on the version, not on the processor.
        """
        if self.version == _version_here():
            return sys.executable
        return shutil.which(f"python{self.version}")


def _version_here() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


TARGETS = {
    "lambda": BundleTarget(
        "lambda",
        "3.14",
        "aarch64-manylinux_2_28",
        ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    ),
    "local": BundleTarget("local", _version_here()),
}
Install = Callable[[Path, Path, BundleTarget], None]


class FunctionBundle(NamedTuple):
    archive: Path
    unpacked_bytes: int
    sha256: str


def make_bundles(target: BundleTarget, locks: Path, into: Path, install: Install) -> list[FunctionBundle]:
    """Make `layer.zip`, `telemetry.zip` and `functions.zip`, each beside the folder that it holds."""
    shutil.rmtree(into, ignore_errors=True)
    layer, telemetry, functions = into / "layer", into / "telemetry", into / "functions"
    install(locks / "runtime.txt", layer / "python", target)
    install(locks / "telemetry.txt", telemetry / "python", target)
    _leave_out(telemetry / "python", layer / "python")
    for folder in (layer, telemetry):
        _prune(folder / "python")
    renew_page()
    _copy_package(ROOT / "shared" / "signet", layer / "python" / "signet", without=_NOT_ON_LAMBDA)
    _copy_files(ROOT / "migrations", layer / "migrations", "0*.sql")
    _copy_files(ROOT / "infra" / "certificates", layer / "certificates", "*.pem")
    _copy_package(ROOT / "functions", functions / "functions")
    for folder, place in ((layer, "/opt"), (telemetry, "/opt"), (functions, "/var/task")):
        _compile(folder, place, target)
        _level(folder)
    return [_pack(folder) for folder in (layer, telemetry, functions)]


def _leave_out(python: Path, carried: Path) -> None:
    """Remove what the layer below holds already, in the same version."""
    for path in sorted(python.iterdir()):
        if not (carried / path.name).exists():
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def install(requirements: Path, into: Path, target: BundleTarget) -> None:
    """Install with uv, or with pip where uv cannot reach an index that pip is configured for."""
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--system-certs"]
    uv += ["--link-mode", "copy", "--python-version", target.version]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    pip += ["--python-version", target.version]
    shared = ["--target", str(into), "--only-binary", ":all:", "--require-hashes", "-r", str(requirements)]
    if target.platform is not None:
        uv += ["--python-platform", target.platform]
        pip += [part for name in target.pip_platforms for part in ("--platform", name)]
    if _run([*uv, *shared]) != 0:
        shutil.rmtree(into, ignore_errors=True)
        subprocess.run([*pip, *shared], check=True)


def _run(command: list[str]) -> int:
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
    except FileNotFoundError:
        return 1


def _prune(python: Path) -> None:
    for name in _NEVER_IMPORTED:
        shutil.rmtree(python / name, ignore_errors=True)
    for path in sorted(python.rglob("*"), reverse=True):
        if path.is_dir():
            if path.name in _NEVER_READ or _is_unused_service(path, python):
                shutil.rmtree(path)
        elif path.name in _NOTES or path.suffix in (".pyi", ".pyc"):
            path.unlink()


def _is_unused_service(path: Path, python: Path) -> bool:
    is_service = path.parent in (python / "botocore" / "data", python / "boto3" / "data")
    return is_service and path.name not in AWS_SERVICES


def _copy_package(package: Path, into: Path, without: tuple[str, ...] = ()) -> None:
    left_out = [package / name for name in without]
    for path in sorted(package.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts or _is_below(path, left_out):
            continue
        place = into / path.relative_to(package)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _is_below(path: Path, folders: list[Path]) -> bool:
    return any(folder in path.parents for folder in folders)


def _copy_files(folder: Path, into: Path, pattern: str) -> None:
    into.mkdir(parents=True)
    for path in sorted(folder.glob(pattern)):
        shutil.copyfile(path, into / path.name)


def _compile(folder: Path, place: str, target: BundleTarget) -> None:
    """Compile the modules. Lambda can keep no bytecode of its own, and checks none against its source."""
    if target.interpreter is None:
        return
    command = [target.interpreter, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    # One after another, because the order decides which constants are shared.
    subprocess.run([*command, "-s", str(folder), "-p", place, str(folder)], check=True)


def _level(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (_EARLIEST_SECONDS, _EARLIEST_SECONDS))


def _pack(folder: Path) -> FunctionBundle:
    archive = folder.with_suffix(".zip")
    total = 0
    with zipfile.ZipFile(archive, "w") as packed:
        for path in _files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            content = path.read_bytes()
            total += len(content)
            packed.writestr(entry, content, compresslevel=_COMPRESSION)
    return FunctionBundle(archive, total, hashlib.sha256(archive.read_bytes()).hexdigest())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the bundles that the functions run from.")
    parser.add_argument("--target", choices=TARGETS, default="lambda", help="for whose interpreter")
    parser.add_argument(
        "--into", type=Path, default=ROOT / "build", help="a folder for each target is made there"
    )
    arguments = parser.parse_args()
    target = TARGETS[arguments.target]
    bundles = make_bundles(target, ROOT / "requirements", arguments.into / target.name, install)
    for bundle in bundles:
        packed = bundle.archive.stat().st_size
        print(
            f"{bundle.archive.relative_to(arguments.into)}: {bundle.unpacked_bytes / _MEGABYTE:.1f} MB, "
            f"{packed / _MEGABYTE:.1f} MB zipped, sha256 {bundle.sha256}"
        )
    bytecode = (
        f"with bytecode ({target.interpreter})" if target.interpreter else "without bytecode: none is at hand"
    )
    print(f"For Python {target.version}, {bytecode}")
    largest = max(bundle.unpacked_bytes for bundle in bundles)
    if largest > MAX_BUNDLE_BYTES:
        raise SystemExit(f"A bundle may have {MAX_BUNDLE_BYTES / _MEGABYTE:.0f} MB, and one has more")


if __name__ == "__main__":
    main()
