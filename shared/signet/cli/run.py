"""`signet run`: everything on one machine, stopped together."""

import os
import sys
import threading
from pathlib import Path

from signet.local.parent import end_with_parent as arm_end_with_parent
from signet.local.postgres import PostgresFailed
from signet.local.runner import run_signet


def run(*, port: int, state: Path, end_with_parent: bool) -> None:
    if end_with_parent:
        arm_end_with_parent()
    try:
        run_signet(port=port, state=state, database_url=os.environ.get("SIGNET_DATABASE_URL") or None)
    except PostgresFailed as error:
        print(f"signet: {error}", file=sys.stderr, flush=True)
        _leave_threads()
        raise SystemExit(1) from None
    _leave_threads()


def _leave_threads() -> None:
    """End the process at once where a thread did not end in time, such as a delivery to a slow receiver.

    Python would wait for it without a limit. Its lease brings its work back.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stdout.flush()
        os._exit(1)
