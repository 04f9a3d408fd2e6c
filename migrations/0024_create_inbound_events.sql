-- phase: expand
-- transaction: on
--
-- Events from outside, and the doors by which those come in that nobody sends with a token.

-- up
-- A sender of its own for each: what it sends is signed with one of these secrets, whose values stand in no row.
CREATE TABLE inbound_endpoints (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    name        text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    -- Of the key of its events: this, and what stands at the pointer in the message.
    key_prefix  text NOT NULL CHECK (char_length(key_prefix) <= 200),
    key_pointer text CHECK (char_length(key_pointer) <= 300),
    -- Names, the newest first: while one is replaced, either holds.
    secrets     text[] NOT NULL CHECK (cardinality(secrets) BETWEEN 1 AND 3),
    status      text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    version     integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CHECK (key_prefix <> '' OR key_pointer IS NOT NULL)
);

CREATE TABLE workflow_inbound_events (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    id          uuid NOT NULL,
    event_key   text NOT NULL CHECK (char_length(event_key) BETWEEN 1 AND 500),
    payload     jsonb NOT NULL,
    -- Who sent it, and as which message of theirs: each is taken once.
    source      text NOT NULL CHECK (char_length(source) <= 300),
    message_id  text NOT NULL CHECK (char_length(message_id) BETWEEN 1 AND 200),
    trace_id    text,
    received_at timestamptz NOT NULL,
    -- Until then it is kept for the first that waits for it.
    expires_at  timestamptz NOT NULL CHECK (expires_at > received_at),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, source, message_id)
);
CREATE INDEX workflow_inbound_events_by_key ON workflow_inbound_events (tenant_id, event_key, id);

CALL isolate_tenant_table('inbound_endpoints');
CALL isolate_tenant_table('workflow_inbound_events');
GRANT SELECT, INSERT, UPDATE (key_prefix, key_pointer, secrets, status, version, updated_at)
    ON inbound_endpoints TO signet_api;
GRANT SELECT, INSERT ON workflow_inbound_events TO signet_api;
GRANT SELECT ON workflow_inbound_events TO signet_worker;
CALL distribute_tenant_tables('inbound_endpoints', 'workflow_inbound_events');

-- down
DROP TABLE workflow_inbound_events, inbound_endpoints;
