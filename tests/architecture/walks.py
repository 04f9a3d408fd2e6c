"""Two walks of a request through the files, counted by the interpreter itself."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import signet

SOURCES = Path(signet.__file__).parent
FUNCTIONS = SOURCES.parents[1] / "functions"
# Learned once for all walks. A name that ends in / is a folder with all below it.
FOUNDATION = (
    "ids.py",
    "settings.py",
    "aws_settings.py",
    "core/validation/",
    "core/expressions/",
    "core/tenants/",
    "core/integrations/",
    "core/errors.py",
    "core/backoff.py",
    "core/canonical_json.py",
    "store/database.py",
    "store/pipeline.py",
    "store/statements.py",
    "store/wake_ups.py",
    "store/json_values.py",
    "engine/telemetry.py",
    "engine/cache.py",
    "engine/access/",
    "api/application.py",
    "api/use_cases.py",
    "api/lazy.py",
    "api/http/",
    "api/auth/",
    "api/routes/table.py",
    "api/routes/index.py",
)


def is_foundation(name: str) -> bool:
    return any(name == part or (part.endswith("/") and name.startswith(part)) for part in FOUNDATION)


@dataclass
class Walk:
    """The files that one walk enters, and the calls from one file into another."""

    files: set[str] = field(default_factory=set)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def beyond_foundation(self) -> list[str]:
        return sorted(name for name in self.files if not is_foundation(name))

    @property
    def two_way_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of files that call each other; the foundation does not count."""
        beyond = set(self.beyond_foundation)
        return sorted(
            (one, other)
            for one, other in self.calls
            if one < other and (other, one) in self.calls and {one, other} <= beyond
        )

    def describe(self, name: str) -> str:
        return (
            f"{name}: {len(self.files)} files, {len(self.beyond_foundation)} beyond the foundation;"
            f" {sum(self.calls.values())} calls over {len(self.calls)} pairs,"
            f" {len(self.two_way_pairs)} both ways"
        )

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Note every call that this thread makes into a file of the product."""

        def profile(frame: FrameType, event: str, _argument: Any) -> None:
            if event == "call":
                self.note(frame)

        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            yield
        finally:
            sys.setprofile(before)

    def note(self, frame: FrameType) -> None:
        callee = _name_file(frame.f_code.co_filename)
        if callee is None or frame.f_code.co_name == "<module>":
            return
        self.files.add(callee)
        caller = _find_caller(frame.f_back)
        if caller is not None and caller != callee:
            self.calls[caller, callee] += 1


def _find_caller(frame: FrameType | None) -> str | None:
    """Return the nearest file of the product up the stack: a library in between passes the call on."""
    while frame is not None:
        name = _name_file(frame.f_code.co_filename)
        if name is not None:
            return name
        frame = frame.f_back
    return None


def _name_file(path: str) -> str | None:
    file = Path(path)
    if file.is_relative_to(SOURCES):
        return file.relative_to(SOURCES).as_posix()
    if file.is_relative_to(FUNCTIONS):
        return f"functions/{file.relative_to(FUNCTIONS).as_posix()}"
    return None
