-- phase: expand
-- transaction: on
--
-- A stage may remind those who have not decided. The request keeps when it reminds next, and how often it has in its stage.

-- up
ALTER TABLE approval_requests
    ADD COLUMN remind_at timestamptz,
    ADD COLUMN reminders integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION move_approval_requests(request_rows json, written_at timestamptz) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(request_rows) AS row (id uuid));
    written bigint;
BEGIN
    -- The release before this one knows no reminders: what it moves reminds no more in this stage.
    UPDATE approval_requests r
    SET stage = row.stage, status = row.status, outcome = row.outcome, applied = row.applied,
        escalate_at = row.escalate_at, expire_at = row.expire_at, remind_at = row.remind_at,
        reminders = coalesce(row.reminders, r.reminders),
        ended_at = CASE WHEN row.status = 'open' THEN NULL ELSE coalesce(r.ended_at, written_at) END
    FROM json_to_recordset(request_rows) AS row (
        id uuid, stage integer, status text, outcome text, applied boolean, escalate_at timestamptz,
        expire_at timestamptz, remind_at timestamptz, reminders integer)
    WHERE r.tenant_id = current_tenant_id() AND r.id = ANY (ids) AND r.id = row.id
      AND (row.status = r.status OR row.status = 'expired'
           OR (row.status = 'open' AND r.status = 'approved'));
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % requests % may be written so', cardinality(ids), written USING ERRCODE = 'SG002';
    END IF;
END
$$;

-- down
CREATE OR REPLACE FUNCTION move_approval_requests(request_rows json, written_at timestamptz) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
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
ALTER TABLE approval_requests DROP COLUMN reminders, DROP COLUMN remind_at;
