-- phase: expand
-- transaction: on
--
-- A request that decides keeps what its contract lets expressions read of other documents, as it was when it was asked for.
-- Its gate compares that, and what is done behind the gate reads it. No runtime role may change the column.

-- up
ALTER TABLE transition_requests ADD COLUMN pins jsonb;

-- down
ALTER TABLE transition_requests DROP COLUMN pins;
