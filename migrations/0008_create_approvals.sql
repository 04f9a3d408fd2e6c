-- phase: expand
-- transaction: on
--
-- Approvals. Chains are versioned, and frozen once published. Requests are pinned to a version of a document under a
-- definition. Seats are to decide, and decisions are written once. Then delegations, and notifications to people.

-- up
CREATE TABLE approval_chains (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    name         text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    version      integer NOT NULL CHECK (version >= 1),
    status       text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'archived')),
    label        text NOT NULL DEFAULT '' CHECK (char_length(label) <= 200),
    hash         text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz,
    PRIMARY KEY (tenant_id, name, version),
    CHECK ((status = 'draft') = (published_at IS NULL))
);
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_chains
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('draft>published;published>archived');

-- The stages of a chain, one after another.
CREATE TABLE approval_chain_steps (
    tenant_id uuid NOT NULL,
    name      text NOT NULL,
    version   integer NOT NULL,
    position  integer NOT NULL CHECK (position BETWEEN 1 AND 20),
    -- Approvers, quorum, escalation, expiry and reasons, as an inline approval node has them.
    body      jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
    PRIMARY KEY (tenant_id, name, version, position),
    FOREIGN KEY (tenant_id, name, version) REFERENCES approval_chains
);

-- A running request reads the version that it began with: nobody edits that version under it.
CREATE FUNCTION reject_published_chain_mutation() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    is_draft boolean := (SELECT status = 'draft' FROM approval_chains c
                         WHERE c.tenant_id = coalesce(NEW.tenant_id, OLD.tenant_id)
                           AND c.name = coalesce(NEW.name, OLD.name) AND c.version = coalesce(NEW.version, OLD.version));
BEGIN
    -- Of a chain that this tenant does not have, row security and the foreign key have their say.
    IF NOT is_draft THEN
        RAISE EXCEPTION 'approval chain % version % is published and frozen', coalesce(NEW.name, OLD.name),
            coalesce(NEW.version, OLD.version) USING ERRCODE = 'SG003';
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;
CREATE TRIGGER reject_published_mutation BEFORE INSERT OR UPDATE OR DELETE ON approval_chain_steps
    FOR EACH ROW EXECUTE FUNCTION reject_published_chain_mutation();
CREATE FUNCTION reject_published_chain_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (to_jsonb(NEW) - 'status') IS DISTINCT FROM (to_jsonb(OLD) - 'status') THEN
        RAISE EXCEPTION 'approval chain % version % is published and frozen', OLD.name, OLD.version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER reject_published_mutation BEFORE UPDATE OR DELETE ON approval_chains
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION reject_published_chain_change();

CREATE TABLE approval_requests (
    tenant_id           uuid NOT NULL,
    id                  uuid NOT NULL,
    instance_id         uuid NOT NULL,
    step_execution_id   uuid NOT NULL,
    node_id             text NOT NULL,
    document_id         uuid NOT NULL,
    -- The subject of the decision, and what it is decided under: pinned, never recomputed.
    document_version    bigint NOT NULL,
    snapshot_version_id uuid NOT NULL,
    snapshot_hash       text NOT NULL,
    definition_hash     text NOT NULL,
    -- The canonical text of the stages, and its hash.
    policy              text NOT NULL,
    policy_hash         text NOT NULL,
    chain_name          text,
    chain_version       integer,
    -- The person whose request led here. They may not decide unless the contract says so.
    requester_id        text NOT NULL,
    stage               integer NOT NULL DEFAULT 1 CHECK (stage >= 1),
    status              text NOT NULL DEFAULT 'open'
                        CHECK (status IN ('open', 'approved', 'rejected', 'expired', 'voided')),
    -- Why it was voided, or what decided it.
    outcome             text,
    -- Consumed by the gate: NULL while open, false when decided, true when a gate has used it.
    applied             boolean,
    escalate_at         timestamptz,
    expire_at           timestamptz,
    trace_id            text,
    created_at          timestamptz NOT NULL,
    ended_at            timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents,
    CHECK ((status = 'open') = (ended_at IS NULL)),
    CHECK (applied IS NOT TRUE OR status = 'approved')
);
CREATE UNIQUE INDEX approval_requests_by_step ON approval_requests (tenant_id, step_execution_id);
CREATE INDEX approval_requests_by_instance ON approval_requests (tenant_id, instance_id, id)
    WHERE instance_id IS NOT NULL;
CREATE INDEX approval_requests_by_document ON approval_requests (tenant_id, document_id, id)
    WHERE document_id IS NOT NULL;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_requests
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>approved,rejected,expired,voided;approved>voided');

-- The holder of a seat is to decide: a person, or a member with a role at that time. Seats are made when the stage
-- begins, and later edits of chain, role or org chart never change them.
CREATE TABLE approval_seats (
    tenant_id      uuid NOT NULL,
    request_id     uuid NOT NULL,
    stage          integer NOT NULL,
    position       integer NOT NULL,
    holder_user_id text,
    holder_role    text,
    -- How it came to be: 'resolved' when the stage began, 'escalated' later.
    origin         text NOT NULL DEFAULT 'resolved' CHECK (origin IN ('resolved', 'escalated')),
    status         text NOT NULL DEFAULT 'open'
                   CHECK (status IN ('open', 'approved', 'rejected', 'abstained', 'closed')),
    decided_by     text,
    on_behalf_of   text,
    decided_at     timestamptz,
    PRIMARY KEY (tenant_id, request_id, stage, position),
    FOREIGN KEY (tenant_id, request_id) REFERENCES approval_requests,
    CHECK ((holder_user_id IS NULL) <> (holder_role IS NULL)),
    CHECK ((status IN ('approved', 'rejected', 'abstained')) = (decided_by IS NOT NULL))
);
-- The inbox: "what is for me", as a person and by role.
CREATE INDEX approval_seats_of_user ON approval_seats (tenant_id, holder_user_id, request_id) WHERE status = 'open';
CREATE INDEX approval_seats_of_role ON approval_seats (tenant_id, holder_role, request_id)
    WHERE status = 'open' AND holder_role IS NOT NULL;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON approval_seats
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('open>approved,rejected,abstained,closed');

CREATE TABLE approval_decisions (
    tenant_id        uuid NOT NULL,
    id               uuid NOT NULL,
    request_id       uuid NOT NULL,
    stage            integer NOT NULL,
    position         integer NOT NULL,
    decision         text NOT NULL CHECK (decision IN ('approved', 'rejected', 'abstained')),
    reason           text CHECK (char_length(reason) <= 4000),
    decided_by       text NOT NULL,
    on_behalf_of     text,
    delegation_id    uuid,
    document_version bigint NOT NULL,
    snapshot_hash    text NOT NULL,
    definition_hash  text NOT NULL,
    policy_hash      text NOT NULL,
    trace_id         text,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, request_id) REFERENCES approval_requests,
    UNIQUE (tenant_id, request_id, stage, position)
);
CREATE INDEX approval_decisions_by_person ON approval_decisions (tenant_id, decided_by, id)
    WHERE decided_by IS NOT NULL;
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON approval_decisions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON approval_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CREATE TABLE approval_delegations (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    user_id     text NOT NULL,
    delegate_id text NOT NULL CHECK (delegate_id <> user_id),
    -- NULL: for every entity type.
    entity_type text,
    from_time   timestamptz NOT NULL,
    to_time     timestamptz NOT NULL,
    reason      text CHECK (char_length(reason) <= 4000),
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    revoked_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES members,
    FOREIGN KEY (tenant_id, delegate_id) REFERENCES members,
    CHECK (to_time > from_time)
);
CREATE INDEX approval_delegations_of_delegate ON approval_delegations (tenant_id, delegate_id, user_id)
    WHERE revoked_at IS NULL;
CREATE INDEX approval_delegations_of_user ON approval_delegations (tenant_id, user_id, id) WHERE revoked_at IS NULL;

-- Whose turn it is among the holders of a role.
CREATE TABLE approval_turns (
    tenant_id uuid NOT NULL,
    role      text NOT NULL,
    turn      bigint NOT NULL,
    PRIMARY KEY (tenant_id, role)
);

-- Messages to people inside Signet.
CREATE TABLE notifications (
    tenant_id  uuid NOT NULL,
    id         uuid NOT NULL,
    user_id    text,
    role       text,
    kind       text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    request_id uuid,
    data       jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    read_at    timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((user_id IS NULL) <> (role IS NULL))
);
CREATE INDEX notifications_of_user ON notifications (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX notifications_of_role ON notifications (tenant_id, role, id) WHERE role IS NOT NULL;
-- Finds the "read so long ago" to prune, without reading the others.
CREATE INDEX notifications_read ON notifications (tenant_id, read_at) WHERE read_at IS NOT NULL;

CALL isolate_tenant_table('approval_chains');
CALL isolate_tenant_table('approval_chain_steps');
CALL isolate_tenant_table('approval_requests');
CALL isolate_tenant_table('approval_seats');
CALL isolate_tenant_table('approval_decisions');
CALL isolate_tenant_table('approval_delegations');
CALL isolate_tenant_table('approval_turns');
CALL isolate_tenant_table('notifications');
GRANT SELECT, INSERT ON approval_chains, approval_chain_steps TO signet_api;
GRANT UPDATE (status, published_at) ON approval_chains TO signet_api;
GRANT SELECT ON approval_chains, approval_chain_steps TO signet_worker;
GRANT SELECT, INSERT ON approval_requests, approval_seats TO signet_worker;
GRANT SELECT ON approval_requests, approval_seats TO signet_api;
GRANT UPDATE (stage, status, outcome, applied, escalate_at, expire_at, ended_at) ON approval_requests
    TO signet_api, signet_worker;
GRANT UPDATE (status, decided_by, on_behalf_of, decided_at) ON approval_seats TO signet_api, signet_worker;
GRANT SELECT, INSERT ON approval_decisions TO signet_api;
GRANT SELECT ON approval_decisions TO signet_worker;
GRANT SELECT, INSERT ON approval_delegations TO signet_api;
GRANT UPDATE (revoked_at) ON approval_delegations TO signet_api;
GRANT SELECT ON approval_delegations TO signet_worker;
GRANT SELECT, INSERT, UPDATE ON approval_turns TO signet_worker;
GRANT SELECT, INSERT ON notifications TO signet_api, signet_worker;
GRANT UPDATE (read_at) ON notifications TO signet_api;
GRANT SELECT ON approval_chains, approval_chain_steps, approval_requests, approval_seats, approval_decisions,
    approval_delegations, notifications TO signet_janitor;
CALL distribute_tenant_tables(
    'approval_chains', 'approval_chain_steps', 'approval_requests', 'approval_seats', 'approval_decisions',
    'approval_delegations', 'approval_turns', 'notifications');

-- down
DROP TABLE notifications, approval_turns, approval_delegations, approval_decisions, approval_seats, approval_requests,
    approval_chain_steps, approval_chains;
DROP FUNCTION reject_published_chain_change();
DROP FUNCTION reject_published_chain_mutation();
