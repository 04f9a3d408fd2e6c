-- name: find_named
-- Find which of these roles, members, published chains, endpoints and calendars the tenant has, and which rules of the type.
-- The calendar without a name is the one of the settings.
SELECT ARRAY(SELECT role FROM roles WHERE tenant_id = %(tenant_id)s AND role = ANY (%(roles)s::text[])) AS roles,
       ARRAY(SELECT user_id FROM members
             WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(members)s::text[])) AS members,
       ARRAY(SELECT DISTINCT name FROM approval_chains
             WHERE tenant_id = %(tenant_id)s AND name = ANY (%(chains)s::text[])
               AND status = 'published') AS chains,
       ARRAY(SELECT name FROM endpoints WHERE tenant_id = %(tenant_id)s AND name = ANY (%(endpoints)s::text[])) AS endpoints,
       ARRAY(SELECT name FROM rules
             WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND name = ANY (%(rules)s::text[])
               AND is_enabled) AS rules,
       ARRAY(SELECT wanted.name FROM unnest(%(calendars)s::text[]) AS wanted (name)
             JOIN tenants t ON t.tenant_id = %(tenant_id)s
             JOIN calendars c ON c.tenant_id = t.tenant_id
                             AND c.name = coalesce(nullif(wanted.name, ''), t.settings ->> 'calendar')) AS calendars

-- name: find_patch_in_force
-- Find the patch that new documents of a type run, if they run one.
SELECT patch.id, patch.name, patch.version
FROM workflow_definitions effective
JOIN workflow_definitions patch ON patch.tenant_id = effective.tenant_id AND patch.id = effective.source_id
WHERE effective.tenant_id = %(tenant_id)s AND effective.entity_type = %(entity_type)s
  AND effective.status = 'published' AND effective.definition_kind = 'effective'
ORDER BY effective.contract_version DESC, effective.published_at DESC, effective.id DESC
LIMIT 1
