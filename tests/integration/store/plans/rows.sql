-- Rows enough for the planner to care: 200,000 a table (half of that where there are many indexes), of three tenants,
-- over a quarter of a year. A row's number n is its id; of ten rows six are tenant 1's, three are tenant 2's, one is
-- tenant 3's; those that a partial index is about are one or two of a hundred, and tenant 1's.

CREATE FUNCTION pg_temp.id_of(bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
    RETURN lpad(to_hex($1), 32, '0')::uuid;

-- The planner looks at rows only: no foreign keys, no triggers.
SET session_replication_role = replica;
SELECT create_month_partitions((now() - interval '3 months')::date, 3);

CREATE TEMP TABLE numbered AS
SELECT n, pg_temp.id_of(CASE WHEN n % 10 < 6 THEN 1 WHEN n % 10 < 9 THEN 2 ELSE 3 END) AS tenant_id,
       pg_temp.id_of(n) AS id,
       -- ten rows of the same tenant have one parent
       pg_temp.id_of(n - n % 100 + n % 10) AS parent_id,
       now() - interval '80 days' * (1 - n / 200000.0) AS at
FROM generate_series(1, 200000) AS n;

INSERT INTO tenants (tenant_id, name, settings) SELECT DISTINCT tenant_id, 'a', '{}'::jsonb FROM numbered;

-- Fifty workflows each.
INSERT INTO workflow_definitions (tenant_id, id, definition_kind, entity_type, name, version, status, is_default,
                                  contract_version, nodes_json, edges_json, slots_json, compiled_json, compiled_hash,
                                  compiler_version, created_by, published_at)
SELECT tenant_id, pg_temp.id_of(n), 'effective', CASE WHEN n % 10 = 7 THEN 'invoice' ELSE 'order' END, 'w' || n, 1,
       'published', false, 1, '[]', '[]', '[]', '{}', repeat('0', 64), '1', 'carl', now()
FROM (SELECT DISTINCT tenant_id FROM numbered) AS tenant, generate_series(0, 49) AS n;

INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data, amended_from_id, creator_id,
                       created_at, updated_at, deleted_at, t1, t2, t3, t4, n1, n2, n3, n4, d1, d2)
SELECT tenant_id, id, (ARRAY['invoice', 'order'])[n / 10 % 2 + 1], 1,
       (ARRAY['draft', 'submitted', 'active'])[n / 10 % 3 + 1], 1, '{}',
       CASE WHEN n % 100 = 0 THEN pg_temp.id_of(n - 10) END, 'carl', at, at, CASE WHEN n % 100 = 1 THEN at END,
       'a' || n, 'b' || n, 'c' || n, 'd' || n, n, n, n, n, at, at
FROM numbered WHERE n <= 100000;

INSERT INTO transition_requests (tenant_id, id, document_id, document_version, transition, actor_id, status, created_at,
                                 ended_at)
SELECT tenant_id, id, parent_id, 1, 'submit', 'carl', CASE WHEN n % 100 < 10 THEN 'open' ELSE 'performed' END, at,
       CASE WHEN n % 100 >= 10 THEN at END
FROM numbered WHERE n <= 100000;

INSERT INTO workflow_instances (tenant_id, id, kind, definition_id, definition_version, entity_type, entity_id,
                                subject_id, overlap_key, begin_node, begin_version, status, timeout_at, started_at,
                                completed_at, updated_at)
SELECT tenant_id, id, 'envelope', pg_temp.id_of(n / 10 % 50), 1, 'invoice', id, id::text,
       CASE WHEN n % 100 = 0 THEN 'k' || n END, 'a', 1, CASE WHEN n % 10 = 0 THEN 'running' ELSE 'completed' END,
       CASE WHEN n % 100 = 0 THEN at END, at, CASE WHEN n % 10 > 0 THEN at END, at
FROM numbered;

INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id,
                                      entity_version, version_after, status, idempotency_key, started_at, actor_user_id,
                                      snapshot_version_id, resume_at, waiting_for_event_key)
SELECT tenant_id, at, id, parent_id, n % 100, CASE WHEN n % 100 > 2 THEN n % 100 END, 'a', 'a', 'T', 1, 1,
       CASE WHEN n % 100 > 2 THEN 'completed' ELSE 'running' END, decode(lpad(to_hex(n), 64, '0'), 'hex'), at,
       'u' || n % 1000, CASE WHEN n % 100 = 3 THEN id END, CASE WHEN n % 100 = 0 THEN at END,
       CASE WHEN n % 100 = 1 THEN 'k' || n END
FROM numbered;

INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
SELECT tenant_id, parent_id, decode(lpad(to_hex(n), 64, '0'), 'hex'), id, at FROM numbered;

INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
SELECT tenant_id, parent_id, 'events', decode(lpad(to_hex(n), 64, '0'), 'hex'), at FROM numbered;

CREATE TEMP VIEW queued AS
SELECT *, (ARRAY['pending', 'failed', 'processing', 'dead_letter', 'completed'])[least(n % 100, 4) + 1] AS status,
       n / 100 % 3 AS attempts, CASE WHEN n % 100 = 2 THEN id END AS claim_id,
       CASE WHEN n % 100 = 2 THEN at + interval '1 day' END AS lease_until,
       CASE WHEN n % 100 > 3 THEN at + interval '1 day' END AS completed_at
FROM numbered;

INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                    event_idempotency_key, status, attempts, due_at, claim_id, lease_until, completed_at)
SELECT tenant_id, at, id, parent_id, 1, 'mutation', decode(lpad(to_hex(n), 64, '0'), 'hex'), status, attempts,
       at + interval '1 day', claim_id, lease_until, completed_at
FROM queued;

INSERT INTO workflow_side_effects_outbox (tenant_id, created_at, id, instance_id, step_execution_id, effect_type,
                                          event_idempotency_key, status, attempts, due_at, claim_id, lease_until,
                                          completed_at)
SELECT tenant_id, at, id, parent_id, id, 'webhook', decode(lpad(to_hex(n), 64, '0'), 'hex'), status, attempts,
       at + interval '1 day', claim_id, lease_until, completed_at
FROM queued;

INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id)
SELECT tenant_id, at, id, 'instance', parent_id, 'waiting', 'carl' FROM numbered;

-- People, the delegates who stand in for them, their requests and their notifications.
INSERT INTO members (tenant_id, user_id, display_name)
SELECT pg_temp.id_of(t), 'u' || n, 'u' FROM generate_series(1, 3) AS t, generate_series(0, 999) AS n;
INSERT INTO member_roles (tenant_id, user_id, role)
SELECT pg_temp.id_of(t), 'u' || n, 'r' || n % 100 FROM generate_series(1, 3) AS t, generate_series(0, 999) AS n;

INSERT INTO approval_chains (tenant_id, name, version, status, hash, created_by, published_at)
SELECT tenant_id, 'c' || n / 100, n % 100 + 1, CASE WHEN n % 100 < 50 THEN 'published' ELSE 'draft' END,
       repeat('0', 64), 'carl', CASE WHEN n % 100 < 50 THEN at END
FROM numbered WHERE n <= 60000;

INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
SELECT tenant_id, parent_id, n / 10 % 10 + 1, id, '{}', repeat('0', 64), 'carl', at FROM numbered WHERE n <= 60000;

INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id, document_version,
                               snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash, requester_id,
                               status, created_at, ended_at)
SELECT tenant_id, id, parent_id, id, 'a', parent_id, 1, id, '', '', '', '', 'carl',
       CASE WHEN n % 100 < 2 THEN 'open' ELSE 'voided' END, at, CASE WHEN n % 100 >= 2 THEN at END
FROM numbered WHERE n <= 60000;

INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, holder_role, status)
SELECT tenant_id, id, 1, 1, CASE WHEN n % 100 = 0 THEN 'u' || n / 100 % 1000 END,
       CASE WHEN n % 100 > 0 THEN 'r' || n / 100 % 100 END, CASE WHEN n % 100 < 2 THEN 'open' ELSE 'closed' END
FROM numbered WHERE n <= 60000;

INSERT INTO approval_decisions (tenant_id, id, request_id, stage, position, decision, decided_by, document_version,
                                snapshot_hash, definition_hash, policy_hash, created_at)
SELECT tenant_id, id, id, 1, 1, 'approved', 'u' || n / 10 % 1000, 1, '', '', '', at FROM numbered WHERE n <= 60000;

INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, from_time, to_time, created_by, created_at,
                                  revoked_at)
SELECT tenant_id, id, 'u' || n / 10 % 1000, 'u' || (n / 10 + 1) % 1000, at, at + interval '1 day', 'carl', at,
       CASE WHEN n % 100 >= 50 THEN at END
FROM numbered WHERE n <= 60000;

INSERT INTO notifications (tenant_id, id, user_id, role, kind, created_at, read_at)
SELECT tenant_id, id, CASE WHEN n % 20 < 10 THEN 'u' || n / 20 % 1000 END,
       CASE WHEN n % 20 >= 10 THEN 'r' || n / 20 % 100 END, 'approval_voided', at, CASE WHEN n % 100 > 1 THEN at END
FROM numbered WHERE n <= 60000;

INSERT INTO control_changes (tenant_id, id, kind, name, act, body, base_version, hash, proposed_by, responsible, status,
                             created_at, expires_at, ended_at, ended_by)
SELECT tenant_id, id, 'endpoint', 'e' || n / 100 % 1000, 'replace', '{}', 1, repeat('0', 64), 'u1', '{u1}',
       CASE WHEN n % 1000 < 2 THEN 'proposed' ELSE 'confirmed' END, at, at + interval '14 days',
       CASE WHEN n % 1000 >= 2 THEN at END, CASE WHEN n % 1000 >= 2 THEN 'u2' END
FROM numbered WHERE n <= 60000;

INSERT INTO eligibility_changes (tenant_id, id, changed_at, kind, user_id, role, persons, actor_id)
SELECT tenant_id, id, at, CASE WHEN n % 20 < 10 THEN 'member_enabled' ELSE 'role_taken' END,
       CASE WHEN n % 20 < 10 THEN 'u' || n / 20 % 1000 END, CASE WHEN n % 20 >= 10 THEN 'r' || n / 20 % 100 END,
       ARRAY['u1'], 'u1'
FROM numbered WHERE n <= 60000;

INSERT INTO break_glass_proposals (tenant_id, id, request_id, stage, user_id, reason, proposed_by, proposed_persons,
                                   proposed_at, expires_at, consented_by, consented_persons, consented_at, position)
SELECT tenant_id, id, id, 1, 'u0', 'why', 'o', '{o}', at, at + interval '1 day',
       CASE WHEN n % 100 > 1 THEN 'p' END, CASE WHEN n % 100 > 1 THEN '{p}'::text[] END,
       CASE WHEN n % 100 > 1 THEN at END, CASE WHEN n % 100 > 1 THEN 1 END
FROM numbered WHERE n <= 60000;

ANALYZE control_changes, eligibility_changes, break_glass_proposals, members, member_roles, approval_chains, document_versions, approval_requests, approval_seats, approval_decisions,
    approval_delegations, notifications;
ANALYZE documents, transition_requests, workflow_instances, workflow_step_executions, workflow_step_receipts,
    workflow_outbox_receipts, workflow_events_outbox, workflow_side_effects_outbox, workflow_event;
