-- phase: expand
-- transaction: on
--
-- A call to the outside leaves with the step that sends it, and with no other.

-- up
-- A wave writes an effect together with the step that asks for it, and one for each step. So the worker's role writes none
-- for an earlier step, which may be an approved payment that waits for its answer, and none for a node that sends nothing.
-- A transaction that is kept open sees later steps: these have their effect. Both looks go into one index, in the months
-- from that of the step on, which its id names.
CREATE FUNCTION reject_stray_effect() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    made_at timestamptz := timestamptz 'epoch' + interval '1 millisecond'
        * ('x' || left(replace(NEW.step_execution_id::text, '-', ''), 12))::bit(48)::bigint;
BEGIN
    -- Another tenant's is refused by row security.
    IF NEW.tenant_id <> current_tenant_id() THEN
        RETURN NEW;
    END IF;
    IF NOT EXISTS (
        SELECT FROM workflow_step_executions s
        WHERE s.tenant_id = NEW.tenant_id AND s.created_at = made_at AND s.id = NEW.step_execution_id
          AND s.instance_id = NEW.instance_id AND s.started_at >= now()
          AND s.node_type IN ('webhook_out', 'notification'))
       OR EXISTS (
        SELECT FROM workflow_side_effects_outbox e
        WHERE e.tenant_id = NEW.tenant_id AND e.created_at >= made_at
          AND e.step_execution_id = NEW.step_execution_id) THEN
        RAISE EXCEPTION 'effect % has no step of this wave that sends it', NEW.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_stray_effect BEFORE INSERT ON workflow_side_effects_outbox FOR EACH ROW
    WHEN (current_user = 'signet_worker') EXECUTE FUNCTION reject_stray_effect();

-- down
DROP TRIGGER reject_stray_effect ON workflow_side_effects_outbox;
DROP FUNCTION reject_stray_effect();
