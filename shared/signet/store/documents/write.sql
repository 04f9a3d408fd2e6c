-- name: lock_documents
-- Lock documents and read all that a decision about them needs, in one round trip (decision 0008).
SELECT * FROM lock_and_read_documents(%(ids)s::uuid[], %(roles)s)

-- name: find_workflow
-- Find the workflow of a new document. The tenant's own comes first, also while a newer contract waits for its
-- patch. A document that is there keeps the version of the contract that it is checked against.
SELECT id, version, contract_version, definition_kind
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND status = 'published'
  AND definition_kind IN ('effective', 'envelope')
  AND (%(contract_version)s::integer IS NULL OR contract_version = %(contract_version)s)
  AND id <> ALL (%(other_than)s::uuid[])
ORDER BY (definition_kind = 'effective') DESC, contract_version DESC, published_at DESC, id DESC
LIMIT 1

-- name: read_last_pins
-- Read what the newest instance of each document holds of other documents.
SELECT d.id, i.pins
FROM unnest(%(ids)s::uuid[], %(entity_types)s::text[]) AS d (id, entity_type)
CROSS JOIN LATERAL (
    SELECT i.pins FROM workflow_instances i
    WHERE i.tenant_id = %(tenant_id)s AND i.entity_type = d.entity_type AND i.entity_id = d.id AND i.kind = 'envelope'
    ORDER BY i.id DESC
    LIMIT 1
) AS i

-- name: insert_documents
-- Write new documents in one statement.
INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data, amended_from_id,
                       creator_id, editor_ids, creator_responsible, editor_responsible, field_versions,
                       created_at, updated_at, t1, t2, t3, t4, n1, n2, n3, n4, d1, d2)
SELECT %(tenant_id)s, id, entity_type, contract_version, status, version, data, amended_from_id,
       creator_id, editor_ids, creator_responsible, editor_responsible, field_versions, %(now)s, %(now)s,
       t1, t2, t3, t4, n1, n2, n3, n4, d1, d2
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, entity_type text, contract_version integer, status text, version bigint, data jsonb,
    amended_from_id uuid, creator_id text, editor_ids text[], creator_responsible bytea, editor_responsible bytea,
    field_versions jsonb, t1 text, t2 text, t3 text, t4 text,
    n1 bigint, n2 bigint, n3 bigint, n4 bigint, d1 timestamptz, d2 timestamptz)

-- name: begin_keys
-- Set a savepoint, so that taking keys can be undone alone.
SAVEPOINT keys

-- name: begin_items
-- Set a savepoint before the keys of the first item of a list are taken.
SAVEPOINT items

-- name: undo_items
-- Give back the keys that all the items have taken.
ROLLBACK TO SAVEPOINT items

-- name: undo_keys
-- Give back the keys that were taken since the savepoint.
ROLLBACK TO SAVEPOINT keys

-- name: reserve_business_keys
-- Take business keys, in their order, so that two writers cannot wait in a circle. A value has one holder: what does
-- not come back is another document's.
INSERT INTO document_keys (tenant_id, entity_type, field, value, document_id)
SELECT %(tenant_id)s, entity_type, field, value, document_id
FROM json_to_recordset(%(rows)s::json) AS row (entity_type text, field text, value text, document_id uuid)
ORDER BY entity_type, field, value
ON CONFLICT (tenant_id, entity_type, field, value) DO NOTHING
RETURNING document_id, field

-- name: release_keys
-- Give back business keys.
DELETE FROM document_keys k
USING json_to_recordset(%(rows)s::json) AS row (entity_type text, field text, value text, document_id uuid)
WHERE k.tenant_id = %(tenant_id)s AND k.entity_type = row.entity_type AND k.field = row.field
  AND k.value = row.value AND k.document_id = row.document_id

-- name: take_over_keys
-- Take keys from amendments that were given up, where another document of their line wants them.
DELETE FROM document_keys k
USING json_to_recordset(%(rows)s::json) AS row (
          entity_type text, field text, value text, document_id uuid, heir_of uuid),
      amendments given_up
WHERE k.tenant_id = %(tenant_id)s AND k.entity_type = row.entity_type AND k.field = row.field AND k.value = row.value
  AND given_up.tenant_id = k.tenant_id AND given_up.document_id = k.document_id AND given_up.closing = 'given_up'
  AND (given_up.original_id IN (row.document_id, row.heir_of)
       OR EXISTS (SELECT FROM amendments a WHERE a.tenant_id = k.tenant_id AND a.original_id = given_up.original_id
                                             AND a.document_id IN (row.document_id, row.heir_of)))

-- name: insert_personal_values
-- Write personal values apart from the documents that refer to them.
INSERT INTO personal_values (tenant_id, id, document_id, field, salt, value, created_at)
SELECT %(tenant_id)s, id, document_id, field, decode(salt, 'hex'), value, %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, document_id uuid, field text, salt text, value jsonb)

-- name: insert_requests
-- Write transition requests.
INSERT INTO transition_requests (tenant_id, id, document_id, document_version, transition, actor_id, actor_roles,
                                 responsible, reason, trace_id, pins, created_at)
SELECT %(tenant_id)s, id, document_id, document_version, transition, actor_id, actor_roles, responsible, reason,
       trace_id, pins, %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, document_id uuid, document_version bigint, transition text, actor_id text, actor_roles text[],
    responsible bytea, reason text, trace_id text, pins jsonb)

-- name: end_requests
-- End transition requests that are still open.
UPDATE transition_requests r
SET status = row.status, outcome = row.outcome, ended_at = %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, status text, outcome text)
WHERE r.tenant_id = %(tenant_id)s AND r.id = row.id AND r.status = 'open'

-- name: insert_instances
-- Write the instances of documents. Their projection is written at once; the first wave writes their steps. One that a
-- request begins goes on with the pins of the last instance, while the document is at the version that it left, or
-- has left its beginning. What a document was made with goes on also after an edit, and in an amendment. The variables
-- of the last instance go on: conditions behind a gate read what people have approved. The incident of a document
-- that had no workflow closes.
WITH closed AS (
    UPDATE incidents i
    SET closed_at = %(now)s, closing = CASE row.birth WHEN 'restarted' THEN 'restarted' ELSE 'went_on' END,
        closed_by = row.closed_by
    FROM json_to_recordset(%(rows)s::json) AS row (entity_id uuid, birth text, closed_by text)
    WHERE row.birth IN ('reentered', 'restarted') AND i.tenant_id = %(tenant_id)s AND i.entity_id = row.entity_id
      AND i.code = 'DOCUMENT_WITHOUT_WORKFLOW' AND i.closed_at IS NULL
)
INSERT INTO workflow_instances (
    tenant_id, id, kind, definition_id, definition_version, entity_type, entity_id, entity_version, subject_id,
    begin_node, begin_version, birth, begin_actor_id, begin_actor_roles, begin_responsible, actor_id, actor_roles,
    responsible, active_tokens, current_nodes, edit_window, edit_window_node, trace_id, started_at, updated_at,
    begin_pins, pins, begin_context, context_json)
SELECT %(tenant_id)s, row.id, 'envelope', row.definition_id, row.definition_version, row.entity_type, row.entity_id,
       row.entity_version, row.entity_id::text, row.begin_node, row.entity_version, row.birth, row.actor_id,
       row.actor_roles, row.responsible, row.actor_id, row.actor_roles, row.responsible, row.active_tokens,
       ARRAY[row.begin_node], row.edit_window, row.begin_node, row.trace_id, %(now)s, %(now)s,
       begun.pins, begun.pins, begun.context, begun.context
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, definition_id uuid, definition_version integer, entity_type text, entity_id uuid,
    entity_version bigint, begin_node text, birth text, actor_id text, actor_roles text[], responsible bytea,
    active_tokens jsonb, edit_window text, trace_id text, begin_pins jsonb, origin_id uuid, is_begun boolean)
LEFT JOIN LATERAL (
    SELECT i.entity_version, i.pins, i.context_json FROM workflow_instances i
    WHERE row.birth <> 'created' AND i.tenant_id = %(tenant_id)s AND i.entity_type = row.entity_type
      AND i.entity_id = row.origin_id AND i.kind = 'envelope'
    ORDER BY i.id DESC
    LIMIT 1
) AS earlier ON true
CROSS JOIN LATERAL (
    SELECT coalesce(row.begin_pins, (
        SELECT jsonb_object_agg(pin.key, pin.value) FROM jsonb_each(earlier.pins) AS pin
        WHERE (row.birth IN ('reentered', 'restarted') AND (row.is_begun OR earlier.entity_version = row.entity_version))
           OR pin.value ? 'inherited_from'), '{}') AS pins,
           CASE WHEN row.birth IN ('reentered', 'restarted') THEN coalesce(earlier.context_json, '{}') ELSE '{}' END
               AS context
) AS begun

-- name: cancel_instances
-- Cancel instances by their rows. Each gets its step, its waiting steps end, and its row says so: a rebuild would
-- find the same. Their incidents end with them.
WITH ended AS (
    UPDATE workflow_instances i
    SET status = 'cancelled', reason = row.reason, version = i.version + 1, entity_version = row.entity_version,
        active_tokens = '[]', current_nodes = '{}', edit_window = NULL, edit_window_node = NULL, timeout_at = NULL,
        last_step_execution_id = row.step_id, completed_at = %(now)s, updated_at = %(now)s
    FROM json_to_recordset(%(rows)s::json) AS row (
        id uuid, reason text, entity_version bigint, step_id uuid, step_created_at timestamptz, node_id text,
        idempotency_key bytea, output json, actor_id text, responsible bytea, trace_id text)
    WHERE i.tenant_id = %(tenant_id)s AND i.id = row.id AND i.status IN ('running', 'paused')
    RETURNING i.id, i.version, row.reason, row.entity_version, row.step_id, row.step_created_at, row.node_id,
              row.idempotency_key, row.output, row.actor_id, row.responsible, row.trace_id
), waiting AS (
    UPDATE workflow_step_executions s
    SET status = 'cancelled', end_seq = ended.version, completed_at = %(now)s
    FROM ended
    WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = ended.id AND s.status IN ('pending', 'running')
), closed AS (
    UPDATE incidents n SET closed_at = %(now)s, closing = 'ended', closed_by = ended.actor_id
    FROM ended
    WHERE n.tenant_id = %(tenant_id)s AND n.instance_id = ended.id AND n.closed_at IS NULL
), receipt AS (
    INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
    SELECT %(tenant_id)s, id, idempotency_key, step_id, %(now)s FROM ended
)
INSERT INTO workflow_step_executions (
    tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
    version_after, status, idempotency_key, started_at, completed_at, duration_ms, output_json, actor_user_id,
    responsible, trace_id)
SELECT %(tenant_id)s, step_created_at, step_id, id, version, version, node_id, 'control', '', entity_version,
       entity_version, 'completed', idempotency_key, %(now)s, %(now)s, 0, output::jsonb, actor_id, responsible, trace_id
FROM ended

-- name: adopt_contracts
-- Move documents to the contract of the newer definition that their instances move to; the step says so.
UPDATE documents d
SET contract_version = row.contract_version
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, contract_version integer)
WHERE d.tenant_id = %(tenant_id)s AND d.id = row.id

-- name: write_edits
-- Write new versions of documents, audit rows and triggers in one round trip (decision 0008).
SELECT write_edits(%(ids)s::uuid[], %(documents)s, %(versions)s, %(audit)s, %(events)s, %(now)s)

-- name: write_edits_and_starts
-- Write the same, and the starts of the automations that listen to one of these changes. It answers how many there are.
SELECT write_edits(%(ids)s::uuid[], %(documents)s, %(versions)s, %(audit)s, %(events)s, %(now)s),
       fire_automations(%(firings)s, %(now)s)

-- name: read_editors
-- Read the persons who count as editors of a document; a row of an older release names no set.
SELECT coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible), d.editor_ids)
FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s

-- name: write_editors
-- Write the set of persons who count as editors; its document is locked.
UPDATE documents SET editor_responsible = %(responsible)s WHERE tenant_id = %(tenant_id)s AND id = %(document_id)s

-- name: widen_editors
-- Write a larger set of persons who count as editors, as a worker does; its document is locked.
SELECT widen_editors(%(document_id)s, %(responsible)s)

-- name: close_incidents_of_documents
-- Close the incidents of documents that had no workflow and need none any more.
UPDATE incidents i
SET closed_at = %(now)s, closing = 'ended', closed_by = row.closed_by
FROM json_to_recordset(%(rows)s::json) AS row (entity_id uuid, closed_by text)
WHERE i.tenant_id = %(tenant_id)s AND i.entity_id = row.entity_id AND i.code = 'DOCUMENT_WITHOUT_WORKFLOW'
  AND i.closed_at IS NULL
