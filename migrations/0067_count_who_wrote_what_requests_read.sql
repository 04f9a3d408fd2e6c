-- phase: expand
-- transaction: on
--
-- A request writes no version of its document. Who wrote what its condition has read counts as an editor of it all the same.

-- up
GRANT EXECUTE ON FUNCTION widen_editors(uuid, bytea) TO signet_api;

-- down
REVOKE EXECUTE ON FUNCTION widen_editors(uuid, bytea) FROM signet_api;
