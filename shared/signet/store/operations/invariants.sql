-- Each statement finds what must never be, in the rows of one tenant: a text for each violation, and none when all is
-- well. Its name and its sentence are what an operator reads. What somebody is about to do is no violation: those
-- statements wait `grace_seconds`. None writes, and each is a transaction of its own, so that no snapshot stays open.

-- name: document_is_its_last_version
-- A document stands at its last version, with the status that this version has.
SELECT concat('document ', d.id, ' is at version ', d.version, ' (', d.status, '), and its last version is ',
              coalesce(last.version::text, 'missing'), ' (', last.status, ')')
FROM documents d
LEFT JOIN LATERAL (
    SELECT v.version, v.snapshot::jsonb ->> 'status' AS status FROM document_versions v
    WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id
    ORDER BY v.version DESC LIMIT 1
) AS last ON true
WHERE d.tenant_id = %(tenant_id)s AND (last.version, last.status) IS DISTINCT FROM (d.version, d.status)
ORDER BY d.id LIMIT %(limit)s

-- name: versions_have_no_gap
-- The versions of a document are numbered from 1 on, without a gap.
SELECT concat('document ', v.document_id, ' has ', count(*), ' versions, numbered ', min(v.version), ' to ', max(v.version))
FROM document_versions v
WHERE v.tenant_id = %(tenant_id)s
GROUP BY v.document_id
HAVING min(v.version) <> 1 OR max(v.version) <> count(*)
ORDER BY v.document_id LIMIT %(limit)s

-- name: snapshots_fit_their_hash
-- The snapshot of a version has the hash that is kept with it.
SELECT concat('version ', v.version, ' of document ', v.document_id, ' has another hash than its snapshot')
FROM document_versions v
WHERE v.tenant_id = %(tenant_id)s AND encode(sha256(convert_to(v.snapshot, 'UTF8')), 'hex') <> v.hash
ORDER BY v.document_id, v.version LIMIT %(limit)s

-- name: versions_are_audited
-- A version has its row in the chain of its document.
SELECT concat('document ', d.id, ' has ', d.version, ' versions, and the audit trail tells of ',
              count(DISTINCT a.content::jsonb #>> '{after,version}'))
FROM documents d
LEFT JOIN audit_log a ON a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text
WHERE d.tenant_id = %(tenant_id)s
GROUP BY d.id, d.version
HAVING count(DISTINCT a.content::jsonb #>> '{after,version}') < d.version
ORDER BY d.id LIMIT %(limit)s

-- name: keys_are_of_documents
-- A business key belongs to a document that is there and not deleted.
SELECT concat('key ', k.field, ' of ', k.entity_type, ' is held by document ', k.document_id, ', which is not there')
FROM document_keys k
WHERE k.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM documents d
                  WHERE d.tenant_id = k.tenant_id AND d.id = k.document_id AND d.entity_type = k.entity_type
                    AND d.deleted_at IS NULL)
ORDER BY k.document_id LIMIT %(limit)s

-- name: erased_values_are_gone
-- A personal value that is erased has neither its value nor its salt.
SELECT concat('personal value ', p.id, ' of document ', p.document_id, ' is erased, and is still there')
FROM personal_values p
WHERE p.tenant_id = %(tenant_id)s AND p.erased_at IS NOT NULL AND (p.value IS NOT NULL OR p.salt IS NOT NULL)
ORDER BY p.id LIMIT %(limit)s

-- name: live_instances_have_a_document
-- The workflow of a document is live only while the document is there.
SELECT concat('instance ', i.id, ' is ', i.status, ', and its document ', i.entity_id, ' is not there')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused') AND i.entity_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM documents d
                  WHERE d.tenant_id = i.tenant_id AND d.id = i.entity_id AND d.deleted_at IS NULL)
ORDER BY i.id LIMIT %(limit)s

-- name: one_live_instance_of_a_document
-- A document has at most one live workflow.
SELECT concat('document ', i.entity_id, ' has ', count(*), ' live instances')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused') AND i.kind = 'envelope'
GROUP BY i.entity_id
HAVING count(*) > 1
ORDER BY i.entity_id LIMIT %(limit)s

-- name: instances_follow_their_document
-- An instance knows no version of its document that is not there yet.
SELECT concat('instance ', i.id, ' is at version ', i.entity_version, ' of document ', d.id, ', which has ', d.version)
FROM workflow_instances i
JOIN documents d ON d.tenant_id = i.tenant_id AND d.id = i.entity_id
WHERE i.tenant_id = %(tenant_id)s AND i.entity_version > d.version
ORDER BY i.id LIMIT %(limit)s

-- name: definitions_fit_their_hash
-- A compiled definition has the hash that its approvals name.
SELECT concat('definition ', w.id, ' (', w.name, ' ', w.version, ') has another hash than its text')
FROM workflow_definitions w
WHERE w.tenant_id = %(tenant_id)s AND encode(sha256(convert_to(w.compiled_json, 'UTF8')), 'hex') <> w.compiled_hash
ORDER BY w.id LIMIT %(limit)s

-- name: instances_run_what_was_published
-- An instance runs a definition that was published, in its version.
SELECT concat('instance ', i.id, ' runs definition ', i.definition_id, ' ', i.definition_version, ', which was not published')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM workflow_definitions w
                  WHERE w.tenant_id = i.tenant_id AND w.id = i.definition_id AND w.version = i.definition_version
                    AND w.status IN ('published', 'archived'))
ORDER BY i.id LIMIT %(limit)s

-- name: ended_instances_have_no_token
-- An instance that has ended has no token and no open step.
SELECT concat('instance ', i.id, ' is ', i.status, ', and has tokens or open steps')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status NOT IN ('running', 'paused')
  AND (jsonb_array_length(i.active_tokens) > 0
       OR EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.status IN ('pending', 'running')))
ORDER BY i.id LIMIT %(limit)s

-- name: live_instances_have_a_token
-- A live instance stands somewhere: it has a token.
SELECT concat('instance ', i.id, ' is ', i.status, ', and has no token')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused') AND jsonb_array_length(i.active_tokens) = 0
ORDER BY i.id LIMIT %(limit)s

-- name: open_steps_have_a_token
-- A step that is not over has a token that waits at its node.
SELECT concat('step ', s.id, ' at ', s.node_id, ' of instance ', s.instance_id, ' is ', s.status, ' without its token')
FROM workflow_step_executions s
JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
WHERE s.tenant_id = %(tenant_id)s AND s.status IN ('pending', 'running')
  AND NOT jsonb_path_exists(i.active_tokens, '$[*] ? (@.id == $token && @.node == $node)',
                            jsonb_build_object('token', s.token_id, 'node', s.node_id))
ORDER BY s.id LIMIT %(limit)s

-- name: waiting_tokens_have_a_step
-- A token that waits has the open step that it waits for.
SELECT concat('token ', token.value ->> 'id', ' of instance ', i.id, ' waits at ', token.value ->> 'node', ' without a step')
FROM workflow_instances i
CROSS JOIN LATERAL jsonb_array_elements(i.active_tokens) AS token
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused') AND token.value ->> 'state' = 'waiting'
  AND NOT EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.token_id = token.value ->> 'id'
                    AND s.node_id = token.value ->> 'node' AND s.status IN ('pending', 'running'))
ORDER BY i.id LIMIT %(limit)s

-- name: ready_tokens_are_woken
-- A token that can go on has a trigger that lets it.
SELECT concat('token ', token.value ->> 'id', ' of instance ', i.id, ' is ready at ', token.value ->> 'node', ', and nothing wakes it')
FROM workflow_instances i
CROSS JOIN LATERAL jsonb_array_elements(i.active_tokens) AS token
WHERE i.tenant_id = %(tenant_id)s AND i.status = 'running' AND token.value ->> 'state' = 'ready'
  AND NOT token.value ? 'hold' AND i.updated_at < now() - make_interval(secs => %(grace_seconds)s)
  AND NOT EXISTS (SELECT FROM workflow_events_outbox q
                  WHERE q.tenant_id = i.tenant_id AND q.instance_id = i.id
                    AND q.status IN ('pending', 'failed', 'processing'))
ORDER BY i.id LIMIT %(limit)s

-- name: held_tokens_have_an_incident
-- A token that is held has the open incident that says why.
SELECT concat('token ', token.value ->> 'id', ' of instance ', i.id, ' is held at ', token.value ->> 'node', ' without an incident')
FROM workflow_instances i
CROSS JOIN LATERAL jsonb_array_elements(i.active_tokens) AS token
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused') AND token.value ? 'hold'
  AND NOT EXISTS (SELECT FROM incidents n
                  WHERE n.tenant_id = i.tenant_id AND n.instance_id = i.id AND n.closed_at IS NULL
                    AND n.token_id = token.value ->> 'id')
ORDER BY i.id LIMIT %(limit)s

-- name: incidents_are_of_held_tokens
-- An open incident about a token is of a live instance that holds this token.
SELECT concat('incident ', n.id, ' (', n.code, ') is open, and its token ', n.token_id, ' is not held')
FROM incidents n
WHERE n.tenant_id = %(tenant_id)s AND n.closed_at IS NULL AND n.token_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM workflow_instances i
                  WHERE i.tenant_id = n.tenant_id AND i.id = n.instance_id AND i.status IN ('running', 'paused')
                    AND jsonb_path_exists(i.active_tokens, '$[*] ? (@.id == $token && exists(@.hold))',
                                          jsonb_build_object('token', n.token_id)))
ORDER BY n.id LIMIT %(limit)s

-- name: incidents_are_of_paused_instances
-- An open incident about a whole instance is of one that is paused, or of a document that is left without a workflow.
SELECT concat('incident ', n.id, ' (', n.code, ') is open, and its instance ', n.instance_id, ' is ',
              coalesce(i.status, 'missing'))
FROM incidents n
LEFT JOIN workflow_instances i ON i.tenant_id = n.tenant_id AND i.id = n.instance_id
WHERE n.tenant_id = %(tenant_id)s AND n.closed_at IS NULL AND n.token_id IS NULL
  AND n.code <> 'DOCUMENT_WITHOUT_WORKFLOW' AND i.status IS DISTINCT FROM 'paused'
ORDER BY n.id LIMIT %(limit)s

-- name: pauses_have_a_cause
-- A paused instance was paused by a person, or an open incident says why.
SELECT concat('instance ', i.id, ' is paused (', i.reason, '), by nobody and without an incident')
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status = 'paused' AND NOT is_paused_by_person(i.id)
  AND NOT EXISTS (SELECT FROM incidents n
                  WHERE n.tenant_id = i.tenant_id AND n.instance_id = i.id AND n.closed_at IS NULL)
ORDER BY i.id LIMIT %(limit)s

-- name: steps_are_written_once
-- No two steps of an instance have the same key: nothing is done twice.
SELECT concat('instance ', s.instance_id, ' has ', count(*), ' steps with one key at ', min(s.node_id))
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s
GROUP BY s.instance_id, s.idempotency_key
HAVING count(*) > 1
ORDER BY s.instance_id LIMIT %(limit)s

-- name: steps_have_their_receipt
-- A step of a live instance has the receipt that was written with it.
SELECT concat('step ', s.id, ' at ', s.node_id, ' of instance ', i.id, ' has no receipt')
FROM workflow_instances i
JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused')
  AND NOT EXISTS (SELECT FROM workflow_step_receipts r
                  WHERE r.tenant_id = s.tenant_id AND r.instance_id = s.instance_id
                    AND r.idempotency_key = s.idempotency_key AND r.step_execution_id = s.id)
ORDER BY s.id LIMIT %(limit)s

-- name: receipts_have_their_step
-- A receipt of a live instance has its step: what is noted as done was done.
SELECT concat('receipt of step ', r.step_execution_id, ' of instance ', i.id, ' has no step')
FROM workflow_instances i
JOIN workflow_step_receipts r ON r.tenant_id = i.tenant_id AND r.instance_id = i.id
WHERE i.tenant_id = %(tenant_id)s AND i.status IN ('running', 'paused')
  AND NOT EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id AND s.id = r.step_execution_id)
ORDER BY r.step_execution_id LIMIT %(limit)s

-- name: steps_have_their_instance
-- A step belongs to an instance that is there.
SELECT concat('step ', s.id, ' at ', s.node_id, ' is of instance ', s.instance_id, ', which is not there')
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM workflow_instances i WHERE i.tenant_id = s.tenant_id AND i.id = s.instance_id)
ORDER BY s.id LIMIT %(limit)s

-- name: versions_of_instances_count_their_steps
-- The version of an instance is the number of its last step.
SELECT concat('instance ', i.id, ' is at version ', i.version, ', and its last step has number ', last.number)
FROM workflow_instances i
CROSS JOIN LATERAL (
    SELECT coalesce(max(greatest(s.seq, s.end_seq)), 0) AS number FROM workflow_step_executions s
    WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id
) AS last
WHERE i.tenant_id = %(tenant_id)s AND i.version <> last.number
ORDER BY i.id LIMIT %(limit)s

-- name: approvals_wait_for_people
-- A step that waits for an approval has an open request with an open seat, or is about to be looked at.
SELECT concat('step ', s.id, ' at ', s.node_id, ' of instance ', s.instance_id, ' waits for an approval that asks nobody')
FROM workflow_step_executions s
JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id AND i.status = 'running'
WHERE s.tenant_id = %(tenant_id)s AND s.status = 'running' AND s.node_type = 'approval'
  AND i.updated_at < now() - make_interval(secs => %(grace_seconds)s)
  AND NOT jsonb_path_exists(i.active_tokens, '$[*] ? (@.id == $token && exists(@.hold))',
                            jsonb_build_object('token', s.token_id))
  AND NOT EXISTS (SELECT FROM approval_requests r
                  JOIN approval_seats t ON t.tenant_id = r.tenant_id AND t.request_id = r.id AND t.stage = r.stage
                  WHERE r.tenant_id = s.tenant_id AND r.step_execution_id = s.id AND r.status = 'open'
                    AND t.status = 'open')
  AND NOT EXISTS (SELECT FROM workflow_events_outbox q
                  WHERE q.tenant_id = s.tenant_id AND q.instance_id = s.instance_id
                    AND q.status IN ('pending', 'failed', 'processing'))
ORDER BY s.id LIMIT %(limit)s

-- name: calls_wait_for_an_answer
-- A step that waits for a call or a message has it on its way, or is about to be looked at.
SELECT concat('step ', s.id, ' at ', s.node_id, ' of instance ', s.instance_id, ' waits for what is not on its way')
FROM workflow_step_executions s
JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id AND i.status = 'running'
WHERE s.tenant_id = %(tenant_id)s AND s.status = 'running' AND s.node_type IN ('webhook_out', 'notification')
  AND i.updated_at < now() - make_interval(secs => %(grace_seconds)s)
  AND NOT jsonb_path_exists(i.active_tokens, '$[*] ? (@.id == $token && exists(@.hold))',
                            jsonb_build_object('token', s.token_id))
  AND NOT EXISTS (SELECT FROM workflow_side_effects_outbox e
                  WHERE e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
                    AND e.status IN ('pending', 'failed', 'processing'))
  AND NOT EXISTS (SELECT FROM workflow_events_outbox q
                  WHERE q.tenant_id = s.tenant_id AND q.instance_id = s.instance_id
                    AND q.status IN ('pending', 'failed', 'processing'))
ORDER BY s.id LIMIT %(limit)s

-- name: triggers_are_not_left_claimed
-- No trigger stays with a worker long after its lease.
SELECT concat('trigger ', q.id, ' of instance ', q.instance_id, ' is claimed, and its lease ended at ', q.lease_until)
FROM workflow_events_outbox q
JOIN tenants t ON t.tenant_id = q.tenant_id AND t.status = 'active'
WHERE q.tenant_id = %(tenant_id)s AND q.status = 'processing'
  AND q.lease_until < now() - make_interval(secs => %(grace_seconds)s)
ORDER BY q.id LIMIT %(limit)s

-- name: triggers_are_not_left_undone
-- No trigger stays due for long without being taken.
SELECT concat('trigger ', q.id, ' of instance ', q.instance_id, ' is ', q.status, ', and was due at ', q.due_at)
FROM workflow_events_outbox q
JOIN tenants t ON t.tenant_id = q.tenant_id AND t.status = 'active'
WHERE q.tenant_id = %(tenant_id)s AND q.status IN ('pending', 'failed')
  AND q.due_at < now() - make_interval(secs => %(grace_seconds)s)
ORDER BY q.id LIMIT %(limit)s

-- name: dead_triggers_have_an_incident
-- A trigger that was given up has paused its instance with an incident, or is of one that has ended.
SELECT concat('trigger ', q.id, ' of instance ', q.instance_id, ' is a dead letter without an incident')
FROM workflow_events_outbox q
JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id AND i.status IN ('running', 'paused')
WHERE q.tenant_id = %(tenant_id)s AND q.status = 'dead_letter'
  AND NOT EXISTS (SELECT FROM incidents n WHERE n.tenant_id = q.tenant_id AND n.instance_id = q.instance_id)
ORDER BY q.id LIMIT %(limit)s

-- name: queues_keep_to_their_attempts
-- No row of a queue was tried more often than it may be.
SELECT concat('row ', q.id, ' was tried ', q.attempts, ' times of ', q.max_attempts)
FROM (
    SELECT id, attempts, max_attempts FROM workflow_events_outbox
    WHERE tenant_id = %(tenant_id)s AND (attempts > max_attempts OR attempts < 0)
    UNION ALL
    SELECT id, attempts, max_attempts FROM workflow_side_effects_outbox
    WHERE tenant_id = %(tenant_id)s AND (attempts > max_attempts OR attempts < 0)
) AS q
ORDER BY q.id LIMIT %(limit)s

-- name: triggers_have_their_receipt
-- A trigger of a live instance has the receipt by which it was written once.
SELECT concat('trigger ', q.id, ' of instance ', q.instance_id, ' has no receipt')
FROM workflow_events_outbox q
JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id AND i.status IN ('running', 'paused')
WHERE q.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM workflow_outbox_receipts r
                  WHERE r.tenant_id = q.tenant_id AND r.instance_id = q.instance_id AND r.source_table = 'events'
                    AND r.event_idempotency_key = q.event_idempotency_key)
ORDER BY q.id LIMIT %(limit)s

-- name: triggers_are_written_once
-- No two triggers of an instance have the same key.
SELECT concat('instance ', q.instance_id, ' has ', count(*), ' triggers with one key (', min(q.event_type), ')')
FROM workflow_events_outbox q
WHERE q.tenant_id = %(tenant_id)s
GROUP BY q.instance_id, q.event_idempotency_key
HAVING count(*) > 1
ORDER BY q.instance_id LIMIT %(limit)s

-- name: effects_are_not_left_claimed
-- No effect stays with a worker long after its lease.
SELECT concat('effect ', e.id, ' of instance ', e.instance_id, ' is claimed, and its lease ended at ', e.lease_until)
FROM workflow_side_effects_outbox e
JOIN tenants t ON t.tenant_id = e.tenant_id AND t.status = 'active'
WHERE e.tenant_id = %(tenant_id)s AND e.status = 'processing'
  AND e.lease_until < now() - make_interval(secs => %(grace_seconds)s)
ORDER BY e.id LIMIT %(limit)s

-- name: effects_are_not_left_undone
-- No effect stays due for long without being taken. Those that an endpoint holds wait for it.
SELECT concat('effect ', e.id, ' of instance ', e.instance_id, ' is ', e.status, ', and was due at ', e.due_at)
FROM workflow_side_effects_outbox e
JOIN tenants t ON t.tenant_id = e.tenant_id AND t.status = 'active'
WHERE e.tenant_id = %(tenant_id)s AND e.status IN ('pending', 'failed') AND e.held_at IS NULL
  AND e.due_at < now() - make_interval(secs => %(grace_seconds)s)
ORDER BY e.id LIMIT %(limit)s

-- name: effects_have_their_step
-- An effect was asked for by a step of its instance.
SELECT concat('effect ', e.id, ' of instance ', e.instance_id, ' is of step ', e.step_execution_id, ', which is not there')
FROM workflow_side_effects_outbox e
WHERE e.tenant_id = %(tenant_id)s
  AND EXISTS (SELECT FROM workflow_instances i
              WHERE i.tenant_id = e.tenant_id AND i.id = e.instance_id AND i.status IN ('running', 'paused'))
  AND NOT EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id)
ORDER BY e.id LIMIT %(limit)s

-- name: withdrawn_effects_are_not_sent
-- An effect that was withdrawn is not sent any more. What was on its way just then may have arrived: people are told of it.
SELECT concat('effect ', e.id, ' of instance ', e.instance_id, ' was withdrawn at ', e.withdrawn_at, ', and is ', e.status)
FROM workflow_side_effects_outbox e
WHERE e.tenant_id = %(tenant_id)s AND e.withdrawn_at IS NOT NULL AND e.status IN ('pending', 'failed')
ORDER BY e.id LIMIT %(limit)s

-- name: ended_steps_send_nothing
-- Nothing is still to be sent for a step that was withdrawn.
SELECT concat('effect ', e.id, ' is ', e.status, ', and its step at ', s.node_id, ' is ', s.status)
FROM workflow_side_effects_outbox e
JOIN workflow_step_executions s
  ON s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
WHERE e.tenant_id = %(tenant_id)s AND e.status IN ('pending', 'failed') AND s.status IN ('cancelled', 'skipped')
ORDER BY e.id LIMIT %(limit)s

-- name: steps_send_once
-- A step delivers its effect once.
SELECT concat('step ', e.step_execution_id, ' of instance ', min(e.instance_id::text), ' has delivered ', count(*), ' effects')
FROM workflow_side_effects_outbox e
WHERE e.tenant_id = %(tenant_id)s AND e.status = 'completed'
GROUP BY e.step_execution_id, e.event_idempotency_key
HAVING count(*) > 1
ORDER BY e.step_execution_id LIMIT %(limit)s

-- name: endpoints_hold_only_while_off
-- An effect is held only while its endpoint is missing or switched off.
SELECT concat('effect ', e.id, ' is held, and its endpoint ', e.endpoint, ' is ', coalesce(p.status, 'missing'))
FROM workflow_side_effects_outbox e
LEFT JOIN endpoints p ON p.tenant_id = e.tenant_id AND p.name = e.endpoint
WHERE e.tenant_id = %(tenant_id)s AND e.status IN ('pending', 'failed') AND e.held_at IS NOT NULL
  AND p.status = 'active' AND p.updated_at < now() - make_interval(secs => %(grace_seconds)s)
ORDER BY e.id LIMIT %(limit)s

-- name: open_approvals_have_a_step
-- An approval is asked for while its step waits, or while a gate of its instance asks again.
SELECT concat('approval request ', r.id, ' at ', r.node_id, ' is open, and nothing waits for it')
FROM approval_requests r
WHERE r.tenant_id = %(tenant_id)s AND r.status = 'open'
  AND NOT EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id AND s.status = 'running'
                    AND (s.id = r.step_execution_id OR s.node_type = 'lifecycle_gate'))
ORDER BY r.id LIMIT %(limit)s

-- name: approvals_pin_what_was_there
-- An approval is about a version of its document that is there, with the hash that people saw.
SELECT concat('approval request ', r.id, ' is about version ', r.document_version, ' of document ', r.document_id,
              ', which is not there as it was')
FROM approval_requests r
WHERE r.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM document_versions v
                  WHERE v.tenant_id = r.tenant_id AND v.document_id = r.document_id AND v.version = r.document_version
                    AND v.id = r.snapshot_version_id AND v.hash = r.snapshot_hash)
ORDER BY r.id LIMIT %(limit)s

-- name: policies_fit_their_hash
-- The policy of an approval has the hash that its votes name.
SELECT concat('approval request ', r.id, ' has another hash than its policy')
FROM approval_requests r
WHERE r.tenant_id = %(tenant_id)s AND encode(sha256(convert_to(r.policy, 'UTF8')), 'hex') <> r.policy_hash
ORDER BY r.id LIMIT %(limit)s

-- name: decided_seats_have_a_decision
-- A seat that is decided has the decision of the person who filled it.
SELECT concat('seat ', s.stage, '.', s.position, ' of request ', s.request_id, ' is ', s.status, ' by ', s.decided_by,
              ' without a decision')
FROM approval_seats s
WHERE s.tenant_id = %(tenant_id)s AND s.status IN ('approved', 'rejected', 'abstained')
  AND NOT EXISTS (SELECT FROM approval_decisions d
                  WHERE d.tenant_id = s.tenant_id AND d.request_id = s.request_id AND d.stage = s.stage
                    AND d.position = s.position AND d.decision = s.status AND d.decided_by = s.decided_by)
ORDER BY s.request_id, s.stage, s.position LIMIT %(limit)s

-- name: decisions_have_a_seat
-- A decision is counted in its seat, unless the vote has lapsed.
SELECT concat('decision ', d.id, ' of ', d.decided_by, ' on request ', d.request_id, ' is in no seat')
FROM approval_decisions d
WHERE d.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM approval_seats s
                  WHERE s.tenant_id = d.tenant_id AND s.request_id = d.request_id AND s.stage = d.stage
                    AND s.position = d.position AND s.status IN (d.decision, 'lapsed')
                    AND s.decided_by = d.decided_by)
ORDER BY d.id LIMIT %(limit)s

-- name: decisions_are_about_what_was_asked
-- A decision names the version, the definition and the policy of its request.
SELECT concat('decision ', d.id, ' of ', d.decided_by, ' is about something else than request ', r.id)
FROM approval_decisions d
JOIN approval_requests r ON r.tenant_id = d.tenant_id AND r.id = d.request_id
WHERE d.tenant_id = %(tenant_id)s
  AND (d.document_version, d.snapshot_hash, d.definition_hash, d.policy_hash)
      <> (r.document_version, r.snapshot_hash, r.definition_hash, r.policy_hash)
ORDER BY d.id LIMIT %(limit)s

-- name: decisions_are_audited
-- A decision has its row in the audit trail.
SELECT concat('decision ', d.id, ' of ', d.decided_by, ' on request ', d.request_id, ' is not audited')
FROM approval_decisions d
WHERE d.tenant_id = %(tenant_id)s
  AND NOT EXISTS (SELECT FROM audit_log a WHERE a.tenant_id = d.tenant_id AND a.id = d.audit_id)
ORDER BY d.id LIMIT %(limit)s

-- name: approved_requests_have_votes
-- What is approved was approved by a person: a decision says so.
SELECT concat('approval request ', r.id, ' is approved, and nobody approved it')
FROM approval_requests r
WHERE r.tenant_id = %(tenant_id)s AND r.status = 'approved'
  AND NOT EXISTS (SELECT FROM approval_decisions d
                  WHERE d.tenant_id = r.tenant_id AND d.request_id = r.id AND d.decision = 'approved')
ORDER BY r.id LIMIT %(limit)s

-- name: used_approvals_passed_a_gate
-- An approval that is used up was used by a gate of its instance that was passed.
SELECT concat('approval request ', r.id, ' is used up, and no gate of instance ', r.instance_id, ' was passed')
FROM approval_requests r
WHERE r.tenant_id = %(tenant_id)s AND r.applied
  AND NOT EXISTS (SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id AND s.node_type = 'lifecycle_gate'
                    AND s.status = 'completed' AND s.output_json ->> 'outcome' = 'passed'
                    AND s.completed_at >= r.created_at)
ORDER BY r.id LIMIT %(limit)s

-- name: passed_gates_used_their_approvals
-- A gate that was passed left no approval of its version unused, so that none is used twice.
SELECT concat('approval request ', r.id, ' is approved for version ', r.document_version, ' of document ',
              r.document_id, ', and was not used when it left')
FROM approval_requests r
JOIN workflow_instances i ON i.tenant_id = r.tenant_id AND i.id = r.instance_id AND i.status = 'completed'
WHERE r.tenant_id = %(tenant_id)s AND r.status = 'approved' AND r.applied IS NOT TRUE
  AND EXISTS (SELECT FROM workflow_step_executions s
              WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id AND s.node_type = 'lifecycle_gate'
                AND s.status = 'completed' AND s.output_json ->> 'outcome' = 'passed'
                AND s.entity_version = r.document_version AND s.completed_at >= r.ended_at)
ORDER BY r.id LIMIT %(limit)s

-- name: open_requests_have_a_workflow
-- A transition that is asked for has the live workflow that answers.
SELECT concat('request ', q.id, ' for ', q.transition, ' of document ', q.document_id, ' is open, and no workflow answers')
FROM transition_requests q
WHERE q.tenant_id = %(tenant_id)s AND q.status = 'open'
  AND NOT EXISTS (SELECT FROM workflow_instances i
                  WHERE i.tenant_id = q.tenant_id AND i.entity_id = q.document_id AND i.status IN ('running', 'paused'))
ORDER BY q.id LIMIT %(limit)s

-- name: requests_are_taken_up
-- A transition that is asked for is served by its workflow, or is about to be.
SELECT concat('request ', q.id, ' for ', q.transition, ' of document ', q.document_id, ' is not taken up by instance ', i.id)
FROM transition_requests q
JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.entity_id = q.document_id AND i.status = 'running'
WHERE q.tenant_id = %(tenant_id)s AND q.status = 'open' AND i.request_id IS DISTINCT FROM q.id
  AND q.created_at < now() - make_interval(secs => %(grace_seconds)s)
  AND NOT EXISTS (SELECT FROM workflow_events_outbox e
                  WHERE e.tenant_id = i.tenant_id AND e.instance_id = i.id
                    AND e.status IN ('pending', 'failed', 'processing'))
ORDER BY q.id LIMIT %(limit)s

-- name: one_amendment_of_an_original
-- An original has at most one amendment that is open or has taken its place.
SELECT concat('document ', a.original_id, ' has ', count(*), ' amendments that are open or settled')
FROM amendments a
WHERE a.tenant_id = %(tenant_id)s AND (a.closing IS NULL OR a.closing = 'settled')
GROUP BY a.original_id
HAVING count(*) > 1
ORDER BY a.original_id LIMIT %(limit)s

-- name: settled_amendments_replace_their_original
-- An amendment that has settled has taken the place of its original.
SELECT concat('amendment ', a.document_id, ' has settled, and its original ', d.id, ' is ', d.status)
FROM amendments a
JOIN documents d ON d.tenant_id = a.tenant_id AND d.id = a.original_id
WHERE a.tenant_id = %(tenant_id)s AND a.closing = 'settled' AND d.status <> 'amended'
ORDER BY d.id LIMIT %(limit)s

-- name: amended_documents_have_their_amendment
-- A document that was replaced has the document that took its place.
SELECT concat('document ', d.id, ' is amended, and nothing took its place')
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.status = 'amended'
  AND NOT EXISTS (SELECT FROM documents n WHERE n.tenant_id = d.tenant_id AND n.amended_from_id = d.id)
ORDER BY d.id LIMIT %(limit)s

-- name: repetition_keys_have_an_outcome
-- A repetition key that was committed has the outcome of its request.
SELECT concat('the key ', k.key, ' of ', k.created_at, ' has no outcome')
FROM idempotency_keys k
WHERE k.tenant_id = %(tenant_id)s AND k.outcome IS NULL
ORDER BY k.key LIMIT %(limit)s

-- name: chains_have_no_gap
-- The audit rows of a subject are numbered from 1 on, each names the one before, and each has the hash of its content.
SELECT concat('audit row ', a.id, ' of ', a.subject_type, ' ', a.subject_id, ' (', a.seq, ') does not follow the one before')
FROM (
    SELECT id, subject_type, subject_id, seq, hash, previous_hash, content,
           lag(hash) OVER (PARTITION BY subject_type, subject_id ORDER BY seq) AS hash_before,
           row_number() OVER (PARTITION BY subject_type, subject_id ORDER BY seq) AS number
    FROM audit_log WHERE tenant_id = %(tenant_id)s AND seq IS NOT NULL
) AS a
WHERE a.seq <> a.number OR a.previous_hash IS DISTINCT FROM a.hash_before
   OR encode(sha256(convert_to(a.content, 'UTF8')), 'hex') <> a.hash
ORDER BY a.id LIMIT %(limit)s

-- name: seals_count_their_rows
-- A seal counts the audit rows of its transactions, and names the seal before it.
SELECT concat('seal ', s.sequence, ' counts ', s.row_count, ' audit rows, and there are ', s.found)
FROM (
    SELECT s.sequence, s.row_count, s.previous_seal, lag(s.seal) OVER (ORDER BY s.sequence) AS seal_before,
           row_number() OVER (ORDER BY s.sequence) AS number,
           (SELECT count(*) FROM audit_log a
            WHERE a.tenant_id = s.tenant_id AND a.epoch = s.epoch AND a.xid >= s.from_xid AND a.xid < s.to_xid) AS found
    FROM audit_seals s WHERE s.tenant_id = %(tenant_id)s
) AS s
WHERE s.row_count <> s.found OR s.sequence <> s.number OR s.previous_seal IS DISTINCT FROM s.seal_before
ORDER BY s.sequence LIMIT %(limit)s

-- name: responsible_sets_are_there
-- The persons behind a document, an instance, a request or an approval are kept under the hash that names them.
SELECT concat(named.what, ' ', named.id, ' names persons that are not kept')
FROM (
    SELECT 'document' AS what, id, creator_responsible AS hash FROM documents WHERE tenant_id = %(tenant_id)s
    UNION ALL
    SELECT 'document', id, editor_responsible FROM documents WHERE tenant_id = %(tenant_id)s
    UNION ALL
    SELECT 'document', id, hindered_by FROM documents WHERE tenant_id = %(tenant_id)s
    UNION ALL
    SELECT 'instance', id, responsible FROM workflow_instances WHERE tenant_id = %(tenant_id)s
    UNION ALL
    SELECT 'request', id, responsible FROM transition_requests WHERE tenant_id = %(tenant_id)s
    UNION ALL
    SELECT 'approval request', id, responsible FROM approval_requests WHERE tenant_id = %(tenant_id)s
) AS named
WHERE named.hash IS NOT NULL
  AND NOT EXISTS (SELECT FROM responsible_sets s WHERE s.tenant_id = %(tenant_id)s AND s.hash = named.hash)
ORDER BY named.id LIMIT %(limit)s
