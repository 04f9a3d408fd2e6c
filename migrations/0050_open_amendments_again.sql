-- phase: expand
-- transaction: on
--
-- An amendment was open again only where a person asked for a transition. It is open again where an operator restarts it, and where
-- the one that was open instead of it is given up while it is under way.
--
-- People who asked heard nothing of an answer that was no. They are told of a rejection, of an approval whose time is over, and of
-- an amendment that took the place of what they asked for. Who was still asked is told that the time is over.

-- up
CREATE OR REPLACE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    free uuid;
BEGIN
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL
    RETURNING a.original_id INTO free;
    IF free IS NOT NULL THEN
        UPDATE amendments a SET closed_at = NULL, closing = NULL
        WHERE a.tenant_id = NEW.tenant_id
          AND a.document_id = (SELECT o.document_id FROM amendments o
                               JOIN workflow_instances i ON i.tenant_id = o.tenant_id AND i.entity_id = o.document_id
                                   AND i.entity_type = NEW.entity_type AND i.kind = 'envelope'
                                   AND i.status IN ('running', 'paused')
                               WHERE o.tenant_id = NEW.tenant_id AND o.original_id = free AND o.closing = 'given_up'
                               ORDER BY o.opened_at, o.document_id
                               LIMIT 1);
    END IF;
    RETURN NULL;
END
$$;

DROP TRIGGER reopen_amendment ON workflow_instances;
CREATE TRIGGER reopen_amendment AFTER INSERT ON workflow_instances FOR EACH ROW
    WHEN (NEW.birth IN ('reentered', 'restarted') AND NEW.entity_id IS NOT NULL) EXECUTE FUNCTION reopen_amendment();

-- Tell the active members among these, or who holds these roles, by one notification each. The owner of a key stands for it.
CREATE FUNCTION tell_of_end(tenant uuid, kind text, request_id uuid, data jsonb, asker text, persons_hash bytea,
                            user_ids text[], roles text[], written_at timestamptz) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
    SELECT $1, (substr(moment.hex, 1, 8) || '-' || substr(moment.hex, 9, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid,
           told.user_id, told.role, $2, $3, $4, $9
    FROM (
        SELECT m.user_id, NULL::text AS role
        FROM members m
        WHERE m.tenant_id = $1 AND m.status = 'active'
          AND (m.user_id = $5 OR m.user_id = ANY ($7)
               OR $5 LIKE 'key:%' AND m.user_id = ANY (
                   SELECT unnest(s.persons) FROM responsible_sets s WHERE s.tenant_id = $1 AND s.hash = $6))
        UNION
        SELECT NULL, unnest($8)
    ) AS told
    CROSS JOIN (SELECT lpad(to_hex((extract(epoch FROM $9) * 1000)::bigint), 12, '0') AS hex) AS moment
$$;
REVOKE EXECUTE ON FUNCTION tell_of_end(uuid, text, uuid, jsonb, text, bytea, text[], text[], timestamptz) FROM PUBLIC;

CREATE FUNCTION tell_of_approval_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    people text[] := '{}';
    roles  text[] := '{}';
BEGIN
    IF NEW.status = 'expired' THEN
        SELECT coalesce(array_agg(DISTINCT s.holder_user_id) FILTER (WHERE s.holder_user_id IS NOT NULL), '{}'),
               coalesce(array_agg(DISTINCT s.holder_role) FILTER (WHERE s.holder_role IS NOT NULL), '{}')
        INTO people, roles
        FROM approval_seats s
        WHERE s.tenant_id = NEW.tenant_id AND s.request_id = NEW.id AND s.stage = NEW.stage AND s.decided_by IS NULL;
    END IF;
    PERFORM tell_of_end(
        NEW.tenant_id, 'approval_' || NEW.status, NEW.id,
        jsonb_build_object('node', NEW.node_id, 'document_id', NEW.document_id, 'instance_id', NEW.instance_id,
                           'reason', NEW.outcome),
        NEW.requester_id, NEW.responsible, people, roles, coalesce(NEW.ended_at, now()));
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_end AFTER UPDATE OF status ON approval_requests FOR EACH ROW
    WHEN (OLD.status = 'open' AND NEW.status IN ('rejected', 'expired')) EXECUTE FUNCTION tell_of_approval_end();

CREATE FUNCTION tell_of_superseded() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    PERFORM tell_of_end(
        NEW.tenant_id, 'request_superseded', NULL,
        jsonb_build_object('transition', NEW.transition, 'document_id', NEW.document_id, 'reason', NEW.outcome),
        NEW.actor_id, NEW.responsible, '{}', '{}', coalesce(NEW.ended_at, now()));
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_end AFTER UPDATE OF status ON transition_requests FOR EACH ROW
    WHEN (NEW.status = 'superseded' AND NEW.outcome = 'amended') EXECUTE FUNCTION tell_of_superseded();

-- down
DROP TRIGGER tell_of_end ON transition_requests;
DROP FUNCTION tell_of_superseded();
DROP TRIGGER tell_of_end ON approval_requests;
DROP FUNCTION tell_of_approval_end();
DROP FUNCTION tell_of_end(uuid, text, uuid, jsonb, text, bytea, text[], text[], timestamptz);
DROP TRIGGER reopen_amendment ON workflow_instances;
CREATE TRIGGER reopen_amendment AFTER INSERT ON workflow_instances FOR EACH ROW
    WHEN (NEW.birth = 'reentered' AND NEW.entity_id IS NOT NULL) EXECUTE FUNCTION reopen_amendment();

CREATE OR REPLACE FUNCTION give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL;
    RETURN NULL;
END
$$;
