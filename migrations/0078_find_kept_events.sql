-- phase: expand
-- transaction: off
--
-- What is kept for the first that waits is found beside all that was taken.

-- up
CREATE INDEX CONCURRENTLY workflow_inbound_events_kept ON workflow_inbound_events (tenant_id, event_key, received_at, id)
    WHERE taken_at IS NULL;

-- down
DROP INDEX CONCURRENTLY workflow_inbound_events_kept;
