-- name: open_wave
SELECT * FROM open_wave(%(trigger_times)s, %(trigger_ids)s, %(claim_id)s)

-- name: write_steps
SELECT write_steps(%(steps)s, %(now)s)

-- name: end_wave
SELECT end_wave(%(steps)s, %(instances)s, %(effects)s, %(history)s, %(trigger_times)s, %(trigger_ids)s, %(now)s)
