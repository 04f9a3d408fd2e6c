-- phase: expand
-- transaction: on
--
-- A settled document stays in force while it is amended. Here stands which amendment is open, and the version and the
-- status of the original that it was made of. It closes when it settles, when an edit hands it on to a newer document,
-- or when it is given up: then the original has nothing open any more.

-- up
CREATE TABLE amendments (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    document_id      uuid NOT NULL,
    original_id      uuid NOT NULL,
    original_version bigint NOT NULL CHECK (original_version >= 1),
    original_status  text NOT NULL,
    opened_at        timestamptz NOT NULL,
    closed_at        timestamptz,
    closing          text CHECK (closing IN ('settled', 'handed_on', 'given_up')),
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents,
    FOREIGN KEY (tenant_id, original_id) REFERENCES documents,
    CHECK (document_id <> original_id),
    CHECK ((closed_at IS NULL) = (closing IS NULL))
);
-- One at a time: an original has one open amendment, or the one that has replaced it.
CREATE UNIQUE INDEX amendments_by_original ON amendments (tenant_id, original_id)
    WHERE closing IS NULL OR closing = 'settled';

-- What was given up may begin again; what has settled or was handed on is over.
CREATE FUNCTION guard_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'the amendment % is closed', OLD.document_id USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER guard_change BEFORE UPDATE ON amendments FOR EACH ROW
    WHEN (OLD.closing IN ('settled', 'handed_on')) EXECUTE FUNCTION guard_amendment();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON amendments FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('amendments');
GRANT SELECT, INSERT (tenant_id, document_id, original_id, original_version, original_status, opened_at),
    UPDATE (original_version, original_status, closed_at, closing) ON amendments TO signet_api, signet_worker;
CALL distribute_tenant_tables('amendments');

-- An amendment whose workflow ends before it settles is given up: its original is free for another one.
CREATE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER give_up_amendment AFTER UPDATE OF status ON workflow_instances FOR EACH ROW
    WHEN (OLD.status IN ('running', 'paused') AND NEW.status IN ('completed', 'failed', 'cancelled')
          AND NEW.birth <> 'created' AND NEW.entity_id IS NOT NULL)
    EXECUTE FUNCTION give_up_amendment();

-- A workflow that begins for it once more opens it again, unless another amendment of the original is open.
CREATE FUNCTION reopen_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    UPDATE amendments a SET closed_at = NULL, closing = NULL
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing = 'given_up'
      AND NOT EXISTS (SELECT FROM amendments o
                      WHERE o.tenant_id = a.tenant_id AND o.original_id = a.original_id
                        AND (o.closing IS NULL OR o.closing = 'settled'));
    RETURN NULL;
END
$$;
CREATE TRIGGER reopen_amendment AFTER INSERT ON workflow_instances FOR EACH ROW
    WHEN (NEW.birth = 'reentered' AND NEW.entity_id IS NOT NULL) EXECUTE FUNCTION reopen_amendment();

-- Find the amendment that has taken the place of a document: one that has settled, or one of what was not settled yet.
CREATE FUNCTION amendment_in_place_of(document uuid) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    SELECT coalesce(
        (SELECT a.document_id FROM amendments a
         WHERE a.tenant_id = current_tenant_id() AND a.original_id = document AND a.closing = 'settled'),
        (SELECT n.id FROM documents d
         JOIN documents n ON n.tenant_id = d.tenant_id AND n.amended_from_id = d.id
         WHERE d.tenant_id = current_tenant_id() AND d.id = document AND d.status = 'amended'
           AND NOT EXISTS (SELECT FROM amendments a WHERE a.tenant_id = n.tenant_id AND a.document_id = n.id
                                                      AND a.original_id = d.id)
         ORDER BY n.id
         LIMIT 1));
END;

-- Find where a document stands in the line of its amendments: which one is open, which one has taken its place, and
-- which document is in force. Past a thousand amendments the last is not named.
CREATE FUNCTION line_of_amendments(document uuid)
    RETURNS TABLE (amendment_open uuid, amended_by uuid, current_id uuid)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    place uuid := document;
    next  uuid;
BEGIN
    FOR step IN 1..1000 LOOP
        -- What has not settled stands behind its original.
        SELECT a.original_id INTO next FROM amendments a
        WHERE a.tenant_id = current_tenant_id() AND a.document_id = place AND a.closing IS DISTINCT FROM 'settled';
        next := coalesce(next, amendment_in_place_of(place));
        EXIT WHEN next IS NULL;
        place := next;
    END LOOP;
    RETURN QUERY
    SELECT coalesce(
               (SELECT a.document_id FROM amendments a
                WHERE a.tenant_id = current_tenant_id() AND a.original_id = document AND a.closing IS NULL),
               (SELECT a.document_id FROM amendments a
                WHERE a.tenant_id = current_tenant_id() AND a.document_id = document AND a.closing IS NULL)),
           amendment_in_place_of(document), CASE WHEN next IS NULL THEN place END;
END
$$;
GRANT EXECUTE ON FUNCTION amendment_in_place_of(uuid), line_of_amendments(uuid) TO signet_api;

-- down
DROP FUNCTION line_of_amendments(uuid);
DROP FUNCTION amendment_in_place_of(uuid);
DROP TRIGGER reopen_amendment ON workflow_instances;
DROP TRIGGER give_up_amendment ON workflow_instances;
DROP FUNCTION reopen_amendment();
DROP FUNCTION give_up_amendment();
DROP TABLE amendments;
DROP FUNCTION guard_amendment();
