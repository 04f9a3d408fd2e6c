-- phase: expand
-- transaction: on
--
-- A request knows when its document was first asked about on its present way: asking again lifts no bar. What bars a
-- vote is read without what cannot bar one, and the reader sees when there is more than can be judged.

-- up
-- NULL in a request of an older release: it counts from its own beginning.
ALTER TABLE approval_requests ADD COLUMN asked_since timestamptz CHECK (asked_since <= created_at);
CREATE TRIGGER reject_later_asking BEFORE UPDATE OF asked_since ON approval_requests
    FOR EACH ROW WHEN (NEW.asked_since IS DISTINCT FROM OLD.asked_since) EXECUTE FUNCTION reject_identity_change();

-- Find when a document, or the one that it amends, was first asked about since a gate used an approval of it. NULL: it
-- was not.
CREATE FUNCTION first_asked(document uuid) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(asked.since)
    FROM documents d
    CROSS JOIN LATERAL unnest(ARRAY[d.id, d.amended_from_id]) AS about (id)
    CROSS JOIN LATERAL (
        SELECT min(coalesce(q.asked_since, q.created_at)) AS since
        FROM approval_requests q
        WHERE q.tenant_id = d.tenant_id AND q.document_id = about.id
          AND q.created_at > coalesce((SELECT max(u.ended_at) FROM approval_requests u
                                       WHERE u.tenant_id = d.tenant_id AND u.document_id = about.id AND u.applied),
                                      '-infinity')
    ) AS asked
    WHERE d.tenant_id = current_tenant_id() AND d.id = $1;
END;
REVOKE EXECUTE ON FUNCTION first_asked(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION first_asked(uuid) TO signet_api, signet_worker;

-- List what was changed since a moment by one of these persons, about these people or these roles: only what can bar a
-- vote, and the newest of each. One row more than 1000 says that there are more than can be judged.
CREATE OR REPLACE FUNCTION eligibility_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id
    FROM (
        SELECT u.*, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
        FROM eligibility_changes u
        WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
          AND u.kind <> 'delegation_revoked'
          -- A vote rests on a delegation where both of its sides are judged.
          AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
        UNION ALL
        SELECT r.*, NULL
        FROM eligibility_changes r
        WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
          AND r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_deleted')
    ) AS c
    WHERE c.persons && $4
      -- What others have given back is not taken any more.
      AND (SELECT count(*) FROM eligibility_changes b
           WHERE b.tenant_id = c.tenant_id AND b.user_id = c.user_id AND b.changed_at > c.changed_at
             AND NOT b.persons && $4
             AND ((c.kind = 'role_taken' AND b.kind = 'role_given' AND b.role = c.role)
                  OR (c.kind = 'member_disabled' AND b.kind = 'member_enabled'))) = 0
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.changed_at DESC
    LIMIT 1001;
END;

-- down
CREATE OR REPLACE FUNCTION eligibility_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.other_user_id, c.persons)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id
    FROM (
        SELECT u.* FROM eligibility_changes u
        WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
        UNION ALL
        SELECT r.* FROM eligibility_changes r
        WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
          AND r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_deleted')
    ) AS c
    WHERE c.persons && $4
    ORDER BY c.kind, c.user_id, c.role, c.other_user_id, c.persons, c.changed_at DESC
    LIMIT 1000;
END;
DROP FUNCTION first_asked(uuid);
DROP TRIGGER reject_later_asking ON approval_requests;
ALTER TABLE approval_requests DROP COLUMN asked_since;
