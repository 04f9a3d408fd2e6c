-- phase: expand
-- transaction: on
--
-- A vote needs permissions beside its seat, and they may come by another role than the one that is asked. So a change of
-- a role notes what the role gave until then: to take that from people who are asked clears the bench too.

-- up
-- What the role gave until the change, of 'role_taken', 'role_permissions_changed', 'role_widened' and 'role_deleted'.
-- NULL in a change of an older release: the role may have given anything.
ALTER TABLE eligibility_changes ADD COLUMN permissions text[];

-- Find out whether a person has one of these permissions by a role that they have held all the while since a moment, and
-- that has given it all the while. What came later may have been given to bar them.
CREATE FUNCTION has_kept_permission(person text, granting text[], since timestamptz) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM member_roles h
        JOIN roles r ON r.tenant_id = h.tenant_id AND r.role = h.role AND r.permissions && $2
        WHERE h.tenant_id = current_tenant_id() AND h.user_id = $1
          AND NOT EXISTS (SELECT FROM eligibility_changes g
                          WHERE g.tenant_id = h.tenant_id AND g.user_id = h.user_id AND g.role = h.role
                            AND g.kind = 'role_given' AND g.changed_at >= $3)
          AND NOT EXISTS (SELECT FROM eligibility_changes s
                          WHERE s.tenant_id = h.tenant_id AND s.role = h.role AND s.changed_at >= $3
                            AND s.kind IN ('role_permissions_changed', 'role_widened')
                            AND NOT coalesce(s.permissions && $2, false)));
END;
REVOKE EXECUTE ON FUNCTION has_kept_permission(text, text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_kept_permission(text, text[], timestamptz) TO signet_api, signet_worker;

-- List how one of these persons has taken, since a moment, a permission that votes need from active members who are
-- asked: the holders, or those with one of the seats' roles. A member who has kept it by another role has lost nothing.
-- `by_roles` are permissions whose condition reads the voter's roles: then to take any role may take the vote. A '*' in
-- front of a permission does not reach `own_resources`. With each comes what lifts its bar for some: one of these persons
-- has given it back. What anybody else has given back is not taken any more.
CREATE FUNCTION permission_takings_since(since timestamptz, concerned text[], holders text[], seat_roles text[],
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
REVOKE EXECUTE ON FUNCTION
    permission_takings_since(timestamptz, text[], text[], text[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    permission_takings_since(timestamptz, text[], text[], text[], text[], text[], text[]) TO signet_api, signet_worker;

-- down
DROP FUNCTION permission_takings_since(timestamptz, text[], text[], text[], text[], text[], text[]);
DROP FUNCTION has_kept_permission(text, text[], timestamptz);
ALTER TABLE eligibility_changes DROP COLUMN permissions;
