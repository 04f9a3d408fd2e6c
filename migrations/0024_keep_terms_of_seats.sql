-- phase: expand
-- transaction: on
--
-- The seat of a named person may need a role besides: the person decides from it only while they hold the role.

-- up
ALTER TABLE approval_seats
    ADD COLUMN needed_role text,
    ADD CONSTRAINT approval_seats_needed_role_check CHECK (needed_role IS NULL OR holder_user_id IS NOT NULL);
-- Finds the seats that nobody fills any more when a person loses the role.
CREATE INDEX approval_seats_of_needed_role ON approval_seats (tenant_id, needed_role, request_id)
    WHERE status = 'open' AND needed_role IS NOT NULL;

-- down
DROP INDEX approval_seats_of_needed_role;
ALTER TABLE approval_seats DROP COLUMN needed_role;
