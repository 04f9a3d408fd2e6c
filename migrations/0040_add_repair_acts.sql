-- phase: expand
-- transaction: on
--
-- A document without a live instance is restarted. Its incident, which names the instance that ended, closes by that.

-- up
ALTER TABLE workflow_instances
    DROP CONSTRAINT workflow_instances_birth_check,
    ADD CONSTRAINT workflow_instances_birth_check CHECK (birth IN ('created', 'amended', 'reentered', 'restarted'));
ALTER TABLE incidents
    DROP CONSTRAINT incidents_closing_check,
    ADD CONSTRAINT incidents_closing_check CHECK (closing IN (
        'retried', 'resumed', 'skipped', 'advanced', 'rejected', 'went_on', 'overtaken', 'withdrawn', 'ended',
        'restarted'));
-- Finds the incident of a document that a person brings on; there are few of them.
CREATE INDEX incidents_of_documents ON incidents (tenant_id, entity_id)
    WHERE closed_at IS NULL AND code = 'DOCUMENT_WITHOUT_WORKFLOW';

-- A document goes along to the contract of the definition that it is restarted under, as it does in a move.
CREATE OR REPLACE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version)
       AND NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_definitions w
          ON w.tenant_id = i.tenant_id AND w.id = i.definition_id AND w.version = i.definition_version
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status = 'running' AND i.birth = 'restarted' AND i.version = 0
          AND w.contract_version = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

-- down
CREATE OR REPLACE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
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
DROP INDEX incidents_of_documents;
ALTER TABLE incidents
    DROP CONSTRAINT incidents_closing_check,
    ADD CONSTRAINT incidents_closing_check CHECK (closing IN (
        'retried', 'resumed', 'skipped', 'advanced', 'rejected', 'went_on', 'overtaken', 'withdrawn', 'ended'));
ALTER TABLE workflow_instances
    DROP CONSTRAINT workflow_instances_birth_check,
    ADD CONSTRAINT workflow_instances_birth_check CHECK (birth IN ('created', 'amended', 'reentered'));
