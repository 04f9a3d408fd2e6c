-- phase: expand
-- transaction: on
--
-- An instance of a document that had one before goes on with the variables of the last one. People may have approved
-- what they say, and conditions behind the gate read them. A rebuild begins with the same.

-- up
ALTER TABLE workflow_instances
    ADD COLUMN begin_context jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(begin_context) = 'object');
CREATE TRIGGER reject_begin_context_change BEFORE UPDATE OF begin_context ON workflow_instances FOR EACH ROW
    WHEN (NEW.begin_context IS DISTINCT FROM OLD.begin_context)
    EXECUTE FUNCTION reject_identity_change();

-- down
DROP TRIGGER reject_begin_context_change ON workflow_instances;
ALTER TABLE workflow_instances DROP COLUMN begin_context;
