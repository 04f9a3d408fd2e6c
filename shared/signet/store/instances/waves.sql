-- name: open_wave
-- Lock the instances of a claim and read all that a wave needs, in one round trip (decision 0010).
SELECT opened.*, read_causes(opened.instances)
FROM open_wave(%(trigger_times)s::timestamptz[], %(trigger_ids)s::uuid[], %(claim_id)s) AS opened

-- name: write_steps
-- Write the receipts and steps of a round. It answers how many of them were new. Most name one set of persons, so that it
-- is sent once.
SELECT write_steps(%(steps)s, %(usual)s::bytea, %(now)s)

-- name: end_wave
-- Write all changes of a wave, in one round trip (decision 0010).
SELECT end_wave(%(steps)s, %(instances)s, %(effects)s, %(history)s, %(trigger_times)s::timestamptz[],
                %(trigger_ids)s::uuid[], %(now)s)

-- name: count_lagging
-- Count the instances whose steps are beyond the version of their rows.
SELECT count(*)
FROM unnest(%(ids)s::uuid[]) AS ready (id)
CROSS JOIN LATERAL (
    SELECT i.version FROM workflow_instances i WHERE i.tenant_id = %(tenant_id)s AND i.id = ready.id LIMIT 1
) AS i
CROSS JOIN LATERAL (
    SELECT FROM workflow_step_executions s
    WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = ready.id AND s.seq > i.version
    LIMIT 1
) AS s

-- name: name_first_effects
-- Name the first effect with the same content that each of these repeats: of the step that it goes on for, of the way
-- that an operator has sent back or corrected, or of the instances before one that a person restarted.
-- A new way, after a passed gate or a decision of people, repeats nothing, but for a call that has failed and says which.
UPDATE workflow_side_effects_outbox e
SET first_id = coalesce(row.first_id, (
    WITH RECURSIVE line AS (
        SELECT i.id, i.entity_type, i.entity_id, i.birth, 1 AS depth
        FROM workflow_instances i
        WHERE i.tenant_id = e.tenant_id AND i.id = e.instance_id
        UNION ALL
        SELECT p.id, p.entity_type, p.entity_id, p.birth, l.depth + 1
        FROM line l
        CROSS JOIN LATERAL (
            SELECT i.id, i.entity_type, i.entity_id, i.birth FROM workflow_instances i
            WHERE i.tenant_id = e.tenant_id AND i.entity_type = l.entity_type AND i.entity_id = l.entity_id
              AND i.kind = 'envelope' AND i.id < l.id
            ORDER BY i.id DESC
            LIMIT 1
        ) p
        WHERE l.birth = 'restarted' AND l.depth < 100
    ), own AS (
        SELECT s.id, s.instance_id, s.node_id, substring(s.token_id FROM '^T/b([0-9]+)')::bigint AS root
        FROM workflow_step_executions s
        WHERE s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
    ), way AS (
        -- Where the way of this step began: all that came since was sent back by operators alone.
        SELECT coalesce(max(begun.seq), 0) AS began
        FROM own
        JOIN workflow_step_executions s ON s.tenant_id = e.tenant_id AND s.instance_id = own.instance_id
        CROSS JOIN LATERAL (
            SELECT s.seq WHERE s.node_type = 'lifecycle_gate' AND s.output_json ->> 'outcome' = 'passed'
            UNION ALL
            SELECT sent.root FROM (SELECT substring(s.token_id FROM '^T/b([0-9]+)')::bigint AS root) sent
            WHERE NOT EXISTS (
                SELECT FROM workflow_step_executions c
                WHERE c.tenant_id = e.tenant_id AND c.instance_id = own.instance_id AND c.seq = sent.root
                  AND (c.node_id = 'sys:control:gone_to'
                       OR c.node_id = 'sys:control:sent_to' AND c.output_json ->> 'because' = %(corrected)s))
        ) begun
    )
    SELECT coalesce(f.first_id, f.id)
    FROM own
    CROSS JOIN way
    JOIN line l ON true
    JOIN workflow_step_executions s ON s.tenant_id = e.tenant_id AND s.instance_id = l.id
         AND s.node_id = own.node_id AND s.id <> own.id
         AND (l.id <> own.instance_id AND way.began = 0
              OR l.id = own.instance_id AND (s.token_id = row.token OR s.token_id LIKE row.token || '/r%%'
                                             OR s.seq > way.began AND s.seq < own.root))
    JOIN workflow_side_effects_outbox f ON f.tenant_id = s.tenant_id AND f.step_execution_id = s.id
         AND f.payload_json = e.payload_json AND f.effect_type = e.effect_type
    ORDER BY f.id DESC
    LIMIT 1))
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, created_at timestamptz, token text, first_id uuid)
WHERE e.tenant_id = %(tenant_id)s AND e.created_at = row.created_at AND e.id = row.id

-- name: move_deadlines
-- Let instances that took no step wait for another moment: an approval has gone to its next stage, or has escalated.
UPDATE workflow_instances i
SET timeout_at = row.timeout_at, updated_at = %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, timeout_at timestamptz)
WHERE i.tenant_id = %(tenant_id)s AND i.id = row.id

-- name: limit_attempts
-- Limit how often effects are tried, where their authors say so.
UPDATE workflow_side_effects_outbox e
SET max_attempts = row.max_attempts
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, created_at timestamptz, max_attempts integer)
WHERE e.tenant_id = %(tenant_id)s AND e.created_at = row.created_at AND e.id = row.id
