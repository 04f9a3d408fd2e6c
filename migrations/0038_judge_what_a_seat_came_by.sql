-- phase: expand
-- transaction: on
--
-- A seat tells the reporting lines that it came by: a vote from it rests on each of them. A delegation tells the persons
-- who gave it: a vote by it rests on that giving, and on no other between the same people.

-- up
-- Gives people the trail of the tenant itself. Rows of documents are not in it.
CREATE INDEX audit_log_of_tenant ON audit_log (tenant_id, id) WHERE subject_type <> 'document';

-- The people whose manager was asked for, from the lowest on. NULL: of an older release.
ALTER TABLE approval_seats ADD COLUMN lines text[] CHECK (cardinality(lines) <= 1000);
GRANT INSERT (lines) ON approval_seats TO signet_worker;

-- The persons who are responsible for the giving, and its moment by the clock. NULL: of an older release.
ALTER TABLE approval_delegations
    ADD COLUMN given_by text[] CHECK (cardinality(given_by) BETWEEN 1 AND 200),
    ADD COLUMN given_at timestamptz;

-- The content without the fields that only one document of a type may have: a copy under another number says the same.
-- NULL: there is no such field, or the request is of an older release.
ALTER TABLE approval_requests ADD COLUMN likeness_hash text CHECK (likeness_hash ~ '^[0-9a-f]{64}$');
CREATE TRIGGER reject_likeness_hash_change BEFORE UPDATE OF likeness_hash ON approval_requests FOR EACH ROW
    WHEN (NEW.likeness_hash IS DISTINCT FROM OLD.likeness_hash)
    EXECUTE FUNCTION reject_identity_change();
CREATE INDEX approval_requests_by_likeness ON approval_requests (tenant_id, likeness_hash)
    WHERE status = 'rejected' AND likeness_hash IS NOT NULL;

-- Finds who has changed the manager of a person.
CREATE INDEX eligibility_changes_of_line ON eligibility_changes (tenant_id, other_user_id, changed_at)
    WHERE kind = 'manager_set';

-- List how one of these persons has changed reporting lines since a moment: those of the people in `lines`, and those to
-- `managers`, whose seats do not tell their lines. With each comes who has set that line last, and whether its manager has
-- given it up by the same act. What a person without a part has set again is not among them. One row more than 1000 says
-- that there are more than can be judged.
CREATE FUNCTION line_changes_since(since timestamptz, lines text[], managers text[], concerned text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean,
                   is_given_up boolean)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT DISTINCT ON (c.other_user_id, c.user_id, c.persons)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id, '{}'::text[], newest.persons,
           '{}'::jsonb, false,
           -- The records of one act have the beginning of their ids in common.
           EXISTS (SELECT FROM eligibility_changes a
                   WHERE a.tenant_id = c.tenant_id AND a.kind = 'manager_set' AND a.other_user_id = c.other_user_id
                     AND left(a.id::text, 19) = left(c.id::text, 19) AND a.user_id = ANY (a.persons))
    FROM (
        SELECT l.* FROM eligibility_changes l
        WHERE l.tenant_id = current_tenant_id() AND l.kind = 'manager_set' AND l.other_user_id = ANY ($2)
          AND l.changed_at >= $1 AND l.persons && $4
        UNION
        SELECT m.* FROM eligibility_changes m
        WHERE m.tenant_id = current_tenant_id() AND m.kind = 'manager_set' AND m.user_id = ANY ($3)
          AND m.changed_at >= $1 AND m.persons && $4
    ) AS c
    CROSS JOIN LATERAL (
        SELECT n.persons FROM eligibility_changes n
        WHERE n.tenant_id = c.tenant_id AND n.kind = 'manager_set' AND n.other_user_id = c.other_user_id
          AND n.changed_at >= $1
        ORDER BY n.changed_at DESC LIMIT 1
    ) AS newest
    WHERE newest.persons && $4
    ORDER BY c.other_user_id, c.user_id, c.persons, c.changed_at DESC
    LIMIT 1001;
END;
REVOKE EXECUTE ON FUNCTION line_changes_since(timestamptz, text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION line_changes_since(timestamptz, text[], text[], text[]) TO signet_api, signet_worker;

-- down
DROP INDEX audit_log_of_tenant;
DROP FUNCTION line_changes_since(timestamptz, text[], text[], text[]);
DROP INDEX eligibility_changes_of_line;
DROP INDEX approval_requests_by_likeness;
DROP TRIGGER reject_likeness_hash_change ON approval_requests;
ALTER TABLE approval_requests DROP COLUMN likeness_hash;
ALTER TABLE approval_delegations DROP COLUMN given_by, DROP COLUMN given_at;
REVOKE INSERT (lines) ON approval_seats FROM signet_worker;
ALTER TABLE approval_seats DROP COLUMN lines;
