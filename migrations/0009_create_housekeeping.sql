-- phase: expand
-- transaction: on
-- role: admin
--
-- Housekeeping: the tasks with their leases, the monthly partitions, and the functions that find tenants with something
-- to do. Only functions of this file remove old rows. Each is bounded, and refuses to remove what must stay. It needs
-- an admin, because the functions that look across tenants belong to a role of their own.

-- up
SET LOCAL ROLE signet_owner;

-- One row a task, of all tenants together. A lease is a row and no lock of a session: a pooler may sit between.
CREATE TABLE housekeeping_tasks (
    task          text PRIMARY KEY CHECK (task ~ '^[a-z][a-z0-9_]{0,62}$'),
    next_due_at   timestamptz NOT NULL DEFAULT now(),
    claim_id      uuid,
    lease_until   timestamptz,
    -- Where a run that was cut goes on. NULL: from the beginning.
    cursor        jsonb,
    last_began_at timestamptz,
    last_ended_at timestamptz,
    last_outcome  text CHECK (last_outcome IN ('done', 'more', 'failed')),
    last_error    text CHECK (char_length(last_error) <= 2000),
    last_rows     bigint NOT NULL DEFAULT 0,
    total_rows    bigint NOT NULL DEFAULT 0,
    run_count     bigint NOT NULL DEFAULT 0,
    -- Failures in a row; 0 after a run that went well.
    failure_count bigint NOT NULL DEFAULT 0,
    CHECK ((claim_id IS NULL) = (lease_until IS NULL))
);
GRANT SELECT ON housekeeping_tasks TO signet_api;
GRANT SELECT, INSERT (task), UPDATE (next_due_at, claim_id, lease_until, cursor, last_began_at, last_ended_at,
    last_outcome, last_error, last_rows, total_rows, run_count, failure_count) ON housekeeping_tasks TO signet_janitor;

-- Make one partition. Postgres refuses it while the default partition holds rows of its range. Then the default is
-- detached, with the triggers and the wall that would hide those rows from their owner. It gives them up, and is
-- attached again. Nobody sees the state in between.
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

-- Make partitions of every table that is partitioned by created_at: so many months (UTC), beginning with that of
-- `first`. Return the names of those that it made: none when all of them exist.
CREATE FUNCTION create_month_partitions(first date, months integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- It is less than deadlock_timeout. While work is under way on two of the tables, this function gives up and is
    -- called again. Otherwise Postgres would choose a victim.
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

CREATE FUNCTION require_bounds(kept interval, least_kept interval, at_most integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF kept IS NULL OR kept < least_kept OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'at least % must be kept, and between 1 and 10000 rows go at a time: %, %',
            least_kept, kept, at_most USING ERRCODE = '22023';
    END IF;
END
$$;

-- Each of the next functions sees only the tenant of the transaction, as its caller does. Row security is forced on its
-- owner.

-- Remove completed rows only: rows that are pending, at work, failed or dead stay for ever. An effect that an open step
-- still waits for stays too, because it is the step's answer.
CREATE FUNCTION prune_outbox(queue text, kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    IF queue = 'events' THEN
        WITH old AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        )
        DELETE FROM workflow_events_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSIF queue = 'effects' THEN
        WITH old AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        )
        DELETE FROM workflow_side_effects_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSE
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- Remove the receipts of instances that ended so long ago, from the instance after `after` on. Also remove those
-- without an instance (a rule's event about a document that has none). An ended instance never runs again: a new
-- beginning is another instance, with keys of its own. NULL in `looked_to` means that there are no more.
CREATE FUNCTION prune_receipts(kept interval, after uuid, at_most integer, OUT looked_to uuid, OUT pruned integer)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    looked_at integer := 0;
    ended_at  timestamptz;
    is_known  boolean;
    step      bigint;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    looked_to := coalesce(after, '00000000-0000-0000-0000-000000000000');
    pruned := 0;
    WHILE looked_at < at_most AND pruned < at_most LOOP
        -- From each instance to the next one, in both tables.
        looked_to := least(
            (SELECT r.instance_id FROM workflow_step_receipts r
             WHERE r.tenant_id = current_tenant_id() AND r.instance_id > looked_to
             ORDER BY r.instance_id LIMIT 1),
            (SELECT r.instance_id FROM workflow_outbox_receipts r
             WHERE r.tenant_id = current_tenant_id() AND r.instance_id > looked_to
             ORDER BY r.instance_id LIMIT 1));
        EXIT WHEN looked_to IS NULL;
        looked_at := looked_at + 1;
        SELECT i.completed_at INTO ended_at FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = looked_to;
        is_known := FOUND;
        CONTINUE WHEN is_known AND (ended_at IS NULL OR ended_at >= now() - kept);
        DELETE FROM workflow_step_receipts r
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = looked_to
          AND (is_known OR r.created_at < now() - kept);
        GET DIAGNOSTICS step = ROW_COUNT;
        pruned := pruned + step;
        DELETE FROM workflow_outbox_receipts r
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = looked_to
          AND (is_known OR r.created_at < now() - kept);
        GET DIAGNOSTICS step = ROW_COUNT;
        pruned := pruned + step;
    END LOOP;
END
$$;

CREATE FUNCTION prune_idempotency_keys(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.key FROM idempotency_keys o
        WHERE o.tenant_id = current_tenant_id() AND o.created_at < now() - kept
        ORDER BY o.created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM idempotency_keys k USING old WHERE k.tenant_id = current_tenant_id() AND k.key = old.key;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- Each event says itself how long it is kept.
CREATE FUNCTION prune_inbound_events(at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM workflow_inbound_events o
        WHERE o.tenant_id = current_tenant_id() AND o.expires_at < now()
        ORDER BY o.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM workflow_inbound_events e USING old WHERE e.tenant_id = current_tenant_id() AND e.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- Unread notifications stay.
CREATE FUNCTION prune_notifications(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM notifications o
        WHERE o.tenant_id = current_tenant_id() AND o.read_at < now() - kept
        ORDER BY o.read_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM notifications n USING old WHERE n.tenant_id = current_tenant_id() AND n.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- A bucket that is full again says no more than a missing row.
CREATE FUNCTION prune_quota_meters(at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.name FROM quota_meters o
        WHERE o.tenant_id = current_tenant_id() AND o.full_at < now() - interval '1 day'
        ORDER BY o.name LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM quota_meters m USING old WHERE m.tenant_id = current_tenant_id() AND m.name = old.name;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- Empty documents that were deleted so long ago: the working copy, the keys, and every personal value with its salt.
-- The row stays, because versions, requests and audit rows refer to it. These stay as they were hashed. The caller
-- holds each document's row by then, and writes in the same transaction that it happened.
CREATE FUNCTION purge_documents(kept interval, at_most integer)
    RETURNS TABLE (document_id uuid, purged_at timestamptz, erased json)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    target uuid;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    FOR target IN
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.deleted_at < now() - kept AND d.purged_at IS NULL
          AND NOT EXISTS (
              SELECT FROM workflow_instances i
              WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                AND i.status IN ('running', 'paused'))
        ORDER BY d.deleted_at LIMIT at_most FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        WITH gone AS (
            UPDATE personal_values p SET salt = NULL, value = NULL, erased_at = now()
            WHERE p.tenant_id = current_tenant_id() AND p.document_id = target AND p.erased_at IS NULL
            RETURNING p.id, p.field
        ), freed AS (
            DELETE FROM document_keys k WHERE k.tenant_id = current_tenant_id() AND k.document_id = target
        ), emptied AS (
            UPDATE documents d
            SET data = '{}', purged_at = now(), t1 = NULL, t2 = NULL, t3 = NULL, t4 = NULL, n1 = NULL, n2 = NULL,
                n3 = NULL, n4 = NULL, d1 = NULL, d2 = NULL
            WHERE d.tenant_id = current_tenant_id() AND d.id = target
        )
        SELECT target, now(), coalesce(json_agg(json_build_object('personal', gone.id, 'field', gone.field)
                                                ORDER BY gone.field, gone.id), '[]')
        FROM gone;
    END LOOP;
END
$$;

-- List the partitions of whole months, with where each begins and ends (UTC).
CREATE FUNCTION list_months(parent regclass)
    RETURNS TABLE (partition_name text, from_time timestamptz, to_time timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    SELECT c.relname::text, month.begins AT TIME ZONE 'UTC', (month.begins + interval '1 month') AT TIME ZONE 'UTC'
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (SELECT to_date(right(c.relname, 7), 'YYYY_MM')::timestamp AS begins) AS month
    WHERE i.inhparent = parent AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
    ORDER BY month.begins;
END;

-- The janitor's only look across tenants: ids, statuses and times. They tell which tenants have something to do, never
-- what it is.
CREATE POLICY dispatch ON tenants FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON audit_log FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON audit_seals FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON audit_anchors FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON idempotency_keys FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON workflow_inbound_events FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON notifications FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON quota_meters FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON documents FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON workflow_instances FOR SELECT TO signet_dispatch USING (true);
CREATE POLICY dispatch ON workflow_outbox_receipts FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (tenant_id) ON tenants, workflow_outbox_receipts TO signet_dispatch;
GRANT SELECT (created_at, completed_at) ON workflow_events_outbox, workflow_side_effects_outbox TO signet_dispatch;
GRANT SELECT (tenant_id, epoch, xid) ON audit_log TO signet_dispatch;
GRANT SELECT (tenant_id, sequence, epoch, to_xid) ON audit_seals TO signet_dispatch;
GRANT SELECT (tenant_id, sequence) ON audit_anchors TO signet_dispatch;
GRANT SELECT (tenant_id, created_at) ON idempotency_keys TO signet_dispatch;
GRANT SELECT (tenant_id, expires_at) ON workflow_inbound_events TO signet_dispatch;
GRANT SELECT (tenant_id, read_at) ON notifications TO signet_dispatch;
GRANT SELECT (tenant_id, full_at) ON quota_meters TO signet_dispatch;
GRANT SELECT (tenant_id, deleted_at, purged_at) ON documents TO signet_dispatch;
GRANT SELECT (tenant_id, status, timeout_at) ON workflow_instances TO signet_dispatch;

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- List the tenants with something to do, from the one after `after` on, each with how much (counted to 1,000).
CREATE FUNCTION housekeeping_tenants(about text, kept interval, after uuid, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- A tenant costs one probe of an index, in spite of any statistics.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    probe text := CASE about
        WHEN 'done_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'done_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'expired_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        WHEN 'expired_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        -- An instance has one of these from its birth on.
        WHEN 'receipts' THEN 'workflow_outbox_receipts x WHERE x.tenant_id = t.tenant_id'
        WHEN 'idempotency_keys' THEN
            'idempotency_keys x WHERE x.tenant_id = t.tenant_id AND x.created_at < now() - $1'
        WHEN 'inbound_events' THEN
            'workflow_inbound_events x WHERE x.tenant_id = t.tenant_id AND x.expires_at < now() - $1'
        WHEN 'notifications' THEN
            'notifications x WHERE x.tenant_id = t.tenant_id AND x.read_at < now() - $1'
        WHEN 'quota_meters' THEN
            'quota_meters x WHERE x.tenant_id = t.tenant_id AND x.full_at < now() - $1'
        WHEN 'deleted_documents' THEN
            'documents x WHERE x.tenant_id = t.tenant_id AND x.deleted_at < now() - $1 AND x.purged_at IS NULL'
        WHEN 'unsealed' THEN
            'audit_log x WHERE x.tenant_id = t.tenant_id AND (x.epoch, x.xid) >= ('
            'coalesce((SELECT s.epoch FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), 0), '
            'coalesce((SELECT s.to_xid FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), ''0''))'
        WHEN 'unanchored' THEN
            'audit_seals x WHERE x.tenant_id = t.tenant_id AND x.sequence > '
            'coalesce((SELECT a.sequence FROM audit_anchors a WHERE a.tenant_id = t.tenant_id), 0)'
        WHEN 'running' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'''
        WHEN 'overdue' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'' '
            'AND x.timeout_at < now() - $1'
    END;
BEGIN
    IF probe IS NULL OR kept IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'nothing of that name, or not between 1 and 1000 tenants: %, %', about, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        SELECT t.tenant_id, found.due_count
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS due_count FROM (SELECT FROM %s LIMIT 1000) AS counted
        ) AS found
        WHERE t.tenant_id > $2 AND found.due_count > 0
        ORDER BY t.tenant_id
        LIMIT $3
    $due$, probe) USING kept, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$$;
REVOKE EXECUTE ON FUNCTION housekeeping_tenants(text, interval, uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION housekeeping_tenants(text, interval, uuid, integer) TO signet_janitor;

-- Return whether no tenant has a row there. The owner sees the rows of one tenant, and would take any month for empty.
CREATE FUNCTION is_outbox_empty(queue_table text, from_time timestamptz, to_time timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    found_any boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE created_at >= $1 AND created_at < $2)', queue_table)
        INTO found_any USING from_time, to_time;
    RETURN NOT found_any;
END
$$;
REVOKE EXECUTE ON FUNCTION is_outbox_empty(text, timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_outbox_empty(text, timestamptz, timestamptz) TO signet_owner;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;
SET LOCAL ROLE signet_owner;

-- Drop whole months of the outboxes that are past by so much and hold no row. A dead letter keeps its month.
CREATE FUNCTION drop_empty_months(kept interval, at_most integer) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- Like create_month_partitions(), it gives up rather than have the work wait behind it.
    SET lock_timeout = '500ms'
AS $$
DECLARE
    queue_table text;
    month       record;
    dropped     integer := 0;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    FOREACH queue_table IN ARRAY ARRAY['workflow_events_outbox', 'workflow_side_effects_outbox'] LOOP
        FOR month IN SELECT * FROM list_months(queue_table::regclass) AS m WHERE m.to_time < now() - kept LOOP
            CONTINUE WHEN dropped >= at_most OR NOT is_outbox_empty(queue_table, month.from_time, month.to_time);
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', queue_table);
            -- Once more, now that nobody can write.
            CONTINUE WHEN NOT is_outbox_empty(queue_table, month.from_time, month.to_time);
            EXECUTE format('DROP TABLE %I', month.partition_name);
            dropped := dropped + 1;
            RETURN NEXT month.partition_name;
        END LOOP;
    END LOOP;
END
$$;

-- Drop whole months of the history that are past by so much. Rows of an append-only table go by the month or not at
-- all.
CREATE FUNCTION drop_history_months(kept interval, at_most integer) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET lock_timeout = '500ms'
AS $$
DECLARE
    month record;
BEGIN
    PERFORM require_bounds(kept, interval '30 days', at_most);
    FOR month IN
        SELECT * FROM list_months('workflow_event'::regclass) AS m WHERE m.to_time < now() - kept LIMIT at_most
    LOOP
        EXECUTE format('DROP TABLE %I', month.partition_name);
        RETURN NEXT month.partition_name;
    END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION require_bounds(interval, interval, integer), list_months(regclass),
    prune_outbox(text, interval, integer), prune_receipts(interval, uuid, integer),
    prune_idempotency_keys(interval, integer), prune_inbound_events(integer), prune_notifications(interval, integer),
    prune_quota_meters(integer), purge_documents(interval, integer), drop_empty_months(interval, integer),
    drop_history_months(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_outbox(text, interval, integer), prune_receipts(interval, uuid, integer),
    prune_idempotency_keys(interval, integer), prune_inbound_events(integer), prune_notifications(interval, integer),
    prune_quota_meters(integer), purge_documents(interval, integer), drop_empty_months(interval, integer),
    drop_history_months(interval, integer) TO signet_janitor;
RESET ROLE;

-- down
-- Monthly partitions stay: they hold rows, and go with their tables.
DROP FUNCTION housekeeping_tenants(text, interval, uuid, integer);
SET LOCAL ROLE signet_owner;
DROP FUNCTION drop_history_months(interval, integer);
DROP FUNCTION drop_empty_months(interval, integer);
RESET ROLE;
DROP FUNCTION is_outbox_empty(text, timestamptz, timestamptz);
SET LOCAL ROLE signet_owner;
REVOKE SELECT (tenant_id) ON tenants, workflow_outbox_receipts FROM signet_dispatch;
REVOKE SELECT (created_at, completed_at) ON workflow_events_outbox, workflow_side_effects_outbox FROM signet_dispatch;
REVOKE SELECT (tenant_id, epoch, xid) ON audit_log FROM signet_dispatch;
REVOKE SELECT (tenant_id, sequence, epoch, to_xid) ON audit_seals FROM signet_dispatch;
REVOKE SELECT (tenant_id, sequence) ON audit_anchors FROM signet_dispatch;
REVOKE SELECT (tenant_id, created_at) ON idempotency_keys FROM signet_dispatch;
REVOKE SELECT (tenant_id, expires_at) ON workflow_inbound_events FROM signet_dispatch;
REVOKE SELECT (tenant_id, read_at) ON notifications FROM signet_dispatch;
REVOKE SELECT (tenant_id, full_at) ON quota_meters FROM signet_dispatch;
REVOKE SELECT (tenant_id, deleted_at, purged_at) ON documents FROM signet_dispatch;
REVOKE SELECT (tenant_id, status, timeout_at) ON workflow_instances FROM signet_dispatch;
DROP POLICY dispatch ON workflow_outbox_receipts;
DROP POLICY dispatch ON workflow_instances;
DROP POLICY dispatch ON documents;
DROP POLICY dispatch ON quota_meters;
DROP POLICY dispatch ON notifications;
DROP POLICY dispatch ON workflow_inbound_events;
DROP POLICY dispatch ON idempotency_keys;
DROP POLICY dispatch ON audit_anchors;
DROP POLICY dispatch ON audit_seals;
DROP POLICY dispatch ON audit_log;
DROP POLICY dispatch ON tenants;
DROP FUNCTION list_months(regclass);
DROP FUNCTION purge_documents(interval, integer);
DROP FUNCTION prune_quota_meters(integer);
DROP FUNCTION prune_notifications(interval, integer);
DROP FUNCTION prune_inbound_events(integer);
DROP FUNCTION prune_idempotency_keys(interval, integer);
DROP FUNCTION prune_receipts(interval, uuid, integer);
DROP FUNCTION prune_outbox(text, interval, integer);
DROP FUNCTION require_bounds(interval, interval, integer);
DROP FUNCTION create_month_partitions(date, integer);
DROP PROCEDURE create_partition(regclass, text, timestamptz, timestamptz);
DROP TABLE housekeeping_tasks;
RESET ROLE;
