-- phase: expand
-- transaction: on
--
-- Past a thousand amendments nobody knows which document is in force. So a ref reads none of them, instead of one that was
-- replaced: what reads it is refused, or held (AMENDMENTS_TOO_MANY). Pins of such a line count as changed.

-- up
-- The document that is read where this one is named; null where its line is too long. Only one that was replaced is looked up.
CREATE OR REPLACE FUNCTION document_in_force(document uuid, status text) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT CASE status
        WHEN 'amended' THEN (SELECT line.current_id FROM line_of_amendments(document) AS line)
        ELSE document END
$$;

-- down
CREATE OR REPLACE FUNCTION document_in_force(document uuid, status text) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT CASE status
        WHEN 'amended' THEN coalesce((SELECT line.current_id FROM line_of_amendments(document) AS line), document)
        ELSE document END
$$;
