-- phase: expand
-- transaction: on
--
-- An incident is the record of a token that is held, or of an instance that the engine has paused: nothing that fails
-- is silent, and each says what can be done about it. It opens and closes with the step that did it.

-- up
CREATE TABLE incidents (
    tenant_id       uuid NOT NULL REFERENCES tenants,
    id              uuid NOT NULL,
    instance_id     uuid NOT NULL,
    -- The number of the step that opened it; a rebuilt token names it in its hold.
    seq             integer NOT NULL,
    entity_type     text,
    entity_id       uuid,
    -- NULL: the cause concerns the instance as a whole.
    token_id        text,
    node_id         text,
    endpoint        text,
    code            text NOT NULL CHECK (code ~ '^[A-Z][A-Z0-9_]{1,99}$'),
    kind            text NOT NULL CHECK (kind IN ('business', 'configuration', 'outside', 'defect')),
    message         text NOT NULL,
    -- How often the node has been held in this instance, this time included.
    attempts        integer NOT NULL CHECK (attempts >= 1),
    opened_at       timestamptz NOT NULL,
    acknowledged_by text,
    acknowledged_at timestamptz,
    assignee        text,
    note            text CHECK (char_length(note) <= 4000),
    closed_at       timestamptz,
    closing         text CHECK (closing IN ('retried', 'resumed', 'skipped', 'advanced', 'rejected', 'went_on', 'overtaken',
                                            'withdrawn', 'ended')),
    closed_by       text,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, instance_id, seq),
    CHECK ((token_id IS NULL) = (node_id IS NULL)),
    CHECK ((closed_at IS NULL) = (closing IS NULL)),
    CHECK ((closed_at IS NULL) = (closed_by IS NULL)),
    CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
);
-- Answers "what is open", the newest first: closed ones stay, and are not read for it.
CREATE INDEX incidents_open ON incidents (tenant_id, id) WHERE closed_at IS NULL;

CREATE FUNCTION guard_incident() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'incident % is closed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_change BEFORE UPDATE ON incidents FOR EACH ROW EXECUTE FUNCTION guard_incident();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON incidents FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('incidents');
GRANT SELECT, INSERT (tenant_id, id, instance_id, seq, entity_type, entity_id, token_id, node_id, endpoint, code, kind,
    message, attempts, opened_at, closed_at, closing, closed_by), UPDATE (closed_at, closing, closed_by)
    ON incidents TO signet_worker, signet_api;
-- The janitor answers for workers that did not come back: it pauses what they held.
GRANT SELECT, INSERT (tenant_id, id, instance_id, seq, entity_type, entity_id, code, kind, message, attempts, opened_at)
    ON incidents TO signet_janitor;
GRANT UPDATE (acknowledged_by, acknowledged_at, assignee, note) ON incidents TO signet_api;
CALL distribute_tenant_tables('incidents');

-- An edit or a request can end the last token of a paused instance: what is held does not shut it.
DROP TRIGGER restrict_status_regression ON workflow_instances;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,completed,failed,cancelled');

-- down
DROP TRIGGER restrict_status_regression ON workflow_instances;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,failed,cancelled');
DROP TABLE incidents;
DROP FUNCTION guard_incident();
