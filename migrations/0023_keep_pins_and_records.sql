-- phase: expand
-- transaction: on
--
-- An instance that a request begins goes on with what the gates of the last instance have used of other documents, while
-- the document is at the version that that instance left. A rebuild begins with the same. And who gave eligibility stays
-- on record while a vote may rest on it, also one that a gate asks for again when the step of the approval has ended.
-- Skeletons fold more letters, hyphens and blanks than before: the application writes the ones of such ids again.

-- up
ALTER TABLE workflow_instances
    ADD COLUMN begin_pins jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(begin_pins) = 'object');
CREATE TRIGGER reject_begin_pins_change BEFORE UPDATE OF begin_pins ON workflow_instances FOR EACH ROW
    WHEN (NEW.begin_pins IS DISTINCT FROM OLD.begin_pins)
    EXECUTE FUNCTION reject_identity_change();

-- What is newer than the oldest instance stays, of those with an approval that is open or not used yet. The approval may
-- have been asked for several times on its way, and each time counts.
CREATE OR REPLACE FUNCTION prune_eligibility_changes(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    cutoff timestamptz;
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    cutoff := least(now() - kept, (
        SELECT min(i.started_at)
        FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.status IN ('running', 'paused') AND i.started_at < now() - kept
          AND EXISTS (
              SELECT FROM approval_requests q
              WHERE q.tenant_id = i.tenant_id AND q.instance_id = i.id
                AND (q.status = 'open' OR q.status = 'approved' AND NOT q.applied))));
    PERFORM set_config('signet.pruning', 'eligibility_changes', true);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM eligibility_changes o
        WHERE o.tenant_id = current_tenant_id() AND o.changed_at < cutoff
        ORDER BY o.changed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM eligibility_changes c USING old WHERE c.tenant_id = current_tenant_id() AND c.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    PERFORM set_config('signet.pruning', '', true);
    RETURN pruned;
END
$$;

-- Every skeleton but those of plain letters. The wall is down for its owner until all tenants are done.
ALTER TABLE members NO FORCE ROW LEVEL SECURITY;
UPDATE members SET skeleton = NULL WHERE skeleton COLLATE "C" !~ '^[!-_a-~]+( [!-_a-~]+)*$';
ALTER TABLE members FORCE ROW LEVEL SECURITY;

-- down
CREATE OR REPLACE FUNCTION prune_eligibility_changes(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    cutoff timestamptz;
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    cutoff := least(now() - kept, (
        SELECT min(q.created_at)
        FROM workflow_step_executions s
        JOIN approval_requests q ON q.tenant_id = s.tenant_id AND q.step_execution_id = s.id AND q.status = 'open'
        WHERE s.tenant_id = current_tenant_id() AND s.status IN ('pending', 'running') AND s.node_type = 'approval'
          AND s.created_at < now() - kept + interval '1 day'));
    PERFORM set_config('signet.pruning', 'eligibility_changes', true);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM eligibility_changes o
        WHERE o.tenant_id = current_tenant_id() AND o.changed_at < cutoff
        ORDER BY o.changed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM eligibility_changes c USING old WHERE c.tenant_id = current_tenant_id() AND c.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    PERFORM set_config('signet.pruning', '', true);
    RETURN pruned;
END
$$;
DROP TRIGGER reject_begin_pins_change ON workflow_instances;
ALTER TABLE workflow_instances DROP COLUMN begin_pins;
