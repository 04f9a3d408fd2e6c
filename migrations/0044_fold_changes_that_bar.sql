-- phase: expand
-- transaction: on
--
-- What may bar a vote was put together in three statements, of three functions each. It is one function now. Another one,
-- which nothing has called since 0035, is dropped.

-- up
-- Finds what a member has asked for, who is to be disabled.
CREATE INDEX transition_requests_open_by_actor ON transition_requests (tenant_id, actor_id, created_at)
    WHERE status = 'open';

-- List what the concerned persons have changed since a moment: about these people and roles, in the lines that seats came by,
-- and by what they took from the holders of seats. A manager counts by the line alone.
CREATE FUNCTION vote_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], holders text[],
                                   seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[],
                                   own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean,
                   is_given_up boolean)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT c.*, false, false
    FROM barring_changes_since($1, $2, $3, $4, $9, $11) AS c
    WHERE c.kind <> 'manager_set'
    UNION ALL
    SELECT l.*
    FROM line_changes_since($1, $7, $8, $4) AS l
    UNION ALL
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, '{}'::text[],
           last_giving($1, t.changed_at, t.kind, t.user_id, t.role), '{}'::jsonb, t.takes_permission, false
    FROM permission_takings_since($1, $4, $5, $6, $9, $10, $11) AS t;
END;
REVOKE EXECUTE ON FUNCTION vote_changes_since(
    timestamptz, text[], text[], text[], text[], text[], text[], text[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION vote_changes_since(
    timestamptz, text[], text[], text[], text[], text[], text[], text[], text[], text[], text[]) TO signet_api, signet_worker;

DROP FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]);

-- down
DROP INDEX transition_requests_open_by_actor;

CREATE FUNCTION eligibility_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons, c.given_by)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id
    FROM (
        SELECT n.*, CASE WHEN n.kind IN ('role_taken', 'member_disabled', 'role_given', 'member_enabled') THEN (
                   SELECT g.persons FROM eligibility_changes g
                   WHERE g.tenant_id = n.tenant_id AND g.user_id = n.user_id AND g.changed_at >= $1
                     AND g.changed_at < n.changed_at AND g.role IS NOT DISTINCT FROM n.role
                     AND g.kind IN ('role_given', 'member_enabled')
                   ORDER BY g.changed_at DESC LIMIT 1) END AS given_by
        FROM (
            SELECT u.tenant_id, u.id, u.changed_at, u.kind, u.user_id, u.role, u.other_user_id, u.persons,
                   u.actor_id, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
            FROM eligibility_changes u
            WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
              AND u.kind <> 'delegation_revoked'
              -- A vote rests on a delegation where both of its sides are judged.
              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
            UNION ALL
            SELECT r.tenant_id, r.id, r.changed_at, r.kind, r.user_id, r.role, r.other_user_id, r.persons,
                   r.actor_id, NULL
            FROM eligibility_changes r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
              AND (r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_widened', 'role_deleted')
                   -- One of these persons has given it back, or gave it before: that may lift a bar.
                   OR r.kind IN ('role_given', 'member_enabled')
                      AND (SELECT count(*) FROM eligibility_changes t
                           WHERE t.tenant_id = r.tenant_id AND t.user_id = r.user_id AND t.changed_at >= $1
                             AND t.persons && $4
                             AND ((r.kind = 'role_given' AND t.kind IN ('role_taken', 'member_disabled') AND t.role = r.role)
                                  OR (r.kind = 'member_enabled' AND t.kind = 'member_disabled'))) > 0)
        ) AS n
    ) AS c
    WHERE c.persons && $4
      -- What others have given back is not taken any more.
      AND (SELECT count(*) FROM eligibility_changes b
           WHERE b.tenant_id = c.tenant_id AND b.user_id = c.user_id AND b.changed_at > c.changed_at
             AND NOT b.persons && $4
             AND ((c.kind = 'role_taken' AND b.kind = 'role_given' AND b.role = c.role)
                  OR (c.kind = 'member_disabled' AND b.kind = 'member_enabled'))) = 0
      -- Nor what others have set again for all who hold the role.
      AND (SELECT count(*) FROM eligibility_changes s
           WHERE c.kind IN ('role_permissions_changed', 'role_widened', 'role_deleted')
             AND s.tenant_id = c.tenant_id AND s.role = c.role AND s.changed_at > c.changed_at
             AND NOT s.persons && $4
             AND (s.kind = 'role_permissions_changed' OR s.kind = 'role_widened' AND c.kind <> 'role_widened')) = 0
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.given_by, c.changed_at DESC
    LIMIT 1001;
END;
REVOKE EXECUTE ON FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]) TO signet_api, signet_worker;
DROP FUNCTION vote_changes_since(
    timestamptz, text[], text[], text[], text[], text[], text[], text[], text[], text[], text[]);
