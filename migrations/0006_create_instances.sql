-- phase: expand
-- transaction: on
--
-- Instances, their steps and the receipts that make each step count once, and the life of instances, runs and sessions.
-- The steps are the source of truth; an instance is a projection of its steps.

-- up
-- Some of the indexes here and in the next files say "where their second column is not null". A plan made while a table
-- is nearly empty finds every index equally good, and a session keeps that plan. Only a statement that names the column
-- can choose such an index. A lookup by key is left with the key.
CREATE TABLE workflow_instances (
    tenant_id              uuid NOT NULL REFERENCES tenants,
    id                     uuid NOT NULL,
    kind                   text NOT NULL CHECK (kind IN ('envelope', 'automation')),
    definition_id          uuid NOT NULL,
    definition_version     integer NOT NULL,
    -- NULL for an automation that is about no document.
    entity_type            text,
    entity_id              uuid,
    entity_version         bigint NOT NULL DEFAULT 0,
    subject_id             text NOT NULL,
    partition_id           text NOT NULL DEFAULT '',
    overlap_key            text,
    status                 text NOT NULL DEFAULT 'running'
                           CHECK (status IN ('running', 'paused', 'completed', 'failed', 'cancelled')),
    reason                 text,
    -- The last seq used, and the version that people's calls must match.
    version                bigint NOT NULL DEFAULT 0,
    -- Where it began. A rebuild needs this, the reason and the actor of its beginning (below) and the steps, and
    -- nothing else.
    begin_node             text NOT NULL,
    begin_version          bigint NOT NULL,
    active_tokens          jsonb NOT NULL DEFAULT '[]',
    current_nodes          text[] NOT NULL DEFAULT '{}',
    -- The strictest edit window of the live tokens and the node that holds it: mutate() needs nothing else.
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
    -- The reason and the actor of its beginning.
    birth                  text NOT NULL DEFAULT 'created' CHECK (birth IN ('created', 'amended', 'reentered')),
    begin_actor_id         text NOT NULL DEFAULT '',
    begin_actor_roles      text[] NOT NULL DEFAULT '{}',
    -- The person that its steps act for, with that person's authority. At first this is who began it, then who last
    -- asked for a transition. A wave performs the steps of different people in one transaction.
    actor_id               text NOT NULL DEFAULT '',
    actor_roles            text[] NOT NULL DEFAULT '{}',
    -- The request that it is on the way of.
    request_id             uuid,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, definition_id) REFERENCES workflow_definitions,
    CHECK ((status IN ('running', 'paused')) = (completed_at IS NULL))
) WITH (fillfactor = 70);
-- A document has one live workflow; those that have ended stay as history.
CREATE UNIQUE INDEX workflow_instances_live ON workflow_instances (tenant_id, entity_type, entity_id)
    WHERE status IN ('running', 'paused') AND kind = 'envelope';
CREATE UNIQUE INDEX workflow_instances_overlap ON workflow_instances (tenant_id, overlap_key)
    WHERE status IN ('running', 'paused') AND overlap_key IS NOT NULL;
CREATE INDEX workflow_instances_by_timeout ON workflow_instances (tenant_id, timeout_at)
    WHERE timeout_at IS NOT NULL AND status = 'running';
CREATE INDEX workflow_instances_by_entity ON workflow_instances (tenant_id, entity_type, entity_id, id)
    WHERE entity_id IS NOT NULL;
-- It leaves out the time of the last change, which would be a new entry for every wave.
CREATE INDEX workflow_instances_by_status ON workflow_instances (tenant_id, status, id) WHERE status IS NOT NULL;
CREATE INDEX workflow_instances_by_subject ON workflow_instances (tenant_id, subject_id, id)
    WHERE subject_id IS NOT NULL;
-- For lists of instances of one workflow in one status, the newest first. It also serves a status that few of very many
-- have. The status changes a few times in an instance's life, so that the index costs a wave nothing.
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, status, id)
    WHERE definition_id IS NOT NULL;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,failed,cancelled');

-- The identity of a row never changes; only its progress may. A trigger with a list of columns costs nothing to a
-- statement that names none of them.
CREATE FUNCTION reject_identity_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % cannot become another one', TG_TABLE_NAME USING ERRCODE = 'SG002';
END
$$;
-- The definition may change: an instance can be moved to a newer one.
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, id, kind, entity_type, entity_id, subject_id, partition_id, begin_node, begin_version,
        birth, begin_actor_id, begin_actor_roles, started_at, depth
    ON workflow_instances FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.id, NEW.kind, NEW.entity_type, NEW.entity_id, NEW.subject_id, NEW.partition_id,
           NEW.begin_node, NEW.begin_version, NEW.birth, NEW.begin_actor_id, NEW.begin_actor_roles, NEW.started_at,
           NEW.depth)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.id, OLD.kind, OLD.entity_type, OLD.entity_id, OLD.subject_id, OLD.partition_id,
           OLD.begin_node, OLD.begin_version, OLD.birth, OLD.begin_actor_id, OLD.begin_actor_roles, OLD.started_at,
           OLD.depth))
    EXECUTE FUNCTION reject_identity_change();

CREATE TABLE workflow_step_executions (
    tenant_id             uuid NOT NULL,
    created_at            timestamptz NOT NULL,
    id                    uuid NOT NULL,
    instance_id           uuid NOT NULL,
    -- When it was written and when it ended, counted per instance under its lock.
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
    -- A step may wait for longer than the 24 days of milliseconds that an integer can count.
    duration_ms           bigint,
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
CREATE INDEX workflow_step_executions_waiting ON workflow_step_executions (tenant_id, waiting_for_event_key)
    WHERE status = 'running' AND waiting_for_event_key IS NOT NULL;
CREATE INDEX workflow_step_executions_by_resume ON workflow_step_executions (tenant_id, resume_at)
    WHERE status = 'running' AND resume_at IS NOT NULL;
CREATE INDEX workflow_step_executions_by_snapshot ON workflow_step_executions (tenant_id, snapshot_version_id)
    WHERE snapshot_version_id IS NOT NULL;
-- The steps of an instance that are still open: a wave reads them beside the instance itself.
CREATE INDEX workflow_step_executions_open ON workflow_step_executions (tenant_id, instance_id)
    WHERE status IN ('pending', 'running');
CREATE INDEX workflow_step_executions_by_instance ON workflow_step_executions (tenant_id, instance_id, seq)
    WHERE instance_id IS NOT NULL;
-- The steps that wait on behalf of one person: the source's inbox.
CREATE INDEX workflow_step_executions_by_actor ON workflow_step_executions (tenant_id, actor_user_id, id)
    WHERE status = 'running';

-- Only the progress of a step may change, never its identity.
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

-- After a step has ended, only this may still be written: whether a gate consumed it.
CREATE FUNCTION restrict_updates_of_ended_step() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF (to_jsonb(NEW) - 'applied') IS DISTINCT FROM (to_jsonb(OLD) - 'applied') THEN
        RAISE EXCEPTION 'step % has ended and keeps its outcome', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER restrict_updates_of_ended BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW WHEN (OLD.status NOT IN ('pending', 'running')) EXECUTE FUNCTION restrict_updates_of_ended_step();
CREATE TRIGGER reject_delete BEFORE DELETE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_step_executions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
-- A partition inherits triggers for rows, but none for statements.
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_step_executions_default
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

-- One history for instances, runs and sessions, with a line each time that something happens to one as a whole.
CREATE TABLE workflow_event (
    tenant_id         uuid NOT NULL,
    created_at        timestamptz NOT NULL,
    id                uuid NOT NULL,
    subject_kind      text NOT NULL CHECK (subject_kind IN ('instance', 'run', 'session')),
    subject_id        uuid NOT NULL,
    entry             text NOT NULL CHECK (entry ~ '^[a-z][a-z0-9_]{0,62}$'),
    actor_id          text NOT NULL,
    step_execution_id uuid,
    data              jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object'),
    trace_id          text,
    PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);
CREATE TABLE workflow_event_default PARTITION OF workflow_event DEFAULT;
CREATE INDEX workflow_event_by_subject ON workflow_event (tenant_id, subject_id, created_at, id);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON workflow_event
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_event
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_event_default
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- An instance keeps the definition that it began with, until a step of its own says that it was moved.
CREATE FUNCTION restrict_definition_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    moved_to jsonb;
BEGIN
    SELECT s.output_json -> 'to' INTO moved_to FROM workflow_step_executions s
    WHERE s.tenant_id = NEW.tenant_id AND s.instance_id = NEW.id AND s.node_id = 'sys:control:moved'
    ORDER BY s.seq DESC
    LIMIT 1;
    IF (moved_to ->> 'id')::uuid IS DISTINCT FROM NEW.definition_id
       OR (moved_to ->> 'version')::integer IS DISTINCT FROM NEW.definition_version THEN
        RAISE EXCEPTION 'instance % was not moved to definition % version %', NEW.id, NEW.definition_id,
            NEW.definition_version USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
-- Waves do not name these columns, so that the trigger costs them nothing.
CREATE TRIGGER restrict_definition_change BEFORE UPDATE OF definition_id, definition_version ON workflow_instances
    FOR EACH ROW
    WHEN ((NEW.definition_id, NEW.definition_version) IS DISTINCT FROM (OLD.definition_id, OLD.definition_version))
    EXECUTE FUNCTION restrict_definition_change();

-- Therefore its document keeps its version of the contract.
CREATE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER restrict_contract_change BEFORE UPDATE OF contract_version ON documents
    FOR EACH ROW WHEN (NEW.contract_version <> OLD.contract_version) EXECUTE FUNCTION restrict_contract_change();

-- The statements that nearly every mutation and every wave runs are functions. A session plans them once, also behind a
-- pooler that knows no prepared statements. Planning was half of a mutation's cost on the server (docs/decisions/0008).
-- They run with the rights of their caller, under row security. Each is in the first file where all its tables exist:
-- two here, write_edits(), open_wave() and end_wave() in the next.

-- Lock the documents in id order in one statement. Read them in a later one, which sees the commits of the locks'
-- former holders. The time is taken after the locks, so that times ascend along a chain. Return one row, also when no
-- document is found, and none when the tenant is not active.
CREATE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. Every access here is by key.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM documents d
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
    ORDER BY d.id
    FOR NO KEY UPDATE;

    RETURN QUERY
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names)),
           (SELECT json_agg(found) FROM (
               SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                      d.creator_id, d.editor_ids, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                      q.actor_roles AS requester_roles,
                      h.seq AS audit_seq, h.hash AS audit_hash,
                      v.id AS snapshot_id, v.hash AS snapshot_hash,
                      (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                       WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
               FROM documents d
               -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost.
               LEFT JOIN LATERAL (
                   SELECT * FROM workflow_instances i
                   WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                     AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                   LIMIT 1
               ) i ON true
               LEFT JOIN LATERAL (
                   SELECT * FROM transition_requests q
                   WHERE q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open'
                   LIMIT 1
               ) q ON true
               LEFT JOIN LATERAL (
                   SELECT v.id, v.hash FROM document_versions v
                   WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
                   LIMIT 1
               ) v ON true
               LEFT JOIN LATERAL (
                   SELECT a.seq, a.hash FROM audit_log a
                   WHERE a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text
                     AND a.seq IS NOT NULL
                   ORDER BY a.seq DESC LIMIT 1
               ) h ON true
               WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found)
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
END
$$;

-- Write a receipt first, and a step only where the receipt was new (WF-02, WF-14). Return how many were new. Fewer than
-- were sent means that another caller was here before: this one must not act on any of them.
CREATE FUNCTION write_steps(step_rows json, written_at timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    written bigint;
BEGIN
    WITH step AS MATERIALIZED (
        SELECT * FROM json_to_recordset(step_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, seq bigint, end_seq bigint, node_id text,
            node_type text, token_id text, entity_version bigint, version_after bigint, status text, run_as text,
            idempotency_key bytea, input jsonb, output jsonb, error text, actor_id text, resume_at timestamptz,
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT current_tenant_id(), instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id)
        SELECT current_tenant_id(), step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

CALL isolate_tenant_table('workflow_instances');
CALL isolate_tenant_table('workflow_step_executions');
CALL isolate_tenant_table('workflow_step_executions_default');
CALL isolate_tenant_table('workflow_step_receipts');
CALL isolate_tenant_table('workflow_event');
CALL isolate_tenant_table('workflow_event_default');
GRANT SELECT, INSERT, UPDATE ON workflow_instances, workflow_step_executions TO signet_api, signet_worker;
GRANT SELECT, INSERT ON workflow_step_receipts TO signet_api, signet_worker;
GRANT SELECT ON workflow_instances TO signet_janitor;
-- A row whose worker never came back may end as a dead letter. Then the janitor pauses its instance with a step, or
-- tells it.
GRANT SELECT, INSERT ON workflow_step_executions, workflow_step_receipts, workflow_event TO signet_janitor;
GRANT SELECT, INSERT ON workflow_event TO signet_api, signet_worker;
GRANT UPDATE (status, reason, version, last_step_execution_id, updated_at) ON workflow_instances TO signet_janitor;
GRANT EXECUTE ON FUNCTION lock_and_read_documents(uuid[], text[]) TO signet_api, signet_worker;
-- Operators pause, resume and fail an instance through the API. Each act is a step with its receipt, as in a wave.
GRANT EXECUTE ON FUNCTION write_steps(json, timestamptz) TO signet_worker, signet_api;
CALL distribute_tenant_tables(
    'workflow_instances', 'workflow_step_executions', 'workflow_step_receipts', 'workflow_event');

-- down
DROP FUNCTION write_steps(json, timestamptz);
DROP FUNCTION lock_and_read_documents(uuid[], text[]);
DROP TRIGGER restrict_contract_change ON documents;
DROP FUNCTION restrict_contract_change();
DROP TABLE workflow_event, workflow_step_receipts, workflow_step_executions, workflow_instances;
DROP FUNCTION restrict_definition_change();
DROP FUNCTION restrict_updates_of_ended_step();
DROP FUNCTION restrict_step_execution_updates();
DROP FUNCTION reject_identity_change();
