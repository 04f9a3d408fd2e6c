-- phase: expand
-- transaction: on
--
-- An instance runs under the definition that it began with, until a step of its own says that it was moved to another;
-- and so its document keeps to its version of the contract.

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

CREATE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER restrict_contract_change BEFORE UPDATE OF contract_version ON documents
    FOR EACH ROW WHEN (NEW.contract_version <> OLD.contract_version) EXECUTE FUNCTION restrict_contract_change();

-- down
DROP TRIGGER restrict_contract_change ON documents;
DROP FUNCTION restrict_contract_change();
DROP TRIGGER restrict_definition_change ON workflow_instances;
DROP FUNCTION restrict_definition_change();
