-- phase: expand
-- transaction: on
--
-- Operators pause, resume and fail an instance through the API: each is a step with its receipt, like those of a wave.

-- up
GRANT EXECUTE ON FUNCTION write_steps(json, timestamptz) TO signet_api;

-- down
REVOKE EXECUTE ON FUNCTION write_steps(json, timestamptz) FROM signet_api;
