-- phase: expand
-- transaction: on
--
-- A call may be delivered when its step ends without the answer, as when a request cancels it. It is told like one that arrives
-- later: in the answers of acts and requests, in the history, and to people.

-- up
CREATE OR REPLACE FUNCTION withdraw_effects_of_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.id);
    UPDATE workflow_side_effects_outbox e SET withdrawn_at = now()
    WHERE e.tenant_id = NEW.tenant_id AND e.step_execution_id = NEW.id AND e.status = 'completed'
      AND e.withdrawn_at IS NULL;
    RETURN NULL;
END
$$;

-- As before. It says of what had arrived before that it had, and tells who asked last.
CREATE OR REPLACE FUNCTION tell_of_arrival() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    about_step record;
    sentence   text := CASE OLD.status WHEN 'completed' THEN ' had arrived when its step was withdrawn'
                                       ELSE ' was withdrawn on its way, and has arrived' END;
    prefix     text := to_hex((extract(epoch FROM now()) * 1000)::bigint);
BEGIN
    SELECT s.node_id, s.status, s.actor_user_id, i.actor_id, i.entity_type, i.entity_id, r.persons INTO about_step
    FROM workflow_step_executions s
    JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
    LEFT JOIN responsible_sets r ON r.tenant_id = i.tenant_id AND r.hash = i.responsible
    WHERE s.tenant_id = NEW.tenant_id AND s.id = NEW.step_execution_id;
    IF about_step IS NULL OR about_step.status IN ('pending', 'running') THEN
        RETURN NULL;
    END IF;
    prefix := lpad(prefix, 12, '0');
    prefix := left(prefix, 8) || '-' || right(prefix, 4) || '-7';
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id, step_execution_id,
                                data, trace_id)
    SELECT NEW.tenant_id, date_trunc('milliseconds', now()), (prefix || substr(gen_random_uuid()::text, 16))::uuid,
           'instance', NEW.instance_id, 'arrived', 'signet:system', NEW.step_execution_id,
           jsonb_build_object('effect', NEW.id, 'node', about_step.node_id, 'reason',
                              'what ' || about_step.node_id || ' sent' || sentence),
           NEW.trace_id;
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, data, created_at, about)
    SELECT NEW.tenant_id, (prefix || substr(gen_random_uuid()::text, 16))::uuid, told.user_id, told.role,
           'withdrawn_effect_arrived',
           jsonb_strip_nulls(jsonb_build_object(
               'effect_id', NEW.id, 'node', about_step.node_id, 'endpoint', NEW.endpoint,
               'entity_type', about_step.entity_type, 'document_id', about_step.entity_id,
               'instance_id', NEW.instance_id)),
           now(), 'arrived:' || NEW.id
    FROM (
        SELECT m.user_id, NULL
        FROM members m
        WHERE m.tenant_id = NEW.tenant_id AND m.status = 'active'
          AND (m.user_id IN (about_step.actor_user_id, about_step.actor_id)
               -- The row of the instance does not name yet who asked, where this transaction serves the request.
               OR m.user_id = (SELECT t.actor_id FROM transition_requests t
                               WHERE t.tenant_id = NEW.tenant_id AND t.document_id = about_step.entity_id
                               ORDER BY t.created_at DESC, t.id DESC LIMIT 1)
               OR about_step.actor_id LIKE 'key:%' AND m.user_id = ANY (about_step.persons))
        UNION ALL
        SELECT NULL, c.body::jsonb #>> '{on_incident,role}'
        FROM documents d
        JOIN contracts c
            ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
        WHERE d.tenant_id = NEW.tenant_id AND d.id = about_step.entity_id
    ) AS told (user_id, role)
    WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_what_had_arrived AFTER UPDATE OF withdrawn_at ON workflow_side_effects_outbox FOR EACH ROW
    WHEN (NEW.status = 'completed' AND OLD.status = 'completed' AND OLD.withdrawn_at IS NULL)
    EXECUTE FUNCTION tell_of_arrival();

-- down
DROP TRIGGER tell_of_what_had_arrived ON workflow_side_effects_outbox;
CREATE OR REPLACE FUNCTION tell_of_arrival() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    about_step record;
    prefix     text := to_hex((extract(epoch FROM now()) * 1000)::bigint);
BEGIN
    SELECT s.node_id, s.status, s.actor_user_id, i.actor_id, i.entity_type, i.entity_id, r.persons INTO about_step
    FROM workflow_step_executions s
    JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
    LEFT JOIN responsible_sets r ON r.tenant_id = i.tenant_id AND r.hash = i.responsible
    WHERE s.tenant_id = NEW.tenant_id AND s.id = NEW.step_execution_id;
    IF about_step IS NULL OR about_step.status IN ('pending', 'running') THEN
        RETURN NULL;
    END IF;
    prefix := lpad(prefix, 12, '0');
    prefix := left(prefix, 8) || '-' || right(prefix, 4) || '-7';
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id, step_execution_id,
                                data, trace_id)
    SELECT NEW.tenant_id, date_trunc('milliseconds', now()), (prefix || substr(gen_random_uuid()::text, 16))::uuid,
           'instance', NEW.instance_id, 'arrived', 'signet:system', NEW.step_execution_id,
           jsonb_build_object('effect', NEW.id, 'node', about_step.node_id, 'reason',
                              'what ' || about_step.node_id || ' sent was withdrawn on its way, and has arrived'),
           NEW.trace_id;
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, data, created_at, about)
    SELECT NEW.tenant_id, (prefix || substr(gen_random_uuid()::text, 16))::uuid, told.user_id, told.role,
           'withdrawn_effect_arrived',
           jsonb_strip_nulls(jsonb_build_object(
               'effect_id', NEW.id, 'node', about_step.node_id, 'endpoint', NEW.endpoint,
               'entity_type', about_step.entity_type, 'document_id', about_step.entity_id,
               'instance_id', NEW.instance_id)),
           now(), 'arrived:' || NEW.id
    FROM (
        SELECT m.user_id, NULL
        FROM members m
        WHERE m.tenant_id = NEW.tenant_id AND m.status = 'active'
          AND (m.user_id IN (about_step.actor_user_id, about_step.actor_id)
               OR about_step.actor_id LIKE 'key:%' AND m.user_id = ANY (about_step.persons))
        UNION ALL
        SELECT NULL, c.body::jsonb #>> '{on_incident,role}'
        FROM documents d
        JOIN contracts c
            ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
        WHERE d.tenant_id = NEW.tenant_id AND d.id = about_step.entity_id
    ) AS told (user_id, role)
    WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION withdraw_effects_of_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.id);
    RETURN NULL;
END
$$;
