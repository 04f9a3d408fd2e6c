-- phase: expand
-- transaction: on
--
-- The second author of the control: who wrote and who published contracts, definitions and chains, and changes that wait
-- for another person. Rows that are older than this migration name no authors.

-- up
-- Authors are the persons behind everybody who saved the draft. Publishers are the persons behind `published_by`, which
-- may be a key.
ALTER TABLE contracts
    ADD COLUMN authors text[] CHECK (cardinality(authors) <= 200),
    ADD COLUMN published_by text,
    ADD COLUMN publishers text[] CHECK (cardinality(publishers) <= 200);
ALTER TABLE workflow_definitions
    ADD COLUMN authors text[] CHECK (cardinality(authors) <= 200),
    ADD COLUMN published_by text,
    ADD COLUMN publishers text[] CHECK (cardinality(publishers) <= 200);
ALTER TABLE approval_chains
    ADD COLUMN authors text[] CHECK (cardinality(authors) <= 200),
    ADD COLUMN published_by text,
    ADD COLUMN publishers text[] CHECK (cardinality(publishers) <= 200);
GRANT UPDATE (published_by, publishers) ON approval_chains TO signet_api;

-- The other two tables compare whole rows, so that their frozen columns include the new ones.
CREATE OR REPLACE FUNCTION reject_published_contract_mutation() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.status = 'draft' AND TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF OLD.status = 'draft' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE'
       OR (to_jsonb(NEW) - ARRAY['status', 'revision']) IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'revision']) THEN
        RAISE EXCEPTION 'contract % version % is published and frozen', OLD.entity_type, OLD.version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

-- The persons who saved a draft of a name, and when they did so last. A draft that is deleted leaves them here: the next
-- draft of the name has them among its authors, until a version of the name is published.
CREATE TABLE draft_authors (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    kind        text NOT NULL CHECK (kind IN ('contract', 'org_patch', 'automation', 'approval_chain')),
    -- '' where the name belongs to no entity type.
    entity_type text NOT NULL,
    name        text NOT NULL CHECK (char_length(name) <= 63),
    person      text NOT NULL CHECK (char_length(person) <= 200),
    saved_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, kind, entity_type, name, person)
);

-- Changes that take effect when another person confirms them. Of a row only its end is ever written.
CREATE TABLE control_changes (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    id           uuid NOT NULL,
    kind         text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    name         text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    act          text NOT NULL CHECK (act ~ '^[a-z][a-z0-9_]{0,62}$'),
    -- Canonical JSON. It is text, so that the hash is that of the stored bytes.
    body         text NOT NULL CHECK (octet_length(body) <= 1048576),
    -- The version that the change was made on; 0 where there was nothing.
    base_version bigint NOT NULL CHECK (base_version >= 0),
    hash         text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    proposed_by  text NOT NULL,
    responsible  text[] NOT NULL CHECK (cardinality(responsible) BETWEEN 1 AND 200),
    reason       text CHECK (char_length(reason) <= 4000),
    status       text NOT NULL DEFAULT 'proposed'
                 CHECK (status IN ('proposed', 'confirmed', 'rejected', 'withdrawn', 'expired', 'superseded')),
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL CHECK (expires_at > created_at),
    ended_at     timestamptz,
    -- NULL where time or another change ended it.
    ended_by     text,
    PRIMARY KEY (tenant_id, id),
    CHECK ((status = 'proposed') = (ended_at IS NULL)),
    CHECK (status NOT IN ('confirmed', 'rejected', 'withdrawn') OR ended_by IS NOT NULL)
);
-- Finds the few that are open, to count them and to end those that another change has overtaken.
CREATE INDEX control_changes_open ON control_changes (tenant_id, kind, name) WHERE status = 'proposed';
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON control_changes
    FOR EACH ROW EXECUTE FUNCTION
    restrict_status_regression('proposed>confirmed,rejected,withdrawn,expired,superseded');
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON control_changes
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CREATE FUNCTION reject_ended_control_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'control change % has ended as %', OLD.id, OLD.status USING ERRCODE = 'SG003';
END
$$;
CREATE TRIGGER reject_ended_mutation BEFORE UPDATE ON control_changes
    FOR EACH ROW WHEN (OLD.status <> 'proposed' AND NEW.status = OLD.status)
    EXECUTE FUNCTION reject_ended_control_change();

CALL isolate_tenant_table('draft_authors');
CALL isolate_tenant_table('control_changes');
GRANT SELECT, INSERT, UPDATE (saved_at) ON draft_authors TO signet_api;
GRANT SELECT, INSERT, UPDATE (status, ended_at, ended_by) ON control_changes TO signet_api;
CALL distribute_tenant_tables('draft_authors', 'control_changes');

-- down
DROP TABLE control_changes, draft_authors;
DROP FUNCTION reject_ended_control_change();
CREATE OR REPLACE FUNCTION reject_published_contract_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'draft' AND TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF OLD.status = 'draft' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE'
       OR (NEW.tenant_id, NEW.entity_type, NEW.version, NEW.body, NEW.hash, NEW.created_by, NEW.created_at,
           NEW.published_at)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.entity_type, OLD.version, OLD.body, OLD.hash, OLD.created_by, OLD.created_at,
           OLD.published_at) THEN
        RAISE EXCEPTION 'contract % version % is published and frozen', OLD.entity_type, OLD.version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
REVOKE UPDATE (published_by, publishers) ON approval_chains FROM signet_api;
ALTER TABLE approval_chains DROP COLUMN publishers, DROP COLUMN published_by, DROP COLUMN authors;
ALTER TABLE workflow_definitions DROP COLUMN publishers, DROP COLUMN published_by, DROP COLUMN authors;
ALTER TABLE contracts DROP COLUMN publishers, DROP COLUMN published_by, DROP COLUMN authors;
