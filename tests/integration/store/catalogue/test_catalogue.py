"""Every table, role and function of the migrated database keeps the tenancy rules (design §10)."""

import psycopg
import pytest
from psycopg import Connection

from tests.support.database.catalogue import WITHOUT_TENANT, find_offenders

Admin = Connection[tuple[object, ...]]

KEY = "tenant_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (tenant_id, id)"
GOOD = f"CREATE TABLE t ({KEY}); CALL isolate_tenant_table('t'); "
PARTITION = "CREATE TABLE p PARTITION OF workflow_event FOR VALUES FROM ('1999-01-01') TO ('1999-02-01')"
FUNCTION = "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER {} AS 'SELECT 1'"

# A deliberate breach, and the beginning of the walk's answer.
BREAKS = {
    "CREATE TABLE t (id uuid PRIMARY KEY)": "t has no tenant_id",
    GOOD + "ALTER TABLE t NO FORCE ROW LEVEL SECURITY": "t has no forced row security",
    GOOD + "DROP POLICY tenant_isolation ON t": "t has no policy",
    GOOD + "ALTER POLICY tenant_isolation ON t USING (true)": "t has no policy",
    GOOD + "CREATE POLICY wide ON t TO signet_api USING (true)": "t.wide has a policy that is open",
    GOOD + "CREATE POLICY wide ON t TO signet_dispatch USING (true)": (
        "t.wide has a policy for dispatch that does more than read"
    ),
    GOOD + "GRANT SELECT ON t TO signet_dispatch": "t is open to dispatch as a whole",
    GOOD + "GRANT SELECT (id) ON t TO signet_dispatch": "t.id is a column that dispatch may see",
    PARTITION: "p has no forced row security",
    PARTITION + "; GRANT SELECT ON p TO signet_api": "p is a partition that can be had without its table",
    PARTITION + "; CALL isolate_tenant_table('p')": "p is a partition that can be truncated",
    GOOD + "CREATE UNIQUE INDEX t_id ON t (id)": "t_id has a unique index",
    "CREATE TABLE t (tenant_id uuid, id uuid, PRIMARY KEY (id, tenant_id))": "t has a primary key",
    GOOD + "GRANT CREATE ON SCHEMA public TO signet_api; ALTER TABLE t OWNER TO signet_api": (
        "t is owned by a runtime role"
    ),
    GOOD: "t is not owned by signet_owner",
    FUNCTION.format(""): "f is SECURITY DEFINER without",
    FUNCTION.format("SET search_path = pg_catalog"): "f is SECURITY DEFINER and may be called by everybody",
    FUNCTION.format("SET search_path = pg_catalog, public"): "f() is a function without the one search_path",
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": (
        "f() is a function without the one search_path"
    ),
    "ALTER FUNCTION reject_any_change() SET search_path = public, pg_catalog, pg_temp": (
        "reject_any_change() is a function without the one search_path"
    ),
    "ALTER ROLE signet_api BYPASSRLS": "signet_api is a runtime role with more rights",
    "GRANT signet_owner TO signet_worker": "signet_worker is a runtime role that is a member",
}


def test_the_migrated_database_keeps_every_rule(admin: Admin) -> None:
    assert find_offenders(admin) == []
    assert all(WITHOUT_TENANT.values()), "each exception gives its reason"


@pytest.mark.parametrize("statement", BREAKS, ids=range(len(BREAKS)))
def test_a_broken_rule_is_found(owner_url: str, statement: str) -> None:
    with psycopg.connect(owner_url) as connection:
        try:
            connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            pytest.skip("only a superuser may break this")
        assert any(offender.startswith(BREAKS[statement]) for offender in find_offenders(connection))
        connection.rollback()  # roles belong to the whole cluster: no change of them may stay
