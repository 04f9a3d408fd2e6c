-- phase: expand
-- transaction: on
--
-- What has left, or may have left, is counted before it is sent again.

-- up
-- Whether an effect has left, or may have: it was delivered, an attempt is under way, or one was made. An attempt that
-- was taken back has left its answer, or the note that its worker did not come back.
CREATE FUNCTION may_have_left(status text, attempts integer, response jsonb, error text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN status IN ('completed', 'processing') OR attempts > 0 OR response IS NOT NULL
           OR coalesce(starts_with(error, 'LEASE_EXPIRED'), false);
GRANT EXECUTE ON FUNCTION may_have_left(text, integer, jsonb, text) TO signet_worker, signet_api;

-- down
DROP FUNCTION may_have_left(text, integer, jsonb, text);
