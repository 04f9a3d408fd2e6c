-- phase: expand
-- transaction: on
--
-- A try of an effect by hand uses up no attempt of its plan, and leaves the next moment as it was: `planned_at` keeps it
-- until the try has ended. And a worker begins the instance of a document that it makes, and no later one: people
-- ask for those, by the API.

-- up
ALTER TABLE workflow_side_effects_outbox ADD COLUMN planned_at timestamptz;
GRANT UPDATE (planned_at) ON workflow_side_effects_outbox TO signet_worker, signet_api;
GRANT UPDATE (max_attempts) ON workflow_side_effects_outbox TO signet_api;

CREATE FUNCTION reject_later_birth() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.birth IN ('reentered', 'restarted') OR EXISTS (
        SELECT FROM workflow_instances i
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.entity_id) THEN
        RAISE EXCEPTION 'people have document % begin again, and no worker', NEW.entity_id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_later_birth BEFORE INSERT ON workflow_instances FOR EACH ROW
    WHEN (current_user IN ('signet_worker', 'signet_janitor')) EXECUTE FUNCTION reject_later_birth();

-- down
DROP TRIGGER reject_later_birth ON workflow_instances;
DROP FUNCTION reject_later_birth();
REVOKE UPDATE (max_attempts) ON workflow_side_effects_outbox FROM signet_api;
REVOKE UPDATE (planned_at) ON workflow_side_effects_outbox FROM signet_worker, signet_api;
ALTER TABLE workflow_side_effects_outbox DROP COLUMN planned_at;
