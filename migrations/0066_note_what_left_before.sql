-- phase: expand
-- transaction: on
--
-- Notes of each effect that is there whether it may have left, and whether the end of its last attempt is not known: the
-- last place that reads these from attempts, answers and the sentence of a lost lease.

-- up
DO $$
DECLARE
    tenants uuid[];
    tenant  uuid;
BEGIN
    -- Row security binds the owner of the tables too, and only this role sees all tenants.
    SET LOCAL ROLE signet_dispatch;
    tenants := ARRAY(SELECT t.tenant_id FROM tenants t);
    SET LOCAL ROLE signet_owner;
    FOREACH tenant IN ARRAY tenants LOOP
        PERFORM set_config('signet.tenant_id', tenant::text, true);
        UPDATE workflow_side_effects_outbox q
        SET left_at = coalesce(q.completed_at, now()),
            lost_at = CASE WHEN starts_with(q.error, 'LEASE_EXPIRED') THEN now() END
        WHERE q.tenant_id = tenant AND q.left_at IS NULL
          AND may_have_left(q.status, q.attempts, q.response_json, q.error);
    END LOOP;
    PERFORM set_config('signet.tenant_id', '', true);
END
$$;

-- down
-- The notes go with their columns.
SELECT 1;
