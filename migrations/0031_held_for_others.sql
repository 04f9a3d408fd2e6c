-- phase: expand
-- transaction: on
--
-- Held for another branch.

-- up
SELECT 1;

-- down
SELECT 1;
