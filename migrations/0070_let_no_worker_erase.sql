-- phase: expand
-- transaction: on
--
-- Personal values are erased by people, through the API or the command line. No step does: a worker that was taken over
-- must not be able to.

-- up
REVOKE UPDATE ON personal_values FROM signet_worker;

-- down
GRANT UPDATE ON personal_values TO signet_worker;
