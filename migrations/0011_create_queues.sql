-- phase: expand
-- transaction: on
-- role: admin
--
-- What the workers live on: the outbox of effects, the life of instances, runs and sessions, monthly partitions,
-- and the one function that looks across tenants. An admin's, because that function belongs to a role of its own.

-- up
SET LOCAL ROLE signet_owner;

-- At once and in this order, so that nothing below waits in the middle.
LOCK TABLE workflow_instances, workflow_step_executions, workflow_events_outbox IN ACCESS EXCLUSIVE MODE;

CREATE TABLE workflow_side_effects_outbox (
    tenant_id             uuid NOT NULL,
    -- taken from the id, so that a lookup by id knows the partition
    created_at            timestamptz NOT NULL,
    id                    uuid NOT NULL,
    instance_id           uuid NOT NULL,
    step_execution_id     uuid NOT NULL,
    effect_type           text NOT NULL CHECK (effect_type IN ('webhook', 'email', 'sms', 'in_app', 'integration')),
    -- which of the tenant's endpoints, where there is a choice
    endpoint              text CHECK (char_length(endpoint) <= 200),
    payload_json          jsonb NOT NULL DEFAULT '{}',
    event_idempotency_key bytea NOT NULL CHECK (octet_length(event_idempotency_key) = 32),
    trace_id              text,
    status                text NOT NULL DEFAULT 'pending'
                          CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'dead_letter')),
    attempts              integer NOT NULL DEFAULT 0,
    max_attempts          integer NOT NULL DEFAULT 5 CHECK (max_attempts >= 1),
    -- when it may run: the future for retries
    due_at                timestamptz NOT NULL,
    claim_id              uuid,
    lease_until           timestamptz,
    completed_at          timestamptz,
    error                 text,
    -- evidence: what the outside world answered last
    response_json         jsonb,
    PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);
CREATE TABLE workflow_side_effects_outbox_default PARTITION OF workflow_side_effects_outbox DEFAULT;
CREATE INDEX workflow_side_effects_outbox_due ON workflow_side_effects_outbox (tenant_id, due_at, id)
    WHERE status IN ('pending', 'failed');
CREATE INDEX workflow_side_effects_outbox_leased ON workflow_side_effects_outbox (tenant_id, lease_until)
    WHERE status = 'processing';
CREATE INDEX workflow_side_effects_outbox_by_instance ON workflow_side_effects_outbox (tenant_id, instance_id, id);
CREATE INDEX workflow_side_effects_outbox_by_step ON workflow_side_effects_outbox (tenant_id, step_execution_id);
CREATE INDEX workflow_side_effects_outbox_dead ON workflow_side_effects_outbox (tenant_id, id)
    WHERE status = 'dead_letter';
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_side_effects_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');

-- A row is claimed exactly while it is processing. So whoever looks for his own claim need not ask for the status
-- (which would offer the planner an index that is wrong for it), and no row is at work without a lease that ends.
ALTER TABLE workflow_side_effects_outbox ADD CONSTRAINT workflow_side_effects_outbox_claim
    CHECK ((status = 'processing') = (claim_id IS NOT NULL) AND (claim_id IS NULL) = (lease_until IS NULL));
ALTER TABLE workflow_events_outbox ADD CONSTRAINT workflow_events_outbox_claim
    CHECK ((status = 'processing') = (claim_id IS NOT NULL) AND (claim_id IS NULL) = (lease_until IS NULL));

-- One life for instances, runs and sessions: a line each time that something happens to one as a whole.
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
-- A partition inherits triggers for rows, but none for statements.
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_event_default
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_step_executions_default
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- What a row is never changes; how it goes on may. Looked at only where a statement names such a column.
CREATE FUNCTION reject_identity_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % cannot become another one', TG_TABLE_NAME USING ERRCODE = 'SG002';
END
$$;
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

-- Of a step that has ended only this may still be told: whether a gate consumed it.
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

CALL isolate_tenant_table('workflow_side_effects_outbox');
CALL isolate_tenant_table('workflow_side_effects_outbox_default');
CALL isolate_tenant_table('workflow_event');
CALL isolate_tenant_table('workflow_event_default');

-- Whoever works on a queue may say how a row goes on, and nothing else.
REVOKE UPDATE ON workflow_events_outbox FROM signet_api, signet_worker;
GRANT UPDATE (status, attempts, due_at, claim_id, lease_until, completed_at, error) ON workflow_events_outbox
    TO signet_worker;
GRANT SELECT, INSERT, UPDATE (status, attempts, due_at, claim_id, lease_until, completed_at, error, response_json)
    ON workflow_side_effects_outbox TO signet_worker;
-- An operator puts dead letters back.
GRANT SELECT ON workflow_side_effects_outbox TO signet_api;
GRANT UPDATE (status, attempts, due_at) ON workflow_events_outbox, workflow_side_effects_outbox TO signet_api;
-- The janitor frees rows whose lease ran out.
GRANT SELECT ON workflow_side_effects_outbox, workflow_event TO signet_janitor;
GRANT UPDATE (status, due_at, claim_id, lease_until, error) ON workflow_events_outbox, workflow_side_effects_outbox
    TO signet_janitor;
GRANT SELECT, INSERT ON workflow_event TO signet_api, signet_worker;

CALL distribute_tenant_tables('workflow_side_effects_outbox', 'workflow_event');

-- One partition. Postgres refuses it while the default partition holds rows of its range: then the default is
-- taken off (with the triggers and the wall that would hide those rows from their owner), gives them up, and is
-- put back. Nobody sees the state in between.
CREATE PROCEDURE create_partition(parent regclass, partition_name text, from_time timestamptz, to_time timestamptz)
    LANGUAGE plpgsql AS $$
DECLARE
    made      text := format('CREATE TABLE public.%I PARTITION OF %s FOR VALUES FROM (%L) TO (%L)',
                             partition_name, parent, from_time, to_time);
    leftovers regclass := (SELECT partdefid FROM pg_partitioned_table WHERE partrelid = parent);
BEGIN
    EXECUTE made;
EXCEPTION WHEN check_violation THEN
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', parent, leftovers);
    EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', leftovers);
    EXECUTE made;
    EXECUTE format('WITH moved AS (DELETE FROM %s WHERE created_at >= %L AND created_at < %L RETURNING *) '
                   'INSERT INTO public.%I SELECT * FROM moved', leftovers, from_time, to_time, partition_name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', leftovers);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT', parent, leftovers);
END
$$;
REVOKE EXECUTE ON PROCEDURE create_partition(regclass, text, timestamptz, timestamptz) FROM PUBLIC;

-- Partitions of every table that is partitioned by created_at, for so many months (UTC) from the one of `first`
-- on. Answers the names of those that it made: none when they are all there.
CREATE FUNCTION create_month_partitions(first date, months integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- Less than deadlock_timeout: where work is under way on two of the tables, this one gives up and is called
    -- again, instead of making Postgres choose a victim.
    SET lock_timeout = '500ms'
AS $$
DECLARE
    parent         regclass;
    month          timestamp;
    partition_name text;
BEGIN
    IF first IS NULL OR months IS NULL OR months NOT BETWEEN 1 AND 24 THEN
        RAISE EXCEPTION 'between 1 and 24 months from a date, not % from %', months, first USING ERRCODE = '22023';
    END IF;
    FOR parent IN
        SELECT p.partrelid FROM pg_partitioned_table p
        JOIN pg_class c ON c.oid = p.partrelid
        JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
        WHERE c.relnamespace = 'public'::regnamespace AND p.partstrat = 'r' AND a.attname = 'created_at'
        ORDER BY c.relname
    LOOP
        FOR month IN
            SELECT generate_series(date_trunc('month', first::timestamp),
                                   date_trunc('month', first::timestamp) + make_interval(months => months - 1),
                                   interval '1 month')
        LOOP
            partition_name := format('%s_%s', (SELECT relname FROM pg_class WHERE oid = parent),
                                     to_char(month, 'YYYY_MM'));
            CONTINUE WHEN to_regclass(format('public.%I', partition_name)) IS NOT NULL;
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', parent);
            -- Another caller may have made it while this one waited.
            CONTINUE WHEN to_regclass(format('public.%I', partition_name)) IS NOT NULL;
            CALL create_partition(parent, partition_name, month AT TIME ZONE 'UTC',
                                  (month + interval '1 month') AT TIME ZONE 'UTC');
            CALL isolate_tenant_table(format('public.%I', partition_name)::regclass);
            IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = parent AND tgname = 'reject_truncate') THEN
                EXECUTE format('CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.%I '
                               'FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change()', partition_name);
            END IF;
            RETURN NEXT partition_name;
        END LOOP;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION create_month_partitions(date, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_month_partitions(date, integer) TO signet_janitor;
SELECT create_month_partitions((now() AT TIME ZONE 'UTC')::date, 3);

-- The only look across tenants (design §10): which of them have work, never what it is.
CREATE POLICY dispatch ON workflow_events_outbox FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON workflow_side_effects_outbox FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (tenant_id, status, due_at, lease_until) ON workflow_events_outbox, workflow_side_effects_outbox
    TO signet_dispatch;

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- Tenants with rows that are due or whose lease ran out, those that have waited longest first. Each tenant costs a
-- few probes of the partial indexes, however many rows it has: they are counted to 1,000 and no further.
CREATE FUNCTION due_tenants(queue text, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer, oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- By the partial indexes, whatever the statistics say; and compiling would cost more than running.
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

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
-- Monthly partitions of the older tables stay: they hold rows, and the older schema works with them.
DROP FUNCTION due_tenants(text, integer);
SET LOCAL ROLE signet_owner;
DROP FUNCTION create_month_partitions(date, integer);
DROP PROCEDURE create_partition(regclass, text, timestamptz, timestamptz);
DROP TABLE workflow_event, workflow_side_effects_outbox;
REVOKE SELECT (tenant_id, status, due_at, lease_until) ON workflow_events_outbox FROM signet_dispatch;
DROP POLICY dispatch ON workflow_events_outbox;
REVOKE UPDATE (status, attempts, due_at, claim_id, lease_until, completed_at, error) ON workflow_events_outbox
    FROM signet_api, signet_worker, signet_janitor;
GRANT UPDATE ON workflow_events_outbox TO signet_api, signet_worker;
DROP TRIGGER reject_truncate ON workflow_step_executions_default;
DROP TRIGGER restrict_updates_of_ended ON workflow_step_executions;
DROP FUNCTION restrict_updates_of_ended_step();
DROP TRIGGER reject_identity_change ON workflow_instances;
DROP TRIGGER reject_identity_change ON workflow_events_outbox;
DROP FUNCTION reject_identity_change();
ALTER TABLE workflow_events_outbox DROP CONSTRAINT workflow_events_outbox_claim;
RESET ROLE;
