-- phase: expand
-- transaction: on
--
-- The worker makes open seats, and nothing else of them: who held one before, and that operators agreed to one, is
-- written by the calls of those people only.

-- up
REVOKE INSERT ON approval_seats FROM signet_worker;
GRANT INSERT (tenant_id, request_id, stage, position, holder_user_id, holder_role, needed_role, origin)
    ON approval_seats TO signet_worker;
CREATE FUNCTION reject_seat_without_consent() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'two operators give such a seat: % %', NEW.request_id, NEW.position USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_seat_without_consent BEFORE INSERT ON approval_seats FOR EACH ROW
    WHEN (NEW.origin = 'break_glass' AND current_user <> 'signet_owner')
    EXECUTE FUNCTION reject_seat_without_consent();

-- down
DROP TRIGGER reject_seat_without_consent ON approval_seats;
DROP FUNCTION reject_seat_without_consent();
REVOKE INSERT (tenant_id, request_id, stage, position, holder_user_id, holder_role, needed_role, origin)
    ON approval_seats FROM signet_worker;
GRANT INSERT ON approval_seats TO signet_worker;
