-- phase: expand
-- transaction: on
--
-- Gives what was voided before 0056 its code, the only place that reads the sentence of a row. An instance that its document
-- has ended keeps the reason, which is free text: it is compared first.

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
        UPDATE approval_requests r
        SET void_code = CASE
            WHEN EXISTS (SELECT FROM workflow_instances i
                         WHERE i.tenant_id = r.tenant_id AND i.id = r.instance_id AND i.status = 'cancelled'
                           AND i.reason = r.outcome) THEN 'instance_ended'
            ELSE find_void_code(r.outcome) END
        WHERE r.tenant_id = tenant AND r.status = 'voided' AND r.void_code IS NULL;
    END LOOP;
    PERFORM set_config('signet.tenant_id', '', true);
END
$$;
ALTER TABLE approval_requests VALIDATE CONSTRAINT approval_requests_void_code_check;

-- down
-- The codes go with their column.
ALTER TABLE approval_requests DROP CONSTRAINT approval_requests_void_code_check;
ALTER TABLE approval_requests ADD CONSTRAINT approval_requests_void_code_check
    CHECK (void_code IS NULL
           OR status = 'voided' AND void_code IN ('asked_again', 'moved_on', 'step_withdrawn', 'instance_ended')) NOT VALID;
