"""`make schema`: writes migrations/schema.sql from a fresh migration."""

from signet.local.postgres import throwaway_postgres
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.store.schema.server import create_database, use_database
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.migrations.dump import SCHEMA_FILE, dump_schema


def write_schema() -> None:
    with throwaway_postgres() as server:
        create_database(server.url, "signet")
        url = use_database(server.url, "signet")
        migrate_up(url, read_migrations(MIGRATIONS_FOLDER))
        SCHEMA_FILE.write_text(dump_schema(url))
    print(f"wrote {SCHEMA_FILE.name}")


if __name__ == "__main__":
    write_schema()
