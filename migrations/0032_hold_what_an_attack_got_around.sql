-- phase: expand
-- transaction: on
--
-- What an attack got around: people who asked for the same before, steps of a move that no operator made, and requests
-- in the name of another person.

-- up
-- List everybody who asked for what is asked for now, since a transition of the document was last performed: another
-- request, or an edit, has superseded theirs.
CREATE FUNCTION earlier_requesters(document uuid) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT behind.person), '{}')
    FROM transition_requests q
    JOIN transition_requests earlier
      ON earlier.tenant_id = q.tenant_id AND earlier.document_id = q.document_id
     AND earlier.transition = q.transition AND earlier.status = 'superseded'
    CROSS JOIN LATERAL unnest(
        coalesce((SELECT s.persons FROM responsible_sets s
                  WHERE s.tenant_id = earlier.tenant_id AND s.hash = earlier.responsible),
                 ARRAY[earlier.actor_id])) AS behind (person)
    WHERE q.tenant_id = current_tenant_id() AND q.document_id = $1 AND q.status = 'open'
      AND earlier.created_at > coalesce((SELECT max(p.created_at) FROM transition_requests p
                                         WHERE p.tenant_id = q.tenant_id AND p.document_id = q.document_id
                                           AND p.status = 'performed'),
                                        '-infinity');
END;
REVOKE EXECUTE ON FUNCTION earlier_requesters(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION earlier_requesters(uuid) TO signet_api, signet_worker;

-- The beginning of the transaction that asked a seat. Only the default writes it: what was seated at once, and what came
-- later, can be told apart.
ALTER TABLE approval_seats ADD COLUMN asked_at timestamptz NOT NULL DEFAULT now();

-- Only the act of an operator moves an instance to another definition, and operators act through the API.
CREATE FUNCTION reject_move() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'an operator moves instance %, and nobody else', NEW.instance_id USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_move BEFORE INSERT ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.node_id = 'sys:control:moved' AND current_user IN ('signet_worker', 'signet_janitor'))
    EXECUTE FUNCTION reject_move();

-- People and their keys ask for transitions, by the API. A wave ends requests and makes none.
REVOKE INSERT ON transition_requests FROM signet_worker;

-- A step makes documents, and each begins where its contract says. Calls of people are not asked: their transactions
-- write an amendment too, and every document with its version.
CREATE FUNCTION reject_begun_document() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    -- Another tenant's is refused by row security.
    IF NEW.tenant_id <> current_tenant_id() THEN
        RETURN NEW;
    END IF;
    IF NEW.version <> 1 OR NEW.amended_from_id IS NOT NULL OR NOT coalesce(
        (SELECT (c.body::jsonb -> 'states' -> NEW.status ->> 'initial')::boolean FROM contracts c
         WHERE c.tenant_id = NEW.tenant_id AND c.entity_type = NEW.entity_type AND c.version = NEW.contract_version),
        false) THEN
        RAISE EXCEPTION 'document % does not begin in the status %', NEW.id, NEW.status USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_begun_document BEFORE INSERT ON documents FOR EACH ROW
    WHEN (current_user = 'signet_worker') EXECUTE FUNCTION reject_begun_document();

-- Two letters that run into each other count as one. Where another member has that skeleton, it is written by no one.
ALTER TABLE members NO FORCE ROW LEVEL SECURITY;
UPDATE members m SET skeleton = CASE WHEN EXISTS (
        SELECT FROM members x
        WHERE x.tenant_id = m.tenant_id AND x.user_id <> m.user_id
          AND replace(replace(x.skeleton, 'rn', 'm'), 'vv', 'w') = replace(replace(m.skeleton, 'rn', 'm'), 'vv', 'w'))
    THEN NULL ELSE replace(replace(m.skeleton, 'rn', 'm'), 'vv', 'w') END
WHERE skeleton ~ 'rn|vv';
ALTER TABLE members FORCE ROW LEVEL SECURITY;

-- down
DROP TRIGGER reject_begun_document ON documents;
DROP FUNCTION reject_begun_document();
GRANT INSERT ON transition_requests TO signet_worker;
DROP TRIGGER reject_move ON workflow_step_executions;
DROP FUNCTION reject_move();
ALTER TABLE approval_seats DROP COLUMN asked_at;
DROP FUNCTION earlier_requesters(uuid);
