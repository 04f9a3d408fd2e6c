"""A managed server, such as Aurora, whose admin is no superuser and is the first to create the roles."""

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.local.postgres import throwaway_postgres
from signet.store.schema.migrations import migrate_down, migrate_up, read_migrations
from signet.store.schema.server import act_as, let_act_as
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.store.catalogue import RUNTIME_ROLES, find_offenders

REAL = read_migrations(MIGRATIONS_FOLDER)


@pytest.mark.parametrize("major", [16, 18])
def test_an_admin_who_is_no_superuser_migrates_and_acts_as_every_role(major: int) -> None:
    with throwaway_postgres(major=major) as server:
        with psycopg.connect(server.url, autocommit=True) as superuser:
            superuser.execute("CREATE ROLE boss LOGIN PASSWORD 'secret' CREATEDB CREATEROLE")
            superuser.execute("CREATE DATABASE managed OWNER boss")
        url = make_conninfo(server.url, user="boss", password="secret", dbname="managed")
        assert migrate_up(url, REAL, say=lambda _: None) == len(REAL)
        with psycopg.connect(url) as admin:
            assert find_offenders(admin) == []
        for role in RUNTIME_ROLES:
            let_act_as(url, role)
            with psycopg.connect(act_as(url, role)) as connection:
                assert connection.execute("SELECT current_user").fetchone() == (role,)
        assert migrate_down(url, REAL, steps=len(REAL), say=lambda _: None) == len(REAL)
        assert migrate_up(url, REAL, say=lambda _: None) == len(REAL)
