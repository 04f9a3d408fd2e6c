-- phase: expand
-- transaction: on
--
-- Where a vote has lapsed and nobody can give another from its seat, the stage asks those again that its end let go.

-- up
DROP TRIGGER restrict_status_regression ON approval_seats;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_seats
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'open>approved,rejected,abstained,closed;approved>lapsed;abstained>lapsed;closed>open');
CREATE FUNCTION open_closed_seats(seat_rows json) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    UPDATE approval_seats s SET status = 'open'
    FROM json_to_recordset(seat_rows) AS row (request_id uuid, stage integer, "position" integer)
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = row.request_id AND s.stage = row.stage
      AND s.position = row.position AND s.status = 'closed'
      AND EXISTS (SELECT FROM approval_requests q
                  WHERE q.tenant_id = s.tenant_id AND q.id = s.request_id AND q.status = 'open' AND q.stage = s.stage)
      AND EXISTS (SELECT FROM approval_seats l
                  WHERE l.tenant_id = s.tenant_id AND l.request_id = s.request_id AND l.stage = s.stage
                    AND l.status = 'lapsed')
$$;
REVOKE EXECUTE ON FUNCTION open_closed_seats(json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_closed_seats(json) TO signet_worker;

-- down
DROP FUNCTION open_closed_seats(json);
DROP TRIGGER restrict_status_regression ON approval_seats;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_seats
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'open>approved,rejected,abstained,closed;approved>lapsed;abstained>lapsed');
