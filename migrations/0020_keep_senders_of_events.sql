-- phase: expand
-- transaction: on
--
-- The persons behind an event from outside: of a sender with a token its persons, of a signed one everybody who has
-- made or changed its endpoint. An index for the janitor, which wakes the approvals of older releases. And what the
-- worker reads of a key that has asked for something: its power ends with its owner's.

-- up
ALTER TABLE inbound_endpoints ADD COLUMN responsible bytea;
ALTER TABLE workflow_inbound_events ADD COLUMN responsible bytea;
GRANT UPDATE (responsible) ON inbound_endpoints TO signet_api;
CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON workflow_inbound_events FOR EACH ROW
    WHEN (NEW.responsible IS DISTINCT FROM OLD.responsible) EXECUTE FUNCTION reject_identity_change();

-- Endpoints that are there have the persons of their audit rows. A row from before there were such persons names its
-- actor: a key stands there for its maker and its owners, by its name or by its id.
ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys NO FORCE ROW LEVEL SECURITY;
ALTER TABLE api_key_owners NO FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log NO FORCE ROW LEVEL SECURITY;
ALTER TABLE inbound_endpoints NO FORCE ROW LEVEL SECURITY;
ALTER TABLE responsible_sets NO FORCE ROW LEVEL SECURITY;
CREATE TEMP TABLE endpoint_persons ON COMMIT DROP AS
WITH act AS (
    SELECT e.tenant_id, e.name, e.created_by AS actor, '[]'::jsonb AS responsible FROM inbound_endpoints e
    UNION ALL
    SELECT e.tenant_id, e.name, a.actor_id, coalesce(a.content::jsonb -> 'responsible', '[]')
    FROM inbound_endpoints e
    JOIN audit_log a ON a.tenant_id = e.tenant_id AND a.subject_type = 'inbound_endpoint' AND a.subject_id = e.name
), named AS (
    SELECT act.tenant_id, act.name, person
    FROM act CROSS JOIN LATERAL jsonb_array_elements_text(act.responsible) AS person
    UNION
    SELECT act.tenant_id, act.name, act.actor FROM act
    WHERE act.actor !~ '^(key|service|signet):' AND act.actor <> ''
    UNION
    SELECT act.tenant_id, act.name, behind.person
    FROM act
    JOIN api_keys k ON k.tenant_id = act.tenant_id AND act.actor IN ('key:' || k.name, 'key:' || k.id)
    CROSS JOIN LATERAL (
        SELECT k.created_by AS person
        UNION
        SELECT o.owner_id FROM api_key_owners o WHERE o.tenant_id = k.tenant_id AND o.key_id = k.id
    ) AS behind
)
SELECT tenant_id, name, (array_agg(person COLLATE "C" ORDER BY person COLLATE "C"))[1:200] AS persons
FROM named
GROUP BY tenant_id, name;
INSERT INTO responsible_sets (tenant_id, hash, persons)
SELECT DISTINCT tenant_id, sha256(convert_to(array_to_string(persons, E'\n'), 'UTF8')), persons FROM endpoint_persons
ON CONFLICT DO NOTHING;
UPDATE inbound_endpoints e SET responsible = sha256(convert_to(array_to_string(p.persons, E'\n'), 'UTF8'))
FROM endpoint_persons p WHERE p.tenant_id = e.tenant_id AND p.name = e.name;
DROP TABLE endpoint_persons;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE api_key_owners FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
ALTER TABLE inbound_endpoints FORCE ROW LEVEL SECURITY;
ALTER TABLE responsible_sets FORCE ROW LEVEL SECURITY;

-- Requests that have pinned nothing are of an older release, or of its functions while they are replaced. They are few,
-- and soon none.
CREATE INDEX approval_requests_unpinned ON approval_requests (tenant_id, instance_id)
    WHERE status = 'open' AND pins_hash IS NULL;

-- The worker sees no secret, not even its hash.
GRANT SELECT (tenant_id, id, roles, owner_id) ON api_keys TO signet_worker;

-- down
REVOKE SELECT (tenant_id, id, roles, owner_id) ON api_keys FROM signet_worker;
DROP INDEX approval_requests_unpinned;
DROP TRIGGER reject_responsible_change ON workflow_inbound_events;
REVOKE UPDATE (responsible) ON inbound_endpoints FROM signet_api;
ALTER TABLE workflow_inbound_events DROP COLUMN responsible;
ALTER TABLE inbound_endpoints DROP COLUMN responsible;
