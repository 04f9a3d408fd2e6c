-- phase: expand
-- transaction: on

-- up
SELECT 1;

-- down
SELECT 1;
