-- phase: expand
-- transaction: on
--
-- A step that sets a variable may read other documents. Who wrote what it read counts as an editor of its document, so
-- that a value has the same persons behind it by a variable and by a reference. A worker writes no document by itself,
-- and adds these persons by this function. The triggers of `documents` see that it takes nobody away.

-- up
CREATE FUNCTION widen_editors(document_id uuid, responsible bytea) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    UPDATE documents SET editor_responsible = $2 WHERE tenant_id = current_tenant_id() AND id = $1;
END;
REVOKE EXECUTE ON FUNCTION widen_editors(uuid, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION widen_editors(uuid, bytea) TO signet_worker;

-- down
DROP FUNCTION widen_editors(uuid, bytea);
