-- phase: expand
-- transaction: on
--
-- What was rejected is remembered by its content, and what a key was asked for by the key: deleting a document and making
-- it again lifts neither. Requests of the releases before have no hash: they are found by their document alone.

-- up
ALTER TABLE approval_requests ADD COLUMN content_hash text CHECK (content_hash ~ '^[0-9a-f]{64}$');
CREATE TRIGGER reject_content_hash_change BEFORE UPDATE OF content_hash ON approval_requests FOR EACH ROW
    WHEN (NEW.content_hash IS DISTINCT FROM OLD.content_hash)
    EXECUTE FUNCTION reject_identity_change();
CREATE INDEX approval_requests_by_content ON approval_requests (tenant_id, content_hash) WHERE status = 'rejected';

-- The documents that held a business key before, without its value.
CREATE TABLE left_document_keys (
    tenant_id   uuid NOT NULL,
    key_hash    bytea NOT NULL,
    document_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, key_hash, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents
);
CREATE INDEX left_document_keys_by_document ON left_document_keys (tenant_id, document_id);
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON left_document_keys
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CALL isolate_tenant_table('left_document_keys');
GRANT SELECT ON left_document_keys TO signet_api, signet_worker, signet_janitor;
CALL distribute_tenant_tables('left_document_keys');

CREATE FUNCTION hash_document_key(entity_type text, field text, value text) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN sha256(convert_to(jsonb_build_array(entity_type, field, value)::text, 'UTF8'));
REVOKE EXECUTE ON FUNCTION hash_document_key(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hash_document_key(text, text, text) TO signet_api, signet_worker;

CREATE FUNCTION keep_left_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $$
BEGIN
    INSERT INTO left_document_keys (tenant_id, key_hash, document_id)
    VALUES (OLD.tenant_id, hash_document_key(OLD.entity_type, OLD.field, OLD.value), OLD.document_id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION keep_left_key() FROM PUBLIC;
CREATE TRIGGER keep_left_key AFTER DELETE ON document_keys FOR EACH ROW EXECUTE FUNCTION keep_left_key();

CREATE FUNCTION forget_left_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $$
BEGIN
    DELETE FROM left_document_keys l WHERE l.tenant_id = NEW.tenant_id AND l.document_id = NEW.id;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION forget_left_keys() FROM PUBLIC;
CREATE TRIGGER forget_left_keys AFTER UPDATE OF purged_at ON documents FOR EACH ROW
    WHEN (OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL)
    EXECUTE FUNCTION forget_left_keys();

-- Find when a document, the one that it amends, or one that held a key of it before, was first asked about since a gate
-- used an approval of it. NULL: it was not.
CREATE OR REPLACE FUNCTION first_asked(document uuid) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(asked.since)
    FROM documents d
    CROSS JOIN LATERAL (
        SELECT unnest(ARRAY[d.id, d.amended_from_id]) AS id
        UNION
        SELECT l.document_id
        FROM document_keys k
        JOIN left_document_keys l
          ON l.tenant_id = k.tenant_id AND l.key_hash = hash_document_key(k.entity_type, k.field, k.value)
        WHERE k.tenant_id = d.tenant_id AND k.document_id = d.id
    ) AS about
    CROSS JOIN LATERAL (
        SELECT min(coalesce(q.asked_since, q.created_at)) AS since
        FROM approval_requests q
        WHERE q.tenant_id = d.tenant_id AND q.document_id = about.id
          AND q.created_at > coalesce((SELECT max(u.ended_at) FROM approval_requests u
                                       WHERE u.tenant_id = d.tenant_id AND u.document_id = about.id AND u.applied),
                                      '-infinity')
    ) AS asked
    WHERE d.tenant_id = current_tenant_id() AND d.id = $1;
END;

-- down
CREATE OR REPLACE FUNCTION first_asked(document uuid) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(asked.since)
    FROM documents d
    CROSS JOIN LATERAL unnest(ARRAY[d.id, d.amended_from_id]) AS about (id)
    CROSS JOIN LATERAL (
        SELECT min(coalesce(q.asked_since, q.created_at)) AS since
        FROM approval_requests q
        WHERE q.tenant_id = d.tenant_id AND q.document_id = about.id
          AND q.created_at > coalesce((SELECT max(u.ended_at) FROM approval_requests u
                                       WHERE u.tenant_id = d.tenant_id AND u.document_id = about.id AND u.applied),
                                      '-infinity')
    ) AS asked
    WHERE d.tenant_id = current_tenant_id() AND d.id = $1;
END;
DROP TRIGGER forget_left_keys ON documents;
DROP FUNCTION forget_left_keys();
DROP TRIGGER keep_left_key ON document_keys;
DROP FUNCTION keep_left_key();
DROP FUNCTION hash_document_key(text, text, text);
DROP TABLE left_document_keys;
DROP INDEX approval_requests_by_content;
DROP TRIGGER reject_content_hash_change ON approval_requests;
ALTER TABLE approval_requests DROP COLUMN content_hash;
