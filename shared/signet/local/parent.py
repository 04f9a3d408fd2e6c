"""A bond to the process that started this one, so that a killed `make` leaves nothing behind."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """End with the parent, on Linux only; elsewhere Ctrl-C and SIGTERM stop a run."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent or parent == 1:
        # The parent ended before the signal was armed (or there is none to end with).
        raise SystemExit(1)
