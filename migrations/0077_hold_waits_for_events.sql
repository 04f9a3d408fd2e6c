-- phase: expand
-- transaction: on
--
-- A workflow waits for an event from outside. Each key that a step waits for has a row, so that an event finds its waits by
-- one descent of an index, however many months of steps there are. What is offered to a wait has a row, too. A wait and an
-- event that come at the same time lock their key first: whichever is second sees the other.

-- up
CREATE TABLE workflow_event_waits (
    tenant_id      uuid NOT NULL REFERENCES tenants,
    event_key      text NOT NULL CHECK (char_length(event_key) BETWEEN 1 AND 500),
    step_id        uuid NOT NULL,
    instance_id    uuid NOT NULL,
    -- By the clock of the database: the oldest is first.
    waiting_since  timestamptz NOT NULL,
    -- What a payload must look like, where the node says so.
    payload_schema jsonb,
    PRIMARY KEY (tenant_id, event_key, step_id)
);
CREATE INDEX workflow_event_waits_by_step ON workflow_event_waits (tenant_id, step_id);

CREATE TABLE workflow_event_offers (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    event_id      uuid NOT NULL,
    step_id       uuid NOT NULL,
    instance_id   uuid NOT NULL,
    waiting_since timestamptz NOT NULL,
    -- The first wait that fits has the event alone; otherwise each that was open when it came.
    is_alone      boolean NOT NULL,
    status        text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'taken', 'unfit', 'ended')),
    reason        text CHECK (char_length(reason) <= 2000),
    decided_at    timestamptz,
    PRIMARY KEY (tenant_id, event_id, step_id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES workflow_inbound_events ON DELETE CASCADE,
    CHECK ((status = 'open') = (decided_at IS NULL))
);
CREATE INDEX workflow_event_offers_open ON workflow_event_offers (tenant_id, step_id) WHERE status = 'open';
-- Who offers an event again opens what was decided; what is taken stays so.
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_event_offers
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>taken,unfit,ended;unfit>open;ended>open');

-- Whether the oldest wait that fits takes it alone, and when a wait has taken it first.
ALTER TABLE workflow_inbound_events
    ADD COLUMN is_consumed boolean NOT NULL DEFAULT false,
    ADD COLUMN taken_at timestamptz,
    -- The persons who have offered it again: they stand behind it, too, whoever takes it.
    ADD COLUMN replayed_by bytea;
-- How the keys of its events begin that one wait alone takes.
ALTER TABLE inbound_endpoints ADD COLUMN consume text[] NOT NULL DEFAULT '{}';

CALL isolate_tenant_table('workflow_event_waits');
CALL isolate_tenant_table('workflow_event_offers');
GRANT SELECT ON workflow_event_waits, workflow_event_offers TO signet_api, signet_worker;
GRANT INSERT ON workflow_event_waits TO signet_worker;
GRANT INSERT ON workflow_event_offers TO signet_api, signet_worker;
GRANT UPDATE (status, reason, decided_at) ON workflow_event_offers TO signet_worker;
GRANT UPDATE (is_alone, status, reason, decided_at) ON workflow_event_offers TO signet_api;
GRANT UPDATE (taken_at) ON workflow_inbound_events TO signet_worker;
GRANT UPDATE (expires_at, replayed_by) ON workflow_inbound_events TO signet_api;
GRANT UPDATE (consume) ON inbound_endpoints TO signet_api;
CALL distribute_tenant_tables('workflow_event_waits', 'workflow_event_offers');

-- Lock keys of events until the transaction ends, always in the same order.
CREATE FUNCTION lock_event_keys(keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    hash bigint;
BEGIN
    FOR hash IN
        SELECT DISTINCT hashtextextended('event key of ' || current_tenant_id() || ': ' || key, 0)
        FROM unnest(keys) AS key ORDER BY 1
    LOOP
        PERFORM pg_advisory_xact_lock(hash);
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lock_event_keys(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_event_keys(text[]) TO signet_api, signet_worker;

-- A wait that has ended, by whatever act, is offered nothing more. What it has left goes to the next wait, which is woken.
CREATE FUNCTION end_event_wait() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    freed  uuid[];
    next   record;
    hex    text;
    new_id uuid;
BEGIN
    PERFORM lock_event_keys(ARRAY(SELECT w.event_key FROM workflow_event_waits w
                                  WHERE w.tenant_id = NEW.tenant_id AND w.step_id = NEW.id));
    DELETE FROM workflow_event_waits w WHERE w.tenant_id = NEW.tenant_id AND w.step_id = NEW.id;
    WITH ended AS (
        UPDATE workflow_event_offers o
        SET status = 'ended', reason = 'the wait had ended: ' || NEW.status, decided_at = now()
        WHERE o.tenant_id = NEW.tenant_id AND o.step_id = NEW.id AND o.status = 'open'
        RETURNING o.event_id
    )
    SELECT array_agg(ended.event_id) INTO freed FROM ended;
    FOR next IN
        SELECT DISTINCT first.instance_id
        FROM unnest(freed) AS left_over (event_id)
        JOIN workflow_inbound_events e
             ON e.tenant_id = NEW.tenant_id AND e.id = left_over.event_id AND e.taken_at IS NULL
        CROSS JOIN LATERAL (
            SELECT o.instance_id, o.is_alone FROM workflow_event_offers o
            WHERE o.tenant_id = NEW.tenant_id AND o.event_id = e.id AND o.status = 'open'
            ORDER BY o.waiting_since, o.step_id LIMIT 1
        ) AS first
        WHERE first.is_alone
    LOOP
        hex := lpad(to_hex((extract(epoch FROM date_trunc('milliseconds', now())) * 1000)::bigint), 12, '0');
        new_id := (left(hex, 8) || '-' || right(hex, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid;
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        VALUES (NEW.tenant_id, next.instance_id, 'events', sha256(uuid_send(new_id)), now());
        INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                            payload_json, event_idempotency_key, due_at)
        VALUES (NEW.tenant_id, date_trunc('milliseconds', now()), new_id, next.instance_id, 0, 'event_arrived',
                jsonb_build_object('cause_id', new_id), sha256(uuid_send(new_id)), now());
    END LOOP;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION end_event_wait() FROM PUBLIC;
CREATE TRIGGER end_event_wait AFTER UPDATE OF status ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.node_type = 'wait_event' AND OLD.status = 'running' AND NEW.status <> 'running')
    EXECUTE FUNCTION end_event_wait();

-- As before. What has expired is seen for a week more, and what a wait has been offered stays until the wait has decided.
CREATE OR REPLACE FUNCTION prune_inbound_events(at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM workflow_inbound_events o
        WHERE o.tenant_id = current_tenant_id() AND o.expires_at < now() - interval '7 days'
          AND NOT EXISTS (SELECT FROM workflow_event_offers f
                          WHERE f.tenant_id = o.tenant_id AND f.event_id = o.id AND f.status = 'open'
                            AND (o.taken_at IS NULL OR NOT f.is_alone))
        ORDER BY o.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM workflow_inbound_events e USING old WHERE e.tenant_id = current_tenant_id() AND e.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- down
CREATE OR REPLACE FUNCTION prune_inbound_events(at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM workflow_inbound_events o
        WHERE o.tenant_id = current_tenant_id() AND o.expires_at < now()
        ORDER BY o.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM workflow_inbound_events e USING old WHERE e.tenant_id = current_tenant_id() AND e.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;
DROP TRIGGER end_event_wait ON workflow_step_executions;
DROP FUNCTION end_event_wait();
DROP FUNCTION lock_event_keys(text[]);
REVOKE UPDATE (consume) ON inbound_endpoints FROM signet_api;
REVOKE UPDATE (expires_at) ON workflow_inbound_events FROM signet_api;
REVOKE UPDATE (taken_at) ON workflow_inbound_events FROM signet_worker;
ALTER TABLE inbound_endpoints DROP COLUMN consume;
ALTER TABLE workflow_inbound_events DROP COLUMN is_consumed, DROP COLUMN taken_at, DROP COLUMN replayed_by;
DROP TABLE workflow_event_offers, workflow_event_waits;
