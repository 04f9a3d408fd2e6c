"""Runtime roles of the tests reach the database where `make pooler` can put a pooler before it."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Each file has its reason.
STRAIGHT = {
    "architecture/test_pooling.py": "names it",
    "chaos/api.py": "is a process of that server",
    "chaos/town.py": "has a server of its own, which is killed",
    "chaos/worker.py": "is a process of that server",
    "chaos/writer.py": "is a process of that server",
    "conftest.py": "readies the server as its admin",
    "support/database/runtime_roles.py": "is the one way that the others take",
    "faults/test_outages.py": "cuts the wire itself, between a client and the server",
    "faults/test_refused_work.py": "refuses statements itself, between a client and the server",
    "faults/test_wave_faults.py": "cuts the wire itself, between a client and the server",
    "integration/cli/test_main.py": "tries the startup option that a pooler does not carry",
    "local/test_run.py": "the database is that of `make run`",
    "migrations/test_managed_server.py": "has a server of its own",
}


def test_every_runtime_role_comes_by_as_role() -> None:
    found = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if "act_as" in path.read_text(encoding="utf-8")
    }
    assert found == set(STRAIGHT), "use tests.support.database.runtime_roles.as_role"
