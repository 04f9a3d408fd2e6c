-- name: find_newest
-- Find the newest version of a chain, published or not, to number the next one.
SELECT version, hash FROM approval_chains
WHERE tenant_id = %(tenant_id)s AND name = %(name)s
ORDER BY version DESC
LIMIT 1

-- name: insert_chain
-- Write a draft of a chain; its steps follow in a statement of their own.
INSERT INTO approval_chains (tenant_id, name, version, label, hash, same_person, permission, created_by, created_at,
                             authors)
VALUES (%(tenant_id)s, %(name)s, %(version)s, %(label)s, %(hash)s, %(same_person)s, %(permission)s, %(created_by)s,
        %(now)s, %(authors)s)

-- name: insert_steps
-- Write the steps of a chain in the order of the list.
INSERT INTO approval_chain_steps (tenant_id, name, version, position, body)
SELECT %(tenant_id)s, %(name)s, %(version)s, row.position, row.body
FROM jsonb_array_elements(%(steps)s::jsonb) WITH ORDINALITY AS row (body, position)

-- name: read_chain
-- Read one version of a chain with its steps in their order.
SELECT c.name, c.version, c.status, c.label, c.hash, c.same_person, c.permission, c.created_by, c.created_at,
       c.published_at, c.authors, c.published_by,
       ARRAY(SELECT s.body FROM approval_chain_steps s
             WHERE s.tenant_id = c.tenant_id AND s.name = c.name AND s.version = c.version
             ORDER BY s.position) AS steps
FROM approval_chains c
WHERE c.tenant_id = %(tenant_id)s AND c.name = %(name)s AND c.version = %(version)s

-- name: publish_chain
-- Publish a draft. Without a row it is not a draft any more.
UPDATE approval_chains SET status = 'published', published_at = %(now)s, published_by = %(published_by)s, publishers = %(publishers)s
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s AND status = 'draft'

-- name: archive_chain
-- Archive a published version. Without a row it is not published.
UPDATE approval_chains SET status = 'archived'
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s AND status = 'published'

-- name: list_published
-- List the newest published version of each name, without its steps, by name.
SELECT DISTINCT ON (name) name, version, status, label, hash, created_by, created_at, published_at
FROM approval_chains
WHERE tenant_id = %(tenant_id)s AND status = 'published' AND name > %(after)s
ORDER BY name, version DESC
LIMIT %(limit)s

-- name: list_versions
-- List the versions of one chain, the newest first.
SELECT name, version, status, label, hash, created_by, created_at, published_at
FROM approval_chains
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version < %(before)s
ORDER BY version DESC
LIMIT %(limit)s

-- name: find_published
-- Find the newest published version of a name; null where there is none.
SELECT max(version) FROM approval_chains
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND status = 'published'
