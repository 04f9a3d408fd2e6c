"""Rules for the catalogue of a migrated database; each rule is a query that finds offenders."""

from psycopg import Connection

# Tables that belong to no tenant, each with its reason.
WITHOUT_TENANT = {
    "signet_migrations": "the schema's own bookkeeping, the same for every tenant",
    "housekeeping_tasks": "housekeeping is done for all tenants together, a row for each task",
    "audit_epochs": "transaction ids are one sequence of the server for all tenants",
}

RUNTIME_ROLES = ["signet_api", "signet_worker", "signet_dispatch", "signet_janitor"]

RULES = {
    "has no tenant_id": """
        SELECT relname FROM pg_class c
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> ALL (%(without)s)
          AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'
                          AND a.attnotnull AND NOT a.attisdropped AND a.atttypid = 'uuid'::regtype)""",
    "has a primary key that does not lead with tenant_id (after a partition key)": """
        SELECT c.relname FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND c.relname <> ALL (%(without)s)
          AND coalesce((SELECT attname FROM pg_attribute
                        WHERE attrelid = c.oid AND attnum = i.indkey[0]), '') <> 'tenant_id'""",
    "has a unique index that does not hold tenant_id": """
        SELECT x.relname FROM pg_index i
        JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND c.relname <> ALL (%(without)s)
          AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'
                          AND a.attnum = ANY (i.indkey))""",
    "has no forced row security": """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> ALL (%(without)s)
          AND NOT (relrowsecurity AND relforcerowsecurity)""",
    "has no policy that ties it to the one tenant": """
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND c.relname <> ALL (%(without)s)
          AND NOT EXISTS (
              SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polroles = '{0}' AND p.polcmd = '*'
              AND pg_get_expr(p.polqual, p.polrelid) = '(tenant_id = current_tenant_id())'
              AND pg_get_expr(p.polwithcheck, p.polrelid) = '(tenant_id = current_tenant_id())')""",
    "has a policy that is open to more than dispatch": """
        SELECT c.relname || '.' || p.polname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
        WHERE p.polname <> 'tenant_isolation' AND p.polroles <> ARRAY['signet_dispatch'::regrole::oid]""",
    "has a policy for dispatch that does more than read": """
        SELECT c.relname || '.' || p.polname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
        WHERE p.polname <> 'tenant_isolation' AND p.polcmd <> 'r'""",
    "is open to dispatch as a whole": """
        SELECT relname FROM pg_class, aclexplode(relacl) WHERE grantee = 'signet_dispatch'::regrole
          AND relkind <> 'S'""",
    "is a column that dispatch may see": """
        SELECT attrelid::regclass || '.' || attname FROM pg_attribute, aclexplode(attacl)
        WHERE grantee = 'signet_dispatch'::regrole
          AND (privilege_type <> 'SELECT'
               OR attname NOT IN ('tenant_id', 'status', 'due_at', 'lease_until', 'created_at',
                                  'completed_at', 'expires_at', 'read_at', 'full_at', 'deleted_at',
                                  'purged_at', 'timeout_at', 'changed_at',
                                  'code', 'opened_at', 'acknowledged_at', 'closed_at',
                                  'sequence', 'epoch', 'xid', 'to_xid'))""",
    "is a partition that can be had without its table": """
        SELECT relname FROM pg_class, aclexplode(relacl)
        WHERE relispartition AND relkind IN ('r', 'p') AND grantee <> relowner""",
    "is a partition that can be truncated and its table cannot": """
        SELECT i.inhrelid::regclass::text FROM pg_inherits i
        JOIN pg_trigger t ON t.tgrelid = i.inhparent AND t.tgname = 'reject_truncate'
        WHERE NOT EXISTS (SELECT FROM pg_trigger own WHERE own.tgrelid = i.inhrelid
                          AND own.tgname = t.tgname AND own.tgfoid = t.tgfoid AND own.tgtype = t.tgtype)""",
    "is not owned by signet_owner": """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
          AND relowner <> 'signet_owner'::regrole""",
    "is owned by a runtime role": """
        SELECT relname FROM pg_class WHERE relowner = ANY (%(roles)s::regrole[])
        UNION ALL SELECT nspname FROM pg_namespace WHERE nspowner = ANY (%(roles)s::regrole[])
        UNION ALL SELECT proname FROM pg_proc
            WHERE proowner = ANY (%(roles)s::regrole[])
              AND NOT (prosecdef AND proowner = 'signet_dispatch'::regrole)""",
    "is a runtime role with more rights than a runtime role has": """
        SELECT rolname FROM pg_roles WHERE rolname = ANY (%(roles)s)
          AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)""",
    "is a runtime role that is a member of another role": """
        SELECT m.member::regrole::text FROM pg_auth_members m WHERE m.member = ANY (%(roles)s::regrole[])""",
    "is SECURITY DEFINER without a fixed search_path": """
        SELECT proname FROM pg_proc
        WHERE prosecdef AND pronamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT FROM unnest(proconfig) setting WHERE setting LIKE 'search\\_path=%%')""",
    # The body of some functions was bound to its names when they were made: they need no path.
    "is a function without the one search_path": """
        SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prosqlbody IS NULL
          AND NOT coalesce('search_path=pg_catalog, public, pg_temp' = ANY (p.proconfig), false)
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                          AND d.deptype = 'e')""",
    "is SECURITY DEFINER and may be called by everybody": """
        SELECT proname FROM pg_proc p
        WHERE prosecdef AND pronamespace = 'public'::regnamespace
          AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0))""",
}


def find_offenders(connection: Connection[tuple[object, ...]]) -> list[str]:
    values = {"without": list(WITHOUT_TENANT), "roles": RUNTIME_ROLES}
    return [
        f"{row[0]} {rule}"
        for rule, query in RULES.items()
        for row in connection.execute(query, values).fetchall()
    ]
