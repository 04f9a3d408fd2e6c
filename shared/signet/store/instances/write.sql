-- name: find_entity
-- Find the document of an instance: its row is locked before the instance's.
SELECT entity_id FROM workflow_instances WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: lock_instances
-- Lock instances in the order of their ids, after their documents. Every writer keeps this order.
SELECT id FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = ANY (%(ids)s)
ORDER BY id
FOR NO KEY UPDATE

-- name: read_instance
-- Read the row of an instance for an operator's act.
SELECT id, kind, definition_id, definition_version, entity_type, entity_id, entity_version, status, reason, version,
       birth, actor_id, actor_roles, request_id::text, active_tokens, context_json, depth, trace_id, pins,
       (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                   SELECT h.role FROM member_roles h WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
        FROM members m WHERE m.tenant_id = workflow_instances.tenant_id AND m.user_id = workflow_instances.actor_id)
           AS actor_member,
       (SELECT s.persons FROM responsible_sets s
        WHERE s.tenant_id = workflow_instances.tenant_id AND s.hash = workflow_instances.responsible) AS responsible
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_open_steps
-- Read the steps at which the tokens of an instance stand.
SELECT id, instance_id, seq, node_id, token_id, entity_version, version_after, started_at, resume_at,
       waiting_for_event_key
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status IN ('pending', 'running')
ORDER BY seq

-- name: read_beginning
-- Read where an instance began, and who began it: a rebuild begins there.
SELECT begin_node, begin_version, begin_actor_id, begin_actor_roles, begin_pins, begin_context,
       (SELECT s.persons FROM responsible_sets s
        WHERE s.tenant_id = workflow_instances.tenant_id AND s.hash = workflow_instances.begin_responsible) AS begin_responsible
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_steps
-- Read all steps of an instance, for a rebuild.
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, entity_version, version_after,
       output_json, error, started_at, completed_at, resume_at, waiting_for_event_key, trace_id
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s
ORDER BY seq, end_seq
LIMIT %(limit)s

-- name: read_last_seq
-- Compute from the steps what the version of the instance should be.
SELECT coalesce(max(greatest(seq, end_seq)), 0) FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s

-- name: has_answered
-- Find out if a person has ended a wait of the instance by hand, has skipped a node of it, or has withdrawn an effect so
-- that it went another way, and has written no version of its document since.
SELECT EXISTS (
    SELECT FROM workflow_step_executions s
    WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(id)s
      AND s.node_id IN ('sys:control:advanced', 'sys:control:skipped')
      AND (s.output_json -> 'actor' -> 'responsible' ? %(person)s OR s.output_json ->> 'claimed' = %(person)s)
      AND NOT EXISTS (
          SELECT FROM document_versions v
          LEFT JOIN responsible_sets p ON p.tenant_id = v.tenant_id AND p.hash = v.responsible
          WHERE v.tenant_id = s.tenant_id AND v.document_id = %(document_id)s AND v.version > s.entity_version
            AND (v.actor_id = %(person)s OR %(person)s = ANY (p.persons)))
    UNION ALL
    SELECT FROM workflow_event e
    LEFT JOIN responsible_sets r ON r.tenant_id = e.tenant_id AND r.hash = e.responsible
    WHERE e.tenant_id = %(tenant_id)s AND e.subject_kind = 'instance' AND e.subject_id = %(id)s
      AND e.entry = 'effect_withdrawn' AND e.data -> 'is_answer' = 'true'
      AND (e.actor_id = %(person)s OR %(person)s = ANY (r.persons))
      AND NOT EXISTS (
          SELECT FROM document_versions v
          LEFT JOIN responsible_sets p ON p.tenant_id = v.tenant_id AND p.hash = v.responsible
          WHERE v.tenant_id = e.tenant_id AND v.document_id = %(document_id)s AND v.created_at >= e.created_at
            AND (v.actor_id = %(person)s OR %(person)s = ANY (p.persons))))

-- name: read_pause
-- Read what paused the instance last: a person, or the engine with the trigger that failed last, if one did.
SELECT is_paused_by_person(%(id)s) AS is_by_person, (output_json ->> 'trigger')::uuid AS trigger_id FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND node_id = 'sys:control:paused'
ORDER BY seq DESC
LIMIT 1

-- name: find_dead_of_instance
-- List the dead triggers of an instance.
SELECT id FROM workflow_events_outbox
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status = 'dead_letter'
ORDER BY id
LIMIT %(limit)s

-- part: rebuilt_row
-- Name the columns of an instance that follow from its steps.
json_to_record(%(row)s::json) AS row (
    status text, reason text, version bigint, entity_version bigint, active_tokens jsonb, current_nodes text[],
    edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz, last_step_id uuid, actor_id text,
    actor_roles text[], responsible bytea, pins jsonb, request_id uuid, completed_at timestamptz, definition_id uuid, definition_version integer)
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s
  AND (i.status, i.reason, i.version, i.entity_version, i.active_tokens, i.current_nodes, i.edit_window,
       i.edit_window_node, i.context_json, i.timeout_at, i.last_step_execution_id, i.actor_id, i.actor_roles,
       i.responsible, i.pins, i.request_id, i.completed_at, i.definition_id, i.definition_version)
      IS DISTINCT FROM
      (row.status, row.reason, row.version, row.entity_version, row.active_tokens, row.current_nodes, row.edit_window,
       row.edit_window_node, row.context, row.timeout_at, row.last_step_id, row.actor_id, row.actor_roles,
       row.responsible, row.pins, row.request_id, row.completed_at, row.definition_id, row.definition_version)

-- name: write_projection
-- Write the row of an instance, but only where it changes.
UPDATE workflow_instances i
SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
    active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
    edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
    last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
    responsible = row.responsible, pins = row.pins, request_id = row.request_id, completed_at = row.completed_at, definition_id = row.definition_id,
    definition_version = row.definition_version, updated_at = clock_timestamp()
FROM {rebuilt_row}

-- name: find_difference
-- Find out whether the row of an instance differs from what its steps add up to.
SELECT true FROM workflow_instances i CROSS JOIN {rebuilt_row}

-- name: end_steps
-- End steps, or note what they wait for.
UPDATE workflow_step_executions s
SET status = row.status, end_seq = row.end_seq, version_after = row.version_after, output_json = row.output,
    error = row.error, resume_at = row.resume_at, waiting_for_event_key = row.waiting_for_event_key,
    completed_at = %(now)s, duration_ms = extract(epoch FROM (%(now)s - s.started_at)) * 1000
FROM json_to_recordset(%(steps)s::json) AS row (
    id uuid, created_at timestamptz, status text, end_seq bigint, version_after bigint, output jsonb, error text,
    resume_at timestamptz, waiting_for_event_key text)
WHERE s.tenant_id = %(tenant_id)s AND s.created_at = row.created_at AND s.id = row.id

-- name: insert_history
-- Write history entries.
INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id, step_execution_id,
                            data, trace_id, responsible)
SELECT %(tenant_id)s, created_at, id, 'instance', instance_id, entry, actor_id, step_id, data, trace_id, responsible
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, created_at timestamptz, instance_id uuid, entry text, actor_id text, step_id uuid, data jsonb,
    trace_id text, responsible bytea)

-- name: find_dead_triggers
-- Find dead triggers with the instance of each, where there is one: a rule's event may have none.
SELECT q.id, q.instance_id, i.id IS NOT NULL AS has_instance, i.entity_id
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS wanted (created_at, id)
JOIN workflow_events_outbox q
  ON q.tenant_id = %(tenant_id)s AND q.created_at = wanted.created_at AND q.id = wanted.id
LEFT JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id
WHERE q.status = 'dead_letter'
ORDER BY q.id

-- name: plan_by_instance
-- Steer the planner of the next statement. A tenant that was not analysed yet looks empty, and a plan that reads a table
-- once for each instance looks cheap.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)

-- name: list_stuck
-- List running instances that nothing will wake. Nothing has happened for a while, and they do not only wait. A
-- token is ready, or nothing is open at all. Or a request, an edit, a decision or an answer from outside is not taken, or
-- a moment is past. And those whose triggers are given back again and again.
-- Steps, requests and triggers are looked up by instance: what an old snapshot keeps of the others is not read.
WITH given_back AS MATERIALIZED (
    -- What was due for longer, and not tried, was not given back lately. Two parts, because each has an index of its own.
    SELECT w.instance_id FROM workflow_events_outbox w
    WHERE w.tenant_id = %(tenant_id)s AND w.status IN ('pending', 'failed')
      AND w.due_at > now() - make_interval(secs => %(gap_seconds)s) AND w.given_back > 0
    UNION ALL
    SELECT w.instance_id FROM workflow_events_outbox w
    WHERE w.tenant_id = %(tenant_id)s AND w.status = 'processing'
      AND w.lease_until > now() - make_interval(secs => %(gap_seconds)s) AND w.given_back > 0
), suspect AS MATERIALIZED (
    SELECT seen.* FROM (
        SELECT i.id, i.entity_type, i.entity_id, i.current_nodes, i.version, i.updated_at,
               CASE WHEN i.active_tokens @? '$[*] ? (@.state == "ready" && !exists(@.hold))' THEN 'ready'
                    WHEN open_step.open_count = 0 THEN 'nothing_open'
                    -- The order has the planner take the index by document, also of a table that was not analysed yet.
                    WHEN i.kind = 'envelope' AND (
                             SELECT request.id IS DISTINCT FROM i.request_id FROM transition_requests request
                             WHERE request.tenant_id = i.tenant_id AND request.document_id = i.entity_id
                               AND request.status = 'open'
                             ORDER BY request.created_at DESC LIMIT 1) THEN 'asked'
                    WHEN i.kind = 'envelope' AND (SELECT d.version FROM documents d
                                                  WHERE d.tenant_id = i.tenant_id AND d.id = i.entity_id) > i.entity_version
                         THEN 'edited'
                    WHEN EXISTS (SELECT FROM unnest(open_step.decided) AS decided (token)
                                 WHERE NOT jsonb_path_exists(i.active_tokens, '$[*] ? (@.id == $token && exists(@.hold))',
                                                             jsonb_build_object('token', decided.token))) THEN 'decided'
                    WHEN i.timeout_at < now() - make_interval(secs => %(idle_seconds)s) THEN 'overdue'
                    WHEN open_step.has_answer THEN 'answered' END AS why
        FROM workflow_instances i
        CROSS JOIN LATERAL (
            SELECT count(*) AS open_count, bool_or(EXISTS (
                       SELECT FROM workflow_side_effects_outbox e
                       WHERE s.node_type IN ('webhook_out', 'notification') AND e.tenant_id = s.tenant_id
                         AND e.step_execution_id = s.id
                         AND e.status IN ('completed', 'dead_letter', 'withdrawn', 'discarded'))) AS has_answer,
                   -- The tokens whose request is decided, or has nobody left to ask in its stage.
                   array_agg(s.token_id) FILTER (WHERE s.node_type = 'approval' AND (
                       SELECT r.status <> 'open' OR NOT EXISTS (
                                  SELECT FROM approval_seats seat
                                  WHERE seat.tenant_id = r.tenant_id AND seat.request_id = r.id AND seat.stage = r.stage
                                    AND seat.status = 'open')
                       FROM approval_requests r
                       WHERE r.tenant_id = s.tenant_id AND r.id = s.approval_request_id)) AS decided
            FROM workflow_step_executions s
            WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.status IN ('pending', 'running')
              -- Months without the instance are not looked at; two clocks differ by less.
              AND s.created_at BETWEEN i.started_at - interval '1 day' AND now() + interval '1 day'
        ) AS open_step
        WHERE i.tenant_id = %(tenant_id)s AND i.status = 'running'
          AND i.updated_at < now() - make_interval(secs => %(idle_seconds)s)
          AND (%(after_at)s::timestamptz IS NULL OR (i.updated_at, i.id) > (%(after_at)s::timestamptz, %(after_id)s::uuid))
    ) AS seen
    WHERE seen.why IS NOT NULL OR seen.id IN (SELECT given_back.instance_id FROM given_back)
)
SELECT suspect.id, suspect.entity_type, suspect.entity_id, suspect.current_nodes, suspect.version, suspect.updated_at,
       CASE WHEN coming.is_given_back THEN 'given_back' ELSE suspect.why END AS why,
       coming.given_back, coming.given_back_since, coming.given_back_code
FROM suspect
-- What is on its way for it.
CROSS JOIN LATERAL (
    SELECT count(*) AS coming_count, max(w.given_back) AS given_back, min(w.given_back_since) AS given_back_since,
           max(w.given_back_code) AS given_back_code,
           coalesce(max(w.given_back_since) <= now() - make_interval(secs => %(idle_seconds)s), false)
           AND min(w.given_back) > 0 AS is_given_back
    FROM workflow_events_outbox w
    WHERE w.tenant_id = %(tenant_id)s AND w.instance_id = suspect.id AND w.status IN ('pending', 'failed', 'processing')
) AS coming
WHERE coming.coming_count = 0 OR coming.is_given_back
ORDER BY suspect.updated_at, suspect.id
LIMIT %(limit)s

-- name: pause_instances
-- Pause instances by their rows alone, so that it works under any workflow.
WITH paused AS (
    UPDATE workflow_instances i
    SET status = 'paused', reason = row.reason, version = i.version + 1, last_step_execution_id = row.step_id,
        updated_at = clock_timestamp()
    FROM json_to_recordset(%(rows)s::json) AS row (
        id uuid, reason text, step_id uuid, step_created_at timestamptz, idempotency_key bytea, output json,
        history_id uuid, history_created_at timestamptz, trace_id text, incident_id uuid, code text, kind text)
    WHERE i.tenant_id = %(tenant_id)s AND i.id = row.id AND i.status = 'running'
    RETURNING i.id, i.version, i.entity_type, i.entity_id, i.entity_version, nullif(i.actor_id, '') AS requester_id,
              row.incident_id, row.code, row.kind, row.reason, row.step_id, row.step_created_at, row.idempotency_key,
              row.output, row.history_id, row.history_created_at, row.trace_id
), receipt AS (
    INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
    SELECT %(tenant_id)s, id, idempotency_key, step_id, clock_timestamp() FROM paused
), incident AS (
    INSERT INTO incidents (tenant_id, id, instance_id, seq, entity_type, entity_id, requester_id, code, kind, message,
                           attempts, opened_at)
    SELECT %(tenant_id)s, incident_id, id, version, entity_type, entity_id, requester_id, code, kind, reason, 1,
           clock_timestamp()
    FROM paused
), history AS (
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id)
    SELECT %(tenant_id)s, history_created_at, history_id, 'instance', id, 'paused', %(actor_id)s, step_id,
           jsonb_build_object('reason', reason), trace_id
    FROM paused
)
INSERT INTO workflow_step_executions (
    tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
    version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, output_json,
    actor_user_id, trace_id)
SELECT %(tenant_id)s, step_created_at, step_id, id, version, version, 'sys:control:paused', 'control', '',
       entity_version, entity_version, 'completed', 'system', idempotency_key, clock_timestamp(), clock_timestamp(), 0,
       output::jsonb, %(actor_id)s, trace_id
FROM paused
