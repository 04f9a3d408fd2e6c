-- phase: expand
-- transaction: on
--
-- An automation starts by what it listens to. A change of a document writes its starts in its own transaction, so that none
-- is lost. What they listen to is found by equality in one index, so that those that do not match cost nothing.

-- up
-- One row for each automation by its name, over all of its versions.
CREATE TABLE automations (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    id                 uuid NOT NULL,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 63),
    -- '' of one that belongs to no type.
    entity_type        text NOT NULL CHECK (char_length(entity_type) <= 63),
    -- What is in force; null where it is archived.
    definition_id      uuid,
    definition_version integer,
    paused_at          timestamptz,
    paused_by          text,
    pause_note         text CHECK (char_length(pause_note) BETWEEN 1 AND 4000),
    revision           integer NOT NULL DEFAULT 1,
    -- The minute in which it has started last, and how often then.
    started_minute     timestamptz,
    started_count      integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name),
    CHECK ((definition_id IS NULL) = (definition_version IS NULL)),
    CHECK ((paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NULL) = (pause_note IS NULL))
);

-- What automations listen to, as equal texts.
CREATE TABLE workflow_triggers (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    entity_type        text NOT NULL CHECK (char_length(entity_type) <= 63),
    sign               text NOT NULL CHECK (char_length(sign) BETWEEN 1 AND 500),
    automation_id      uuid NOT NULL,
    definition_id      uuid NOT NULL,
    definition_version integer NOT NULL,
    PRIMARY KEY (tenant_id, entity_type, sign, automation_id),
    FOREIGN KEY (tenant_id, automation_id) REFERENCES automations (tenant_id, id)
);
CREATE INDEX workflow_triggers_of_automation ON workflow_triggers (tenant_id, automation_id);

-- The switch of all automations of a tenant, and how many of them have started. Each start locks this row, so that nothing
-- starts after the commit that switches them off.
CREATE TABLE automation_switches (
    tenant_id      uuid PRIMARY KEY REFERENCES tenants,
    stopped_at     timestamptz,
    stopped_by     text,
    stop_note      text CHECK (char_length(stop_note) BETWEEN 1 AND 4000),
    revision       integer NOT NULL DEFAULT 1,
    started_minute timestamptz,
    started_count  integer NOT NULL DEFAULT 0,
    CHECK ((stopped_at IS NULL) = (stopped_by IS NULL) AND (stopped_at IS NULL) = (stop_note IS NULL))
);

-- Why an instance is there: what has started it, and the automations that have acted before it. An instance that no
-- automation has brought about has no row.
CREATE TABLE instance_causes (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    instance_id   uuid NOT NULL,
    automation_id uuid,
    cause         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(cause) = 'object'),
    chain         jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(chain) = 'array' AND jsonb_array_length(chain) <= 17),
    PRIMARY KEY (tenant_id, instance_id)
);

-- Starts that wait until another instance with their key has ended.
CREATE TABLE queued_starts (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    overlap_key   text NOT NULL CHECK (char_length(overlap_key) <= 100),
    id            uuid NOT NULL,
    automation_id uuid NOT NULL,
    payload       jsonb NOT NULL,
    entity_version bigint NOT NULL,
    trace_id      text,
    responsible   bytea,
    PRIMARY KEY (tenant_id, overlap_key, id)
);

CALL isolate_tenant_table('automations');
CALL isolate_tenant_table('workflow_triggers');
CALL isolate_tenant_table('automation_switches');
CALL isolate_tenant_table('instance_causes');
CALL isolate_tenant_table('queued_starts');
GRANT SELECT, INSERT, UPDATE ON automations, automation_switches TO signet_api;
GRANT SELECT, UPDATE (started_minute, started_count) ON automations, automation_switches TO signet_worker;
GRANT SELECT, INSERT, DELETE ON workflow_triggers TO signet_api;
GRANT SELECT ON workflow_triggers TO signet_worker;
GRANT SELECT, INSERT, UPDATE (chain) ON instance_causes TO signet_api, signet_worker;
GRANT SELECT, INSERT, DELETE ON queued_starts TO signet_api, signet_worker;
CALL distribute_tenant_tables('automations', 'workflow_triggers', 'automation_switches', 'instance_causes', 'queued_starts');

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, name ON automations FOR EACH ROW
    WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id OR NEW.id IS DISTINCT FROM OLD.id OR NEW.name IS DISTINCT FROM OLD.name)
    EXECUTE FUNCTION reject_identity_change();

ALTER TABLE workflow_event
    DROP CONSTRAINT workflow_event_subject_kind_check,
    ADD CONSTRAINT workflow_event_subject_kind_check
        CHECK (subject_kind IN ('instance', 'run', 'session', 'automation')) NOT VALID;

-- Write the starts of all automations that listen to one of these changes. It answers how many there are. The id of the new
-- instance follows from the change and the definition, so that a change starts it once.
CREATE FUNCTION fire_automations(firing_rows json, written_at timestamptz) RETURNS integer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
    fired      integer;
BEGIN
    IF NOT EXISTS (SELECT FROM workflow_triggers t WHERE t.tenant_id = own_tenant) THEN
        RETURN 0;
    END IF;
    WITH matched AS MATERIALIZED (
        SELECT DISTINCT ON (row.id, t.automation_id)
               row.id, row.created_at, row.entity_version, row.payload, row.trace_id, row.responsible,
               t.automation_id, t.definition_id, t.definition_version,
               sha256(convert_to(row.id::text || t.definition_id::text, 'UTF8')) AS digest
        FROM json_to_recordset(firing_rows) AS row (
            id uuid, created_at timestamptz, entity_type text, signs json, entity_version bigint, payload jsonb,
            trace_id text, responsible bytea)
        CROSS JOIN LATERAL json_array_elements_text(row.signs) AS shown (sign)
        CROSS JOIN LATERAL (
            SELECT t.automation_id, t.definition_id, t.definition_version FROM workflow_triggers t
            WHERE t.tenant_id = own_tenant AND t.entity_type = row.entity_type AND t.sign = shown.sign
            OFFSET 0
        ) AS t
    ), start AS (
        SELECT matched.*,
               (left(matched.id::text, 14) || '7' || substr(encode(digest, 'hex'), 1, 3) || '-8'
                || substr(encode(digest, 'hex'), 4, 3) || '-' || substr(encode(digest, 'hex'), 7, 12))::uuid AS start_id
        FROM matched
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT own_tenant, start_id, 'events', digest, written_at FROM start
        ON CONFLICT DO NOTHING
        RETURNING instance_id
    ), written AS (
        INSERT INTO workflow_events_outbox (
            tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
            event_idempotency_key, trace_id, due_at, responsible)
        SELECT own_tenant, start.created_at, start.start_id, start.start_id, start.entity_version,
               start.definition_version, 'start_automation',
               start.payload || jsonb_build_object('automation_id', start.automation_id,
                                                   'definition_id', start.definition_id),
               start.digest, start.trace_id, written_at, start.responsible
        FROM start JOIN receipt ON receipt.instance_id = start.start_id
        RETURNING 1
    )
    SELECT count(*) INTO fired FROM written;
    RETURN fired;
END
$$;
REVOKE EXECUTE ON FUNCTION fire_automations(json, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fire_automations(json, timestamptz) TO signet_api, signet_worker;

-- Read the causes of the instances that a wave has opened.
CREATE FUNCTION read_causes(instances json) RETURNS json
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
BEGIN
    RETURN (
        SELECT json_object_agg(c.instance_id, json_build_object('cause', c.cause, 'chain', c.chain))
        FROM json_array_elements(instances) AS opened
        CROSS JOIN LATERAL (
            SELECT c.instance_id, c.cause, c.chain FROM instance_causes c
            WHERE c.tenant_id = current_tenant_id() AND c.instance_id = (opened ->> 'id')::uuid
            LIMIT 1
        ) AS c
    );
END
$$;
REVOKE EXECUTE ON FUNCTION read_causes(json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION read_causes(json) TO signet_api, signet_worker;

-- A worker starts automations for documents that have a workflow already.
CREATE OR REPLACE FUNCTION reject_later_birth() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NEW.kind = 'automation' AND NEW.birth = 'created' THEN
        RETURN NEW;
    END IF;
    IF NEW.birth IN ('reentered', 'restarted') OR EXISTS (
        SELECT FROM workflow_instances i
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.entity_id) THEN
        RAISE EXCEPTION 'people have document % begin again, and no worker', NEW.entity_id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

-- Make the next start due that waits for this key. It keeps the key: where it makes no instance, it releases the one after.
CREATE FUNCTION release_next_start(released_key text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    next   queued_starts;
    moment timestamptz := date_trunc('milliseconds', clock_timestamp());
BEGIN
    SELECT * INTO next FROM queued_starts q
    WHERE q.tenant_id = current_tenant_id() AND q.overlap_key = released_key
    ORDER BY q.id LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM queued_starts q
    WHERE q.tenant_id = next.tenant_id AND q.overlap_key = next.overlap_key AND q.id = next.id;
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, event_type, payload_json, event_idempotency_key, trace_id,
        due_at, responsible)
    VALUES (next.tenant_id, moment,
            (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
             || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
            next.id, next.entity_version, 'start_automation', next.payload || jsonb_build_object('released_key', released_key),
            sha256(convert_to(next.id::text || clock_timestamp()::text, 'UTF8')), next.trace_id, now(), next.responsible);
END
$$;
REVOKE EXECUTE ON FUNCTION release_next_start(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION release_next_start(text) TO signet_worker;

-- An instance of an automation has ended, by whatever act: the next start that waits for it is due.
CREATE FUNCTION release_queued_start() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM release_next_start(NEW.overlap_key);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION release_queued_start() FROM PUBLIC;
CREATE TRIGGER release_queued_start AFTER UPDATE OF status ON workflow_instances FOR EACH ROW
    WHEN (NEW.kind = 'automation' AND NEW.overlap_key IS NOT NULL AND OLD.status IN ('running', 'paused')
          AND NEW.status IN ('completed', 'failed', 'cancelled'))
    EXECUTE FUNCTION release_queued_start();

-- An automation is a workflow without an envelope: also one that listens to the type, and has not started, may have left
-- a field as it was.
CREATE OR REPLACE FUNCTION list_fields_of_steps(document uuid, document_type text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        WITH newest AS (
            SELECT i.definition_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.entity_type = document_type AND i.entity_id = document
            ORDER BY i.id DESC
            LIMIT 1000
        ), run AS MATERIALIZED (
            SELECT DISTINCT coalesce(w.contract_version, d.contract_version) AS contract_version,
                   node #>> '{config,action}' AS action
            FROM (SELECT definition_id FROM newest
                  UNION
                  SELECT t.definition_id FROM workflow_triggers t
                  WHERE t.tenant_id = current_tenant_id() AND t.entity_type = document_type) AS n
            JOIN documents d ON d.tenant_id = current_tenant_id() AND d.id = document
            JOIN workflow_definitions w ON w.tenant_id = current_tenant_id() AND w.id = n.definition_id
            JOIN workflow_definitions p ON p.tenant_id = current_tenant_id() AND p.id = coalesce(w.source_id, w.id)
            CROSS JOIN LATERAL (
                SELECT jsonb_path_query(p.body_patches_json, '$.slots.*.nodes[*] ? (@.type == "action")')
                UNION ALL
                SELECT jsonb_path_query(p.body_patches_json, '$.nodes[*] ? (@.type == "action")')) AS found (node)
        ), declared AS MATERIALIZED (
            SELECT c.version, c.body::jsonb -> 'actions' AS actions
            FROM contracts c
            WHERE c.tenant_id = current_tenant_id() AND c.entity_type = document_type
              AND c.version IN (SELECT contract_version FROM run)
        ), known AS (
            SELECT d.actions -> run.action AS action FROM run JOIN declared d ON d.version = run.contract_version
        )
        SELECT jsonb_object_keys(action -> 'set') FROM known WHERE action ->> 'kind' = 'update'
        UNION
        SELECT '*' FROM known WHERE action ->> 'kind' = 'python'
        UNION
        SELECT '*' WHERE (SELECT count(*) FROM newest) = 1000
        UNION
        SELECT jsonb_object_keys(action -> 'values')
        FROM rules r
        CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
        WHERE r.tenant_id = current_tenant_id() AND r.entity_type = document_type AND r.is_enabled
          AND action ->> 'kind' = 'set');
END
$$;

-- down
CREATE OR REPLACE FUNCTION list_fields_of_steps(document uuid, document_type text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        WITH newest AS (
            SELECT i.definition_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.entity_type = document_type AND i.entity_id = document
            ORDER BY i.id DESC
            LIMIT 1000
        ), run AS MATERIALIZED (
            SELECT DISTINCT w.contract_version, node #>> '{config,action}' AS action
            FROM (SELECT DISTINCT definition_id FROM newest) AS n
            JOIN workflow_definitions w ON w.tenant_id = current_tenant_id() AND w.id = n.definition_id
            JOIN workflow_definitions p ON p.tenant_id = current_tenant_id() AND p.id = w.source_id
            CROSS JOIN LATERAL jsonb_path_query(p.body_patches_json, '$.slots.*.nodes[*] ? (@.type == "action")') AS node
        ), declared AS MATERIALIZED (
            SELECT c.version, c.body::jsonb -> 'actions' AS actions
            FROM contracts c
            WHERE c.tenant_id = current_tenant_id() AND c.entity_type = document_type
              AND c.version IN (SELECT contract_version FROM run)
        ), known AS (
            SELECT d.actions -> run.action AS action FROM run JOIN declared d ON d.version = run.contract_version
        )
        SELECT jsonb_object_keys(action -> 'set') FROM known WHERE action ->> 'kind' = 'update'
        UNION
        SELECT '*' FROM known WHERE action ->> 'kind' = 'python'
        UNION
        SELECT '*' WHERE (SELECT count(*) FROM newest) = 1000
        UNION
        SELECT jsonb_object_keys(action -> 'values')
        FROM rules r
        CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
        WHERE r.tenant_id = current_tenant_id() AND r.entity_type = document_type AND r.is_enabled
          AND action ->> 'kind' = 'set');
END
$$;
DROP TRIGGER release_queued_start ON workflow_instances;
DROP FUNCTION release_queued_start();
DROP FUNCTION release_next_start(text);
CREATE OR REPLACE FUNCTION reject_later_birth() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NEW.birth IN ('reentered', 'restarted') OR EXISTS (
        SELECT FROM workflow_instances i
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.entity_id) THEN
        RAISE EXCEPTION 'people have document % begin again, and no worker', NEW.entity_id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
DROP FUNCTION read_causes(json);
DROP FUNCTION fire_automations(json, timestamptz);
ALTER TABLE workflow_event
    DROP CONSTRAINT workflow_event_subject_kind_check,
    ADD CONSTRAINT workflow_event_subject_kind_check CHECK (subject_kind IN ('instance', 'run', 'session'));
DROP TABLE queued_starts, instance_causes, automation_switches, workflow_triggers, automations;
