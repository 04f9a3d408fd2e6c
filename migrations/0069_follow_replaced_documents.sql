-- phase: expand
-- transaction: on
--
-- A ref to a document that an amendment has taken the place of reads what is in force now. So what people are asked about says
-- something else when a vendor is amended, as it does when a vendor is edited.

-- up
-- The document that is read where this one is named. Only one that was replaced is looked up.
CREATE FUNCTION document_in_force(document uuid, status text) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT CASE status
        WHEN 'amended' THEN coalesce((SELECT line.current_id FROM line_of_amendments(document) AS line), document)
        ELSE document END
$$;
REVOKE EXECUTE ON FUNCTION document_in_force(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION document_in_force(uuid, text), line_of_amendments(uuid), amendment_in_place_of(uuid)
    TO signet_worker, signet_api;

-- As before, of the document in force.
CREATE OR REPLACE FUNCTION list_changed_pins(pins jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT ARRAY(
        SELECT pin.key FROM jsonb_each(coalesce(pins, '{}')) AS pin
        WHERE (pin.value -> 'version' IS NOT DISTINCT FROM 'null') = EXISTS (
            SELECT FROM documents o
            JOIN documents d ON d.tenant_id = o.tenant_id AND d.id = document_in_force(o.id, o.status)
            WHERE o.tenant_id = current_tenant_id() AND o.id = (pin.value ->> 'document_id')::uuid
              AND o.deleted_at IS NULL AND d.deleted_at IS NULL
              AND CASE
                  WHEN pin.value -> 'version' IS NOT DISTINCT FROM 'null'
                  THEN d.entity_type = pin.value ->> 'entity_type'
                  ELSE NOT EXISTS (
                      SELECT FROM jsonb_each(pin.value -> 'values') AS pinned
                      WHERE pinned.value IS DISTINCT FROM CASE pinned.key
                          WHEN 'status' THEN to_jsonb(d.status) ELSE coalesce(d.data -> pinned.key, 'null') END)
                  END)
        ORDER BY pin.key)
$$;

-- down
CREATE OR REPLACE FUNCTION list_changed_pins(pins jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT ARRAY(
        SELECT pin.key FROM jsonb_each(coalesce(pins, '{}')) AS pin
        WHERE (pin.value -> 'version' IS NOT DISTINCT FROM 'null') = EXISTS (
            SELECT FROM documents d
            WHERE d.tenant_id = current_tenant_id() AND d.id = (pin.value ->> 'document_id')::uuid
              AND d.deleted_at IS NULL
              AND CASE
                  WHEN pin.value -> 'version' IS NOT DISTINCT FROM 'null'
                  THEN d.entity_type = pin.value ->> 'entity_type'
                  ELSE NOT EXISTS (
                      SELECT FROM jsonb_each(pin.value -> 'values') AS pinned
                      WHERE pinned.value IS DISTINCT FROM CASE pinned.key
                          WHEN 'status' THEN to_jsonb(d.status) ELSE coalesce(d.data -> pinned.key, 'null') END)
                  END)
        ORDER BY pin.key)
$$;
REVOKE EXECUTE ON FUNCTION line_of_amendments(uuid), amendment_in_place_of(uuid) FROM signet_worker;
DROP FUNCTION document_in_force(uuid, text);
