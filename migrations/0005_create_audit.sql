-- phase: expand
-- transaction: on
--
-- The audit trail of documents and administration. Rows are chained per subject, under the lock that the writer holds
-- on it, and sealed per tenant. A row keeps the canonical JSON that was hashed; its columns only repeat that text.

-- up
-- Transaction ids start again after a restore: the operator then starts a new epoch.
CREATE TABLE audit_epochs (
    epoch    integer PRIMARY KEY,
    reason   text NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO audit_epochs (epoch, reason) VALUES (1, 'first');

CREATE TABLE audit_log (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            uuid NOT NULL,
    -- "C" sorts in the same order as the ids of other tables, in every locale of the database.
    subject_type  text COLLATE "C" NOT NULL,
    subject_id    text COLLATE "C" NOT NULL,
    -- 1, 2, 3 … within the subject. NULL for rows that are only sealed.
    seq           bigint CHECK (seq >= 1),
    previous_hash text CHECK (previous_hash ~ '^[0-9a-f]{64}$'),
    hash          text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    content       text NOT NULL,
    action        text NOT NULL,
    actor_id      text NOT NULL,
    created_at    timestamptz NOT NULL,
    -- The writer reads both before it writes, because the content says them too.
    epoch         integer NOT NULL,
    xid           xid8 NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CHECK ((seq = 1) = (seq IS NOT NULL AND previous_hash IS NULL))
);
CREATE UNIQUE INDEX audit_log_chain ON audit_log (tenant_id, subject_type, subject_id, seq) WHERE seq IS NOT NULL;
-- Gives the sealer its rows.
CREATE INDEX audit_log_by_transaction ON audit_log (tenant_id, epoch, xid, id);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- A row under the number of another transaction would be sealed twice or never.
CREATE FUNCTION reject_foreign_transaction() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an audit row is written under its own transaction' USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_foreign_transaction BEFORE INSERT ON audit_log
    FOR EACH ROW WHEN (NEW.xid <> pg_current_xact_id()) EXECUTE FUNCTION reject_foreign_transaction();

CREATE TABLE audit_seals (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    sequence      bigint NOT NULL CHECK (sequence >= 1),
    epoch         integer NOT NULL,
    -- It seals the rows of transactions from_xid <= xid < to_xid.
    from_xid      xid8 NOT NULL,
    to_xid        xid8 NOT NULL,
    row_count     bigint NOT NULL,
    merkle_root   text NOT NULL CHECK (merkle_root ~ '^[0-9a-f]{64}$'),
    previous_seal text CHECK (previous_seal ~ '^[0-9a-f]{64}$'),
    seal          text NOT NULL CHECK (seal ~ '^[0-9a-f]{64}$'),
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, sequence),
    CHECK ((sequence = 1) = (previous_seal IS NULL)),
    CHECK (from_xid < to_xid)
);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON audit_seals
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON audit_seals
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- Up to which seal a tenant's trail is kept at a place that this database's admins cannot write to. The copy there is
-- the proof; this row only says where to go on.
CREATE TABLE audit_anchors (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    sequence    bigint NOT NULL CHECK (sequence >= 1),
    anchored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id)
);

CALL isolate_tenant_table('audit_log');
CALL isolate_tenant_table('audit_seals');
CALL isolate_tenant_table('audit_anchors');
GRANT SELECT ON audit_epochs TO signet_api, signet_worker, signet_janitor;
GRANT SELECT, INSERT ON audit_log TO signet_api, signet_worker, signet_janitor;
GRANT SELECT ON audit_seals TO signet_api, signet_worker;
GRANT SELECT, INSERT ON audit_seals TO signet_janitor;
GRANT SELECT ON audit_anchors TO signet_api;
GRANT SELECT, INSERT, UPDATE (sequence, anchored_at) ON audit_anchors TO signet_janitor;
CALL distribute_tenant_tables('audit_log', 'audit_seals', 'audit_anchors');

-- down
DROP TABLE audit_anchors, audit_seals, audit_log;
DROP FUNCTION reject_foreign_transaction();
DROP TABLE audit_epochs;
