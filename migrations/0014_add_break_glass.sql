-- phase: expand
-- transaction: on
--
-- Break-glass: one operator proposes to seat a named member in an open request, another one consents, and then the seat
-- is there. Nothing else lets the API add a seat.

-- up
ALTER TABLE approval_seats DROP CONSTRAINT approval_seats_origin_check;
ALTER TABLE approval_seats ADD CONSTRAINT approval_seats_origin_check
    CHECK (origin IN ('resolved', 'escalated', 'break_glass'));

CREATE TABLE break_glass_proposals (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                uuid NOT NULL,
    request_id        uuid NOT NULL,
    -- The stage that the request was in. In another one the proposal seats nobody.
    stage             integer NOT NULL CHECK (stage >= 1),
    user_id           text NOT NULL,
    reason            text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 4000),
    proposed_by       text NOT NULL,
    -- The people who are responsible for the proposal, and for the consent: never the same.
    proposed_persons  text[] NOT NULL CHECK (cardinality(proposed_persons) BETWEEN 1 AND 200),
    proposed_at       timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL CHECK (expires_at > proposed_at),
    consented_by      text,
    consented_persons text[] CHECK (cardinality(consented_persons) BETWEEN 1 AND 200),
    consented_at      timestamptz,
    -- The seat that came of it.
    position          integer,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, request_id) REFERENCES approval_requests,
    FOREIGN KEY (tenant_id, user_id) REFERENCES members,
    CHECK ((consented_at IS NULL) = (consented_by IS NULL)),
    CHECK ((consented_at IS NULL) = (consented_persons IS NULL)),
    CHECK ((consented_at IS NULL) = (position IS NULL)),
    CHECK (NOT proposed_persons && consented_persons)
);
-- Answers "who was seated here", for the people who decide.
CREATE INDEX break_glass_proposals_of_request ON break_glass_proposals (tenant_id, request_id, id)
    WHERE request_id IS NOT NULL;
-- Answers "which wait for a second operator".
CREATE INDEX break_glass_proposals_waiting ON break_glass_proposals (tenant_id, expires_at) WHERE consented_at IS NULL;
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON break_glass_proposals
    FOR EACH ROW WHEN (OLD.consented_at IS NOT NULL) EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON break_glass_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('break_glass_proposals');
GRANT SELECT, INSERT (tenant_id, id, request_id, stage, user_id, reason, proposed_by, proposed_persons, proposed_at,
    expires_at) ON break_glass_proposals TO signet_api;
CALL distribute_tenant_tables('break_glass_proposals');

-- Seat the person of a proposal, with the consent of a second operator. The caller holds the request. NULL: the
-- proposal is over, the stage has passed, or the person cannot have a seat there.
CREATE FUNCTION seat_by_break_glass(proposal uuid, by text, persons text[]) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    wanted break_glass_proposals;
    seat   integer;
BEGIN
    SELECT * INTO wanted FROM break_glass_proposals p
    WHERE p.tenant_id = current_tenant_id() AND p.id = proposal AND p.consented_at IS NULL AND p.expires_at > now()
      AND NOT p.proposed_persons && persons AND NOT persons @> ARRAY[p.user_id] AND cardinality(persons) > 0
      AND EXISTS (SELECT FROM approval_requests q
                  WHERE q.tenant_id = p.tenant_id AND q.id = p.request_id AND q.stage = p.stage AND q.status = 'open')
      AND EXISTS (SELECT FROM members m
                  WHERE m.tenant_id = p.tenant_id AND m.user_id = p.user_id AND m.status = 'active')
      AND NOT EXISTS (SELECT FROM approval_seats s
                      WHERE s.tenant_id = p.tenant_id AND s.request_id = p.request_id AND s.stage = p.stage
                        AND p.user_id IN (s.holder_user_id, s.decided_by, s.on_behalf_of))
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, origin)
    SELECT wanted.tenant_id, wanted.request_id, wanted.stage, coalesce(max(s.position), 0) + 1, wanted.user_id,
           'break_glass'
    FROM approval_seats s
    WHERE s.tenant_id = wanted.tenant_id AND s.request_id = wanted.request_id AND s.stage = wanted.stage
    RETURNING position INTO seat;
    UPDATE break_glass_proposals p
    SET consented_by = by, consented_persons = persons, consented_at = now(), position = seat
    WHERE p.tenant_id = wanted.tenant_id AND p.id = wanted.id;
    RETURN seat;
END
$$;
REVOKE EXECUTE ON FUNCTION seat_by_break_glass(uuid, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seat_by_break_glass(uuid, text, text[]) TO signet_api;

-- down
DROP FUNCTION seat_by_break_glass(uuid, text, text[]);
DROP TABLE break_glass_proposals;
ALTER TABLE approval_seats DROP CONSTRAINT approval_seats_origin_check;
ALTER TABLE approval_seats ADD CONSTRAINT approval_seats_origin_check CHECK (origin IN ('resolved', 'escalated'));
