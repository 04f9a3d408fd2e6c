-- phase: expand
-- transaction: on
-- role: admin
--
-- The outbox of triggers, which wake the engine, and the outbox of effects. Their receipts make each row count once
-- (WF-11). The endpoints that effects call, and inbound events. The functions that write edits and waves, and those
-- that look across tenants for work. It needs an admin, because the latter belong to a role of their own.

-- up
SET LOCAL ROLE signet_owner;

CREATE TABLE workflow_events_outbox (
    tenant_id             uuid NOT NULL,
    -- Taken from the id, so that a lookup by id knows the partition.
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
    -- When it may run: in the future for timers and retries.
    due_at                timestamptz NOT NULL,
    claim_id              uuid,
    lease_until           timestamptz,
    completed_at          timestamptz,
    error                 text,
    PRIMARY KEY (tenant_id, created_at, id),
    -- A row is claimed exactly while it is processing. So a worker that looks for its own claim need not ask for the
    -- status. The status would offer the planner an index that is wrong for it. No row is at work without a lease that
    -- ends.
    CONSTRAINT workflow_events_outbox_claim
        CHECK ((status = 'processing') = (claim_id IS NOT NULL) AND (claim_id IS NULL) = (lease_until IS NULL))
) PARTITION BY RANGE (created_at);
CREATE TABLE workflow_events_outbox_default PARTITION OF workflow_events_outbox DEFAULT;
CREATE INDEX workflow_events_outbox_due ON workflow_events_outbox (tenant_id, due_at, id)
    WHERE status IN ('pending', 'failed');
CREATE INDEX workflow_events_outbox_leased ON workflow_events_outbox (tenant_id, lease_until)
    WHERE status = 'processing';
CREATE INDEX workflow_events_outbox_dead ON workflow_events_outbox (tenant_id, id) WHERE status = 'dead_letter';
CREATE INDEX workflow_events_outbox_by_instance ON workflow_events_outbox (tenant_id, instance_id, id)
    WHERE instance_id IS NOT NULL;
-- Answers "what was done in the last hour", the newest first.
CREATE INDEX workflow_events_outbox_done ON workflow_events_outbox (tenant_id, completed_at)
    WHERE status = 'completed';
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type,
        payload_json, event_idempotency_key, depth, trace_id
    ON workflow_events_outbox FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.created_at, NEW.id, NEW.instance_id, NEW.entity_version, NEW.definition_version,
           NEW.event_type, NEW.payload_json, NEW.event_idempotency_key, NEW.depth, NEW.trace_id)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.created_at, OLD.id, OLD.instance_id, OLD.entity_version, OLD.definition_version,
           OLD.event_type, OLD.payload_json, OLD.event_idempotency_key, OLD.depth, OLD.trace_id))
    EXECUTE FUNCTION reject_identity_change();

CREATE TABLE workflow_side_effects_outbox (
    tenant_id             uuid NOT NULL,
    -- Taken from the id, so that a lookup by id knows the partition.
    created_at            timestamptz NOT NULL,
    id                    uuid NOT NULL,
    instance_id           uuid NOT NULL,
    step_execution_id     uuid NOT NULL,
    effect_type           text NOT NULL CHECK (effect_type IN ('webhook', 'email', 'sms', 'in_app', 'integration')),
    -- The tenant's endpoint that it goes to, where there is a choice.
    endpoint              text CHECK (char_length(endpoint) <= 200),
    payload_json          jsonb NOT NULL DEFAULT '{}',
    event_idempotency_key bytea NOT NULL CHECK (octet_length(event_idempotency_key) = 32),
    trace_id              text,
    status                text NOT NULL DEFAULT 'pending'
                          CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'dead_letter')),
    attempts              integer NOT NULL DEFAULT 0,
    -- Five attempts take two and a half minutes: a receiver that is away for five would lose its messages. Twelve take
    -- about three and a half hours (10 s, doubled each time, at most an hour).
    max_attempts          integer NOT NULL DEFAULT 12 CHECK (max_attempts >= 1),
    -- When it may run: in the future for retries.
    due_at                timestamptz NOT NULL,
    claim_id              uuid,
    lease_until           timestamptz,
    completed_at          timestamptz,
    error                 text,
    -- Evidence: the last answer of the receiver.
    response_json         jsonb,
    PRIMARY KEY (tenant_id, created_at, id),
    -- As in the outbox of triggers.
    CONSTRAINT workflow_side_effects_outbox_claim
        CHECK ((status = 'processing') = (claim_id IS NOT NULL) AND (claim_id IS NULL) = (lease_until IS NULL))
) PARTITION BY RANGE (created_at);
CREATE TABLE workflow_side_effects_outbox_default PARTITION OF workflow_side_effects_outbox DEFAULT;
CREATE INDEX workflow_side_effects_outbox_due ON workflow_side_effects_outbox (tenant_id, due_at, id)
    WHERE status IN ('pending', 'failed');
CREATE INDEX workflow_side_effects_outbox_leased ON workflow_side_effects_outbox (tenant_id, lease_until)
    WHERE status = 'processing';
CREATE INDEX workflow_side_effects_outbox_dead ON workflow_side_effects_outbox (tenant_id, id)
    WHERE status = 'dead_letter';
CREATE INDEX workflow_side_effects_outbox_by_instance ON workflow_side_effects_outbox (tenant_id, instance_id, id)
    WHERE instance_id IS NOT NULL;
CREATE INDEX workflow_side_effects_outbox_by_step ON workflow_side_effects_outbox (tenant_id, step_execution_id)
    WHERE step_execution_id IS NOT NULL;
CREATE INDEX workflow_side_effects_outbox_done ON workflow_side_effects_outbox (tenant_id, completed_at)
    WHERE status = 'completed';
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_side_effects_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json,
        event_idempotency_key, trace_id
    ON workflow_side_effects_outbox FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.created_at, NEW.id, NEW.instance_id, NEW.step_execution_id, NEW.effect_type,
           NEW.endpoint, NEW.payload_json, NEW.event_idempotency_key, NEW.trace_id)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.created_at, OLD.id, OLD.instance_id, OLD.step_execution_id, OLD.effect_type,
           OLD.endpoint, OLD.payload_json, OLD.event_idempotency_key, OLD.trace_id))
    EXECUTE FUNCTION reject_identity_change();

-- A document is born with its instance, its first trigger and that trigger's receipt.
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

-- Where a tenant's workflows may call. Nodes refer to an endpoint by name.
CREATE TABLE endpoints (
    tenant_id       uuid NOT NULL REFERENCES tenants,
    name            text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    url             text NOT NULL CHECK (char_length(url) <= 2000),
    -- Where the secrets are kept, the newest first; never the secrets themselves.
    secret_refs     text[] NOT NULL CHECK (cardinality(secret_refs) BETWEEN 1 AND 2),
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    disabled_reason text CHECK (char_length(disabled_reason) <= 4000),
    version         integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    -- Failures one after another, and until when the endpoint is left alone after too many of them.
    failures        integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    rests_until     timestamptz,
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

-- The entrances for events that come without a token. Each is for one sender, who signs with one of its secrets. The
-- values of the secrets stand in no row.
CREATE TABLE inbound_endpoints (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    name        text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    -- The key of an event is this prefix and the value at the pointer in the message.
    key_prefix  text NOT NULL CHECK (char_length(key_prefix) <= 200),
    key_pointer text CHECK (char_length(key_pointer) <= 300),
    -- Names, the newest first. While a secret is replaced, either of the two holds.
    secrets     text[] NOT NULL CHECK (cardinality(secrets) BETWEEN 1 AND 3),
    status      text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    version     integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CHECK (key_prefix <> '' OR key_pointer IS NOT NULL)
);

CREATE TABLE workflow_inbound_events (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    id          uuid NOT NULL,
    event_key   text NOT NULL CHECK (char_length(event_key) BETWEEN 1 AND 500),
    payload     jsonb NOT NULL,
    -- The sender, and the sender's own id of the message: each message is taken once.
    source      text NOT NULL CHECK (char_length(source) <= 300),
    message_id  text NOT NULL CHECK (char_length(message_id) BETWEEN 1 AND 200),
    trace_id    text,
    received_at timestamptz NOT NULL,
    -- Until then it is kept for the first that waits for it.
    expires_at  timestamptz NOT NULL CHECK (expires_at > received_at),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, source, message_id)
);
CREATE INDEX workflow_inbound_events_by_key ON workflow_inbound_events (tenant_id, event_key, id);
-- Finds the "expired" to prune, without reading the others.
CREATE INDEX workflow_inbound_events_by_expiry ON workflow_inbound_events (tenant_id, expires_at);

CALL isolate_tenant_table('workflow_events_outbox');
CALL isolate_tenant_table('workflow_events_outbox_default');
CALL isolate_tenant_table('workflow_side_effects_outbox');
CALL isolate_tenant_table('workflow_side_effects_outbox_default');
CALL isolate_tenant_table('workflow_outbox_receipts');
CALL isolate_tenant_table('endpoints');
CALL isolate_tenant_table('inbound_endpoints');
CALL isolate_tenant_table('workflow_inbound_events');

-- Workers may write the progress of a queued row, and nothing else.
GRANT SELECT, INSERT ON workflow_events_outbox TO signet_api, signet_worker;
GRANT UPDATE (status, attempts, due_at, claim_id, lease_until, completed_at, error) ON workflow_events_outbox
    TO signet_worker;
GRANT SELECT, INSERT, UPDATE (status, attempts, due_at, claim_id, lease_until, completed_at, error, response_json)
    ON workflow_side_effects_outbox TO signet_worker;
-- An operator puts dead letters back.
GRANT SELECT ON workflow_side_effects_outbox TO signet_api;
GRANT UPDATE (status, attempts, due_at) ON workflow_events_outbox, workflow_side_effects_outbox TO signet_api;
-- The janitor frees rows whose lease ran out, and tells the instances of those that end as dead letters.
GRANT SELECT, INSERT ON workflow_events_outbox TO signet_janitor;
GRANT SELECT ON workflow_side_effects_outbox TO signet_janitor;
GRANT UPDATE (status, due_at, claim_id, lease_until, error) ON workflow_events_outbox, workflow_side_effects_outbox
    TO signet_janitor;
GRANT SELECT, INSERT ON workflow_outbox_receipts TO signet_api, signet_worker, signet_janitor;
GRANT SELECT, INSERT, DELETE ON endpoints TO signet_api;
GRANT UPDATE (url, secret_refs, status, disabled_reason, version, failures, rests_until, updated_at) ON endpoints
    TO signet_api;
GRANT SELECT ON endpoints TO signet_worker;
GRANT UPDATE (failures, rests_until, status, disabled_reason, updated_at) ON endpoints TO signet_worker;
GRANT SELECT, INSERT, UPDATE (key_prefix, key_pointer, secrets, status, version, updated_at)
    ON inbound_endpoints TO signet_api;
GRANT SELECT, INSERT ON workflow_inbound_events TO signet_api;
GRANT SELECT ON workflow_inbound_events TO signet_worker;

CALL distribute_tenant_tables(
    'workflow_events_outbox', 'workflow_outbox_receipts', 'workflow_side_effects_outbox', 'endpoints',
    'inbound_endpoints', 'workflow_inbound_events');

-- The functions of edits and waves: planned once a session, as those of the file before.

-- Write the rows of edits: the new state, its versions, their audit rows, the triggers with their receipts. Every row
-- names its author, because one transaction writes on behalf of many people. A document that changed several times in
-- one transaction is written once, with every version.
CREATE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. The UPDATE names its keys beside the join, so that every plan finds its
    -- rows by them.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(document_rows) AS row (id uuid));
    written bigint;
BEGIN
    UPDATE documents d
    SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
        deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
        t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
        n4 = row.n4, d1 = row.d1, d2 = row.d2
    FROM json_to_recordset(document_rows) AS row (
        id uuid, status text, seen_version bigint, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
        t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
        d1 timestamptz, d2 timestamptz)
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (ids) AND d.id = row.id AND d.version = row.seen_version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % documents % were at the version that was seen', cardinality(ids), written
            USING ERRCODE = 'SG004';
    END IF;

    WITH version AS (
        INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
        SELECT current_tenant_id(), document_id, version, id, snapshot, hash, actor_id, written_at
        FROM json_to_recordset(version_rows) AS row (
            document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text)
    ), audit AS (
        INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                               actor_id, created_at, epoch, xid)
        SELECT current_tenant_id(), id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
               created_at, epoch, xid
        FROM json_to_recordset(audit_rows) AS row (
            id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
            action text, actor_id text, created_at timestamptz, epoch integer, xid xid8)
    ), event AS (
        -- The same event twice in one batch is one event.
        SELECT DISTINCT ON (instance_id, idempotency_key) * FROM json_to_recordset(event_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, entity_version bigint, definition_version integer,
            event_type text, payload jsonb, idempotency_key bytea, trace_id text, due_at timestamptz)
        ORDER BY instance_id, idempotency_key, id
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT current_tenant_id(), instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at)
    SELECT current_tenant_id(), event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at)
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;

-- Open a wave. Lock in the order that all callers keep to, each kind in a statement of its own. First the claimed
-- triggers that are still ours; then, only trying, the instances (WF-01), their documents, their rows. Read only then,
-- so as to see the commits of the locks' former holders. Return nothing when the tenant is not active.
CREATE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql VOLATILE
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
BEGIN
    -- Found by their times, of which there are few; a join would be planned by how large the queue was when the
    -- session began.
    WITH own AS MATERIALIZED (
        SELECT q.id, q.instance_id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
          AND q.claim_id = own_claim AND array_position(trigger_ids, q.id) IS NOT NULL
        FOR UPDATE
    )
    SELECT array_agg(own.id), array_agg(DISTINCT own.instance_id) INTO own_triggers, wanted FROM own;

    SELECT array_agg(id) INTO taken
    FROM unnest(wanted) AS id
    WHERE pg_try_advisory_xact_lock(hashtextextended(id::text, 0));

    SELECT array_agg(i.entity_id) INTO entities FROM workflow_instances i
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken);

    WITH held AS MATERIALIZED (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (entities)
        ORDER BY d.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO entities FROM held;

    WITH held AS MATERIALIZED (
        SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken)
          AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
        ORDER BY i.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO locked FROM held;

    SELECT array_agg(DISTINCT role) INTO role_names FROM (
        SELECT 'service_account' AS role
        UNION ALL
        SELECT unnest(i.actor_roles) FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
        UNION ALL
        SELECT unnest(q.actor_roles) FROM transition_requests q
        WHERE q.tenant_id = current_tenant_id() AND q.document_id = ANY (entities) AND q.status = 'open'
    ) AS named;

    RETURN QUERY
    SELECT base.*, own_triggers,
           ARRAY(SELECT i.id FROM workflow_instances i
                 WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (wanted)),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id
               FROM workflow_instances i
               WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
               ORDER BY i.id
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
                      s.started_at, s.resume_at, s.waiting_for_event_key
               FROM workflow_step_executions s
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running')
               ORDER BY s.instance_id, s.seq
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT e.step_execution_id, e.status, e.response_json, e.error
               FROM workflow_step_executions s
               JOIN workflow_side_effects_outbox e
                 ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                 AND e.status IN ('completed', 'dead_letter')
           ) AS found)
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

-- Write the rest when the last round of a wave is over; the caller's transaction ends with it.
CREATE FUNCTION end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json,
                         trigger_times timestamptz[], trigger_ids uuid[], written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- Each UPDATE names the keys (or the times, of which there are few) beside the join. So every possible plan finds
    -- its rows by them, however large the tenant has become since the plan was made.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    step_times timestamptz[] := ARRAY(
        SELECT DISTINCT created_at FROM json_to_recordset(step_rows) AS row (created_at timestamptz));
    ids uuid[] := ARRAY(SELECT id FROM json_to_recordset(instance_rows) AS row (id uuid));
BEGIN
    UPDATE workflow_step_executions s
    SET status = row.status, end_seq = row.end_seq, version_after = row.version_after, output_json = row.output,
        error = row.error, resume_at = row.resume_at, waiting_for_event_key = row.waiting_for_event_key,
        approval_request_id = coalesce(row.approval_request_id, s.approval_request_id),
        completed_at = CASE WHEN row.end_seq IS NOT NULL THEN written_at END,
        duration_ms = CASE WHEN row.end_seq IS NOT NULL
                           THEN extract(epoch FROM (written_at - s.started_at)) * 1000 END
    FROM json_to_recordset(step_rows) AS row (
        id uuid, status text, end_seq bigint, version_after bigint, output jsonb, error text, resume_at timestamptz,
        waiting_for_event_key text, approval_request_id uuid)
    WHERE s.tenant_id = current_tenant_id() AND s.created_at = ANY (step_times) AND s.id = row.id;

    UPDATE workflow_instances i
    SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
        active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
        edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
        last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
        request_id = row.request_id,
        completed_at = CASE WHEN row.status IN ('completed', 'failed', 'cancelled') THEN written_at END,
        updated_at = written_at
    FROM json_to_recordset(instance_rows) AS row (
        id uuid, status text, reason text, version bigint, entity_version bigint, active_tokens jsonb,
        current_nodes text[], edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz,
        last_step_id uuid, actor_id text, actor_roles text[], request_id uuid)
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (ids) AND i.id = row.id;

    IF effect_rows IS NOT NULL THEN
        WITH effect AS MATERIALIZED (
            SELECT * FROM json_to_recordset(effect_rows) AS row (
                id uuid, created_at timestamptz, instance_id uuid, step_id uuid, effect_type text, endpoint text,
                payload jsonb, idempotency_key bytea, trace_id text)
        ), receipt AS (
            INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key,
                                                  created_at)
            SELECT current_tenant_id(), instance_id, 'side_effects', idempotency_key, written_at FROM effect
            ON CONFLICT DO NOTHING
            RETURNING instance_id, event_idempotency_key
        )
        INSERT INTO workflow_side_effects_outbox (
            tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json,
            event_idempotency_key, trace_id, due_at)
        SELECT current_tenant_id(), effect.created_at, effect.id, effect.instance_id, effect.step_id,
               effect.effect_type, effect.endpoint, effect.payload, effect.idempotency_key, effect.trace_id, written_at
        FROM effect JOIN receipt ON receipt.instance_id = effect.instance_id
                                AND receipt.event_idempotency_key = effect.idempotency_key;
    END IF;

    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id)
    SELECT current_tenant_id(), created_at, id, 'instance', instance_id, entry, actor_id, step_id, data, trace_id
    FROM json_to_recordset(history_rows) AS row (
        id uuid, created_at timestamptz, instance_id uuid, entry text, actor_id text, step_id uuid, data jsonb,
        trace_id text);

    UPDATE workflow_events_outbox q
    SET status = 'completed', completed_at = written_at, claim_id = NULL, lease_until = NULL, error = NULL
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
      AND array_position(trigger_ids, q.id) IS NOT NULL;
END
$$;

GRANT EXECUTE ON FUNCTION write_edits(json, json, json, json, timestamptz) TO signet_api, signet_worker;
GRANT EXECUTE ON FUNCTION open_wave(timestamptz[], uuid[], uuid),
    end_wave(json, json, json, json, timestamptz[], uuid[], timestamptz) TO signet_worker;

-- The workers' only look across tenants (design §10): which tenants have work, never what it is.
CREATE POLICY dispatch ON workflow_events_outbox FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON workflow_side_effects_outbox FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (tenant_id, status, due_at, lease_until) ON workflow_events_outbox, workflow_side_effects_outbox
    TO signet_dispatch;

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- List the tenants with rows that are due or whose lease ran out, those that have waited longest first. Each tenant
-- costs a few probes of the partial indexes, however many rows it has. Rows are counted to 1,000 and no further.
CREATE FUNCTION due_tenants(queue text, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer, oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- It uses the partial indexes in spite of any statistics; and compiling would cost more than running.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        -- From each tenant to the next one: PostgreSQL has no loose index scan of its own.
        WITH RECURSIVE waiting AS (
            (SELECT q.tenant_id FROM %1$I q WHERE q.status IN ('pending', 'failed') ORDER BY q.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.tenant_id FROM %1$I q
                    WHERE q.status IN ('pending', 'failed') AND q.tenant_id > w.tenant_id
                    ORDER BY q.tenant_id LIMIT 1)
            FROM waiting w WHERE w.tenant_id IS NOT NULL
        ), working AS (
            (SELECT q.tenant_id FROM %1$I q WHERE q.status = 'processing' ORDER BY q.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.tenant_id FROM %1$I q
                    WHERE q.status = 'processing' AND q.tenant_id > w.tenant_id
                    ORDER BY q.tenant_id LIMIT 1)
            FROM working w WHERE w.tenant_id IS NOT NULL
        ), due AS (
            SELECT found.tenant_id, min(found.since) AS since FROM (
                SELECT w.tenant_id, (SELECT q.due_at FROM %1$I q
                                     WHERE q.tenant_id = w.tenant_id AND q.status IN ('pending', 'failed')
                                       AND q.due_at <= now()
                                     ORDER BY q.due_at LIMIT 1) AS since
                FROM waiting w
                UNION ALL
                SELECT w.tenant_id, (SELECT q.lease_until FROM %1$I q
                                     WHERE q.tenant_id = w.tenant_id AND q.status = 'processing'
                                       AND q.lease_until <= now()
                                     ORDER BY q.lease_until LIMIT 1)
                FROM working w
            ) AS found
            WHERE found.since IS NOT NULL
            GROUP BY found.tenant_id
            ORDER BY min(found.since), found.tenant_id
            LIMIT $1
        )
        SELECT due.tenant_id,
               (SELECT count(*) FROM (
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status IN ('pending', 'failed') AND q.due_at <= now()
                     LIMIT 1000)
                    UNION ALL
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status = 'processing' AND q.lease_until <= now()
                     LIMIT 1000)
                    LIMIT 1000) AS counted)::integer,
               due.since
        FROM due
        ORDER BY due.since, due.tenant_id
    $due$, queue_table) USING at_most;
END
$$;
REVOKE EXECUTE ON FUNCTION due_tenants(text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_tenants(text, integer) TO signet_worker, signet_janitor;

-- Measure a queue for the operators of the service, not for a tenant. Return sums over all tenants, each counted to a
-- limit, and the oldest due time. It names no tenant; due_tenants() does, and is not for the API.
CREATE FUNCTION measure_queue(queue text)
    RETURNS TABLE (pending bigint, failed bigint, processing bigint, expired bigint, dead_letter bigint,
                   oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- Each count is of a partial index; a table whose statistics are old must not be read through.
    SET enable_seqscan = off
AS $$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL THEN
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($measured$
        SELECT waiting.pending, waiting.failed, working.processing, working.expired, dead.dead_letter,
               (SELECT d.oldest_due_at FROM due_tenants($1, 1) AS d)
        FROM (SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
                     count(*) FILTER (WHERE status = 'failed') AS failed
              FROM (SELECT status FROM %1$I WHERE status IN ('pending', 'failed') LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE lease_until <= now()) AS expired
              FROM (SELECT lease_until FROM %1$I WHERE status = 'processing' LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I WHERE status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000;
END
$$;
REVOKE EXECUTE ON FUNCTION measure_queue(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION measure_queue(text) TO signet_api, signet_worker, signet_janitor;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
DROP FUNCTION measure_queue(text);
DROP FUNCTION due_tenants(text, integer);
SET LOCAL ROLE signet_owner;
DROP FUNCTION end_wave(json, json, json, json, timestamptz[], uuid[], timestamptz);
DROP FUNCTION open_wave(timestamptz[], uuid[], uuid);
DROP FUNCTION write_edits(json, json, json, json, timestamptz);
DROP TABLE workflow_inbound_events, inbound_endpoints, endpoints, workflow_outbox_receipts,
    workflow_side_effects_outbox, workflow_events_outbox;
RESET ROLE;
