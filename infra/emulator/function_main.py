"""Starts a function's process: the real runtime client, ended when the emulator ends.

It runs under the interpreter of the functions, with nothing on its path but their bundle and the runtime.
"""

import os
import sys
import threading

_LIFELINE = 0


def _end_with_emulator() -> None:
    """End when the other end of the pipe closes, which it does however the emulator ends."""
    os.read(_LIFELINE, 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_emulator, daemon=True).start()
    from awslambdaric.__main__ import main

    main(sys.argv)
