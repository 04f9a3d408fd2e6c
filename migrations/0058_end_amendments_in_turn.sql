-- phase: expand
-- transaction: on
--
-- Two amendments of one original may end at the same time. The one that was open gave the place to the other, whose end it could not
-- see yet. Then the original had an open amendment without a workflow. Each end first takes the lock of the original now, and
-- looks after that.

-- up
CREATE OR REPLACE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    original uuid;
    free     uuid;
BEGIN
    SELECT a.original_id INTO original FROM amendments a
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id;
    IF original IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM FROM documents d WHERE d.tenant_id = NEW.tenant_id AND d.id = original FOR NO KEY UPDATE;
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL
    RETURNING a.original_id INTO free;
    IF free IS NOT NULL THEN
        UPDATE amendments a SET closed_at = NULL, closing = NULL
        WHERE a.tenant_id = NEW.tenant_id
          AND a.document_id = (SELECT o.document_id FROM amendments o
                               JOIN workflow_instances i ON i.tenant_id = o.tenant_id AND i.entity_id = o.document_id
                                   AND i.entity_type = NEW.entity_type AND i.kind = 'envelope'
                                   AND i.status IN ('running', 'paused')
                               WHERE o.tenant_id = NEW.tenant_id AND o.original_id = free AND o.closing = 'given_up'
                               ORDER BY o.opened_at, o.document_id
                               LIMIT 1);
    END IF;
    RETURN NULL;
END
$$;

-- down
CREATE OR REPLACE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    free uuid;
BEGIN
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL
    RETURNING a.original_id INTO free;
    IF free IS NOT NULL THEN
        UPDATE amendments a SET closed_at = NULL, closing = NULL
        WHERE a.tenant_id = NEW.tenant_id
          AND a.document_id = (SELECT o.document_id FROM amendments o
                               JOIN workflow_instances i ON i.tenant_id = o.tenant_id AND i.entity_id = o.document_id
                                   AND i.entity_type = NEW.entity_type AND i.kind = 'envelope'
                                   AND i.status IN ('running', 'paused')
                               WHERE o.tenant_id = NEW.tenant_id AND o.original_id = free AND o.closing = 'given_up'
                               ORDER BY o.opened_at, o.document_id
                               LIMIT 1);
    END IF;
    RETURN NULL;
END
$$;
