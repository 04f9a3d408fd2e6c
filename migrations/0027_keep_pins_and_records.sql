-- phase: expand
-- transaction: on
--
-- An instance that a request begins goes on with what the gates of the last instance have used of other documents, while
-- the document is at the version that that instance left. A rebuild begins with the same.

-- up
ALTER TABLE workflow_instances
    ADD COLUMN begin_pins jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(begin_pins) = 'object');
CREATE TRIGGER reject_begin_pins_change BEFORE UPDATE OF begin_pins ON workflow_instances FOR EACH ROW
    WHEN (NEW.begin_pins IS DISTINCT FROM OLD.begin_pins)
    EXECUTE FUNCTION reject_identity_change();

-- down
DROP TRIGGER reject_begin_pins_change ON workflow_instances;
ALTER TABLE workflow_instances DROP COLUMN begin_pins;
