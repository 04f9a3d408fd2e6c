-- name: read_eligibility_changes
-- Read what these persons have changed since a moment about these people or these roles, and what they have taken from a
-- bench.
SELECT * FROM vote_changes_since(
    %(since)s, %(user_ids)s::text[], %(roles)s::text[], %(concerned)s::text[], %(holders)s::text[], %(seat_roles)s::text[],
    %(lines)s::text[], %(line_holders)s::text[], %(needed)s::text[], %(by_roles)s::text[], %(own_resources)s::text[])

-- name: read_changes_of_requests
-- Read for each request what its concerned persons have changed since it was opened.
SELECT asked.id AS request_id, change.*
FROM json_to_recordset(%(rows)s::json)
     AS asked (id uuid, since timestamptz, user_ids text[], roles text[], concerned text[], holders text[],
               seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[],
               own_resources text[])
CROSS JOIN LATERAL vote_changes_since(
    asked.since, asked.user_ids, asked.roles, asked.concerned, asked.holders, asked.seat_roles, asked.lines,
    asked.line_holders, asked.needed, asked.by_roles, asked.own_resources) AS change
WHERE change.kind <> 'delegation_given'

-- name: list_authors
-- List who has changed eligibility since a moment, each set of persons with its newest change.
SELECT c.persons, max(c.changed_at)
FROM eligibility_changes c
WHERE c.tenant_id = %(tenant_id)s AND c.changed_at >= %(since)s
GROUP BY c.persons
LIMIT %(limit)s

-- name: has_lost_holder
-- Find out whether one of these people, or a holder of one of these roles, lost eligibility since a moment. A permission
-- may have come by any role: each that lost some counts, and each that was taken from one who is asked.
SELECT EXISTS (
    SELECT FROM eligibility_changes u
    WHERE u.tenant_id = %(tenant_id)s AND u.user_id = ANY (%(user_ids)s::text[]) AND u.changed_at >= %(since)s
      AND u.kind = 'member_disabled')
  OR EXISTS (
    SELECT FROM eligibility_changes r
    WHERE r.tenant_id = %(tenant_id)s AND r.role = ANY (%(roles)s::text[]) AND r.changed_at >= %(since)s
      AND r.kind IN ('role_taken', 'member_disabled', 'role_deleted'))
  OR EXISTS (
    SELECT FROM eligibility_changes p
    WHERE p.tenant_id = %(tenant_id)s AND p.changed_at >= %(since)s
      AND (p.kind = 'role_permissions_changed'
           OR p.kind = 'role_taken'
              AND (p.user_id = ANY (%(user_ids)s::text[])
                   OR EXISTS (SELECT FROM member_roles h
                              WHERE h.tenant_id = p.tenant_id AND h.user_id = p.user_id
                                AND h.role = ANY (%(roles)s::text[])))))
