"""`make zones`: writes the names of all time zones into core, from the pinned package `tzdata`.

Core opens no files, and the compiler must know whether a zone exists.
"""

from importlib import resources
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "shared/signet/core/moments/zone_names.py"
HEAD = '''"""The names of all time zones, from the pinned package `tzdata`. `make zones` writes this file."""

ZONE_NAMES = tuple(
    """
'''
WIDTH = 100


def list_names() -> list[str]:
    return sorted((resources.files("tzdata") / "zones").read_text(encoding="utf-8").split())


def write_zone_names() -> str:
    lines = [""]
    for name in list_names():
        if len(lines[-1]) + len(name) > WIDTH:
            lines.append("")
        lines[-1] += f"{name} "
    return HEAD + "".join(f"    {line.rstrip()}\n" for line in lines) + '    """.split()\n)\n'


if __name__ == "__main__":
    FILE.write_text(write_zone_names(), encoding="utf-8")
