-- phase: expand
-- transaction: on
-- role: admin
--
-- What is held is told: to the requester and to a role that the contract names, once for each cause. Open incidents are
-- counted over all tenants, by codes that the caller names. Closed ones are kept for a time. It needs an admin, because
-- the functions that look over all tenants belong to a role of their own.

-- up
SET LOCAL ROLE signet_owner;

ALTER TABLE incidents
    -- The one that the instance acted for when it opened.
    ADD COLUMN requester_id text,
    -- Incidents with one cause are looked at together.
    ADD COLUMN cause text NOT NULL GENERATED ALWAYS AS (
        code || ' ' || coalesce(entity_type, '') || ' ' || coalesce(node_id, '') || ' ' || coalesce(endpoint, '')) STORED;
-- Finds the older ones with the same cause, of everybody or of one requester.
CREATE INDEX incidents_open_cause ON incidents (tenant_id, cause, id) WHERE closed_at IS NULL;
CREATE INDEX incidents_open_requester ON incidents (tenant_id, requester_id, cause, id) WHERE closed_at IS NULL;
-- Counts those of a document.
CREATE INDEX incidents_open_document ON incidents (tenant_id, entity_id) WHERE closed_at IS NULL;
-- Finds those that are kept no longer.
CREATE INDEX incidents_closed ON incidents (tenant_id, closed_at) WHERE closed_at IS NOT NULL;
GRANT INSERT (requester_id) ON incidents TO signet_worker, signet_api, signet_janitor;

-- What a notification is about. While it is unread, nothing else is said about the same to the same people.
ALTER TABLE notifications ADD COLUMN about text;
CREATE UNIQUE INDEX notifications_about ON notifications (tenant_id, user_id, role, about) NULLS NOT DISTINCT
    WHERE about IS NOT NULL AND read_at IS NULL;

-- Tell the requester, and the role that the contract names, of an incident with a cause that is not open yet. The owner
-- of a key stands for it. Any number of further incidents with that cause tell nothing.
CREATE FUNCTION tell_of_incident() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, data, created_at, about)
    SELECT NEW.tenant_id, (left(NEW.id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, told.user_id, told.role,
           'incident_opened',
           jsonb_strip_nulls(jsonb_build_object(
               'incident_id', NEW.id, 'code', NEW.code, 'kind', NEW.kind, 'entity_type', NEW.entity_type,
               'document_id', NEW.entity_id, 'instance_id', NEW.instance_id, 'node', NEW.node_id,
               'endpoint', NEW.endpoint)),
           NEW.opened_at, NEW.cause
    FROM (
        SELECT m.user_id, NULL
        FROM members m
        WHERE m.tenant_id = NEW.tenant_id AND m.status = 'active'
          AND (m.user_id = NEW.requester_id
               OR NEW.requester_id LIKE 'key:%' AND m.user_id = ANY (
                   SELECT unnest(s.persons)
                   FROM workflow_instances i
                   JOIN responsible_sets s ON s.tenant_id = i.tenant_id AND s.hash = i.responsible
                   WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.instance_id))
          AND NOT EXISTS (
              SELECT FROM incidents o
              WHERE o.tenant_id = NEW.tenant_id AND o.requester_id = NEW.requester_id AND o.cause = NEW.cause
                AND o.closed_at IS NULL AND o.id < NEW.id)
        UNION ALL
        SELECT NULL, c.body::jsonb #>> '{on_incident,role}'
        FROM documents d
        JOIN contracts c
            ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
        WHERE d.tenant_id = NEW.tenant_id AND d.id = NEW.entity_id
          AND NOT EXISTS (
              SELECT FROM incidents o
              WHERE o.tenant_id = NEW.tenant_id AND o.cause = NEW.cause AND o.closed_at IS NULL AND o.id < NEW.id)
    ) AS told (user_id, role)
    WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION tell_of_incident() FROM PUBLIC;
CREATE TRIGGER tell AFTER INSERT ON incidents FOR EACH ROW
    WHEN (NEW.closed_at IS NULL) EXECUTE FUNCTION tell_of_incident();

-- Delete incidents that were closed long ago. Those of an instance that still runs stay: they count its attempts.
CREATE FUNCTION prune_incidents(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM incidents o
        WHERE o.tenant_id = current_tenant_id() AND o.closed_at < now() - kept
          AND NOT EXISTS (SELECT FROM workflow_instances i
                          WHERE i.tenant_id = o.tenant_id AND i.id = o.instance_id AND i.status IN ('running', 'paused'))
        ORDER BY o.closed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM incidents i USING old WHERE i.tenant_id = current_tenant_id() AND i.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;
REVOKE EXECUTE ON FUNCTION prune_incidents(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_incidents(interval, integer) TO signet_janitor;

CREATE POLICY dispatch ON incidents FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (tenant_id, code, opened_at, acknowledged_at, closed_at) ON incidents TO signet_dispatch;

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- Count the open incidents of all tenants by code, to a limit, for the operators of the service. It names no tenant, and
-- no code that the caller does not know. `unattended_count` are those that have been open for long, and that no person
-- has acknowledged.
CREATE FUNCTION measure_incidents(codes text[], long interval)
    RETURNS TABLE (code text, open_count bigint, unattended_count bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- The partial index holds the open ones alone, in spite of any statistics.
    SET enable_seqscan = off
AS $$
BEGIN
    IF codes IS NULL OR cardinality(codes) > 200 OR long IS NULL THEN
        RAISE EXCEPTION 'incidents are counted by at most 200 codes, and by a time' USING ERRCODE = '22023';
    END IF;
    RETURN QUERY
        SELECT CASE WHEN counted.code = ANY (codes) THEN counted.code ELSE 'OTHER' END, count(*),
               count(*) FILTER (WHERE counted.opened_at < now() - long AND counted.acknowledged_at IS NULL)
        FROM (SELECT i.code, i.opened_at, i.acknowledged_at FROM incidents i
              WHERE i.closed_at IS NULL LIMIT 100000) AS counted
        GROUP BY 1;
END
$$;
REVOKE EXECUTE ON FUNCTION measure_incidents(text[], interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION measure_incidents(text[], interval) TO signet_api, signet_worker, signet_janitor;

-- As before, with what ended without a delivery, and the incidents that were closed long ago.
CREATE OR REPLACE FUNCTION housekeeping_tenants(about text, kept interval, after uuid, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- A tenant costs one probe of an index, in spite of any statistics.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    probe text := CASE about
        WHEN 'done_events' THEN
            '((SELECT FROM workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1 LIMIT 1000) UNION ALL '
            '(SELECT FROM workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''discarded'' '
            'AND x.completed_at < now() - $1 LIMIT 1000)) AS done'
        WHEN 'done_effects' THEN
            '((SELECT FROM workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1 LIMIT 1000) UNION ALL '
            '(SELECT FROM workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id '
            'AND x.status IN (''withdrawn'', ''discarded'') AND x.completed_at < now() - $1 LIMIT 1000)) AS done'
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
        WHEN 'eligibility_changes' THEN
            'eligibility_changes x WHERE x.tenant_id = t.tenant_id AND x.changed_at < now() - $1'
        WHEN 'closed_incidents' THEN
            'incidents x WHERE x.tenant_id = t.tenant_id AND x.closed_at < now() - $1'
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

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;
CREATE OR REPLACE FUNCTION housekeeping_tenants(about text, kept interval, after uuid, at_most integer)
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
        WHEN 'eligibility_changes' THEN
            'eligibility_changes x WHERE x.tenant_id = t.tenant_id AND x.changed_at < now() - $1'
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

DROP FUNCTION measure_incidents(text[], interval);
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;
SET LOCAL ROLE signet_owner;
REVOKE SELECT (tenant_id, code, opened_at, acknowledged_at, closed_at) ON incidents FROM signet_dispatch;
DROP POLICY dispatch ON incidents;
DROP FUNCTION prune_incidents(interval, integer);
DROP TRIGGER tell ON incidents;
DROP FUNCTION tell_of_incident();
DROP INDEX notifications_about;
ALTER TABLE notifications DROP COLUMN about;
DROP INDEX incidents_closed;
DROP INDEX incidents_open_document;
DROP INDEX incidents_open_requester;
DROP INDEX incidents_open_cause;
ALTER TABLE incidents DROP COLUMN cause, DROP COLUMN requester_id;
RESET ROLE;
