"""The account of the embedded Postgres, and the place of its files when that account may not reach them."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from signet.local import postgres, postgres_place
from signet.local.postgres import PostgresFailed, running_postgres, start_postgres
from tests.local.conftest import copy_state
from tests.local.embedded import (
    AS_ROOT,
    answer,
    as_nobody,
    as_root_only,
    first_line,
    permissions,
    remember,
    remembered,
)

# A test that forks in a process with threads (xdist) only runs our own code in the child.
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
def test_a_state_that_may_not_be_written_is_refused_and_nothing_half_made(folder: Path) -> None:
    folder.chmod(0o755 if AS_ROOT else 0o555)

    def start() -> object:
        return start_postgres(folder / ".signet").port

    if AS_ROOT:
        said = str(as_nobody(start))
    else:
        with pytest.raises(PostgresFailed) as refusal:
            start()
        said = str(refusal.value)
    assert "Permission denied" in said and f"{folder}/.signet" in said and "must be writable for" in said
    assert list(folder.iterdir()) == []


@as_root_only
@forks
def test_an_ordinary_user_starts_it_as_itself_and_root_goes_on_as_that_user(folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)

    def start() -> object:
        with running_postgres(folder / ".signet") as server:
            remember(server.url, "of nobody")
            return server.data_directory.stat().st_uid

    assert as_nobody(start) == nobody.pw_uid
    with running_postgres(folder / ".signet") as server:
        assert remembered(server.url) == ["of nobody"]
    assert as_nobody(start) == nobody.pw_uid


@as_root_only
def test_data_that_root_copied_are_given_to_the_account_that_serves(folder: Path, state: Path) -> None:
    with running_postgres(state) as server:
        remember(server.url, "copied")
    shutil.copytree(state, folder / "b")
    (folder / "b" / "postgres" / "data").chmod(0o755)
    with running_postgres(folder / "b") as server:
        assert "copied" in remembered(server.url)


def test_no_permission_above_the_state_is_changed(state: Path) -> None:
    programs = postgres_place.find_programs(18)
    before = permissions(state), permissions(programs / "bin" / "postgres")
    with running_postgres(state):
        pass
    assert (permissions(state), permissions(programs / "bin" / "postgres")) == before


@as_root_only
class TestUnderAClosedFolder:
    """A checkout in a folder, such as /root, that the server's account may not enter."""

    def test_the_data_stand_outside_while_it_runs_and_come_home(self, closed: Path) -> None:
        before = permissions(closed)
        outside = postgres_place.outside_folder(closed / ".signet" / "postgres")
        for word in ("a", "b"):
            with running_postgres(closed / ".signet") as server:
                assert server.data_directory == outside / "data"
                assert stat.S_IMODE(server.data_directory.stat().st_mode) == 0o700
                remember(server.url, word)
            assert not outside.exists()
            assert (closed / ".signet" / "postgres" / "data" / "PG_VERSION").exists()
        with running_postgres(closed / ".signet") as server:
            assert remembered(server.url) == ["a", "b"]
        assert permissions(closed) == before

    def test_across_file_systems_too(self, state: Path) -> None:
        shared_memory = Path("/dev/shm")
        if not shared_memory.is_dir() or shared_memory.stat().st_dev == Path("/var/tmp").stat().st_dev:
            pytest.skip("no second file system to move to")
        far = Path(tempfile.mkdtemp(dir=shared_memory))
        try:
            copy_state(state, far)
            with running_postgres(far) as server:
                remember(server.url, "moved")
            with running_postgres(far) as server:
                assert "moved" in remembered(server.url)
            assert sorted(path.name for path in (far / "postgres").iterdir()) == [
                *("data", "lock", "password", "server.log")
            ]
        finally:
            shutil.rmtree(far)

    def test_after_a_kill_the_data_are_found_again(
        self, closed_state: Path, launched: Callable[..., subprocess.Popen[str]]
    ) -> None:
        closed = closed_state
        with running_postgres(closed) as server:
            remember(server.url, "kept")
        outside = postgres_place.outside_folder(closed / "postgres")
        launcher = launched(closed)
        first_line(launcher)
        launcher.kill()
        launcher.wait()
        assert (outside / "data").exists()
        with running_postgres(closed) as server:
            assert "kept" in remembered(server.url)
        assert not outside.exists()

    def test_after_a_kill_they_come_home_also_once_the_folder_was_opened(
        self, closed_state: Path, launched: Callable[..., subprocess.Popen[str]]
    ) -> None:
        closed = closed_state
        with running_postgres(closed) as server:
            remember(server.url, "kept")
        launcher = launched(closed)
        first_line(launcher)
        launcher.kill()
        launcher.wait()
        closed.chmod(0o755)
        with running_postgres(closed) as server:
            assert server.data_directory == closed / "postgres" / "data"
            assert "kept" in remembered(server.url)
        assert not postgres_place.outside_folder(closed / "postgres").exists()

    @pytest.mark.parametrize("home_is_partial", [False, True])
    def test_a_move_that_was_killed_halfway_loses_nothing(
        self, closed_state: Path, home_is_partial: bool
    ) -> None:
        closed = closed_state
        with running_postgres(closed) as server:
            remember(server.url, "kept")
        home = closed / "postgres"
        outside = postgres_place.outside_folder(home)
        postgres_place._make_outside(outside)
        postgres_place._move_out(home, outside)
        if home_is_partial:
            shutil.copytree(outside / "data" / "base", home / f"{postgres_place.UNFINISHED}y")
        else:
            subprocess.run(["cp", "-a", outside / "data", home / "data"], check=True)
        with running_postgres(closed) as server:
            assert "kept" in remembered(server.url)
        left = {path.name for path in home.iterdir()} - {"sockets"}
        assert left == {"data", "lock", "password", "server.log"}

    def test_what_a_removed_state_left_outside_is_not_revived(self, closed: Path) -> None:
        outside = postgres_place.outside_folder(closed / "postgres")
        (outside / "data").mkdir(parents=True, mode=0o700)
        (outside / "data" / "PG_VERSION").write_text("18\n")
        with running_postgres(closed) as server:
            assert answer(server.url, "select 1") == 1
        assert not outside.exists()

    @pytest.mark.parametrize("kind", ["folder", "link"])
    def test_a_name_that_somebody_else_took_is_refused(self, closed: Path, kind: str) -> None:
        outside = postgres_place.outside_folder(closed / "postgres")
        nobody = pwd.getpwnam("nobody")
        if kind == "folder":
            outside.mkdir()
            os.chown(outside, nobody.pw_uid, nobody.pw_gid)
        else:
            outside.symlink_to(closed)
        try:
            with pytest.raises(PostgresFailed, match="belongs to another user: remove it"):
                start_postgres(closed)
            assert outside.is_symlink() or list(outside.iterdir()) == []
        finally:
            outside.unlink() if kind == "link" else outside.rmdir()

    def test_programs_that_may_not_be_run_there_are_copied(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        package = postgres_place.find_programs(18).parent
        hidden = folder / "closed"
        hidden.mkdir(mode=0o700)
        for name in (package.name, f"{package.name}.libs"):
            (hidden / name).symlink_to(package.with_name(name))
        programs = hidden / package.name / "pginstall18"
        monkeypatch.setattr(postgres, "find_programs", lambda major: programs)
        outside = postgres_place.outside_folder(folder / ".signet" / "postgres")
        with running_postgres(folder / ".signet") as server:
            assert server.data_directory == folder / ".signet" / "postgres" / "data"
            assert (outside / "wheel").exists()
            # Found relative to the programs: a time zone and a loaded library.
            assert answer(server.url, "select now() at time zone 'Asia/Tokyo' is not null") is True
            assert answer(server.url, "select 1 from pg_language where lanname = 'plpgsql'") == 1
        assert not outside.exists()
