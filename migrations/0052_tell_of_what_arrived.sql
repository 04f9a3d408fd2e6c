-- phase: expand
-- transaction: on
--
-- What was withdrawn on its way, and arrived all the same, is told to people and kept in the history.

-- up
-- Tell the person that the step acted for, the one that its instance acts for now, and the role that the contract names.
-- A step that still waits takes the answer: then nobody is told.
CREATE FUNCTION tell_of_arrival() RETURNS trigger
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
REVOKE EXECUTE ON FUNCTION tell_of_arrival() FROM PUBLIC;
CREATE TRIGGER tell_of_arrival AFTER UPDATE OF status ON workflow_side_effects_outbox FOR EACH ROW
    WHEN (NEW.status = 'completed' AND OLD.status = 'processing' AND NEW.withdrawn_at IS NOT NULL)
    EXECUTE FUNCTION tell_of_arrival();

-- down
DROP TRIGGER tell_of_arrival ON workflow_side_effects_outbox;
DROP FUNCTION tell_of_arrival();
