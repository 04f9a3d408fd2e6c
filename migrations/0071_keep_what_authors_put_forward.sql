-- phase: expand
-- transaction: on
--
-- Where two people must change the control, another person publishes a draft only after one of its authors has put its
-- text forward. The row of the author keeps the hash of that text; to save a draft takes it back.

-- up
ALTER TABLE draft_authors ADD COLUMN put_forward text;
GRANT UPDATE (put_forward) ON draft_authors TO signet_api;

-- down
ALTER TABLE draft_authors DROP COLUMN put_forward;
