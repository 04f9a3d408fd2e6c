-- name: open_wave
-- Lock the instances of a claim and read all that a wave needs, in one round trip (decision 0010).
SELECT * FROM open_wave(%(trigger_times)s, %(trigger_ids)s, %(claim_id)s)

-- name: write_steps
-- Write the receipts and steps of a round. It answers how many of them were new.
SELECT write_steps(%(steps)s, %(now)s)

-- name: end_wave
-- Write all changes of a wave, in one round trip (decision 0010).
SELECT end_wave(%(steps)s, %(instances)s, %(effects)s, %(history)s, %(trigger_times)s, %(trigger_ids)s, %(now)s)

-- name: count_lagging
-- Count the instances whose steps are beyond the version of their rows.
SELECT count(*) FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s)
  AND EXISTS (SELECT FROM workflow_step_executions s
              WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.seq > i.version)
