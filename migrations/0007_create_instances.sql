-- phase: expand
-- transaction: on
--
-- Instances (a projection of their steps), the steps (the source of truth), the triggers that wake the engine, and the receipts that make each
-- trigger count once (WF-11). Created here because a document is born with its instance.

-- up
CREATE TABLE workflow_instances (
    tenant_id              uuid NOT NULL REFERENCES tenants,
    id                     uuid NOT NULL,
    kind                   text NOT NULL CHECK (kind IN ('envelope', 'automation')),
    definition_id          uuid NOT NULL,
    definition_version     integer NOT NULL,
    -- NULL for an automation that is about no document
    entity_type            text,
    entity_id              uuid,
    entity_version         bigint NOT NULL DEFAULT 0,
    subject_id             text NOT NULL,
    partition_id           text NOT NULL DEFAULT '',
    overlap_key            text,
    status                 text NOT NULL DEFAULT 'running'
                           CHECK (status IN ('running', 'paused', 'completed', 'failed', 'cancelled')),
    reason                 text,
    -- the last seq used, and what people's calls must match
    version                bigint NOT NULL DEFAULT 0,
    -- where it began: with the steps, all that a rebuild needs
    begin_node             text NOT NULL,
    begin_version          bigint NOT NULL,
    active_tokens          jsonb NOT NULL DEFAULT '[]',
    current_nodes          text[] NOT NULL DEFAULT '{}',
    -- the strictest edit window of the live tokens and the node that holds it: all that mutate() needs
    edit_window            text CHECK (edit_window IN ('editable', 'amend_only', 'locked')),
    edit_window_node       text,
    context_json           jsonb NOT NULL DEFAULT '{}',
    timeout_at             timestamptz,
    last_step_execution_id uuid,
    depth                  integer NOT NULL DEFAULT 0,
    trace_id               text,
    started_at             timestamptz NOT NULL,
    completed_at           timestamptz,
    updated_at             timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, definition_id) REFERENCES workflow_definitions,
    CHECK ((status IN ('running', 'paused')) = (completed_at IS NULL))
) WITH (fillfactor = 70);
-- one live workflow a document; what has ended stays as history
CREATE UNIQUE INDEX workflow_instances_live ON workflow_instances (tenant_id, entity_type, entity_id)
    WHERE status IN ('running', 'paused') AND kind = 'envelope';
CREATE UNIQUE INDEX workflow_instances_overlap ON workflow_instances (tenant_id, overlap_key)
    WHERE status IN ('running', 'paused') AND overlap_key IS NOT NULL;
CREATE INDEX workflow_instances_by_entity ON workflow_instances (tenant_id, entity_type, entity_id, id);
CREATE INDEX workflow_instances_by_status ON workflow_instances (tenant_id, status, updated_at);
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, id);
CREATE INDEX workflow_instances_by_subject ON workflow_instances (tenant_id, subject_id, id);
CREATE INDEX workflow_instances_by_timeout ON workflow_instances (tenant_id, timeout_at)
    WHERE timeout_at IS NOT NULL AND status = 'running';
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,failed,cancelled');

CREATE TABLE workflow_step_executions (
    tenant_id             uuid NOT NULL,
    created_at            timestamptz NOT NULL,
    id                    uuid NOT NULL,
    instance_id           uuid NOT NULL,
    -- when it was written and when it ended, counted per instance under its lock
    seq                   bigint NOT NULL,
    end_seq               bigint,
    node_id               text NOT NULL,
    node_type             text NOT NULL,
    token_id              text NOT NULL,
    entity_version        bigint NOT NULL,
    version_after         bigint NOT NULL,
    status                text NOT NULL
                          CHECK (status IN ('pending', 'running', 'completed', 'failed', 'skipped', 'cancelled')),
    run_as                text NOT NULL DEFAULT 'actor' CHECK (run_as IN ('actor', 'system', 'service_account')),
    idempotency_key       bytea NOT NULL CHECK (octet_length(idempotency_key) = 32),
    started_at            timestamptz NOT NULL,
    completed_at          timestamptz,
    duration_ms           integer,
    input_json            jsonb,
    output_json           jsonb,
    error                 text,
    actor_user_id         text NOT NULL,
    approval_request_id   uuid,
    applied               boolean,
    snapshot_version_id   uuid,
    resume_at             timestamptz,
    waiting_for_event_key text,
    trace_id              text,
    PRIMARY KEY (tenant_id, created_at, id),
    CHECK ((status IN ('pending', 'running')) = (end_seq IS NULL))
) PARTITION BY RANGE (created_at);
CREATE TABLE workflow_step_executions_default PARTITION OF workflow_step_executions DEFAULT;
CREATE INDEX workflow_step_executions_by_instance ON workflow_step_executions (tenant_id, instance_id, seq);
CREATE INDEX workflow_step_executions_waiting ON workflow_step_executions (tenant_id, waiting_for_event_key)
    WHERE status = 'running' AND waiting_for_event_key IS NOT NULL;
CREATE INDEX workflow_step_executions_by_resume ON workflow_step_executions (tenant_id, resume_at)
    WHERE status = 'running' AND resume_at IS NOT NULL;
CREATE INDEX workflow_step_executions_by_snapshot ON workflow_step_executions (tenant_id, snapshot_version_id)
    WHERE snapshot_version_id IS NOT NULL;

-- Only how a step goes on may change, never what it is.
CREATE FUNCTION restrict_step_execution_updates() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.tenant_id, NEW.created_at, NEW.id, NEW.instance_id, NEW.seq, NEW.node_id, NEW.node_type, NEW.token_id,
        NEW.entity_version, NEW.run_as, NEW.idempotency_key, NEW.input_json, NEW.actor_user_id,
        NEW.snapshot_version_id)
       IS DISTINCT FROM
       (OLD.tenant_id, OLD.created_at, OLD.id, OLD.instance_id, OLD.seq, OLD.node_id, OLD.node_type, OLD.token_id,
        OLD.entity_version, OLD.run_as, OLD.idempotency_key, OLD.input_json, OLD.actor_user_id,
        OLD.snapshot_version_id) THEN
        RAISE EXCEPTION 'step % cannot become another step', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER restrict_step_execution_updates BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION restrict_step_execution_updates();
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>running,cancelled;running>completed,failed,skipped,cancelled');
CREATE TRIGGER reject_delete BEFORE DELETE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_step_executions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CREATE TABLE workflow_step_receipts (
    tenant_id         uuid NOT NULL,
    instance_id       uuid NOT NULL,
    idempotency_key   bytea NOT NULL CHECK (octet_length(idempotency_key) = 32),
    step_execution_id uuid NOT NULL,
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, instance_id, idempotency_key)
);
CREATE TRIGGER reject_change BEFORE UPDATE ON workflow_step_receipts
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();

CREATE TABLE workflow_events_outbox (
    tenant_id             uuid NOT NULL,
    -- taken from the id, so that a lookup by id knows the partition
    created_at            timestamptz NOT NULL,
    id                    uuid NOT NULL,
    instance_id           uuid NOT NULL,
    entity_version        bigint NOT NULL,
    definition_version    integer,
    event_type            text NOT NULL,
    payload_json          jsonb NOT NULL DEFAULT '{}',
    event_idempotency_key bytea NOT NULL CHECK (octet_length(event_idempotency_key) = 32),
    depth                 integer NOT NULL DEFAULT 0,
    trace_id              text,
    status                text NOT NULL DEFAULT 'pending'
                          CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'dead_letter')),
    attempts              integer NOT NULL DEFAULT 0,
    max_attempts          integer NOT NULL DEFAULT 5 CHECK (max_attempts >= 1),
    -- when it may run: the future for timers and retries
    due_at                timestamptz NOT NULL,
    claim_id              uuid,
    lease_until           timestamptz,
    completed_at          timestamptz,
    error                 text,
    PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);
CREATE INDEX workflow_events_outbox_due ON workflow_events_outbox (tenant_id, due_at, id)
    WHERE status IN ('pending', 'failed');
CREATE INDEX workflow_events_outbox_leased ON workflow_events_outbox (tenant_id, lease_until)
    WHERE status = 'processing';
CREATE INDEX workflow_events_outbox_by_instance ON workflow_events_outbox (tenant_id, instance_id, id);
CREATE INDEX workflow_events_outbox_dead ON workflow_events_outbox (tenant_id, id) WHERE status = 'dead_letter';
CREATE TABLE workflow_events_outbox_default PARTITION OF workflow_events_outbox DEFAULT;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');

CREATE TABLE workflow_outbox_receipts (
    tenant_id             uuid NOT NULL,
    instance_id           uuid NOT NULL,
    source_table          text NOT NULL CHECK (source_table IN ('events', 'side_effects')),
    event_idempotency_key bytea NOT NULL CHECK (octet_length(event_idempotency_key) = 32),
    created_at            timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, instance_id, source_table, event_idempotency_key)
);
CREATE TRIGGER reject_change BEFORE UPDATE ON workflow_outbox_receipts
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('workflow_instances');
CALL isolate_tenant_table('workflow_step_executions');
CALL isolate_tenant_table('workflow_step_executions_default');
CALL isolate_tenant_table('workflow_step_receipts');
CALL isolate_tenant_table('workflow_events_outbox');
CALL isolate_tenant_table('workflow_events_outbox_default');
CALL isolate_tenant_table('workflow_outbox_receipts');
GRANT SELECT, INSERT, UPDATE ON workflow_instances, workflow_step_executions, workflow_events_outbox
    TO signet_api, signet_worker;
GRANT SELECT, INSERT ON workflow_step_receipts, workflow_outbox_receipts TO signet_api, signet_worker;
GRANT SELECT ON workflow_instances, workflow_step_executions, workflow_step_receipts, workflow_events_outbox,
    workflow_outbox_receipts TO signet_janitor;
CALL distribute_tenant_tables(
    'workflow_instances', 'workflow_step_executions', 'workflow_step_receipts', 'workflow_events_outbox',
    'workflow_outbox_receipts');

-- down
DROP TABLE workflow_outbox_receipts, workflow_events_outbox, workflow_step_receipts, workflow_step_executions,
    workflow_instances;
DROP FUNCTION restrict_step_execution_updates();
