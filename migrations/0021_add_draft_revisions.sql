-- phase: expand
-- transaction: on
--
-- What people edit together wants a number to compare: a draft's revision grows with each change of its row. It says
-- nothing about what is frozen, and may grow with the status; positions in an editor do not count.

-- up
ALTER TABLE contracts ADD COLUMN revision integer NOT NULL DEFAULT 1 CHECK (revision >= 1);
ALTER TABLE workflow_definitions ADD COLUMN revision integer NOT NULL DEFAULT 1 CHECK (revision >= 1);

CREATE OR REPLACE FUNCTION reject_published_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
       OR (to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at', 'revision'])
          IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at', 'revision']) THEN
        RAISE EXCEPTION 'definition % is published and frozen', OLD.id USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

-- down
CREATE OR REPLACE FUNCTION reject_published_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
       OR (to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at'])
          IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at']) THEN
        RAISE EXCEPTION 'definition % is published and frozen', OLD.id USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
ALTER TABLE workflow_definitions DROP COLUMN revision;
ALTER TABLE contracts DROP COLUMN revision;
