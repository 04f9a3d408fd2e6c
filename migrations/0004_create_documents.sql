-- phase: expand
-- transaction: on
--
-- Documents, their versions, the records that follow a document through its life, and the outcomes of repeatable
-- requests. Only mutate() writes documents.

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
    -- Everyone who has ever edited the document: separation of duties asks for them.
    editor_ids       text[] NOT NULL DEFAULT '{}',
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    deleted_at       timestamptz,
    -- Fast fields (design §3): row security keeps the planner from most expression and GIN indexes.
    t1 text, t2 text, t3 text, t4 text,
    n1 bigint, n2 bigint, n3 bigint, n4 bigint,
    d1 timestamptz, d2 timestamptz,
    -- When the content of a deleted document was removed. Its row stays, because versions and audit rows refer to it.
    purged_at        timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, entity_type, contract_version) REFERENCES contracts,
    FOREIGN KEY (tenant_id, amended_from_id) REFERENCES documents
) WITH (fillfactor = 80);
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
-- Lists go by creation, the newest first: all documents of a type, or those in one status. No list goes by id alone.
CREATE INDEX documents_by_creation ON documents (tenant_id, entity_type, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_status_and_creation ON documents (tenant_id, entity_type, status, created_at, id)
    WHERE deleted_at IS NULL;
-- Finds the documents to purge, "deleted so long ago", without reading the others.
CREATE INDEX documents_deleted ON documents (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL AND purged_at IS NULL;

-- Business keys: the fields that a contract marks `unique`.
CREATE TABLE document_keys (
    tenant_id   uuid NOT NULL,
    entity_type text NOT NULL,
    field       text NOT NULL,
    value       text NOT NULL,
    document_id uuid NOT NULL,
    -- There is no foreign key. A key is taken before its document is written, so that a race ends at once.
    PRIMARY KEY (tenant_id, entity_type, field, value)
);
CREATE INDEX document_keys_by_document ON document_keys (tenant_id, document_id);

CREATE TABLE document_versions (
    tenant_id   uuid NOT NULL,
    document_id uuid NOT NULL,
    version     bigint NOT NULL,
    -- The id that an approval pins: stable, and the same in every copy.
    id          uuid NOT NULL,
    -- Canonical JSON of the whole document at this version. Its hash is that of these bytes.
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

-- The one place that holds values of `personal` fields. Every other row holds the id and the salted commitment: erasing
-- value and salt leaves every hash valid.
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
    -- Why it was refused, or what superseded it.
    outcome          text,
    trace_id         text,
    created_at       timestamptz NOT NULL,
    ended_at         timestamptz,
    -- The roles of the requester at that time: the steps on the way of the request act with them.
    actor_roles      text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents,
    CHECK ((status = 'open') = (ended_at IS NULL))
);
-- A document has at most one open request.
CREATE UNIQUE INDEX transition_requests_open ON transition_requests (tenant_id, document_id) WHERE status = 'open';
CREATE INDEX transition_requests_by_document ON transition_requests (tenant_id, document_id, created_at);
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON transition_requests
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>performed,refused,superseded');

-- The outcomes of requests with an idempotency key, so that a repetition gets the same answer. A row is written in the
-- transaction of the request itself. There is no key without its deed, and no deed without its key.
CREATE TABLE idempotency_keys (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    key          text NOT NULL CHECK (key <> '' AND char_length(key) <= 255),
    request_hash text NOT NULL CHECK (request_hash ~ '^[0-9a-f]{64}$'),
    -- NULL only inside the transaction that took the key.
    outcome      jsonb,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key)
);
-- Answers "older than", for the janitor who prunes.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (tenant_id, created_at);
CREATE TRIGGER reject_change BEFORE UPDATE ON idempotency_keys
    FOR EACH ROW WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('documents');
CALL isolate_tenant_table('document_keys');
CALL isolate_tenant_table('document_versions');
CALL isolate_tenant_table('personal_values');
CALL isolate_tenant_table('transition_requests');
CALL isolate_tenant_table('idempotency_keys');
GRANT SELECT, INSERT, UPDATE ON documents, personal_values, transition_requests TO signet_api, signet_worker;
GRANT SELECT, INSERT, DELETE ON document_keys TO signet_api, signet_worker;
GRANT SELECT, INSERT ON document_versions TO signet_api, signet_worker;
GRANT SELECT ON documents, document_keys, document_versions, transition_requests TO signet_janitor;
GRANT SELECT, INSERT, UPDATE (outcome) ON idempotency_keys TO signet_api;
CALL distribute_tenant_tables(
    'documents', 'document_keys', 'document_versions', 'personal_values', 'transition_requests', 'idempotency_keys');

-- down
DROP TABLE idempotency_keys, transition_requests, personal_values, document_versions, document_keys, documents;
DROP FUNCTION reject_personal_change();
