"""A folder for one run. Folders of runs that were killed are removed."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "signet-emulator-"
_LOCK = "lock"


@contextmanager
def open_state_folder() -> Iterator[Path]:
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # The lock is held until this process ends, even if it is killed.
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _remove_leftovers(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            handle = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            continue  # the folder of another user, or one that is just being made
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # its run is alive
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)
