-- phase: expand
-- transaction: on
--
-- A document has grown by who is behind it, so that a page had room for fewer edits in place: one edit in six of a batch
-- moved its row, and wrote each index again. Pages that are written from now on leave more room.

-- up
ALTER TABLE documents SET (fillfactor = 70);

-- down
ALTER TABLE documents SET (fillfactor = 80);
