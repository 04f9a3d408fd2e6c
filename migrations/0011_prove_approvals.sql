-- phase: expand
-- transaction: on
--
-- An approval is proved by its decisions and their audit rows; the status of requests and seats is a cache of them. A
-- request pins what its definition reads of other documents, and the permissions that its voters need. The worker may
-- write of approvals only what these functions let it.

-- up
ALTER TABLE approval_requests
    -- What voters need beside a seat; NULL in a request of an older release, which is asked again.
    ADD COLUMN voter_permissions text[],
    -- By ref field: the document, its version and snapshot, and the values that the definition reads of it.
    ADD COLUMN pins jsonb CHECK (jsonb_typeof(pins) = 'object'),
    ADD COLUMN pins_hash text CHECK (pins_hash ~ '^[0-9a-f]{64}$');
ALTER TABLE approval_decisions
    -- The row of the audit trail that says the same.
    ADD COLUMN audit_id uuid,
    ADD COLUMN pins_hash text CHECK (pins_hash ~ '^[0-9a-f]{64}$');

ALTER TABLE approval_decisions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE approval_requests NO FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log NO FORCE ROW LEVEL SECURITY;
ALTER TABLE approval_decisions DISABLE TRIGGER reject_change;
UPDATE approval_decisions d SET audit_id = a.id
FROM approval_requests q, audit_log a
WHERE q.tenant_id = d.tenant_id AND q.id = d.request_id
  AND a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = q.document_id::text
  AND a.action = 'decide:' || d.decision
  AND a.content::jsonb #>> '{detail,approval,decision_id}' = d.id::text;
ALTER TABLE approval_decisions ENABLE TRIGGER reject_change;
ALTER TABLE approval_decisions FORCE ROW LEVEL SECURITY;
ALTER TABLE approval_requests FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;

-- A vote may cease to count before a gate uses it: its seat lapses, and another one is asked in its place.
ALTER TABLE approval_seats
    DROP CONSTRAINT approval_seats_status_check,
    DROP CONSTRAINT approval_seats_check1;
ALTER TABLE approval_seats
    ADD CONSTRAINT approval_seats_status_check
        CHECK (status IN ('open', 'approved', 'rejected', 'abstained', 'closed', 'lapsed')),
    ADD CONSTRAINT approval_seats_check1
        CHECK ((status IN ('approved', 'rejected', 'abstained', 'lapsed')) = (decided_by IS NOT NULL));
DROP TRIGGER restrict_status_regression ON approval_seats;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_seats
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'open>approved,rejected,abstained,closed;approved>lapsed;abstained>lapsed');
DROP TRIGGER restrict_status_regression ON approval_requests;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_requests
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'open>approved,rejected,expired,voided;approved>voided,open');

-- An approval is used once, and so is the step that asked for it.
CREATE FUNCTION reject_second_use() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'what a gate has used stays used: % %', TG_TABLE_NAME, OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON approval_requests
    FOR EACH ROW WHEN (OLD.applied AND NEW.applied IS DISTINCT FROM OLD.applied)
    EXECUTE FUNCTION reject_second_use();
CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON workflow_step_executions
    FOR EACH ROW WHEN (OLD.applied AND NEW.applied IS DISTINCT FROM OLD.applied)
    EXECUTE FUNCTION reject_second_use();

-- What a request is about is pinned for good.
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, id, instance_id, step_execution_id, node_id, document_id, document_version,
        snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash, requester_id, responsible,
        voter_permissions, pins, pins_hash, created_at
    ON approval_requests FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.id, NEW.instance_id, NEW.step_execution_id, NEW.node_id, NEW.document_id,
           NEW.document_version, NEW.snapshot_version_id, NEW.snapshot_hash, NEW.definition_hash, NEW.policy,
           NEW.policy_hash, NEW.requester_id, NEW.responsible, NEW.voter_permissions, NEW.pins, NEW.pins_hash,
           NEW.created_at)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.id, OLD.instance_id, OLD.step_execution_id, OLD.node_id, OLD.document_id,
           OLD.document_version, OLD.snapshot_version_id, OLD.snapshot_hash, OLD.definition_hash, OLD.policy,
           OLD.policy_hash, OLD.requester_id, OLD.responsible, OLD.voter_permissions, OLD.pins, OLD.pins_hash,
           OLD.created_at))
    EXECUTE FUNCTION reject_identity_change();

-- Of an open transition request only its end may be written, by every role.
REVOKE UPDATE ON transition_requests FROM signet_api, signet_worker;
GRANT UPDATE (status, outcome, ended_at) ON transition_requests TO signet_api, signet_worker;
-- Creator, type and beginning of a document are written once.
REVOKE UPDATE ON documents FROM signet_api, signet_worker;
GRANT UPDATE (status, version, data, editor_ids, editor_responsible, field_versions, deleted_at, updated_at,
              contract_version, t1, t2, t3, t4, n1, n2, n3, n4, d1, d2) ON documents TO signet_api, signet_worker;

-- The worker opens requests, and moves them on by the functions below. It writes no vote and no approval.
REVOKE UPDATE (stage, status, outcome, applied, escalate_at, expire_at, ended_at) ON approval_requests FROM signet_worker;
REVOKE UPDATE (status, decided_by, on_behalf_of, decided_at) ON approval_seats FROM signet_worker;

-- Write what became of requests in a wave. A request is approved or rejected only by a vote; here it goes to its next
-- stage, expires, is used by a gate, or is opened again.
CREATE FUNCTION move_approval_requests(request_rows json, written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(request_rows) AS row (id uuid));
    written bigint;
BEGIN
    UPDATE approval_requests r
    SET stage = row.stage, status = row.status, outcome = row.outcome, applied = row.applied,
        escalate_at = row.escalate_at, expire_at = row.expire_at,
        ended_at = CASE WHEN row.status = 'open' THEN NULL ELSE coalesce(r.ended_at, written_at) END
    FROM json_to_recordset(request_rows) AS row (
        id uuid, stage integer, status text, outcome text, applied boolean, escalate_at timestamptz,
        expire_at timestamptz)
    WHERE r.tenant_id = current_tenant_id() AND r.id = ANY (ids) AND r.id = row.id
      AND (row.status = r.status OR row.status = 'expired' OR (row.status = 'open' AND r.status = 'approved'));
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % requests % may be written so', cardinality(ids), written USING ERRCODE = 'SG002';
    END IF;
END
$$;
-- Close the seats of requests that are over, so that they wait for nobody.
CREATE FUNCTION close_approval_seats(request_ids uuid[]) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    UPDATE approval_seats s SET status = 'closed'
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = ANY (request_ids) AND s.status = 'open'
$$;
-- Let votes lapse that a gate may not use.
CREATE FUNCTION lapse_approval_seats(seat_rows json) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    UPDATE approval_seats s SET status = 'lapsed'
    FROM json_to_recordset(seat_rows) AS row (request_id uuid, stage integer, "position" integer)
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = row.request_id AND s.stage = row.stage
      AND s.position = row.position AND s.status IN ('approved', 'abstained')
$$;
-- Void what people were asked, and what they have approved but no gate has used. Tell who is still asked and who has
-- decided, once about each request. The ids of the notices keep the time of the one that was given.
CREATE FUNCTION void_approval_requests(voided_rows json, written_at timestamptz) RETURNS void
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
-- List the pinned refs whose document is gone, or says something else now.
CREATE FUNCTION list_changed_pins(pins jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT ARRAY(
        SELECT pin.key FROM jsonb_each(coalesce(pins, '{}')) AS pin
        WHERE NOT EXISTS (
            SELECT FROM documents d
            WHERE d.tenant_id = current_tenant_id() AND d.id = (pin.value ->> 'document_id')::uuid
              AND d.deleted_at IS NULL
              AND NOT EXISTS (
                  SELECT FROM jsonb_each(pin.value -> 'values') AS pinned
                  WHERE pinned.value IS DISTINCT FROM CASE pinned.key
                      WHEN 'status' THEN to_jsonb(d.status) ELSE coalesce(d.data -> pinned.key, 'null') END))
        ORDER BY pin.key)
$$;
REVOKE EXECUTE ON FUNCTION list_changed_pins(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_changed_pins(jsonb) TO signet_api, signet_worker;
REVOKE EXECUTE ON FUNCTION move_approval_requests(json, timestamptz), close_approval_seats(uuid[]),
    lapse_approval_seats(json), void_approval_requests(json, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION move_approval_requests(json, timestamptz), close_approval_seats(uuid[]),
    lapse_approval_seats(json), void_approval_requests(json, timestamptz) TO signet_api, signet_worker;

-- down
DROP FUNCTION list_changed_pins(jsonb);
DROP FUNCTION void_approval_requests(json, timestamptz);
DROP FUNCTION lapse_approval_seats(json);
DROP FUNCTION close_approval_seats(uuid[]);
DROP FUNCTION move_approval_requests(json, timestamptz);
GRANT UPDATE (status, decided_by, on_behalf_of, decided_at) ON approval_seats TO signet_worker;
GRANT UPDATE (stage, status, outcome, applied, escalate_at, expire_at, ended_at) ON approval_requests TO signet_worker;
REVOKE UPDATE (status, version, data, editor_ids, editor_responsible, field_versions, deleted_at, updated_at,
               contract_version, t1, t2, t3, t4, n1, n2, n3, n4, d1, d2) ON documents FROM signet_api, signet_worker;
GRANT UPDATE ON documents TO signet_api, signet_worker;
REVOKE UPDATE (status, outcome, ended_at) ON transition_requests FROM signet_api, signet_worker;
GRANT UPDATE ON transition_requests TO signet_api, signet_worker;
DROP TRIGGER reject_identity_change ON approval_requests;
DROP TRIGGER reject_second_use ON workflow_step_executions;
DROP TRIGGER reject_second_use ON approval_requests;
DROP FUNCTION reject_second_use();
DROP TRIGGER restrict_status_regression ON approval_requests;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_requests
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>approved,rejected,expired,voided;approved>voided');
DROP TRIGGER restrict_status_regression ON approval_seats;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_seats
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>approved,rejected,abstained,closed');
ALTER TABLE approval_seats
    DROP CONSTRAINT approval_seats_status_check,
    DROP CONSTRAINT approval_seats_check1;
ALTER TABLE approval_seats
    ADD CONSTRAINT approval_seats_status_check
        CHECK (status IN ('open', 'approved', 'rejected', 'abstained', 'closed')),
    ADD CONSTRAINT approval_seats_check1
        CHECK ((status IN ('approved', 'rejected', 'abstained')) = (decided_by IS NOT NULL));
ALTER TABLE approval_decisions DROP COLUMN pins_hash, DROP COLUMN audit_id;
ALTER TABLE approval_requests DROP COLUMN pins_hash, DROP COLUMN pins, DROP COLUMN voter_permissions;
