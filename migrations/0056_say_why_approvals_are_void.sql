-- phase: expand
-- transaction: on
--
-- A sentence for people said why an approval was voided, and a statement compared it. A code says it now; 0057 reads the
-- sentences that are there once.
--
-- Whether a person has paused an instance is asked here alone: a pause that another person has ended since is none.

-- up
ALTER TABLE approval_requests ADD COLUMN void_code text;
ALTER TABLE approval_requests ADD CONSTRAINT approval_requests_void_code_check
    CHECK (void_code IS NULL
           OR status = 'voided' AND void_code IN ('asked_again', 'moved_on', 'step_withdrawn', 'instance_ended')) NOT VALID;

-- The code of a sentence of the release before, which may run until it is replaced. It does not say where an operator
-- has sent an instance, so that what was approved behind a gate then goes on barring its voters.
CREATE FUNCTION find_void_code(outcome text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT CASE
        WHEN outcome IN ('the document went another way, or was edited', 'an operator has sent the workflow back')
            THEN 'moved_on'
        WHEN outcome = 'its step was withdrawn' THEN 'step_withdrawn'
        WHEN outcome IN ('the document was edited', 'the document was corrected', 'the request was withdrawn',
                         'a new request begins the way again', 'it was asked by an older release')
             OR starts_with(outcome, 'what the document refers to has changed: ')
             OR starts_with(outcome, 'variables of the workflow have changed: ')
             OR starts_with(outcome, 'personal values were erased: ')
            THEN 'asked_again'
        ELSE 'instance_ended'
    END
$$;

-- Void what people were asked, and what they have approved but no gate has used. Tell who is still asked and who has
-- decided, once about each request. The ids of the notices keep the time of the one that was given.
CREATE OR REPLACE FUNCTION void_approval_requests(voided_rows json, written_at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    WITH voided AS (
        UPDATE approval_requests r
        SET status = 'voided', void_code = coalesce(row.code, find_void_code(row.reason)), outcome = row.reason,
            ended_at = coalesce(r.ended_at, written_at)
        FROM json_to_recordset(voided_rows)
             AS row (instance_id uuid, request_id uuid, code text, reason text, notice_id uuid)
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = row.instance_id
          AND (row.request_id IS NULL OR r.id = row.request_id)
          AND (r.status = 'open' OR (r.status = 'approved' AND r.applied IS NOT TRUE))
        RETURNING r.id, r.node_id, row.reason, row.notice_id
    ), told AS (
        SELECT DISTINCT voided.id, voided.node_id, voided.reason, voided.notice_id, person.user_id, person.role
        FROM voided
        JOIN approval_seats s ON s.tenant_id = current_tenant_id() AND s.request_id = voided.id
        CROSS JOIN LATERAL (
            SELECT s.holder_user_id AS user_id, s.holder_role AS role WHERE s.status = 'open'
            UNION SELECT s.decided_by, NULL WHERE s.decided_by IS NOT NULL
            UNION SELECT s.on_behalf_of, NULL WHERE s.on_behalf_of IS NOT NULL
        ) AS person
    ), closed AS (
        UPDATE approval_seats s SET status = 'closed'
        FROM voided
        WHERE s.tenant_id = current_tenant_id() AND s.request_id = voided.id AND s.status = 'open'
    )
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
    SELECT current_tenant_id(), (left(notice_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, user_id, role,
           'approval_voided', id, jsonb_build_object('node', node_id, 'reason', reason), written_at
    FROM told
$$;


-- For an instance that is paused now. Where its tokens were held since, an earlier pause by a person says nothing.
CREATE OR REPLACE FUNCTION is_paused_by_person(paused_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, public, pg_temp
    AS $$
BEGIN
    RETURN coalesce((SELECT s.node_id = 'sys:control:paused' AND s.run_as = 'actor' FROM workflow_step_executions s
                     WHERE s.tenant_id = current_tenant_id() AND s.instance_id = paused_id
                       AND s.node_id IN ('sys:control:paused', 'sys:control:resumed', 'sys:control:retried')
                     ORDER BY s.seq DESC LIMIT 1), false);
END
$$;

-- down
CREATE OR REPLACE FUNCTION is_paused_by_person(paused_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, public, pg_temp
    AS $$
BEGIN
    RETURN coalesce((SELECT s.run_as = 'actor' FROM workflow_step_executions s
                     WHERE s.tenant_id = current_tenant_id() AND s.instance_id = paused_id
                       AND s.node_id = 'sys:control:paused'
                     ORDER BY s.seq DESC LIMIT 1), false);
END
$$;
CREATE OR REPLACE FUNCTION void_approval_requests(voided_rows json, written_at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    WITH voided AS (
        UPDATE approval_requests r
        SET status = 'voided', outcome = row.reason, ended_at = coalesce(r.ended_at, written_at)
        FROM json_to_recordset(voided_rows) AS row (instance_id uuid, request_id uuid, reason text, notice_id uuid)
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = row.instance_id
          AND (row.request_id IS NULL OR r.id = row.request_id)
          AND (r.status = 'open' OR (r.status = 'approved' AND r.applied IS NOT TRUE))
        RETURNING r.id, r.node_id, row.reason, row.notice_id
    ), told AS (
        SELECT DISTINCT voided.id, voided.node_id, voided.reason, voided.notice_id, person.user_id, person.role
        FROM voided
        JOIN approval_seats s ON s.tenant_id = current_tenant_id() AND s.request_id = voided.id
        CROSS JOIN LATERAL (
            SELECT s.holder_user_id AS user_id, s.holder_role AS role WHERE s.status = 'open'
            UNION SELECT s.decided_by, NULL WHERE s.decided_by IS NOT NULL
            UNION SELECT s.on_behalf_of, NULL WHERE s.on_behalf_of IS NOT NULL
        ) AS person
    ), closed AS (
        UPDATE approval_seats s SET status = 'closed'
        FROM voided
        WHERE s.tenant_id = current_tenant_id() AND s.request_id = voided.id AND s.status = 'open'
    )
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
    SELECT current_tenant_id(), (left(notice_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, user_id, role,
           'approval_voided', id, jsonb_build_object('node', node_id, 'reason', reason), written_at
    FROM told
$$;
DROP FUNCTION find_void_code(text);
ALTER TABLE approval_requests DROP COLUMN void_code;
