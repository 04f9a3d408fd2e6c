-- phase: expand
-- transaction: on
--
-- Contracts, workflow definitions and the tenant's rules. A published contract or definition never changes; a default
-- definition never changes at all (WF-04). Compiled artifacts are text, so that their hash is that of the stored bytes.

-- up
-- Refuses each change of `status` but those that the table allows: 'running>paused,failed;paused>running'.
CREATE FUNCTION restrict_status_regression() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    allowed text;
BEGIN
    IF NEW.status = OLD.status THEN
        RETURN NEW;
    END IF;
    FOREACH allowed IN ARRAY string_to_array(TG_ARGV[0], ';') LOOP
        IF split_part(allowed, '>', 1) = OLD.status
           AND NEW.status = ANY (string_to_array(split_part(allowed, '>', 2), ',')) THEN
            RETURN NEW;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'status of % cannot go from % to %', TG_TABLE_NAME, OLD.status, NEW.status
        USING ERRCODE = 'SG001';
END
$$;

CREATE FUNCTION reject_any_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are written once: % is refused', TG_TABLE_NAME, lower(TG_OP)
        USING ERRCODE = 'SG002';
END
$$;

-- People who edit a draft together compare its `revision`, which grows with each change of the row. It says nothing
-- about the frozen content, and may grow with the status. Positions in an editor do not count.
CREATE TABLE contracts (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    entity_type  text NOT NULL CHECK (entity_type ~ '^[a-z][a-z0-9_]{0,62}$'),
    version      integer NOT NULL CHECK (version >= 1),
    status       text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'archived')),
    body         text NOT NULL CHECK (octet_length(body) <= 1048576),
    hash         text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz,
    revision     integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
    PRIMARY KEY (tenant_id, entity_type, version),
    CHECK ((status = 'draft') = (published_at IS NULL))
);

CREATE FUNCTION reject_published_contract_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'draft' AND TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF OLD.status = 'draft' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE'
       OR (NEW.tenant_id, NEW.entity_type, NEW.version, NEW.body, NEW.hash, NEW.created_by, NEW.created_at,
           NEW.published_at)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.entity_type, OLD.version, OLD.body, OLD.hash, OLD.created_by, OLD.created_at,
           OLD.published_at) THEN
        RAISE EXCEPTION 'contract % version % is published and frozen', OLD.entity_type, OLD.version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_published_mutation BEFORE UPDATE OR DELETE ON contracts
    FOR EACH ROW EXECUTE FUNCTION reject_published_contract_mutation();
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON contracts
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('draft>published;published>archived');
-- A TRUNCATE would remove what is published, past the triggers for rows.
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON contracts
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CREATE TABLE workflow_definitions (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                uuid NOT NULL,
    definition_kind   text NOT NULL CHECK (definition_kind IN ('envelope', 'org_patch', 'effective', 'automation')),
    -- An automation that belongs to no entity type has '', so that uniqueness holds for it too.
    entity_type       text NOT NULL,
    name              text NOT NULL CHECK (char_length(name) <= 63),
    version           integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    status            text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'archived')),
    is_default        boolean NOT NULL DEFAULT false,
    contract_version  integer,
    nodes_json        jsonb,
    edges_json        jsonb,
    slots_json        jsonb,
    base_ref          jsonb,
    body_patches_json jsonb,
    compiled_json     text,
    compiled_hash     text CHECK (compiled_hash ~ '^[0-9a-f]{64}$'),
    compiler_version  text,
    -- Of an effective workflow: the patch that it was compiled from.
    source_id         uuid,
    -- Positions in an editor. They are no part of any hash, and may change at any time.
    canvas_json       jsonb NOT NULL DEFAULT '{}',
    created_by        text NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    published_at      timestamptz,
    revision          integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, definition_kind, entity_type, name, version),
    CHECK (definition_kind <> 'envelope' OR (
        is_default AND nodes_json IS NOT NULL AND edges_json IS NOT NULL AND slots_json IS NOT NULL
        AND body_patches_json IS NULL AND compiled_json IS NOT NULL AND contract_version IS NOT NULL)),
    CHECK (definition_kind <> 'org_patch' OR (
        NOT is_default AND body_patches_json IS NOT NULL AND base_ref IS NOT NULL
        AND nodes_json IS NULL AND edges_json IS NULL AND compiled_json IS NULL)),
    CHECK (definition_kind <> 'effective' OR (
        NOT is_default AND compiled_json IS NOT NULL AND nodes_json IS NOT NULL AND edges_json IS NOT NULL
        AND contract_version IS NOT NULL)),
    CHECK (definition_kind <> 'automation' OR (
        NOT is_default AND body_patches_json IS NOT NULL AND (status = 'draft' OR compiled_json IS NOT NULL))),
    CHECK ((compiled_json IS NULL) = (compiled_hash IS NULL)),
    CHECK ((compiled_json IS NULL) = (compiler_version IS NULL))
);
-- Answers "the published workflow of this entity type", newest first.
CREATE INDEX workflow_definitions_by_status ON workflow_definitions (tenant_id, entity_type, status, published_at DESC);

CREATE FUNCTION reject_default_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'definition % is a default and never changes', OLD.id USING ERRCODE = 'SG003';
END
$$;
CREATE TRIGGER reject_default_mutation BEFORE UPDATE OR DELETE ON workflow_definitions
    FOR EACH ROW WHEN (OLD.is_default) EXECUTE FUNCTION reject_default_definition_mutation();

CREATE FUNCTION reject_published_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
       OR (to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at', 'revision'])
          IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at', 'revision']) THEN
        RAISE EXCEPTION 'definition % is published and frozen', OLD.id USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_published_mutation BEFORE UPDATE OR DELETE ON workflow_definitions
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION reject_published_definition_mutation();
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_definitions
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('draft>published;published>archived');
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_definitions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- The tenant's rules (the source's V1 engine).
CREATE TABLE rules (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    entity_type text NOT NULL,
    name        text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    phase       text NOT NULL CHECK (phase IN ('before', 'after')),
    -- The operations that the rule looks at. Empty means all.
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

-- The findings of each evaluation of a rule.
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

CALL isolate_tenant_table('contracts');
CALL isolate_tenant_table('workflow_definitions');
CALL isolate_tenant_table('rules');
CALL isolate_tenant_table('rule_executions');
GRANT SELECT, INSERT, UPDATE, DELETE ON contracts, workflow_definitions, rules TO signet_api;
GRANT SELECT ON contracts, workflow_definitions, rules TO signet_worker, signet_janitor;
GRANT SELECT, INSERT ON rule_executions TO signet_api, signet_worker;
CALL distribute_tenant_tables('contracts', 'workflow_definitions', 'rules', 'rule_executions');

-- down
DROP TABLE rule_executions, rules, workflow_definitions, contracts;
DROP FUNCTION reject_published_definition_mutation();
DROP FUNCTION reject_default_definition_mutation();
DROP FUNCTION reject_published_contract_mutation();
DROP FUNCTION reject_any_change();
DROP FUNCTION restrict_status_regression();
