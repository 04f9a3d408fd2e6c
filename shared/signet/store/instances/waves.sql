-- name: open_wave
SELECT * FROM open_wave(%(trigger_times)s, %(trigger_ids)s, %(claim_id)s)

-- name: write_steps
SELECT write_steps(%(steps)s, %(now)s)

-- name: end_wave
SELECT end_wave(%(steps)s, %(instances)s, %(effects)s, %(history)s, %(trigger_times)s, %(trigger_ids)s, %(now)s)

-- name: count_lagging
-- How many of these instances have steps beyond the version that their rows say.
SELECT count(*) FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s)
  AND EXISTS (SELECT FROM workflow_step_executions s
              WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.seq > i.version)
