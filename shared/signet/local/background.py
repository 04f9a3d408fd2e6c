"""A thread beside the API that can be stopped and waited for."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def in_background(name: str, work_until: Callable[[threading.Event], None]) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=work_until, args=(stop,), name=name)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
