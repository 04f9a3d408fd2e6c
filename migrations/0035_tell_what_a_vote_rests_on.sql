-- phase: expand
-- transaction: on
--
-- A giving bars a vote only where the vote rests on it. Else a person of the document bars an approver by giving them what
-- they have. So each change comes with what tells that. The function of before stays for the release before.

-- up
-- List the permissions that grant one. A '*' in front does not reach `own_resources`.
CREATE FUNCTION permissions_granting(permission text, own_resources text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ARRAY[$1, split_part($1, ':', 1) || ':*', '*:*']
           || CASE WHEN split_part($1, ':', 1) <> ALL ($2) THEN ARRAY['*:' || split_part($1, ':', 2)] ELSE '{}' END;
END;
REVOKE EXECUTE ON FUNCTION permissions_granting(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION permissions_granting(text, text[]) TO signet_api, signet_worker;

-- Find the persons behind the last giving of what a person lost by a taking of this kind, whoever they are.
CREATE FUNCTION last_giving(since timestamptz, taken_at timestamptz, taking text, person text, role text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT g.persons FROM eligibility_changes g
    WHERE g.tenant_id = current_tenant_id() AND g.user_id = $4 AND g.changed_at >= $1 AND g.changed_at < $2
      AND g.role IS NOT DISTINCT FROM $5
      AND (g.kind = 'role_given' AND $3 IN ('role_taken', 'member_disabled')
           OR g.kind = 'member_enabled' AND $3 = 'member_disabled')
    ORDER BY g.changed_at DESC LIMIT 1;
END;
REVOKE EXECUTE ON FUNCTION last_giving(timestamptz, timestamptz, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION last_giving(timestamptz, timestamptz, text, text, text) TO signet_api, signet_worker;

-- List what was changed since a moment by one of these persons, about these people or these roles: only what can bar a
-- vote or lift its bar, and the newest of each. With a change of a role come the needed permissions that it granted until
-- then. With the others come the persons behind the last giving: of a taking the one before it, of a role the one it is held
-- by, and of a reporting line the one that stands. With each come the roles that grant a needed permission now. One row
-- more than 1000 says that there are more than can be judged. What a person was given and has no more is not among them, nor
-- is what was taken that nobody is asked for: so nobody is barred by many changes beside the vote.
CREATE FUNCTION barring_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], needed text[],
                                      own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id, c.gave, c.given_by,
           (SELECT coalesce(jsonb_object_agg(p.permission, ARRAY(
                       SELECT h.role FROM roles h
                       WHERE h.tenant_id = current_tenant_id()
                         AND h.permissions && permissions_granting(p.permission, $6))), '{}')
            FROM unnest($5) AS p (permission))
    FROM (
        SELECT n.*,
               CASE WHEN n.kind IN ('role_permissions_changed', 'role_widened') THEN ARRAY(
                   SELECT p.permission FROM unnest($5) AS p (permission)
                   WHERE n.permissions && permissions_granting(p.permission, $6) ORDER BY p.permission)
               ELSE '{}' END AS gave,
               CASE n.kind
                   WHEN 'role_given' THEN last_giving($1, 'infinity', 'role_taken', n.user_id, n.role)
                   WHEN 'manager_set' THEN (
                       SELECT g.persons FROM eligibility_changes g
                       JOIN org_chart line ON line.tenant_id = g.tenant_id AND line.user_id = g.other_user_id
                        AND line.manager_id = g.user_id
                       WHERE g.tenant_id = n.tenant_id AND g.user_id = n.user_id AND g.kind = 'manager_set'
                         AND g.other_user_id = n.other_user_id AND g.changed_at >= $1
                       ORDER BY g.changed_at DESC LIMIT 1)
                   ELSE last_giving($1, n.changed_at, n.kind, n.user_id, n.role)
               END AS given_by
        FROM (
            SELECT u.*, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
            FROM eligibility_changes u
            WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
              AND u.kind NOT IN ('delegation_revoked', 'role_taken')
              -- A vote rests on a delegation where both of its sides are judged.
              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
              AND (u.kind <> 'role_given'
                   OR u.role = ANY ($3)
                   OR EXISTS (SELECT FROM member_roles h
                              WHERE h.tenant_id = u.tenant_id AND h.user_id = u.user_id AND h.role = u.role))
            UNION ALL
            SELECT r.*, NULL
            FROM eligibility_changes r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
              AND (r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_widened', 'role_deleted')
                   -- One of these persons has given it back: that may lift a bar.
                   OR r.kind IN ('role_given', 'member_enabled')
                      AND (SELECT count(*) FROM eligibility_changes t
                           WHERE t.tenant_id = r.tenant_id AND t.user_id = r.user_id AND t.changed_at >= $1
                             AND t.persons && $4
                             AND ((r.kind = 'role_given' AND t.kind IN ('role_taken', 'member_disabled') AND t.role = r.role)
                                  OR (r.kind = 'member_enabled' AND t.kind = 'member_disabled'))) > 0)
        ) AS n
        WHERE n.persons && $4
    ) AS c
    -- What others have given back is not taken any more.
    WHERE (SELECT count(*) FROM eligibility_changes b
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
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by, c.changed_at DESC
    LIMIT 1001;
END;
REVOKE EXECUTE ON FUNCTION barring_changes_since(timestamptz, text[], text[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION barring_changes_since(timestamptz, text[], text[], text[], text[], text[])
    TO signet_api, signet_worker;

-- List how one of these persons has taken, since a moment, a permission that votes need from active members who are
-- asked: the holders, or those with one of the seats' roles. A member who has kept it by another role has lost nothing.
-- `by_roles` are permissions whose condition reads the voter's roles: then to take any role may take the vote. A '*' in
-- front of a permission does not reach `own_resources`. With each comes what lifts its bar for some: one of these persons
-- has given it back. What anybody else has given back is not taken any more.
-- Where a condition reads roles, any that is given may take the vote as well, from those who were asked without it.
CREATE OR REPLACE FUNCTION permission_takings_since(since timestamptz, concerned text[], holders text[], seat_roles text[],
                                         needed text[], by_roles text[], own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, takes_permission boolean)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant_id();
    any_role boolean := coalesce(needed && by_roles, false);
BEGIN
    -- Hardly any vote has one.
    IF coalesce(cardinality(needed), 0) = 0 OR NOT EXISTS (
        SELECT FROM eligibility_changes c
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND (c.kind IN ('role_taken', 'role_permissions_changed') OR any_role AND c.kind = 'role_given')) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH need AS MATERIALIZED (
        SELECT permissions_granting(n.permission, own_resources) AS granting
        FROM unnest(needed) AS n (permission)
    ), taken AS MATERIALIZED (
        SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.persons, given.persons) c.*
        FROM eligibility_changes c
        CROSS JOIN LATERAL (
            SELECT last_giving(since, c.changed_at, c.kind, c.user_id, c.role) AS persons
        ) AS given
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND (c.kind IN ('role_taken', 'role_permissions_changed') OR any_role AND c.kind = 'role_given')
          AND EXISTS (
              SELECT FROM (
                  SELECT c.user_id AS id WHERE c.kind IN ('role_taken', 'role_given')
                  -- A role that has changed took it from those who hold it, and from those who held it then.
                  UNION ALL SELECT h.user_id FROM member_roles h
                            WHERE c.kind = 'role_permissions_changed' AND h.tenant_id = tenant AND h.role = c.role
                  UNION ALL SELECT t.user_id FROM eligibility_changes t
                            WHERE c.kind = 'role_permissions_changed' AND t.tenant_id = tenant AND t.role = c.role
                              AND t.kind = 'role_taken' AND t.changed_at > c.changed_at
              ) AS person
              JOIN members m ON m.tenant_id = tenant AND m.user_id = person.id AND m.status = 'active'
              WHERE (m.user_id = ANY (holders)
                     OR EXISTS (SELECT FROM member_roles a WHERE a.tenant_id = tenant AND a.user_id = m.user_id
                                                             AND a.role = ANY (seat_roles)
                              -- Whom these persons have asked by a role takes no vote from the others.
                              AND NOT (c.kind = 'role_given' AND EXISTS (
                                  SELECT FROM eligibility_changes g
                                  WHERE g.tenant_id = tenant AND g.user_id = a.user_id AND g.role = a.role
                                    AND g.kind = 'role_given' AND g.changed_at >= since AND g.persons && concerned))))
                AND (any_role AND c.kind IN ('role_taken', 'role_given')
                     OR c.kind <> 'role_given' AND EXISTS (SELECT FROM need
                                WHERE (c.permissions IS NULL OR c.permissions && need.granting)
                                  AND NOT has_kept_permission(m.user_id, need.granting, since))))
          AND NOT EXISTS (
              SELECT FROM eligibility_changes b
              WHERE b.tenant_id = tenant AND b.role = c.role AND b.changed_at > c.changed_at
                AND NOT b.persons && concerned
                AND CASE c.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = c.user_id
                                WHEN 'role_given' THEN b.kind = 'role_taken' AND b.user_id = c.user_id
                                ELSE b.kind IN ('role_permissions_changed', 'role_widened') END)
        ORDER BY c.kind, c.user_id, c.role, c.persons, given.persons, c.changed_at DESC
        LIMIT 1001
    ), given_back AS (
        SELECT DISTINCT ON (b.kind, b.user_id, b.role, b.persons) b.*
        FROM taken
        JOIN eligibility_changes b ON b.tenant_id = tenant AND b.role = taken.role AND b.persons && concerned
         AND b.changed_at > taken.changed_at
         AND CASE taken.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = taken.user_id
                             WHEN 'role_given' THEN b.kind = 'role_taken' AND b.user_id = taken.user_id
                             ELSE b.kind IN ('role_permissions_changed', 'role_widened') END
        ORDER BY b.kind, b.user_id, b.role, b.persons, b.changed_at DESC
        LIMIT 1001
    )
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, true FROM taken t
    UNION ALL
    SELECT g.kind, g.changed_at, g.actor_id, g.persons, g.user_id, g.role, g.other_user_id, false FROM given_back g;
END
$$;

-- down
-- List how one of these persons has taken, since a moment, a permission that votes need from active members who are
-- asked: the holders, or those with one of the seats' roles. A member who has kept it by another role has lost nothing.
-- `by_roles` are permissions whose condition reads the voter's roles: then to take any role may take the vote. A '*' in
-- front of a permission does not reach `own_resources`. With each comes what lifts its bar for some: one of these persons
-- has given it back. What anybody else has given back is not taken any more.
CREATE OR REPLACE FUNCTION permission_takings_since(since timestamptz, concerned text[], holders text[], seat_roles text[],
                                         needed text[], by_roles text[], own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, takes_permission boolean)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant_id();
    any_role boolean := coalesce(needed && by_roles, false);
BEGIN
    -- Hardly any vote has one.
    IF coalesce(cardinality(needed), 0) = 0 OR NOT EXISTS (
        SELECT FROM eligibility_changes c
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND c.kind IN ('role_taken', 'role_permissions_changed')) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH need AS MATERIALIZED (
        SELECT ARRAY[n.permission, split_part(n.permission, ':', 1) || ':*', '*:*']
               || CASE WHEN split_part(n.permission, ':', 1) <> ALL (own_resources)
                       THEN ARRAY['*:' || split_part(n.permission, ':', 2)] ELSE '{}' END AS granting
        FROM unnest(needed) AS n (permission)
    ), taken AS MATERIALIZED (
        SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.persons) c.*
        FROM eligibility_changes c
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND c.kind IN ('role_taken', 'role_permissions_changed')
          AND EXISTS (
              SELECT FROM (
                  SELECT c.user_id AS id WHERE c.kind = 'role_taken'
                  -- A role that has changed took it from those who hold it, and from those who held it then.
                  UNION ALL SELECT h.user_id FROM member_roles h
                            WHERE c.kind <> 'role_taken' AND h.tenant_id = tenant AND h.role = c.role
                  UNION ALL SELECT t.user_id FROM eligibility_changes t
                            WHERE c.kind <> 'role_taken' AND t.tenant_id = tenant AND t.role = c.role
                              AND t.kind = 'role_taken' AND t.changed_at > c.changed_at
              ) AS person
              JOIN members m ON m.tenant_id = tenant AND m.user_id = person.id AND m.status = 'active'
              WHERE (m.user_id = ANY (holders)
                     OR EXISTS (SELECT FROM member_roles a WHERE a.tenant_id = tenant AND a.user_id = m.user_id
                                                             AND a.role = ANY (seat_roles)))
                AND (any_role AND c.kind = 'role_taken'
                     OR EXISTS (SELECT FROM need
                                WHERE (c.permissions IS NULL OR c.permissions && need.granting)
                                  AND NOT has_kept_permission(m.user_id, need.granting, since))))
          AND NOT EXISTS (
              SELECT FROM eligibility_changes b
              WHERE b.tenant_id = tenant AND b.role = c.role AND b.changed_at > c.changed_at
                AND NOT b.persons && concerned
                AND CASE c.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = c.user_id
                                ELSE b.kind IN ('role_permissions_changed', 'role_widened') END)
        ORDER BY c.kind, c.user_id, c.role, c.persons, c.changed_at DESC
        LIMIT 1001
    ), given_back AS (
        SELECT DISTINCT ON (b.kind, b.user_id, b.role, b.persons) b.*
        FROM taken
        JOIN eligibility_changes b ON b.tenant_id = tenant AND b.role = taken.role AND b.persons && concerned
         AND b.changed_at > taken.changed_at
         AND CASE taken.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = taken.user_id
                             ELSE b.kind IN ('role_permissions_changed', 'role_widened') END
        ORDER BY b.kind, b.user_id, b.role, b.persons, b.changed_at DESC
        LIMIT 1001
    )
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, true FROM taken t
    UNION ALL
    SELECT g.kind, g.changed_at, g.actor_id, g.persons, g.user_id, g.role, g.other_user_id, false FROM given_back g;
END
$$;

DROP FUNCTION barring_changes_since(timestamptz, text[], text[], text[], text[], text[]);
DROP FUNCTION last_giving(timestamptz, timestamptz, text, text, text);
DROP FUNCTION permissions_granting(text, text[]);
