"""`make bench`: every measured figure beside its reference or goal, in one run. Names choose some of them."""

import sys
from collections.abc import Callable, Iterable

from bench import api, cold_import, compiler, expressions, mutations, snapshots
from bench.engine import measure as engine
from bench.fairness import measure as fairness
from bench.load import measure as load
from bench.time import measure as time

MEASURES: dict[str, tuple[str, Callable[[], Iterable[str]]]] = {
    "import": ("Cold import of the API handler", cold_import.measure),
    "api": ("A request to the API", api.measure),
    "expressions": ("Expressions", expressions.measure),
    "compiler": ("Compiler and simulator", compiler.measure),
    "mutations": ("Documents", mutations.measure),
    "engine": ("Engine", engine.measure),
    "time": ("Time: claims, looks and drains of what waits", time.measure),
    "snapshots": ("Claims under an old snapshot", snapshots.measure),
    "load": ("The API by HTTP", load.measure),
    "fairness": ("Fairness: one person's load, and the others", fairness.measure),
}


def main() -> None:
    for name in sys.argv[1:] or MEASURES:
        title, measure = MEASURES[name]
        print(f"\n{title}")
        for line in measure():
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
