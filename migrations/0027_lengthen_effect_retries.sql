-- phase: expand
-- transaction: on
--
-- Five attempts of an effect take two and a half minutes: a receiver that is away for five would lose what it was told.
-- Twelve take about three and a half hours (10 s, doubled each time, at most an hour).

-- up
ALTER TABLE workflow_side_effects_outbox ALTER COLUMN max_attempts SET DEFAULT 12;

-- down
ALTER TABLE workflow_side_effects_outbox ALTER COLUMN max_attempts SET DEFAULT 5;
