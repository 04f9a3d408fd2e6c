-- phase: expand
-- transaction: on
--
-- A wave and a change read and check less; decision 0037 says what each costs. What is seldom needed stands in a
-- function of its own, so that its statement is not planned with all others. A condition of a trigger is read anew in
-- each statement, so that it asks only what most updates answer, and the function asks the rest.

-- up
CREATE FUNCTION read_member(member_id text) RETURNS json
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, public, pg_temp
    AS $$
BEGIN
    RETURN (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                       SELECT h.role FROM member_roles h
                       WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
            FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = member_id);
END
$$;

CREATE FUNCTION read_persons(set_hash bytea) RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, public, pg_temp
    AS $$
BEGIN
    RETURN (SELECT s.persons FROM responsible_sets s
            WHERE s.tenant_id = current_tenant_id() AND s.hash = set_hash);
END
$$;

CREATE FUNCTION is_paused_by_person(paused_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, public, pg_temp
    AS $$
BEGIN
    RETURN coalesce((SELECT s.run_as = 'actor' FROM workflow_step_executions s
                     WHERE s.tenant_id = current_tenant_id() AND s.instance_id = paused_id
                       AND s.node_id = 'sys:control:paused'
                     ORDER BY s.seq DESC LIMIT 1), false);
END
$$;
GRANT EXECUTE ON FUNCTION read_member(text), read_persons(bytea), is_paused_by_person(uuid)
    TO signet_api, signet_worker;

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

CREATE OR REPLACE FUNCTION reject_lost_editors() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT OLD.editor_ids <@ NEW.editor_ids
       OR (OLD.editor_responsible IS NOT NULL AND NEW.editor_responsible IS NULL) THEN
        RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids, editor_responsible ON documents
    FOR EACH ROW
    WHEN (NEW.editor_ids <> OLD.editor_ids OR NEW.editor_responsible IS NULL)
    EXECUTE FUNCTION reject_lost_editors();

CREATE OR REPLACE FUNCTION reject_unversioned_change() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.version < OLD.version
       OR (NEW.purged_at IS NULL AND (NEW.status, NEW.data) IS DISTINCT FROM (OLD.status, OLD.data)) THEN
        RAISE EXCEPTION 'a document changes only with its version: %', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER reject_unversioned_change BEFORE UPDATE OF status, data, version ON documents
    FOR EACH ROW
    WHEN (NEW.version <= OLD.version)
    EXECUTE FUNCTION reject_unversioned_change();

-- down
CREATE OR REPLACE FUNCTION reject_lost_editors() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE OR REPLACE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids, editor_responsible ON documents
    FOR EACH ROW
    WHEN (NOT OLD.editor_ids <@ NEW.editor_ids
          OR (OLD.editor_responsible IS NOT NULL AND NEW.editor_responsible IS NULL))
    EXECUTE FUNCTION reject_lost_editors();

-- What a document says changes only with its version, until the janitor empties what was deleted long ago.
CREATE OR REPLACE FUNCTION reject_unversioned_change() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'a document changes only with its version: %', OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE OR REPLACE TRIGGER reject_unversioned_change BEFORE UPDATE OF status, data, version ON documents
    FOR EACH ROW
    WHEN (NEW.version < OLD.version
          OR (NEW.version = OLD.version AND NEW.purged_at IS NULL
              AND (NEW.status, NEW.data) IS DISTINCT FROM (OLD.status, OLD.data)))
    EXECUTE FUNCTION reject_unversioned_change();

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
                      i.active_tokens, i.context_json, i.depth, i.trace_id, i.pins,
                      (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                                  SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
                       FROM members m WHERE m.tenant_id = i.tenant_id AND m.user_id = i.actor_id) AS actor_member,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = i.tenant_id AND s.hash = i.responsible) AS responsible
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
           ) AS found)
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
                      d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      -- A pause of the whole, and not one that follows from held tokens.
                      CASE WHEN i.status = 'paused' AND NOT (
                               i.active_tokens @? '$[*] ? (exists(@.hold))'
                               AND NOT i.active_tokens
                                       @? '$[*] ? ((@.state == "ready" || @.state == "waiting") && !exists(@.hold))')
                           THEN json_build_object('reason', i.reason, 'is_by_person', coalesce((
                               SELECT s.run_as = 'actor' FROM workflow_step_executions s
                               WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id
                                 AND s.node_id = 'sys:control:paused'
                               ORDER BY s.seq DESC LIMIT 1), false))
                      END AS pause,
                      q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                      q.actor_roles AS requester_roles,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = q.tenant_id AND s.hash = q.responsible) AS requester_responsible,
                      (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                                  SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
                       FROM members m WHERE m.tenant_id = q.tenant_id AND m.user_id = q.actor_id) AS requester_member,
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

DROP FUNCTION is_paused_by_person(uuid);
DROP FUNCTION read_persons(bytea);
DROP FUNCTION read_member(text);
