"""Differences of a generated file from what it would be now, short enough for a failure's message."""

from difflib import unified_diff
from itertools import islice

MAX_CHANGES = 30


def list_changes(text: str, renewed: str) -> list[str]:
    """List the lines that differ, and no others, each behind its sign."""
    whole = unified_diff(text.splitlines(), renewed.splitlines(), n=0, lineterm="")
    # The first two lines name the files.
    changes = [line for line in islice(whole, 2, None) if not line.startswith("@@")]
    return changes[:MAX_CHANGES] + ["…"] * (len(changes) > MAX_CHANGES)


def expect_fresh(text: str, renewed: str, command: str) -> None:
    changes = "\n".join(list_changes(text, renewed))
    assert not changes, f"run: {command}\n{changes}"
