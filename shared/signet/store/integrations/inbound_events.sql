-- name: insert_event
-- Write an event from outside. Without a row its message was known.
INSERT INTO workflow_inbound_events (tenant_id, id, event_key, payload, source, message_id, trace_id, responsible,
                                     is_consumed, received_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(key)s, %(payload)s, %(source)s, %(message_id)s, %(trace_id)s, %(responsible)s,
        %(is_consumed)s, now(), now() + make_interval(days => %(kept_days)s))
ON CONFLICT (tenant_id, source, message_id) DO NOTHING
RETURNING id, event_key AS key

-- name: find_event_of_message
-- Find the event that a message has become.
SELECT id, event_key AS key
FROM workflow_inbound_events
WHERE tenant_id = %(tenant_id)s AND source = %(source)s AND message_id = %(message_id)s

-- name: find_event
-- Find an event with its payload, and the persons behind it. An event of an older release has none on record.
SELECT e.id, e.event_key AS key, e.source, e.message_id, e.received_at, e.expires_at,
       CASE WHEN e.taken_at IS NOT NULL THEN 'taken'
            WHEN e.expires_at <= now() THEN 'expired'
            ELSE coalesce((SELECT o.status FROM workflow_event_offers o
                           WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND o.status IN ('open', 'unfit')
                           ORDER BY o.status LIMIT 1), 'kept') END AS state,
       (SELECT o.reason FROM workflow_event_offers o
        WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND e.taken_at IS NULL AND o.reason IS NOT NULL
        ORDER BY o.decided_at DESC LIMIT 1) AS reason,
       e.payload, e.trace_id,
       (SELECT s.persons FROM responsible_sets s WHERE s.tenant_id = e.tenant_id AND s.hash = e.responsible) AS responsible
FROM workflow_inbound_events e
WHERE e.tenant_id = %(tenant_id)s AND e.id = %(id)s

-- name: list_events
-- List events, the newest first, without their payload.
SELECT e.id, e.event_key AS key, e.source, e.message_id, e.received_at, e.expires_at,
       CASE WHEN e.taken_at IS NOT NULL THEN 'taken'
            WHEN e.expires_at <= now() THEN 'expired'
            ELSE coalesce((SELECT o.status FROM workflow_event_offers o
                           WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND o.status IN ('open', 'unfit')
                           ORDER BY o.status LIMIT 1), 'kept') END AS state,
       (SELECT o.reason FROM workflow_event_offers o
        WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND e.taken_at IS NULL AND o.reason IS NOT NULL
        ORDER BY o.decided_at DESC LIMIT 1) AS reason
FROM workflow_inbound_events e
WHERE e.tenant_id = %(tenant_id)s AND e.id < %(before)s
  AND (NOT %(is_unmatched)s OR e.taken_at IS NULL)
ORDER BY e.id DESC
LIMIT %(limit)s

-- name: list_events_of_key
-- List the events of one key, the newest first: the key has an index of its own.
SELECT e.id, e.event_key AS key, e.source, e.message_id, e.received_at, e.expires_at,
       CASE WHEN e.taken_at IS NOT NULL THEN 'taken'
            WHEN e.expires_at <= now() THEN 'expired'
            ELSE coalesce((SELECT o.status FROM workflow_event_offers o
                           WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND o.status IN ('open', 'unfit')
                           ORDER BY o.status LIMIT 1), 'kept') END AS state,
       (SELECT o.reason FROM workflow_event_offers o
        WHERE o.tenant_id = e.tenant_id AND o.event_id = e.id AND e.taken_at IS NULL AND o.reason IS NOT NULL
        ORDER BY o.decided_at DESC LIMIT 1) AS reason
FROM workflow_inbound_events e
WHERE e.tenant_id = %(tenant_id)s AND e.event_key = %(key)s AND e.id < %(before)s
  AND (NOT %(is_unmatched)s OR e.taken_at IS NULL)
ORDER BY e.id DESC
LIMIT %(limit)s

-- name: find_open_endpoint
-- Find an endpoint that takes events, and the moment, since a signature holds for some minutes. Where there is none
-- the moment comes alone.
SELECT extract(epoch FROM now())::bigint AS now_seconds, e.key_prefix, e.key_pointer,
       coalesce(e.secrets, '{}') AS secrets, coalesce(e.consume, '{}') AS consume,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = e.tenant_id AND s.hash = e.responsible), '{}') AS persons
FROM (VALUES (1)) AS always
LEFT JOIN (inbound_endpoints e JOIN tenants t ON t.tenant_id = e.tenant_id AND t.status = 'active')
       ON e.tenant_id = %(tenant_id)s AND e.name = %(name)s AND e.status = 'active'

-- name: find_endpoint
-- Find an inbound endpoint.
SELECT name, key_prefix, key_pointer, secrets, status, consume, version, created_by, created_at, updated_at
FROM inbound_endpoints
WHERE tenant_id = %(tenant_id)s AND name = %(name)s

-- name: list_endpoints
-- List the inbound endpoints of a tenant by name.
SELECT name, key_prefix, key_pointer, secrets, status, consume, version, created_by, created_at, updated_at
FROM inbound_endpoints
WHERE tenant_id = %(tenant_id)s AND name > %(after)s
ORDER BY name
LIMIT %(limit)s

-- name: read_persons
-- Read everybody who has made or changed an inbound endpoint.
SELECT s.persons FROM inbound_endpoints e
JOIN responsible_sets s ON s.tenant_id = e.tenant_id AND s.hash = e.responsible
WHERE e.tenant_id = %(tenant_id)s AND e.name = %(name)s

-- name: insert_endpoint
-- Write an inbound endpoint. Without a row the name is taken.
INSERT INTO inbound_endpoints (tenant_id, name, key_prefix, key_pointer, secrets, status, consume, responsible,
                               created_by, created_at, updated_at)
VALUES (%(tenant_id)s, %(name)s, %(key_prefix)s, %(key_pointer)s, %(secrets)s, %(status)s, %(consume)s, %(responsible)s,
        %(actor_id)s, %(now)s, %(now)s)
ON CONFLICT (tenant_id, name) DO NOTHING
RETURNING name, key_prefix, key_pointer, secrets, status, consume, version, created_by, created_at, updated_at

-- name: replace_endpoint
-- Replace an inbound endpoint at the version that the caller saw.
UPDATE inbound_endpoints
SET key_prefix = %(key_prefix)s, key_pointer = %(key_pointer)s, secrets = %(secrets)s, status = %(status)s,
    consume = %(consume)s, responsible = %(responsible)s, version = version + 1, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s
RETURNING name, key_prefix, key_pointer, secrets, status, consume, version, created_by, created_at, updated_at
