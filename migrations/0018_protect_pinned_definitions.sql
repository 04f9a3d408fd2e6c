-- phase: expand
-- transaction: on
--
-- An instance runs under the definition that it began with, until a step of its own says that it was moved to another.

-- up
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
-- Waves do not name these columns, so that it costs them nothing.
CREATE TRIGGER restrict_definition_change BEFORE UPDATE OF definition_id, definition_version ON workflow_instances
    FOR EACH ROW
    WHEN ((NEW.definition_id, NEW.definition_version) IS DISTINCT FROM (OLD.definition_id, OLD.definition_version))
    EXECUTE FUNCTION restrict_definition_change();

-- down
DROP TRIGGER restrict_definition_change ON workflow_instances;
DROP FUNCTION restrict_definition_change();
