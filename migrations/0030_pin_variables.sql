-- phase: expand
-- transaction: on
--
-- An approval pins the variables of its workflow that are read behind it. Requests of the releases before have null: they
-- are asked again where such a variable is set.

-- up
ALTER TABLE approval_requests ADD COLUMN variables jsonb CHECK (jsonb_typeof(variables) = 'object');
CREATE TRIGGER reject_variables_change BEFORE UPDATE OF variables ON approval_requests FOR EACH ROW
    WHEN (NEW.variables IS DISTINCT FROM OLD.variables)
    EXECUTE FUNCTION reject_identity_change();

-- down
DROP TRIGGER reject_variables_change ON approval_requests;
ALTER TABLE approval_requests DROP COLUMN variables;
