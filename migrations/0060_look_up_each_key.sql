-- phase: expand
-- transaction: on
--
-- A session keeps its plans. One that has planned while a table was empty read every row of a tenant for some keys, until
-- the table was analysed: each month's partition begins so. open_wave() looks each key up by itself. What may bar a vote
-- was planned anew for each vote; it is planned once a session now.

-- up
-- 0059 has made the index that takes its place.
DROP INDEX approval_requests_by_step;
ALTER INDEX approval_requests_of_step RENAME TO approval_requests_by_step;

-- Read the pause of a whole instance; none is one that follows from held tokens. It is planned for paused instances alone.
CREATE FUNCTION read_pause(paused_id uuid, reason text, tokens jsonb) RETURNS json
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF tokens @? '$[*] ? (exists(@.hold))'
       AND NOT tokens @? '$[*] ? ((@.state == "ready" || @.state == "waiting") && !exists(@.hold))' THEN
        RETURN NULL;
    END IF;
    RETURN json_build_object('reason', reason, 'is_by_person', is_paused_by_person(paused_id));
END
$$;
REVOKE EXECUTE ON FUNCTION read_pause(uuid, text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION read_pause(uuid, text, jsonb) TO signet_api, signet_worker;

CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    AS $$
#variable_conflict use_column
BEGIN
    IF document_ids <> '{}' THEN
        PERFORM FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
        ORDER BY d.id
        FOR NO KEY UPDATE;
    END IF;
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun.
    IF document_ids <> '{}' THEN
        documents := (SELECT json_agg(found) FROM (
            SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                   d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                   i.id AS instance_id, i.version AS instance_version,
                   i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                   i.definition_version,
                   CASE WHEN i.status = 'paused' THEN read_pause(i.id, i.reason, i.active_tokens) END AS pause,
                   q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                   q.actor_roles AS requester_roles,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
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
           ) AS found);
    END IF;
    RETURN NEXT;
END
$$;

CREATE OR REPLACE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    found_ids    uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
    members      jsonb;
    sets         jsonb;
    open_steps   json;
    has_effects  boolean;
    outcomes     json;
BEGIN
    -- LIMIT and OFFSET keep each a lookup by its key, however small a table was when the session has planned it.
    SELECT array_agg(own.id), array_agg(DISTINCT own.instance_id) INTO own_triggers, wanted
    FROM (SELECT * FROM unnest(trigger_times, trigger_ids) AS claimed (created_at, id) ORDER BY 1, 2) AS claimed
    CROSS JOIN LATERAL (
        SELECT q.id, q.instance_id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = claimed.created_at AND q.id = claimed.id
          AND q.claim_id = own_claim
        LIMIT 1
        FOR UPDATE
    ) AS own;
    SELECT array_agg(i.id), array_agg(i.id) FILTER (WHERE i.is_taken), array_agg(i.entity_id) FILTER (WHERE i.is_taken)
    INTO found_ids, taken, entities
    FROM (
        SELECT i.id, i.entity_id, pg_try_advisory_xact_lock(hashtextextended(i.id::text, 0)) AS is_taken
        FROM unnest(wanted) AS asked (id)
        CROSS JOIN LATERAL (
            SELECT i.id, i.entity_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.id = asked.id
            LIMIT 1
        ) AS i
    ) AS i;
    SELECT array_agg(held.id) INTO entities
    FROM (SELECT asked.id FROM unnest(entities) AS asked (id) ORDER BY asked.id) AS asked
    CROSS JOIN LATERAL (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = asked.id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS held;
    -- Most instances of a wave have the same actor, so that each person is read once.
    WITH held AS MATERIALIZED (
        SELECT i.*
        FROM (SELECT asked.id FROM unnest(taken) AS asked (id) ORDER BY asked.id) AS asked
        CROSS JOIN LATERAL (
            SELECT i.id, i.actor_id, i.actor_roles, i.responsible FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.id = asked.id
              AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
            LIMIT 1
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS i
    ), request AS MATERIALIZED (
        SELECT q.*
        FROM unnest(entities) AS asked (id)
        CROSS JOIN LATERAL (
            SELECT q.actor_id, q.actor_roles FROM transition_requests q
            WHERE q.tenant_id = current_tenant_id() AND q.document_id = asked.id AND q.status = 'open'
            LIMIT 1
        ) AS q
    ), role_name AS (
        SELECT 'service_account' AS role
        UNION
        SELECT unnest(held.actor_roles) FROM held
        UNION
        SELECT unnest(request.actor_roles) FROM request
        UNION
        -- Who asked acts with the roles that they have now.
        SELECT h.role
        FROM (SELECT held.actor_id FROM held
              UNION
              SELECT request.actor_id FROM request) AS a
        JOIN member_roles h ON h.tenant_id = current_tenant_id() AND h.user_id = a.actor_id
    )
    SELECT (SELECT array_agg(held.id) FROM held),
           (SELECT array_agg(role_name.role) FROM role_name),
           (SELECT jsonb_object_agg(a.actor_id, read_member(a.actor_id))
            FROM (SELECT DISTINCT held.actor_id FROM held) AS a),
           (SELECT jsonb_object_agg(encode(r.responsible, 'hex'), read_persons(r.responsible))
            FROM (SELECT DISTINCT held.responsible FROM held WHERE held.responsible IS NOT NULL) AS r)
    INTO locked, role_names, members, sets;
    SELECT json_agg(found ORDER BY s.instance_id, s.seq), bool_or(s.node_type IN ('webhook_out', 'notification'))
    INTO open_steps, has_effects
    FROM unnest(locked) AS held (id)
    CROSS JOIN LATERAL (
        SELECT * FROM workflow_step_executions s
        WHERE s.tenant_id = current_tenant_id() AND s.instance_id = held.id AND s.status IN ('pending', 'running')
        OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
        SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
               s.started_at, s.resume_at, s.waiting_for_event_key
    ) AS found;
    -- Most waves have no open step with an effect: they need not even a plan for its answer.
    IF has_effects THEN
        outcomes := (SELECT json_agg(found) FROM (
            SELECT e.step_execution_id,
                   CASE WHEN e.held_at IS NOT NULL AND e.status IN ('pending', 'processing', 'failed')
                        THEN 'held' ELSE e.status END AS status,
                   e.response_json, coalesce(e.withdraw_reason, e.error) AS error
            FROM unnest(locked) AS held (id)
            CROSS JOIN LATERAL (
                SELECT s.id FROM workflow_step_executions s
                WHERE s.tenant_id = current_tenant_id() AND s.instance_id = held.id
                  AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                OFFSET 0
            ) AS s
            CROSS JOIN LATERAL (
                SELECT * FROM workflow_side_effects_outbox e
                WHERE e.tenant_id = current_tenant_id() AND e.step_execution_id = s.id
                OFFSET 0
            ) AS e
            WHERE e.status IN ('completed', 'dead_letter', 'withdrawn', 'discarded') OR e.held_at IS NOT NULL
        ) AS found);
    END IF;
    RETURN QUERY
    SELECT base.*, own_triggers, coalesce(found_ids, '{}'),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id, i.pins,
                      members -> i.actor_id AS actor_member,
                      sets -> encode(i.responsible, 'hex') AS responsible
               FROM (SELECT held.id FROM unnest(locked) AS held (id) ORDER BY held.id) AS held
               CROSS JOIN LATERAL (
                   SELECT * FROM workflow_instances i
                   WHERE i.tenant_id = current_tenant_id() AND i.id = held.id
                   LIMIT 1
               ) AS i
           ) AS found),
           open_steps, outcomes
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

-- List what was changed since a moment by one of these persons, about these people or these roles: only what can bar a
-- vote or lift its bar, and the newest of each (0035).
CREATE OR REPLACE FUNCTION barring_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], needed text[],
                                      own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    -- Of most requests nothing has changed since they were asked.
    IF NOT EXISTS (SELECT FROM eligibility_changes c WHERE c.tenant_id = current_tenant_id() AND c.changed_at >= since) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id, c.gave, c.given_by,
           (SELECT coalesce(jsonb_object_agg(p.permission, ARRAY(
                       SELECT h.role FROM roles h
                       WHERE h.tenant_id = current_tenant_id()
                         AND h.permissions && permissions_granting(p.permission, $6))), '{}')
            FROM unnest($5) AS p (permission))
    FROM (
        SELECT n.*,
               CASE WHEN n.kind IN ('role_permissions_changed', 'role_widened') THEN ARRAY(
                   SELECT p.permission FROM unnest($5) AS p (permission)
                   WHERE n.permissions && permissions_granting(p.permission, $6) ORDER BY p.permission)
               ELSE '{}' END AS gave,
               CASE n.kind
                   WHEN 'role_given' THEN last_giving($1, 'infinity', 'role_taken', n.user_id, n.role)
                   WHEN 'manager_set' THEN (
                       SELECT g.persons FROM eligibility_changes g
                       JOIN org_chart line ON line.tenant_id = g.tenant_id AND line.user_id = g.other_user_id
                        AND line.manager_id = g.user_id
                       WHERE g.tenant_id = n.tenant_id AND g.user_id = n.user_id AND g.kind = 'manager_set'
                         AND g.other_user_id = n.other_user_id AND g.changed_at >= $1
                       ORDER BY g.changed_at DESC LIMIT 1)
                   ELSE last_giving($1, n.changed_at, n.kind, n.user_id, n.role)
               END AS given_by
        FROM (
            SELECT u.*, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
            FROM eligibility_changes u
            WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
              AND u.kind NOT IN ('delegation_revoked', 'role_taken')
              -- A vote rests on a delegation where both of its sides are judged.
              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
              AND (u.kind <> 'role_given'
                   OR u.role = ANY ($3)
                   OR EXISTS (SELECT FROM member_roles h
                              WHERE h.tenant_id = u.tenant_id AND h.user_id = u.user_id AND h.role = u.role))
            UNION ALL
            SELECT r.*, NULL
            FROM eligibility_changes r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
              AND (r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_widened', 'role_deleted')
                   -- One of these persons has given it back: that may lift a bar.
                   OR r.kind IN ('role_given', 'member_enabled')
                      AND (SELECT count(*) FROM eligibility_changes t
                           WHERE t.tenant_id = r.tenant_id AND t.user_id = r.user_id AND t.changed_at >= $1
                             AND t.persons && $4
                             AND ((r.kind = 'role_given' AND t.kind IN ('role_taken', 'member_disabled') AND t.role = r.role)
                                  OR (r.kind = 'member_enabled' AND t.kind = 'member_disabled'))) > 0)
        ) AS n
        WHERE n.persons && $4
    ) AS c
    -- What others have given back is not taken any more.
    WHERE (SELECT count(*) FROM eligibility_changes b
           WHERE b.tenant_id = c.tenant_id AND b.user_id = c.user_id AND b.changed_at > c.changed_at
             AND NOT b.persons && $4
             AND ((c.kind = 'role_taken' AND b.kind = 'role_given' AND b.role = c.role)
                  OR (c.kind = 'member_disabled' AND b.kind = 'member_enabled'))) = 0
      -- Nor what others have set again for all who hold the role.
      AND (SELECT count(*) FROM eligibility_changes s
           WHERE c.kind IN ('role_permissions_changed', 'role_widened', 'role_deleted')
             AND s.tenant_id = c.tenant_id AND s.role = c.role AND s.changed_at > c.changed_at
             AND NOT s.persons && $4
             AND (s.kind = 'role_permissions_changed' OR s.kind = 'role_widened' AND c.kind <> 'role_widened')) = 0
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by, c.changed_at DESC
    LIMIT 1001;
END
$$;

-- List what the concerned persons have changed since a moment: about these people and roles, in the lines that seats came by,
-- and by what they took from the holders of seats (0044).
CREATE OR REPLACE FUNCTION vote_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], holders text[],
                                   seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[],
                                   own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean,
                   is_given_up boolean)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM eligibility_changes c WHERE c.tenant_id = current_tenant_id() AND c.changed_at >= since) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT c.*, false, false
    FROM barring_changes_since($1, $2, $3, $4, $9, $11) AS c
    WHERE c.kind <> 'manager_set'
    UNION ALL
    SELECT l.*
    FROM line_changes_since($1, $7, $8, $4) AS l
    UNION ALL
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, '{}'::text[],
           last_giving($1, t.changed_at, t.kind, t.user_id, t.role), '{}'::jsonb, t.takes_permission, false
    FROM permission_takings_since($1, $4, $5, $6, $9, $10, $11) AS t;
END
$$;

-- Write receipts and steps. A step that names no set of persons has the usual one.
CREATE FUNCTION write_steps(step_rows json, usual bytea, written_at timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
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
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text, responsible bytea)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT current_tenant_id(), instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id,
            responsible)
        SELECT current_tenant_id(), step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id,
               coalesce(step.responsible, usual)
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;
REVOKE EXECUTE ON FUNCTION write_steps(json, bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION write_steps(json, bytea, timestamptz) TO signet_worker, signet_api;

-- down
CREATE OR REPLACE FUNCTION vote_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], holders text[],
                                   seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[],
                                   own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean,
                   is_given_up boolean)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT c.*, false, false
    FROM barring_changes_since($1, $2, $3, $4, $9, $11) AS c
    WHERE c.kind <> 'manager_set'
    UNION ALL
    SELECT l.*
    FROM line_changes_since($1, $7, $8, $4) AS l
    UNION ALL
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, '{}'::text[],
           last_giving($1, t.changed_at, t.kind, t.user_id, t.role), '{}'::jsonb, t.takes_permission, false
    FROM permission_takings_since($1, $4, $5, $6, $9, $10, $11) AS t;
END;

CREATE OR REPLACE FUNCTION barring_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[], needed text[],
                                      own_resources text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text, gave text[], given_by text[], granting jsonb)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id, c.gave, c.given_by,
           (SELECT coalesce(jsonb_object_agg(p.permission, ARRAY(
                       SELECT h.role FROM roles h
                       WHERE h.tenant_id = current_tenant_id()
                         AND h.permissions && permissions_granting(p.permission, $6))), '{}')
            FROM unnest($5) AS p (permission))
    FROM (
        SELECT n.*,
               CASE WHEN n.kind IN ('role_permissions_changed', 'role_widened') THEN ARRAY(
                   SELECT p.permission FROM unnest($5) AS p (permission)
                   WHERE n.permissions && permissions_granting(p.permission, $6) ORDER BY p.permission)
               ELSE '{}' END AS gave,
               CASE n.kind
                   WHEN 'role_given' THEN last_giving($1, 'infinity', 'role_taken', n.user_id, n.role)
                   WHEN 'manager_set' THEN (
                       SELECT g.persons FROM eligibility_changes g
                       JOIN org_chart line ON line.tenant_id = g.tenant_id AND line.user_id = g.other_user_id
                        AND line.manager_id = g.user_id
                       WHERE g.tenant_id = n.tenant_id AND g.user_id = n.user_id AND g.kind = 'manager_set'
                         AND g.other_user_id = n.other_user_id AND g.changed_at >= $1
                       ORDER BY g.changed_at DESC LIMIT 1)
                   ELSE last_giving($1, n.changed_at, n.kind, n.user_id, n.role)
               END AS given_by
        FROM (
            SELECT u.*, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
            FROM eligibility_changes u
            WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
              AND u.kind NOT IN ('delegation_revoked', 'role_taken')
              -- A vote rests on a delegation where both of its sides are judged.
              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
              AND (u.kind <> 'role_given'
                   OR u.role = ANY ($3)
                   OR EXISTS (SELECT FROM member_roles h
                              WHERE h.tenant_id = u.tenant_id AND h.user_id = u.user_id AND h.role = u.role))
            UNION ALL
            SELECT r.*, NULL
            FROM eligibility_changes r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
              AND (r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_widened', 'role_deleted')
                   -- One of these persons has given it back: that may lift a bar.
                   OR r.kind IN ('role_given', 'member_enabled')
                      AND (SELECT count(*) FROM eligibility_changes t
                           WHERE t.tenant_id = r.tenant_id AND t.user_id = r.user_id AND t.changed_at >= $1
                             AND t.persons && $4
                             AND ((r.kind = 'role_given' AND t.kind IN ('role_taken', 'member_disabled') AND t.role = r.role)
                                  OR (r.kind = 'member_enabled' AND t.kind = 'member_disabled'))) > 0)
        ) AS n
        WHERE n.persons && $4
    ) AS c
    -- What others have given back is not taken any more.
    WHERE (SELECT count(*) FROM eligibility_changes b
           WHERE b.tenant_id = c.tenant_id AND b.user_id = c.user_id AND b.changed_at > c.changed_at
             AND NOT b.persons && $4
             AND ((c.kind = 'role_taken' AND b.kind = 'role_given' AND b.role = c.role)
                  OR (c.kind = 'member_disabled' AND b.kind = 'member_enabled'))) = 0
      -- Nor what others have set again for all who hold the role.
      AND (SELECT count(*) FROM eligibility_changes s
           WHERE c.kind IN ('role_permissions_changed', 'role_widened', 'role_deleted')
             AND s.tenant_id = c.tenant_id AND s.role = c.role AND s.changed_at > c.changed_at
             AND NOT s.persons && $4
             AND (s.kind = 'role_permissions_changed' OR s.kind = 'role_widened' AND c.kind <> 'role_widened')) = 0
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by, c.changed_at DESC
    LIMIT 1001;
END;

CREATE OR REPLACE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    found_ids    uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
    members      jsonb;
    sets         jsonb;
    open_steps   json;
    has_effects  boolean;
    outcomes     json;
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
    SELECT array_agg(i.id), array_agg(i.id) FILTER (WHERE i.is_taken), array_agg(i.entity_id) FILTER (WHERE i.is_taken)
    INTO found_ids, taken, entities
    FROM (
        SELECT i.id, i.entity_id, pg_try_advisory_xact_lock(hashtextextended(i.id::text, 0)) AS is_taken
        FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (wanted)
    ) AS i;
    WITH held AS MATERIALIZED (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (entities)
        ORDER BY d.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO entities FROM held;
    -- Most instances of a wave have the same actor, so that each person is read once.
    WITH held AS MATERIALIZED (
        SELECT i.id, i.actor_id, i.actor_roles, i.responsible FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken)
          AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
        ORDER BY i.id
        FOR NO KEY UPDATE SKIP LOCKED
    ), role_name AS (
        SELECT 'service_account' AS role
        UNION
        SELECT unnest(held.actor_roles) FROM held
        UNION
        SELECT unnest(q.actor_roles) FROM transition_requests q
        WHERE q.tenant_id = current_tenant_id() AND q.document_id = ANY (entities) AND q.status = 'open'
        UNION
        -- Who asked acts with the roles that they have now.
        SELECT h.role
        FROM (SELECT held.actor_id FROM held
              UNION
              SELECT q.actor_id FROM transition_requests q
              WHERE q.tenant_id = current_tenant_id() AND q.document_id = ANY (entities) AND q.status = 'open') AS a
        JOIN member_roles h ON h.tenant_id = current_tenant_id() AND h.user_id = a.actor_id
    )
    SELECT (SELECT array_agg(held.id) FROM held),
           (SELECT array_agg(role_name.role) FROM role_name),
           (SELECT jsonb_object_agg(a.actor_id, read_member(a.actor_id))
            FROM (SELECT DISTINCT held.actor_id FROM held) AS a),
           (SELECT jsonb_object_agg(encode(r.responsible, 'hex'), read_persons(r.responsible))
            FROM (SELECT DISTINCT held.responsible FROM held WHERE held.responsible IS NOT NULL) AS r)
    INTO locked, role_names, members, sets;
    SELECT json_agg(found ORDER BY s.instance_id, s.seq), bool_or(s.node_type IN ('webhook_out', 'notification'))
    INTO open_steps, has_effects
    FROM workflow_step_executions s
    CROSS JOIN LATERAL (
        SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
               s.started_at, s.resume_at, s.waiting_for_event_key
    ) AS found
    WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked) AND s.status IN ('pending', 'running');
    -- Most waves have no open step with an effect: they need not even a plan for its answer.
    IF has_effects THEN
        outcomes := (SELECT json_agg(found) FROM (
            SELECT e.step_execution_id,
                   CASE WHEN e.held_at IS NOT NULL AND e.status IN ('pending', 'processing', 'failed')
                        THEN 'held' ELSE e.status END AS status,
                   e.response_json, coalesce(e.withdraw_reason, e.error) AS error
            FROM workflow_step_executions s
            JOIN workflow_side_effects_outbox e
              ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
            WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
              AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
              AND (e.status IN ('completed', 'dead_letter', 'withdrawn', 'discarded')
                   OR e.held_at IS NOT NULL)
        ) AS found);
    END IF;
    RETURN QUERY
    SELECT base.*, own_triggers, coalesce(found_ids, '{}'),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id, i.pins,
                      members -> i.actor_id AS actor_member,
                      sets -> encode(i.responsible, 'hex') AS responsible
               FROM workflow_instances i
               WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
               ORDER BY i.id
           ) AS found),
           open_steps, outcomes
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
    AS $$
#variable_conflict use_column
BEGIN
    IF document_ids <> '{}' THEN
        PERFORM FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
        ORDER BY d.id
        FOR NO KEY UPDATE;
    END IF;
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun.
    IF document_ids <> '{}' THEN
        documents := (SELECT json_agg(found) FROM (
            SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                   d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                   i.id AS instance_id, i.version AS instance_version,
                   i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                   i.definition_version,
                   -- A pause of the whole, and not one that follows from held tokens.
                   CASE WHEN i.status = 'paused' AND NOT (
                            i.active_tokens @? '$[*] ? (exists(@.hold))'
                            AND NOT i.active_tokens
                                    @? '$[*] ? ((@.state == "ready" || @.state == "waiting") && !exists(@.hold))')
                        THEN json_build_object('reason', i.reason, 'is_by_person', is_paused_by_person(i.id))
                   END AS pause,
                   q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                   q.actor_roles AS requester_roles,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
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
           ) AS found);
    END IF;
    RETURN NEXT;
END
$$;

DROP FUNCTION read_pause(uuid, text, jsonb);
DROP FUNCTION write_steps(json, bytea, timestamptz);
ALTER INDEX approval_requests_by_step RENAME TO approval_requests_of_step;
CREATE UNIQUE INDEX approval_requests_by_step ON approval_requests (tenant_id, step_execution_id);
