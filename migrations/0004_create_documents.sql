-- phase: expand
-- transaction: on
--
-- Documents, every version of each, and what follows a document through its life. Only mutate() writes here.

-- up
CREATE TABLE documents (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    entity_type      text NOT NULL,
    contract_version integer NOT NULL,
    status           text NOT NULL,
    version          bigint NOT NULL CHECK (version >= 1),
    data             jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
    amended_from_id  uuid,
    creator_id       text NOT NULL,
    -- who wrote the version, and who has ever edited: separation of duties asks
    editor_ids       text[] NOT NULL DEFAULT '{}',
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    deleted_at       timestamptz,
    -- Fast fields (design §3): row security keeps the planner from most expression and GIN indexes.
    t1 text, t2 text, t3 text, t4 text,
    n1 bigint, n2 bigint, n3 bigint, n4 bigint,
    d1 timestamptz, d2 timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, entity_type, contract_version) REFERENCES contracts,
    FOREIGN KEY (tenant_id, amended_from_id) REFERENCES documents
) WITH (fillfactor = 80);
CREATE INDEX documents_by_type ON documents (tenant_id, entity_type, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_status ON documents (tenant_id, entity_type, status, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_t1 ON documents (tenant_id, entity_type, t1 text_pattern_ops) WHERE t1 IS NOT NULL;
CREATE INDEX documents_by_t2 ON documents (tenant_id, entity_type, t2 text_pattern_ops) WHERE t2 IS NOT NULL;
CREATE INDEX documents_by_t3 ON documents (tenant_id, entity_type, t3 text_pattern_ops) WHERE t3 IS NOT NULL;
CREATE INDEX documents_by_t4 ON documents (tenant_id, entity_type, t4 text_pattern_ops) WHERE t4 IS NOT NULL;
CREATE INDEX documents_by_n1 ON documents (tenant_id, entity_type, n1) WHERE n1 IS NOT NULL;
CREATE INDEX documents_by_n2 ON documents (tenant_id, entity_type, n2) WHERE n2 IS NOT NULL;
CREATE INDEX documents_by_n3 ON documents (tenant_id, entity_type, n3) WHERE n3 IS NOT NULL;
CREATE INDEX documents_by_n4 ON documents (tenant_id, entity_type, n4) WHERE n4 IS NOT NULL;
CREATE INDEX documents_by_d1 ON documents (tenant_id, entity_type, d1) WHERE d1 IS NOT NULL;
CREATE INDEX documents_by_d2 ON documents (tenant_id, entity_type, d2) WHERE d2 IS NOT NULL;
CREATE INDEX documents_by_amended_from ON documents (tenant_id, amended_from_id) WHERE amended_from_id IS NOT NULL;

-- Business keys: the fields that a contract marks `unique`.
CREATE TABLE document_keys (
    tenant_id   uuid NOT NULL,
    entity_type text NOT NULL,
    field       text NOT NULL,
    value       text NOT NULL,
    document_id uuid NOT NULL,
    -- no foreign key: a key is taken before its document is written, so that a race ends at once
    PRIMARY KEY (tenant_id, entity_type, field, value)
);
CREATE INDEX document_keys_by_document ON document_keys (tenant_id, document_id);

CREATE TABLE document_versions (
    tenant_id   uuid NOT NULL,
    document_id uuid NOT NULL,
    version     bigint NOT NULL,
    -- what an approval pins: stable, and the same in every copy
    id          uuid NOT NULL,
    -- canonical JSON of the whole document at this version; its hash is that of these bytes
    snapshot    text NOT NULL,
    hash        text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    actor_id    text NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents
);
CREATE UNIQUE INDEX document_versions_by_id ON document_versions (tenant_id, id);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON document_versions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON document_versions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- The one place where values of `personal` fields are. Everything else holds the id and the salted
-- commitment; erasing value and salt leaves every hash valid.
CREATE TABLE personal_values (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    document_id uuid NOT NULL,
    field       text NOT NULL,
    salt        bytea,
    value       jsonb,
    created_at  timestamptz NOT NULL,
    erased_at   timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents,
    CHECK ((erased_at IS NULL) = (salt IS NOT NULL)),
    CHECK (erased_at IS NULL OR value IS NULL)
);
CREATE INDEX personal_values_by_document ON personal_values (tenant_id, document_id);

CREATE FUNCTION reject_personal_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL
       OR (NEW.tenant_id, NEW.id, NEW.document_id, NEW.field, NEW.created_at)
          IS DISTINCT FROM (OLD.tenant_id, OLD.id, OLD.document_id, OLD.field, OLD.created_at) THEN
        RAISE EXCEPTION 'a personal value can only be erased' USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON personal_values
    FOR EACH ROW EXECUTE FUNCTION reject_personal_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON personal_values
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CREATE TABLE transition_requests (
    tenant_id        uuid NOT NULL,
    id               uuid NOT NULL,
    document_id      uuid NOT NULL,
    document_version bigint NOT NULL,
    transition       text NOT NULL,
    actor_id         text NOT NULL,
    reason           text CHECK (char_length(reason) <= 4000),
    status           text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'performed', 'refused', 'superseded')),
    -- why it was refused, or by what it was superseded
    outcome          text,
    trace_id         text,
    created_at       timestamptz NOT NULL,
    ended_at         timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents,
    CHECK ((status = 'open') = (ended_at IS NULL))
);
-- at most one open request a document
CREATE UNIQUE INDEX transition_requests_open ON transition_requests (tenant_id, document_id) WHERE status = 'open';
CREATE INDEX transition_requests_by_document ON transition_requests (tenant_id, document_id, created_at);
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON transition_requests
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>performed,refused,superseded');

CALL isolate_tenant_table('documents');
CALL isolate_tenant_table('document_keys');
CALL isolate_tenant_table('document_versions');
CALL isolate_tenant_table('personal_values');
CALL isolate_tenant_table('transition_requests');
GRANT SELECT, INSERT, UPDATE ON documents, personal_values, transition_requests TO signet_api, signet_worker;
GRANT SELECT, INSERT, DELETE ON document_keys TO signet_api, signet_worker;
GRANT SELECT, INSERT ON document_versions TO signet_api, signet_worker;
GRANT SELECT ON documents, document_keys, document_versions, transition_requests TO signet_janitor;
CALL distribute_tenant_tables(
    'documents', 'document_keys', 'document_versions', 'personal_values', 'transition_requests');

-- down
DROP TABLE transition_requests, personal_values, document_versions, document_keys, documents;
DROP FUNCTION reject_personal_change();
