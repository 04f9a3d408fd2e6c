-- phase: expand
-- transaction: on
--
-- What is withdrawn is not sent. A step that waits for an effect may be cancelled, ended by hand, or retried. Then what
-- was not delivered for it is withdrawn. What is on its way just then cannot be called back: if it fails, it is not
-- tried again. An operator discards a dead letter with a reason.

-- up
ALTER TABLE workflow_side_effects_outbox
    ADD COLUMN withdrawn_at timestamptz,
    ADD COLUMN discard_reason text CHECK (char_length(discard_reason) BETWEEN 1 AND 4000),
    -- The first attempt to send the same: receivers know it by that id. NULL: this is the first one.
    ADD COLUMN first_id uuid,
    DROP CONSTRAINT workflow_side_effects_outbox_status_check,
    ADD CONSTRAINT workflow_side_effects_outbox_status_check CHECK (status IN (
        'pending', 'processing', 'completed', 'failed', 'dead_letter', 'withdrawn', 'discarded')),
    ADD CONSTRAINT workflow_side_effects_outbox_discarded CHECK ((status = 'discarded') = (discard_reason IS NOT NULL));
DROP TRIGGER restrict_status_regression ON workflow_side_effects_outbox;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_side_effects_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing,withdrawn;processing>completed,failed,pending,withdrawn;'
        'failed>pending,processing,dead_letter,withdrawn;dead_letter>pending,withdrawn,discarded');

-- What was withdrawn while it was on its way is not tried again.
CREATE FUNCTION keep_withdrawn() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF OLD.status = 'withdrawn' THEN
        RETURN NULL;
    END IF;
    IF OLD.status = 'processing' AND NEW.status IN ('pending', 'failed') THEN
        NEW.status := 'withdrawn';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_withdrawn BEFORE UPDATE ON workflow_side_effects_outbox
    FOR EACH ROW WHEN (OLD.withdrawn_at IS NOT NULL) EXECUTE FUNCTION keep_withdrawn();

-- Withdraw what was not delivered for a step that waits for it no more.
CREATE FUNCTION withdraw_effects(tenant uuid, step uuid) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    UPDATE workflow_side_effects_outbox e
    SET status = CASE e.status WHEN 'processing' THEN e.status ELSE 'withdrawn' END, withdrawn_at = now()
    WHERE e.tenant_id = tenant AND e.step_execution_id = step
      AND e.status IN ('pending', 'processing', 'failed', 'dead_letter');
END;
CREATE FUNCTION withdraw_effects_of_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.id);
    RETURN NULL;
END
$$;
-- One that ends with the answer of its effect has nothing left: this asks only where a person or another step ended it.
CREATE TRIGGER withdraw_effects AFTER UPDATE OF status ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.node_type IN ('webhook_out', 'notification') AND OLD.status = 'running'
          AND (NEW.status = 'cancelled' OR NEW.output_json #> '{evidence,advanced_by}' IS NOT NULL))
    EXECUTE FUNCTION withdraw_effects_of_step();

-- A step that failed is retried by a step of its own, which asks for its effect again.
ALTER TABLE incidents ADD COLUMN step_id uuid;
CREATE FUNCTION withdraw_effects_of_incident() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.step_id);
    RETURN NULL;
END
$$;
CREATE TRIGGER withdraw_effects AFTER UPDATE OF closed_at ON incidents FOR EACH ROW
    WHEN (NEW.closed_at IS NOT NULL AND NEW.step_id IS NOT NULL) EXECUTE FUNCTION withdraw_effects_of_incident();

GRANT EXECUTE ON FUNCTION withdraw_effects(uuid, uuid) TO signet_worker, signet_api;
GRANT INSERT (step_id) ON incidents TO signet_worker, signet_api;
GRANT UPDATE (withdrawn_at) ON workflow_side_effects_outbox TO signet_worker, signet_api;
GRANT UPDATE (first_id) ON workflow_side_effects_outbox TO signet_worker;
GRANT UPDATE (discard_reason) ON workflow_side_effects_outbox TO signet_api;

-- down
REVOKE UPDATE (withdrawn_at, first_id, discard_reason) ON workflow_side_effects_outbox FROM signet_worker, signet_api;
DROP TRIGGER withdraw_effects ON incidents;
DROP FUNCTION withdraw_effects_of_incident();
ALTER TABLE incidents DROP COLUMN step_id;
DROP TRIGGER withdraw_effects ON workflow_step_executions;
DROP FUNCTION withdraw_effects_of_step();
DROP FUNCTION withdraw_effects(uuid, uuid);
DROP TRIGGER keep_withdrawn ON workflow_side_effects_outbox;
DROP FUNCTION keep_withdrawn();
DROP TRIGGER restrict_status_regression ON workflow_side_effects_outbox;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_side_effects_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');
ALTER TABLE workflow_side_effects_outbox
    DROP CONSTRAINT workflow_side_effects_outbox_discarded,
    DROP CONSTRAINT workflow_side_effects_outbox_status_check,
    ADD CONSTRAINT workflow_side_effects_outbox_status_check CHECK (status IN (
        'pending', 'processing', 'completed', 'failed', 'dead_letter')),
    DROP COLUMN first_id,
    DROP COLUMN discard_reason,
    DROP COLUMN withdrawn_at;
