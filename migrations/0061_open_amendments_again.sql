-- phase: expand
-- transaction: on
--
-- An amendment was open again only where a person asked for a transition. It is open again where an operator restarts it, and where
-- the one that was open instead of it is given up while it is under way.

-- up
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

DROP TRIGGER reopen_amendment ON workflow_instances;
CREATE TRIGGER reopen_amendment AFTER INSERT ON workflow_instances FOR EACH ROW
    WHEN (NEW.birth IN ('reentered', 'restarted') AND NEW.entity_id IS NOT NULL) EXECUTE FUNCTION reopen_amendment();

-- down
DROP TRIGGER reopen_amendment ON workflow_instances;
CREATE TRIGGER reopen_amendment AFTER INSERT ON workflow_instances FOR EACH ROW
    WHEN (NEW.birth = 'reentered' AND NEW.entity_id IS NOT NULL) EXECUTE FUNCTION reopen_amendment();

CREATE OR REPLACE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL;
    RETURN NULL;
END
$$;
