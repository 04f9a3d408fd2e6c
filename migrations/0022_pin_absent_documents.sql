-- phase: expand
-- transaction: on
--
-- An approval pins a ref also where its document is not there: the pin has no version. When such a document appears,
-- the pin has changed. The releases before wrote no pin for such a ref.

-- up
-- List the pinned refs whose document is gone, says something else now, or has appeared.
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

-- down
CREATE OR REPLACE FUNCTION list_changed_pins(pins jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT ARRAY(
        SELECT pin.key FROM jsonb_each(coalesce(pins, '{}')) AS pin
        WHERE NOT EXISTS (
            SELECT FROM documents d
            WHERE d.tenant_id = current_tenant_id() AND d.id = (pin.value ->> 'document_id')::uuid
              AND d.deleted_at IS NULL
              AND NOT EXISTS (
                  SELECT FROM jsonb_each(pin.value -> 'values') AS pinned
                  WHERE pinned.value IS DISTINCT FROM CASE pinned.key
                      WHEN 'status' THEN to_jsonb(d.status) ELSE coalesce(d.data -> pinned.key, 'null') END))
        ORDER BY pin.key)
$$;
