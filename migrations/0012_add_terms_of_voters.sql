-- phase: expand
-- transaction: on
--
-- A chain says of all its voters what an approval node may say of its own. Both are absent in every chain from before
-- this, so that its hash stays.

-- up
ALTER TABLE approval_chains
    ADD COLUMN same_person text CHECK (same_person = 'allowed'),
    ADD COLUMN permission text CHECK (char_length(permission) <= 200);

-- down
ALTER TABLE approval_chains
    DROP COLUMN same_person,
    DROP COLUMN permission;
