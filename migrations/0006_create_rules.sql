-- phase: expand
-- transaction: on
--
-- The tenant's rules (the source's V1 engine) and what each evaluation found.

-- up
CREATE TABLE rules (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    entity_type text NOT NULL,
    name        text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    phase       text NOT NULL CHECK (phase IN ('before', 'after')),
    -- which operations it looks at; empty is all
    operations  text[] NOT NULL DEFAULT '{}',
    priority    integer NOT NULL DEFAULT 100,
    condition   jsonb NOT NULL,
    actions     jsonb NOT NULL CHECK (jsonb_typeof(actions) = 'array'),
    is_enabled  boolean NOT NULL DEFAULT true,
    version     bigint NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, entity_type, name)
);

CREATE TABLE rule_executions (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    document_id      uuid NOT NULL,
    document_version bigint NOT NULL,
    entity_type      text NOT NULL,
    rule             text NOT NULL,
    rule_version     bigint NOT NULL,
    phase            text NOT NULL,
    matched          boolean NOT NULL,
    evidence         jsonb NOT NULL,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX rule_executions_by_document ON rule_executions (tenant_id, document_id, id);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON rule_executions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON rule_executions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('rules');
CALL isolate_tenant_table('rule_executions');
GRANT SELECT, INSERT, UPDATE, DELETE ON rules TO signet_api;
GRANT SELECT ON rules TO signet_worker, signet_janitor;
GRANT SELECT, INSERT ON rule_executions TO signet_api, signet_worker;
CALL distribute_tenant_tables('rules', 'rule_executions');

-- down
DROP TABLE rule_executions, rules;
