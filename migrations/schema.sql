CREATE FUNCTION public.current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('signet.tenant_id'::text, true), ''::text))::uuid;

ALTER FUNCTION public.current_tenant_id() OWNER TO signet_owner;

CREATE TABLE public.amendments (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    original_id uuid NOT NULL,
    original_version bigint NOT NULL,
    original_status text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closing text,
    CONSTRAINT amendments_check CHECK ((document_id <> original_id)),
    CONSTRAINT amendments_check1 CHECK (((closed_at IS NULL) = (closing IS NULL))),
    CONSTRAINT amendments_closing_check CHECK ((closing = ANY (ARRAY['settled'::text, 'handed_on'::text, 'given_up'::text]))),
    CONSTRAINT amendments_original_version_check CHECK ((original_version >= 1))
);

ALTER TABLE ONLY public.amendments FORCE ROW LEVEL SECURITY;

ALTER TABLE public.amendments OWNER TO signet_owner;

CREATE TABLE public.documents (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    entity_type text NOT NULL,
    contract_version integer NOT NULL,
    status text NOT NULL,
    version bigint NOT NULL,
    data jsonb NOT NULL,
    amended_from_id uuid,
    creator_id text NOT NULL,
    editor_ids text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    t1 text,
    t2 text,
    t3 text,
    t4 text,
    n1 bigint,
    n2 bigint,
    n3 bigint,
    n4 bigint,
    d1 timestamp with time zone,
    d2 timestamp with time zone,
    purged_at timestamp with time zone,
    creator_responsible bytea,
    editor_responsible bytea,
    field_versions jsonb DEFAULT '{}'::jsonb NOT NULL,
    hindered_by bytea,
    CONSTRAINT documents_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT documents_version_check CHECK ((version >= 1))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.documents FORCE ROW LEVEL SECURITY;

ALTER TABLE public.documents OWNER TO signet_owner;

CREATE FUNCTION public.amendment_in_place_of(document uuid) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    BEGIN ATOMIC
 SELECT COALESCE(( SELECT a.document_id
            FROM public.amendments a
           WHERE ((a.tenant_id = public.current_tenant_id()) AND (a.original_id = amendment_in_place_of.document) AND (a.closing = 'settled'::text))), ( SELECT n.id
            FROM (public.documents d
              JOIN public.documents n ON (((n.tenant_id = d.tenant_id) AND (n.amended_from_id = d.id))))
           WHERE ((d.tenant_id = public.current_tenant_id()) AND (d.id = amendment_in_place_of.document) AND (d.status = 'amended'::text) AND (NOT (EXISTS ( SELECT
                    FROM public.amendments a
                   WHERE ((a.tenant_id = n.tenant_id) AND (a.document_id = n.id) AND (a.original_id = d.id))))))
           ORDER BY n.id
          LIMIT 1)) AS "coalesce";
END;

ALTER FUNCTION public.amendment_in_place_of(document uuid) OWNER TO signet_owner;

CREATE FUNCTION public.barring_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], needed text[], own_resources text[]) RETURNS TABLE(kind text, changed_at timestamp with time zone, actor_id text, persons text[], user_id text, role text, other_user_id text, gave text[], given_by text[], granting jsonb)
    LANGUAGE plpgsql STABLE ROWS 10 PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $_$
#variable_conflict use_column
BEGIN
    -- Of most requests nothing has changed since they were asked.
    IF NOT EXISTS (SELECT FROM eligibility_changes c WHERE c.tenant_id = current_tenant_id() AND c.changed_at >= since) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id, c.gave, c.given_by,
           (SELECT coalesce(jsonb_object_agg(p.permission, ARRAY(
                       SELECT h.role FROM roles h
                       WHERE h.tenant_id = current_tenant_id()
                         AND h.permissions && permissions_granting(p.permission, $6))), '{}')
            FROM unnest($5) AS p (permission))
    FROM (
        SELECT n.*,
               CASE WHEN n.kind IN ('role_permissions_changed', 'role_widened') THEN ARRAY(
                   SELECT p.permission FROM unnest($5) AS p (permission)
                   WHERE n.permissions && permissions_granting(p.permission, $6) ORDER BY p.permission)
               ELSE '{}' END AS gave,
               CASE n.kind
                   WHEN 'role_given' THEN last_giving($1, 'infinity', 'role_taken', n.user_id, n.role)
                   WHEN 'manager_set' THEN (
                       SELECT g.persons FROM eligibility_changes g
                       JOIN org_chart line ON line.tenant_id = g.tenant_id AND line.user_id = g.other_user_id
                        AND line.manager_id = g.user_id
                       WHERE g.tenant_id = n.tenant_id AND g.user_id = n.user_id AND g.kind = 'manager_set'
                         AND g.other_user_id = n.other_user_id AND g.changed_at >= $1
                       ORDER BY g.changed_at DESC LIMIT 1)
                   ELSE last_giving($1, n.changed_at, n.kind, n.user_id, n.role)
               END AS given_by
        FROM (
            SELECT u.*, CASE WHEN u.kind = 'delegation_given' THEN u.other_user_id END AS side
            FROM eligibility_changes u
            WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
              AND u.kind NOT IN ('delegation_revoked', 'role_taken')
              -- A vote rests on a delegation where both of its sides are judged.
              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))
              AND (u.kind <> 'role_given'
                   OR u.role = ANY ($3)
                   OR EXISTS (SELECT FROM member_roles h
                              WHERE h.tenant_id = u.tenant_id AND h.user_id = u.user_id AND h.role = u.role))
            UNION ALL
            SELECT r.*, NULL
            FROM eligibility_changes r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
              AND (r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_widened', 'role_deleted')
                   -- One of these persons has given it back: that may lift a bar.
                   OR r.kind IN ('role_given', 'member_enabled')
                      AND (SELECT count(*) FROM eligibility_changes t
                           WHERE t.tenant_id = r.tenant_id AND t.user_id = r.user_id AND t.changed_at >= $1
                             AND t.persons && $4
                             AND ((r.kind = 'role_given' AND t.kind IN ('role_taken', 'member_disabled') AND t.role = r.role)
                                  OR (r.kind = 'member_enabled' AND t.kind = 'member_disabled'))) > 0)
        ) AS n
        WHERE n.persons && $4
    ) AS c
    -- What others have given back is not taken any more.
    WHERE (SELECT count(*) FROM eligibility_changes b
           WHERE b.tenant_id = c.tenant_id AND b.user_id = c.user_id AND b.changed_at > c.changed_at
             AND NOT b.persons && $4
             AND ((c.kind = 'role_taken' AND b.kind = 'role_given' AND b.role = c.role)
                  OR (c.kind = 'member_disabled' AND b.kind = 'member_enabled'))) = 0
      -- Nor what others have set again for all who hold the role.
      AND (SELECT count(*) FROM eligibility_changes s
           WHERE c.kind IN ('role_permissions_changed', 'role_widened', 'role_deleted')
             AND s.tenant_id = c.tenant_id AND s.role = c.role AND s.changed_at > c.changed_at
             AND NOT s.persons && $4
             AND (s.kind = 'role_permissions_changed' OR s.kind = 'role_widened' AND c.kind <> 'role_widened')) = 0
    ORDER BY c.kind, c.user_id, c.role, c.side, c.persons, c.gave, c.given_by, c.changed_at DESC
    LIMIT 1001;
END
$_$;

ALTER FUNCTION public.barring_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], needed text[], own_resources text[]) OWNER TO signet_owner;

CREATE FUNCTION public.check_key_owner() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- The release before this one names no owner.
        NEW.owner_id := coalesce(NEW.owner_id, NEW.created_by);
        IF NEW.owner_id <> NEW.created_by THEN
            RAISE EXCEPTION 'a new API key belongs to who made it' USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.owner_id IS DISTINCT FROM OLD.owner_id AND NEW.owner_id IS DISTINCT FROM OLD.proposed_owner_id THEN
        RAISE EXCEPTION 'an API key is taken over only by who was asked to' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.check_key_owner() OWNER TO signet_owner;

CREATE TABLE public.workflow_side_effects_outbox (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    step_execution_id uuid NOT NULL,
    effect_type text NOT NULL,
    endpoint text,
    payload_json jsonb DEFAULT '{}'::jsonb NOT NULL,
    event_idempotency_key bytea NOT NULL,
    trace_id text,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    max_attempts integer DEFAULT 12 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claim_id uuid,
    lease_until timestamp with time zone,
    completed_at timestamp with time zone,
    error text,
    response_json jsonb,
    withdrawn_at timestamp with time zone,
    discard_reason text,
    first_id uuid,
    held_at timestamp with time zone,
    withdraw_reason text,
    planned_at timestamp with time zone,
    claimed_at timestamp with time zone,
    left_at timestamp with time zone,
    lost_at timestamp with time zone,
    CONSTRAINT workflow_side_effects_outbox_claim CHECK ((((status = 'processing'::text) = (claim_id IS NOT NULL)) AND ((claim_id IS NULL) = (lease_until IS NULL)))),
    CONSTRAINT workflow_side_effects_outbox_discard_reason_check CHECK (((char_length(discard_reason) >= 1) AND (char_length(discard_reason) <= 4000))),
    CONSTRAINT workflow_side_effects_outbox_discarded CHECK (((status = 'discarded'::text) = (discard_reason IS NOT NULL))),
    CONSTRAINT workflow_side_effects_outbox_effect_type_check CHECK ((effect_type = ANY (ARRAY['webhook'::text, 'email'::text, 'sms'::text, 'in_app'::text, 'integration'::text]))),
    CONSTRAINT workflow_side_effects_outbox_endpoint_check CHECK ((char_length(endpoint) <= 200)),
    CONSTRAINT workflow_side_effects_outbox_event_idempotency_key_check CHECK ((octet_length(event_idempotency_key) = 32)),
    CONSTRAINT workflow_side_effects_outbox_max_attempts_check CHECK ((max_attempts >= 1)),
    CONSTRAINT workflow_side_effects_outbox_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'dead_letter'::text, 'withdrawn'::text, 'discarded'::text]))),
    CONSTRAINT workflow_side_effects_outbox_withdraw_reason_check CHECK (((char_length(withdraw_reason) >= 1) AND (char_length(withdraw_reason) <= 4000))),
    CONSTRAINT workflow_side_effects_outbox_withdrawn CHECK (((withdraw_reason IS NULL) OR (withdrawn_at IS NOT NULL)))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY public.workflow_side_effects_outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_side_effects_outbox OWNER TO signet_owner;

CREATE FUNCTION public.claim_effects(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) RETURNS SETOF public.workflow_side_effects_outbox
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    times timestamptz[];
    ids   uuid[];
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it.
    WITH first AS (
        SELECT q.created_at, q.id, q.attempts FROM workflow_side_effects_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
        ORDER BY q.due_at, q.id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ), together AS (
        SELECT q.created_at, q.id FROM workflow_side_effects_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
          AND q.attempts < alone_from AND (SELECT first.attempts FROM first) < alone_from
        ORDER BY q.due_at, q.id
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    )
    SELECT array_agg(chosen.created_at), array_agg(chosen.id) INTO times, ids
    FROM (
        SELECT first.created_at, first.id FROM first WHERE first.attempts >= alone_from
        UNION ALL
        SELECT together.created_at, together.id FROM together
    ) AS chosen;
    IF times IS NULL THEN
        RETURN;
    END IF;
    -- By arrays, as no join does: it would be planned for the empty queue of a new month, and then read all of the tenant.
    RETURN QUERY
    UPDATE workflow_side_effects_outbox q
    SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
        lease_until = now() + make_interval(secs => lease_seconds), claimed_at = now(),
        left_at = coalesce(q.left_at, now())
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (times)
      AND array_position(ids, q.id) IS NOT NULL
    RETURNING q.*;
END
$$;

ALTER FUNCTION public.claim_effects(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) OWNER TO signet_owner;

CREATE TABLE public.workflow_events_outbox (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    entity_version bigint NOT NULL,
    definition_version integer,
    event_type text NOT NULL,
    payload_json jsonb DEFAULT '{}'::jsonb NOT NULL,
    event_idempotency_key bytea NOT NULL,
    depth integer DEFAULT 0 NOT NULL,
    trace_id text,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    max_attempts integer DEFAULT 5 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claim_id uuid,
    lease_until timestamp with time zone,
    completed_at timestamp with time zone,
    error text,
    responsible bytea,
    discard_reason text,
    given_back integer DEFAULT 0 NOT NULL,
    given_back_since timestamp with time zone,
    given_back_code text,
    CONSTRAINT workflow_events_outbox_claim CHECK ((((status = 'processing'::text) = (claim_id IS NOT NULL)) AND ((claim_id IS NULL) = (lease_until IS NULL)))),
    CONSTRAINT workflow_events_outbox_discard_reason_check CHECK (((char_length(discard_reason) >= 1) AND (char_length(discard_reason) <= 4000))),
    CONSTRAINT workflow_events_outbox_discarded CHECK (((status = 'discarded'::text) = (discard_reason IS NOT NULL))),
    CONSTRAINT workflow_events_outbox_event_idempotency_key_check CHECK ((octet_length(event_idempotency_key) = 32)),
    CONSTRAINT workflow_events_outbox_max_attempts_check CHECK ((max_attempts >= 1)),
    CONSTRAINT workflow_events_outbox_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'dead_letter'::text, 'discarded'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY public.workflow_events_outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_events_outbox OWNER TO signet_owner;

CREATE FUNCTION public.claim_events(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) RETURNS SETOF public.workflow_events_outbox
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    times timestamptz[];
    ids   uuid[];
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it. So
    -- does one that was given back for long: if that happens again, the cause is its own (outbox/given_back.py).
    WITH first AS (
        SELECT q.created_at, q.id,
               q.attempts >= alone_from
               OR q.given_back >= 10 AND q.given_back_since <= now() - interval '15 minutes' AS is_alone
        FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
        ORDER BY q.due_at, q.id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ), together AS (
        SELECT q.created_at, q.id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
          AND q.attempts < alone_from AND NOT (SELECT first.is_alone FROM first)
          AND (q.given_back < 10 OR q.given_back_since > now() - interval '15 minutes')
        ORDER BY q.due_at, q.id
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    )
    SELECT array_agg(chosen.created_at), array_agg(chosen.id) INTO times, ids
    FROM (
        SELECT first.created_at, first.id FROM first WHERE first.is_alone
        UNION ALL
        SELECT together.created_at, together.id FROM together
    ) AS chosen;
    IF times IS NULL THEN
        RETURN;
    END IF;
    -- By arrays, as no join does: it would be planned for the empty queue of a new month, and then read all of the tenant.
    RETURN QUERY
    UPDATE workflow_events_outbox q
    SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
        lease_until = now() + make_interval(secs => lease_seconds)
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (times)
      AND array_position(ids, q.id) IS NOT NULL
    RETURNING q.*;
END
$$;

ALTER FUNCTION public.claim_events(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) OWNER TO signet_owner;

CREATE FUNCTION public.claim_events_and_look(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision, looks_at_leases boolean) RETURNS TABLE(claimed public.workflow_events_outbox, has_more boolean, has_expired boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    taken workflow_events_outbox[] := ARRAY(
        SELECT q FROM claim_events(own_claim, since, at_most, alone_from, lease_seconds) AS q);
BEGIN
    -- The order names the index, also for a plan that was made while there was nothing. EXISTS would leave it out.
    has_more := false;
    has_expired := false;
    -- A claim that is neither full nor of a trigger that goes alone has taken all that nobody else holds.
    IF cardinality(taken) = at_most OR taken[1].attempts > alone_from OR taken[1].given_back >= 10 THEN
        has_more := (
            SELECT true FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed')
              AND q.due_at BETWEEN since AND now()
            ORDER BY q.due_at LIMIT 1) IS NOT NULL;
    END IF;
    IF looks_at_leases AND NOT has_more THEN
        has_expired := (
            SELECT true FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status = 'processing' AND q.lease_until BETWEEN since AND now()
            ORDER BY q.lease_until LIMIT 1) IS NOT NULL;
    END IF;
    IF cardinality(taken) = 0 AND has_expired THEN
        RETURN NEXT;
    END IF;
    FOREACH claimed IN ARRAY taken LOOP
        RETURN NEXT;
    END LOOP;
END
$$;

ALTER FUNCTION public.claim_events_and_look(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision, looks_at_leases boolean) OWNER TO signet_owner;

CREATE FUNCTION public.close_approval_seats(request_ids uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    UPDATE approval_seats s SET status = 'closed'
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = ANY (request_ids) AND s.status = 'open'
$$;

ALTER FUNCTION public.close_approval_seats(request_ids uuid[]) OWNER TO signet_owner;

CREATE FUNCTION public.coming_tenants(queue text, ahead interval, at_most integer) RETURNS TABLE(tenant_id uuid, due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL OR ahead IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000
       OR ahead NOT BETWEEN interval '0' AND interval '15 minutes' THEN
        RAISE EXCEPTION 'no such queue, not within 15 minutes, or not between 1 and 10000 moments: %, %, %', queue, ahead, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($coming$
        SELECT soon.tenant_id, max(soon.wakes_at)
        FROM (SELECT q.tenant_id, CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END AS wakes_at
              FROM %1$I q
              WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END > now()
                AND CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END <= now() + $1
                AND q.status <> 'processing'
              ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
              LIMIT $2) AS soon
        GROUP BY soon.tenant_id, date_trunc('second', soon.wakes_at)
        ORDER BY max(soon.wakes_at), soon.tenant_id
    $coming$, queue_table) USING ahead, at_most;
END
$_$;

ALTER FUNCTION public.coming_tenants(queue text, ahead interval, at_most integer) OWNER TO signet_dispatch;

CREATE FUNCTION public.count_due(queue_table text, tenants uuid[], counted_since timestamp with time zone[], oldest timestamp with time zone[]) RETURNS TABLE(tenant_id uuid, due_count integer, oldest_due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
BEGIN
    IF tenants = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format($counted$
        SELECT due.tenant_id,
               (SELECT count(*) FROM (
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status IN ('pending', 'failed')
                       AND q.due_at BETWEEN due.since AND now()
                     LIMIT 1000)
                    UNION ALL
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status = 'processing'
                       AND q.lease_until BETWEEN due.since AND now()
                     LIMIT 1000)
                    LIMIT 1000) AS counted)::integer,
               due.oldest
        FROM unnest($1, $2, $3) AS due (tenant_id, since, oldest)
        ORDER BY due.oldest, due.tenant_id
    $counted$, queue_table) USING tenants, counted_since, oldest;
END
$_$;

ALTER FUNCTION public.count_due(queue_table text, tenants uuid[], counted_since timestamp with time zone[], oldest timestamp with time zone[]) OWNER TO signet_owner;

CREATE FUNCTION public.count_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    NEW.version := OLD.version + 1;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.count_version() OWNER TO signet_owner;

CREATE FUNCTION public.count_version_of_member() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    changed record := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    UPDATE public.members SET version = version
    WHERE tenant_id = changed.tenant_id AND user_id = changed.user_id;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.count_version_of_member() OWNER TO signet_owner;

CREATE FUNCTION public.count_waits(at_most integer) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN (SELECT count(*) FROM (SELECT FROM request_waits w WHERE w.expires_at > now() LIMIT at_most) AS counted);
END
$$;

ALTER FUNCTION public.count_waits(at_most integer) OWNER TO signet_dispatch;

CREATE FUNCTION public.create_month_partitions(first date, months integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    AS $$
DECLARE
    parent         regclass;
    month          timestamp;
    partition_name text;
BEGIN
    IF first IS NULL OR months IS NULL OR months NOT BETWEEN 1 AND 24 THEN
        RAISE EXCEPTION 'between 1 and 24 months from a date, not % from %', months, first USING ERRCODE = '22023';
    END IF;
    FOR parent IN
        SELECT p.partrelid FROM pg_partitioned_table p
        JOIN pg_class c ON c.oid = p.partrelid
        JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
        WHERE c.relnamespace = 'public'::regnamespace AND p.partstrat = 'r' AND a.attname = 'created_at'
        ORDER BY c.relname
    LOOP
        FOR month IN
            SELECT generate_series(date_trunc('month', first::timestamp),
                                   date_trunc('month', first::timestamp) + make_interval(months => months - 1),
                                   interval '1 month')
        LOOP
            partition_name := format('%s_%s', (SELECT relname FROM pg_class WHERE oid = parent),
                                     to_char(month, 'YYYY_MM'));
            CONTINUE WHEN to_regclass(format('public.%I', partition_name)) IS NOT NULL;
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', parent);
            -- Another caller may have made it while this one waited.
            CONTINUE WHEN to_regclass(format('public.%I', partition_name)) IS NOT NULL;
            CALL create_partition(parent, partition_name, month AT TIME ZONE 'UTC',
                                  (month + interval '1 month') AT TIME ZONE 'UTC');
            CALL isolate_tenant_table(format('public.%I', partition_name)::regclass);
            IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = parent AND tgname = 'reject_truncate') THEN
                EXECUTE format('CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.%I '
                               'FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change()', partition_name);
            END IF;
            RETURN NEXT partition_name;
        END LOOP;
    END LOOP;
END
$$;

ALTER FUNCTION public.create_month_partitions(first date, months integer) OWNER TO signet_owner;

CREATE PROCEDURE public.create_partition(IN parent regclass, IN partition_name text, IN from_time timestamp with time zone, IN to_time timestamp with time zone)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    made      text := format('CREATE TABLE public.%I PARTITION OF %s FOR VALUES FROM (%L) TO (%L)',
                             partition_name, parent, from_time, to_time);
    leftovers regclass := (SELECT partdefid FROM pg_partitioned_table WHERE partrelid = parent);
BEGIN
    EXECUTE made;
EXCEPTION WHEN check_violation THEN
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', parent, leftovers);
    EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', leftovers);
    EXECUTE made;
    EXECUTE format('WITH moved AS (DELETE FROM %s WHERE created_at >= %L AND created_at < %L RETURNING *) '
                   'INSERT INTO public.%I SELECT * FROM moved', leftovers, from_time, to_time, partition_name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', leftovers);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT', parent, leftovers);
END
$$;

ALTER PROCEDURE public.create_partition(IN parent regclass, IN partition_name text, IN from_time timestamp with time zone, IN to_time timestamp with time zone) OWNER TO signet_owner;

CREATE PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[])
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
DECLARE
    tenant_table text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        RAISE NOTICE 'skipped: distribution by tenant (no Citus here) of %', array_to_string(tenant_tables, ', ');
        RETURN;
    END IF;
    FOREACH tenant_table IN ARRAY tenant_tables LOOP
        IF tenant_table = 'tenants' THEN
            EXECUTE 'SELECT create_distributed_table($1::regclass, ''tenant_id'')' USING tenant_table;
        ELSE
            EXECUTE 'SELECT create_distributed_table($1::regclass, ''tenant_id'', colocate_with => ''tenants'')'
                USING tenant_table;
        END IF;
    END LOOP;
END
$_$;

ALTER PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[]) OWNER TO signet_owner;

CREATE FUNCTION public.document_in_force(document uuid, status text) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    SELECT CASE status
        WHEN 'amended' THEN (SELECT line.current_id FROM line_of_amendments(document) AS line)
        ELSE document END
$$;

ALTER FUNCTION public.document_in_force(document uuid, status text) OWNER TO signet_owner;

CREATE FUNCTION public.drop_empty_months(kept interval, at_most integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    AS $$
DECLARE
    queue_table text;
    month       record;
    dropped     integer := 0;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    FOREACH queue_table IN ARRAY ARRAY['workflow_events_outbox', 'workflow_side_effects_outbox'] LOOP
        FOR month IN SELECT * FROM list_months(queue_table::regclass) AS m WHERE m.to_time < now() - kept LOOP
            CONTINUE WHEN dropped >= at_most OR NOT is_outbox_empty(queue_table, month.from_time, month.to_time);
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', queue_table);
            -- Once more, now that nobody can write.
            CONTINUE WHEN NOT is_outbox_empty(queue_table, month.from_time, month.to_time);
            EXECUTE format('DROP TABLE %I', month.partition_name);
            dropped := dropped + 1;
            RETURN NEXT month.partition_name;
        END LOOP;
    END LOOP;
END
$$;

ALTER FUNCTION public.drop_empty_months(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.drop_history_months(kept interval, at_most integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    AS $$
DECLARE
    month record;
BEGIN
    PERFORM require_bounds(kept, interval '30 days', at_most);
    FOR month IN
        SELECT * FROM list_months('workflow_event'::regclass) AS m WHERE m.to_time < now() - kept LIMIT at_most
    LOOP
        EXECUTE format('DROP TABLE %I', month.partition_name);
        RETURN NEXT month.partition_name;
    END LOOP;
END
$$;

ALTER FUNCTION public.drop_history_months(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.due_tenants(queue text, at_most integer) RETURNS TABLE(tenant_id uuid, due_count integer, oldest_due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
    found       record;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    found := find_due_early(queue_table, '-infinity', '{}', at_most);
    IF NOT found.is_whole THEN
        -- The many rows of some tenants hide the others: from each tenant that has anything to the next one.
        EXECUTE format($due$
            WITH RECURSIVE waiting AS (
                (SELECT q.tenant_id FROM %1$I q WHERE q.status IN ('pending', 'failed') ORDER BY q.tenant_id LIMIT 1)
                UNION ALL
                SELECT (SELECT q.tenant_id FROM %1$I q
                        WHERE q.status IN ('pending', 'failed') AND q.tenant_id > w.tenant_id
                        ORDER BY q.tenant_id LIMIT 1)
                FROM waiting w WHERE w.tenant_id IS NOT NULL
            ), working AS (
                (SELECT q.tenant_id FROM %1$I q WHERE q.status = 'processing' ORDER BY q.tenant_id LIMIT 1)
                UNION ALL
                SELECT (SELECT q.tenant_id FROM %1$I q
                        WHERE q.status = 'processing' AND q.tenant_id > w.tenant_id
                        ORDER BY q.tenant_id LIMIT 1)
                FROM working w WHERE w.tenant_id IS NOT NULL
            ), due AS (
                SELECT each.tenant_id, min(each.since) AS since FROM (
                    SELECT w.tenant_id, (SELECT q.due_at FROM %1$I q
                                         WHERE q.tenant_id = w.tenant_id AND q.status IN ('pending', 'failed')
                                           AND q.due_at <= now()
                                         ORDER BY q.due_at LIMIT 1) AS since
                    FROM waiting w
                    UNION ALL
                    SELECT w.tenant_id, (SELECT q.lease_until FROM %1$I q
                                         WHERE q.tenant_id = w.tenant_id AND q.status = 'processing'
                                           AND q.lease_until <= now()
                                         ORDER BY q.lease_until LIMIT 1)
                    FROM working w
                ) AS each
                WHERE each.since IS NOT NULL
                GROUP BY each.tenant_id
                ORDER BY min(each.since), each.tenant_id
                LIMIT $1
            )
            SELECT array_agg(due.tenant_id) AS tenants, array_agg(due.since) AS oldest FROM due
        $due$, queue_table) INTO found USING at_most;
    END IF;
    RETURN QUERY SELECT * FROM count_due(
        queue_table, found.tenants, array_fill('-infinity'::timestamptz, ARRAY[cardinality(found.tenants)]), found.oldest);
END
$_$;

ALTER FUNCTION public.due_tenants(queue text, at_most integer) OWNER TO signet_dispatch;

CREATE FUNCTION public.due_tenants(queue text, at_most integer, since timestamp with time zone, known uuid[], known_since timestamp with time zone[]) RETURNS TABLE(tenant_id uuid, due_count integer, oldest_due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
    early       record;
    asked       uuid[];
    asked_since timestamptz[];
    found       record;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    early := find_due_early(queue_table, since, known, at_most);
    -- Of those that are known each is asked by itself; and so is each other one, where many rows hide the others.
    SELECT array_agg(t.tenant_id), array_agg(coalesce(k.since, $3)) INTO asked, asked_since
    FROM tenants t
    LEFT JOIN unnest(known, known_since) AS k (tenant_id, since) ON k.tenant_id = t.tenant_id
    WHERE k.tenant_id IS NOT NULL OR NOT early.is_whole;
    IF asked IS NULL AND early.is_whole THEN
        RETURN QUERY SELECT * FROM count_due(
            queue_table, early.tenants, array_fill(since, ARRAY[cardinality(early.tenants)]), early.oldest);
        RETURN;
    END IF;
    EXECUTE format($due$
        SELECT array_agg(due.tenant_id ORDER BY due.oldest, due.tenant_id) AS tenants,
               array_agg(due.since ORDER BY due.oldest, due.tenant_id) AS since,
               array_agg(due.oldest ORDER BY due.oldest, due.tenant_id) AS oldest
        FROM (
            SELECT t.tenant_id, t.since, least(waiting.due_at, expired.lease_until) AS oldest
            FROM unnest($2, $3) AS t (tenant_id, since)
            LEFT JOIN LATERAL (
                SELECT q.due_at FROM %1$I q
                WHERE q.tenant_id = t.tenant_id AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN t.since AND now()
                ORDER BY q.due_at LIMIT 1
            ) AS waiting ON true
            LEFT JOIN LATERAL (
                SELECT q.lease_until FROM %1$I q
                WHERE q.tenant_id = t.tenant_id AND q.status = 'processing' AND q.lease_until BETWEEN t.since AND now()
                ORDER BY q.lease_until LIMIT 1
            ) AS expired ON true
            WHERE waiting.due_at IS NOT NULL OR expired.lease_until IS NOT NULL
            UNION ALL
            SELECT e.tenant_id, $6, e.oldest FROM unnest($4, $5) AS e (tenant_id, oldest)
            ORDER BY oldest, tenant_id
            LIMIT $1
        ) AS due
    $due$, queue_table) INTO found
    USING at_most, asked, asked_since,
          CASE WHEN early.is_whole THEN early.tenants ELSE '{}' END, CASE WHEN early.is_whole THEN early.oldest ELSE '{}' END,
          since;
    RETURN QUERY SELECT * FROM count_due(
        queue_table, coalesce(found.tenants, '{}'), coalesce(found.since, '{}'), coalesce(found.oldest, '{}'));
END
$_$;

ALTER FUNCTION public.due_tenants(queue text, at_most integer, since timestamp with time zone, known uuid[], known_since timestamp with time zone[]) OWNER TO signet_dispatch;

CREATE TABLE public.responsible_sets (
    tenant_id uuid NOT NULL,
    hash bytea NOT NULL,
    persons text[] NOT NULL,
    CONSTRAINT responsible_sets_check CHECK ((hash = sha256(convert_to(array_to_string(persons, '
'::text), 'UTF8'::name)))),
    CONSTRAINT responsible_sets_persons_check CHECK ((cardinality(persons) <= 200))
);

ALTER TABLE ONLY public.responsible_sets FORCE ROW LEVEL SECURITY;

ALTER TABLE public.responsible_sets OWNER TO signet_owner;

CREATE TABLE public.transition_requests (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    document_version bigint NOT NULL,
    transition text NOT NULL,
    actor_id text NOT NULL,
    reason text,
    status text DEFAULT 'open'::text NOT NULL,
    outcome text,
    trace_id text,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    actor_roles text[] DEFAULT '{}'::text[] NOT NULL,
    responsible bytea,
    pins jsonb,
    CONSTRAINT transition_requests_check CHECK (((status = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT transition_requests_reason_check CHECK ((char_length(reason) <= 4000)),
    CONSTRAINT transition_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'performed'::text, 'refused'::text, 'superseded'::text])))
);

ALTER TABLE ONLY public.transition_requests FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transition_requests OWNER TO signet_owner;

CREATE FUNCTION public.earlier_requesters(document uuid) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT COALESCE(array_agg(DISTINCT behind.person), '{}'::text[]) AS "coalesce"
    FROM ((public.transition_requests q
      JOIN public.transition_requests earlier ON (((earlier.tenant_id = q.tenant_id) AND (earlier.document_id = q.document_id) AND (earlier.transition = q.transition) AND (earlier.status = 'superseded'::text))))
      CROSS JOIN LATERAL unnest(COALESCE(( SELECT s.persons
            FROM public.responsible_sets s
           WHERE ((s.tenant_id = earlier.tenant_id) AND (s.hash = earlier.responsible))), ARRAY[earlier.actor_id])) behind(person))
   WHERE ((q.tenant_id = public.current_tenant_id()) AND (q.document_id = earlier_requesters.document) AND (q.status = 'open'::text) AND (earlier.created_at > COALESCE(( SELECT max(p.created_at) AS max
            FROM public.transition_requests p
           WHERE ((p.tenant_id = q.tenant_id) AND (p.document_id = q.document_id) AND (p.status = 'performed'::text))), '-infinity'::timestamp with time zone)));
END;

ALTER FUNCTION public.earlier_requesters(document uuid) OWNER TO signet_owner;

CREATE FUNCTION public.end_event_wait() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    freed  uuid[];
    next   record;
    hex    text;
    new_id uuid;
BEGIN
    PERFORM lock_event_keys(ARRAY(SELECT w.event_key FROM workflow_event_waits w
                                  WHERE w.tenant_id = NEW.tenant_id AND w.step_id = NEW.id));
    DELETE FROM workflow_event_waits w WHERE w.tenant_id = NEW.tenant_id AND w.step_id = NEW.id;
    WITH ended AS (
        UPDATE workflow_event_offers o
        SET status = 'ended', reason = 'the wait had ended: ' || NEW.status, decided_at = now()
        WHERE o.tenant_id = NEW.tenant_id AND o.step_id = NEW.id AND o.status = 'open'
        RETURNING o.event_id
    )
    SELECT array_agg(ended.event_id) INTO freed FROM ended;
    FOR next IN
        SELECT DISTINCT first.instance_id
        FROM unnest(freed) AS left_over (event_id)
        JOIN workflow_inbound_events e
             ON e.tenant_id = NEW.tenant_id AND e.id = left_over.event_id AND e.taken_at IS NULL
        CROSS JOIN LATERAL (
            SELECT o.instance_id, o.is_alone FROM workflow_event_offers o
            WHERE o.tenant_id = NEW.tenant_id AND o.event_id = e.id AND o.status = 'open'
            ORDER BY o.waiting_since, o.step_id LIMIT 1
        ) AS first
        WHERE first.is_alone
    LOOP
        hex := lpad(to_hex((extract(epoch FROM date_trunc('milliseconds', now())) * 1000)::bigint), 12, '0');
        new_id := (left(hex, 8) || '-' || right(hex, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid;
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        VALUES (NEW.tenant_id, next.instance_id, 'events', sha256(uuid_send(new_id)), now());
        INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                            payload_json, event_idempotency_key, due_at)
        VALUES (NEW.tenant_id, date_trunc('milliseconds', now()), new_id, next.instance_id, 0, 'event_arrived',
                jsonb_build_object('cause_id', new_id), sha256(uuid_send(new_id)), now());
    END LOOP;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.end_event_wait() OWNER TO signet_owner;

CREATE FUNCTION public.end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json, trigger_times timestamp with time zone[], trigger_ids uuid[], written_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    step_times timestamptz[] := ARRAY(
        SELECT DISTINCT created_at FROM json_to_recordset(step_rows) AS row (created_at timestamptz));
    ids uuid[] := ARRAY(SELECT id FROM json_to_recordset(instance_rows) AS row (id uuid));
BEGIN
    UPDATE workflow_step_executions s
    SET status = row.status, end_seq = row.end_seq, version_after = row.version_after, output_json = row.output,
        error = row.error, resume_at = row.resume_at, waiting_for_event_key = row.waiting_for_event_key,
        approval_request_id = coalesce(row.approval_request_id, s.approval_request_id),
        completed_at = CASE WHEN row.end_seq IS NOT NULL THEN written_at END,
        duration_ms = CASE WHEN row.end_seq IS NOT NULL
                           THEN extract(epoch FROM (written_at - s.started_at)) * 1000 END
    FROM json_to_recordset(step_rows) AS row (
        id uuid, status text, end_seq bigint, version_after bigint, output jsonb, error text, resume_at timestamptz,
        waiting_for_event_key text, approval_request_id uuid)
    WHERE s.tenant_id = current_tenant_id() AND s.created_at = ANY (step_times) AND s.id = row.id;
    UPDATE workflow_instances i
    SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
        active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
        edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
        last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
        responsible = row.responsible, pins = coalesce(row.pins, i.pins), request_id = row.request_id,
        completed_at = CASE WHEN row.status IN ('completed', 'failed', 'cancelled') THEN written_at END,
        updated_at = written_at
    FROM json_to_recordset(instance_rows) AS row (
        id uuid, status text, reason text, version bigint, entity_version bigint, active_tokens jsonb,
        current_nodes text[], edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz,
        last_step_id uuid, actor_id text, actor_roles text[], responsible bytea, pins jsonb,
        request_id uuid)
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (ids) AND i.id = row.id;
    IF effect_rows IS NOT NULL THEN
        WITH effect AS MATERIALIZED (
            SELECT * FROM json_to_recordset(effect_rows) AS row (
                id uuid, created_at timestamptz, instance_id uuid, step_id uuid, effect_type text, endpoint text,
                payload jsonb, idempotency_key bytea, trace_id text)
        ), receipt AS (
            INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key,
                                                  created_at)
            SELECT current_tenant_id(), instance_id, 'side_effects', idempotency_key, written_at FROM effect
            ON CONFLICT DO NOTHING
            RETURNING instance_id, event_idempotency_key
        )
        INSERT INTO workflow_side_effects_outbox (
            tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json,
            event_idempotency_key, trace_id, due_at)
        SELECT current_tenant_id(), effect.created_at, effect.id, effect.instance_id, effect.step_id,
               effect.effect_type, effect.endpoint, effect.payload, effect.idempotency_key, effect.trace_id, written_at
        FROM effect JOIN receipt ON receipt.instance_id = effect.instance_id
                                AND receipt.event_idempotency_key = effect.idempotency_key;
    END IF;
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id, responsible)
    SELECT current_tenant_id(), created_at, id, 'instance', instance_id, entry, actor_id, step_id, data, trace_id,
           responsible
    FROM json_to_recordset(history_rows) AS row (
        id uuid, created_at timestamptz, instance_id uuid, entry text, actor_id text, step_id uuid, data jsonb,
        trace_id text, responsible bytea);
    UPDATE workflow_events_outbox q
    SET status = 'completed', completed_at = written_at, claim_id = NULL, lease_until = NULL, error = NULL
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
      AND array_position(trigger_ids, q.id) IS NOT NULL;
END
$$;

ALTER FUNCTION public.end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json, trigger_times timestamp with time zone[], trigger_ids uuid[], written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.expired_tenants(queue text, since timestamp with time zone, after uuid, at_most integer) RETURNS TABLE(tenant_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($expired$
        SELECT t.tenant_id
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT FROM %1$I q
            WHERE q.tenant_id = t.tenant_id AND q.status = 'processing' AND q.lease_until BETWEEN $1 AND now()
            LIMIT 1
        ) AS expired
        WHERE t.tenant_id > $2
        ORDER BY t.tenant_id
        LIMIT $3
    $expired$, queue_table) USING since, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$_$;

ALTER FUNCTION public.expired_tenants(queue text, since timestamp with time zone, after uuid, at_most integer) OWNER TO signet_dispatch;

CREATE FUNCTION public.find_due_early(queue_table text, since timestamp with time zone, known uuid[], at_most integer, OUT tenants uuid[], OUT oldest timestamp with time zone[], OUT is_whole boolean) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    -- The first row tells of the first tenant.
    read_at_most integer := CASE at_most WHEN 1 THEN 1 ELSE 2000 END;
BEGIN
    EXECUTE format($early$
        WITH early AS MATERIALIZED (
            SELECT q.tenant_id, CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END AS since
            FROM %1$I q
            WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END BETWEEN $1 AND now()
            ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
            LIMIT $4
        )
        SELECT coalesce(array_agg(found.tenant_id ORDER BY found.since, found.tenant_id), '{}'),
               coalesce(array_agg(found.since ORDER BY found.since, found.tenant_id), '{}'),
               (SELECT count(*) FROM early) < $4 OR count(*) = $3
        FROM (SELECT early.tenant_id, min(early.since) AS since FROM early
              WHERE NOT early.tenant_id = ANY ($2)
              GROUP BY early.tenant_id ORDER BY min(early.since), early.tenant_id LIMIT $3) AS found
    $early$, queue_table) INTO tenants, oldest, is_whole USING since, known, at_most, read_at_most;
END
$_$;

ALTER FUNCTION public.find_due_early(queue_table text, since timestamp with time zone, known uuid[], at_most integer, OUT tenants uuid[], OUT oldest timestamp with time zone[], OUT is_whole boolean) OWNER TO signet_owner;

CREATE FUNCTION public.find_oldest_due(queue text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN coalesce((SELECT d.oldest_due_at FROM due_tenants(queue, 1) AS d), now());
END
$$;

ALTER FUNCTION public.find_oldest_due(queue text) OWNER TO signet_dispatch;

CREATE FUNCTION public.find_void_code(outcome text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    SELECT CASE
        WHEN outcome IN ('the document went another way, or was edited', 'an operator has sent the workflow back')
            THEN 'moved_on'
        WHEN outcome = 'its step was withdrawn' THEN 'step_withdrawn'
        WHEN outcome IN ('the document was edited', 'the document was corrected', 'the request was withdrawn',
                         'a new request begins the way again', 'it was asked by an older release')
             OR starts_with(outcome, 'what the document refers to has changed: ')
             OR starts_with(outcome, 'variables of the workflow have changed: ')
             OR starts_with(outcome, 'personal values were erased: ')
            THEN 'asked_again'
        ELSE 'instance_ended'
    END
$$;

ALTER FUNCTION public.find_void_code(outcome text) OWNER TO signet_owner;

CREATE FUNCTION public.fire_automations(firing_rows json, written_at timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
    fired      integer;
BEGIN
    IF NOT EXISTS (SELECT FROM workflow_triggers t WHERE t.tenant_id = own_tenant) THEN
        RETURN 0;
    END IF;
    WITH matched AS MATERIALIZED (
        SELECT DISTINCT ON (row.id, t.automation_id)
               row.id, row.created_at, row.entity_version, row.payload, row.trace_id, row.responsible,
               t.automation_id, t.definition_id, t.definition_version,
               sha256(convert_to(row.id::text || t.definition_id::text, 'UTF8')) AS digest
        FROM json_to_recordset(firing_rows) AS row (
            id uuid, created_at timestamptz, entity_type text, signs json, entity_version bigint, payload jsonb,
            trace_id text, responsible bytea)
        CROSS JOIN LATERAL json_array_elements_text(row.signs) AS shown (sign)
        CROSS JOIN LATERAL (
            SELECT t.automation_id, t.definition_id, t.definition_version FROM workflow_triggers t
            WHERE t.tenant_id = own_tenant AND t.entity_type = row.entity_type AND t.sign = shown.sign
            OFFSET 0
        ) AS t
    ), start AS (
        SELECT matched.*,
               (left(matched.id::text, 14) || '7' || substr(encode(digest, 'hex'), 1, 3) || '-8'
                || substr(encode(digest, 'hex'), 4, 3) || '-' || substr(encode(digest, 'hex'), 7, 12))::uuid AS start_id
        FROM matched
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT own_tenant, start_id, 'events', digest, written_at FROM start
        ON CONFLICT DO NOTHING
        RETURNING instance_id
    ), written AS (
        INSERT INTO workflow_events_outbox (
            tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
            event_idempotency_key, trace_id, due_at, responsible)
        SELECT own_tenant, start.created_at, start.start_id, start.start_id, start.entity_version,
               start.definition_version, 'start_automation',
               start.payload || jsonb_build_object('automation_id', start.automation_id,
                                                   'definition_id', start.definition_id),
               start.digest, start.trace_id, written_at, start.responsible
        FROM start JOIN receipt ON receipt.instance_id = start.start_id
        RETURNING 1
    )
    SELECT count(*) INTO fired FROM written;
    RETURN fired;
END
$$;

ALTER FUNCTION public.fire_automations(firing_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.hash_document_key(entity_type text, field text, value text) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN sha256(convert_to((jsonb_build_array(entity_type, field, value))::text, 'UTF8'::name));

ALTER FUNCTION public.hash_document_key(entity_type text, field text, value text) OWNER TO signet_owner;

CREATE TABLE public.approval_requests (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    step_execution_id uuid NOT NULL,
    node_id text NOT NULL,
    document_id uuid NOT NULL,
    document_version bigint NOT NULL,
    snapshot_version_id uuid NOT NULL,
    snapshot_hash text NOT NULL,
    definition_hash text NOT NULL,
    policy text NOT NULL,
    policy_hash text NOT NULL,
    chain_name text,
    chain_version integer,
    requester_id text NOT NULL,
    stage integer DEFAULT 1 NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    outcome text,
    applied boolean,
    escalate_at timestamp with time zone,
    expire_at timestamp with time zone,
    trace_id text,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    responsible bytea,
    voter_permissions text[],
    pins jsonb,
    pins_hash text,
    repeats_request_id uuid,
    asked_since timestamp with time zone,
    variables jsonb,
    content_hash text,
    likeness_hash text,
    void_code text,
    remind_at timestamp with time zone,
    reminders integer DEFAULT 0 NOT NULL,
    CONSTRAINT approval_requests_check CHECK (((status = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT approval_requests_check1 CHECK (((applied IS NOT TRUE) OR (status = 'approved'::text))),
    CONSTRAINT approval_requests_check2 CHECK ((asked_since <= created_at)),
    CONSTRAINT approval_requests_content_hash_check CHECK ((content_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT approval_requests_likeness_hash_check CHECK ((likeness_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT approval_requests_pins_check CHECK ((jsonb_typeof(pins) = 'object'::text)),
    CONSTRAINT approval_requests_pins_hash_check CHECK ((pins_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT approval_requests_stage_check CHECK ((stage >= 1)),
    CONSTRAINT approval_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'voided'::text]))),
    CONSTRAINT approval_requests_variables_check CHECK ((jsonb_typeof(variables) = 'object'::text)),
    CONSTRAINT approval_requests_void_code_check CHECK (((void_code IS NULL) OR ((status = 'voided'::text) AND (void_code = ANY (ARRAY['asked_again'::text, 'moved_on'::text, 'step_withdrawn'::text, 'instance_ended'::text])))))
);

ALTER TABLE ONLY public.approval_requests FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_requests OWNER TO signet_owner;

CREATE TABLE public.document_keys (
    tenant_id uuid NOT NULL,
    entity_type text NOT NULL,
    field text NOT NULL,
    value text NOT NULL,
    document_id uuid NOT NULL
);

ALTER TABLE ONLY public.document_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.document_keys OWNER TO signet_owner;

CREATE TABLE public.left_document_keys (
    tenant_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    document_id uuid NOT NULL
);

ALTER TABLE ONLY public.left_document_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.left_document_keys OWNER TO signet_owner;

CREATE FUNCTION public.first_asked(document uuid) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT min(asked.since) AS min
    FROM ((public.documents d
      CROSS JOIN LATERAL ( SELECT unnest(ARRAY[d.id, d.amended_from_id]) AS id
         UNION
          SELECT l.document_id
            FROM (public.document_keys k
              JOIN public.left_document_keys l ON (((l.tenant_id = k.tenant_id) AND (l.key_hash = public.hash_document_key(k.entity_type, k.field, k.value)))))
           WHERE ((k.tenant_id = d.tenant_id) AND (k.document_id = d.id))) about)
      CROSS JOIN LATERAL ( SELECT min(COALESCE(q.asked_since, q.created_at)) AS since
            FROM public.approval_requests q
           WHERE ((q.tenant_id = d.tenant_id) AND (q.document_id = about.id) AND (q.created_at > COALESCE(( SELECT max(u.ended_at) AS max
                    FROM public.approval_requests u
                   WHERE ((u.tenant_id = d.tenant_id) AND (u.document_id = about.id) AND u.applied)), '-infinity'::timestamp with time zone)))) asked)
   WHERE ((d.tenant_id = public.current_tenant_id()) AND (d.id = first_asked.document));
END;

ALTER FUNCTION public.first_asked(document uuid) OWNER TO signet_owner;

CREATE FUNCTION public.forget_left_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM left_document_keys l WHERE l.tenant_id = NEW.tenant_id AND l.document_id = NEW.id;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.forget_left_keys() OWNER TO signet_owner;

CREATE FUNCTION public.give_up_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    original uuid;
    free     uuid;
BEGIN
    SELECT a.original_id INTO original FROM amendments a
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id;
    IF original IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM FROM documents d WHERE d.tenant_id = NEW.tenant_id AND d.id = original FOR NO KEY UPDATE;
    UPDATE amendments a SET closed_at = NEW.updated_at, closing = 'given_up'
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing IS NULL
    RETURNING a.original_id INTO free;
    IF free IS NOT NULL THEN
        UPDATE amendments a SET closed_at = NULL, closing = NULL
        WHERE a.tenant_id = NEW.tenant_id
          AND a.document_id = (SELECT o.document_id FROM amendments o
                               JOIN workflow_instances i ON i.tenant_id = o.tenant_id AND i.entity_id = o.document_id
                                   AND i.entity_type = NEW.entity_type AND i.kind = 'envelope'
                                   AND i.status IN ('running', 'paused')
                               WHERE o.tenant_id = NEW.tenant_id AND o.original_id = free AND o.closing = 'given_up'
                               ORDER BY o.opened_at, o.document_id
                               LIMIT 1);
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.give_up_amendment() OWNER TO signet_owner;

CREATE FUNCTION public.guard_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'the amendment % is closed', OLD.document_id USING ERRCODE = 'restrict_violation';
END
$$;

ALTER FUNCTION public.guard_amendment() OWNER TO signet_owner;

CREATE FUNCTION public.guard_incident() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'incident % is closed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.guard_incident() OWNER TO signet_owner;

CREATE FUNCTION public.hand_over_seats(from_user text, to_user text, at_most integer) RETURNS TABLE(request_id uuid, stage integer, "position" integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    asked uuid[];
BEGIN
    IF at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000 OR from_user IS NULL OR to_user IS NULL
       OR NOT EXISTS (SELECT FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = from_user
                        AND m.status = 'disabled')
       OR NOT EXISTS (SELECT FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = to_user
                        AND m.status = 'active') THEN
        RAISE EXCEPTION 'seats go from a disabled member to an active one, at most 10000 at a time'
            USING ERRCODE = '22023';
    END IF;
    asked := ARRAY(
        SELECT DISTINCT s.request_id FROM approval_seats s
        WHERE s.tenant_id = current_tenant_id() AND s.holder_user_id = from_user AND s.status = 'open'
        ORDER BY s.request_id LIMIT at_most);
    PERFORM FROM approval_requests q
    WHERE q.tenant_id = current_tenant_id() AND q.id = ANY (asked)
    ORDER BY q.id FOR NO KEY UPDATE;
    RETURN QUERY
    UPDATE approval_seats s
    SET holder_user_id = to_user, handed_over_from = coalesce(s.handed_over_from, from_user)
    FROM approval_requests q
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = ANY (asked) AND s.holder_user_id = from_user
      AND s.status = 'open'
      AND q.tenant_id = s.tenant_id AND q.id = s.request_id AND q.status = 'open' AND q.stage = s.stage
      AND NOT EXISTS (
          SELECT FROM approval_seats taken
          WHERE taken.tenant_id = s.tenant_id AND taken.request_id = s.request_id AND taken.stage = s.stage
            AND to_user IN (taken.holder_user_id, taken.decided_by, taken.on_behalf_of))
    RETURNING s.request_id, s.stage, s.position;
END
$$;

ALTER FUNCTION public.hand_over_seats(from_user text, to_user text, at_most integer) OWNER TO signet_owner;

CREATE TABLE public.eligibility_changes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    user_id text,
    role text,
    other_user_id text,
    persons text[] NOT NULL,
    actor_id text NOT NULL,
    permissions text[],
    CONSTRAINT eligibility_changes_check CHECK (((user_id IS NOT NULL) OR (role IS NOT NULL))),
    CONSTRAINT eligibility_changes_kind_check CHECK ((kind = ANY (ARRAY['role_given'::text, 'role_taken'::text, 'member_enabled'::text, 'member_disabled'::text, 'manager_set'::text, 'delegation_given'::text, 'delegation_revoked'::text, 'seat_given'::text, 'role_permissions_changed'::text, 'role_widened'::text, 'role_deleted'::text]))),
    CONSTRAINT eligibility_changes_persons_check CHECK (((cardinality(persons) >= 1) AND (cardinality(persons) <= 200)))
);

ALTER TABLE ONLY public.eligibility_changes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.eligibility_changes OWNER TO signet_owner;

CREATE TABLE public.member_roles (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.member_roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.member_roles OWNER TO signet_owner;

CREATE TABLE public.roles (
    tenant_id uuid NOT NULL,
    role text NOT NULL,
    permissions text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT roles_permissions_check CHECK ((cardinality(permissions) <= 500)),
    CONSTRAINT roles_role_check CHECK ((role ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT roles_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.roles OWNER TO signet_owner;

CREATE FUNCTION public.has_kept_permission(person text, granting text[], since timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM (public.member_roles h
              JOIN public.roles r ON (((r.tenant_id = h.tenant_id) AND (r.role = h.role) AND (r.permissions && has_kept_permission.granting))))
           WHERE ((h.tenant_id = public.current_tenant_id()) AND (h.user_id = has_kept_permission.person) AND (NOT (EXISTS ( SELECT
                    FROM public.eligibility_changes g
                   WHERE ((g.tenant_id = h.tenant_id) AND (g.user_id = h.user_id) AND (g.role = h.role) AND (g.kind = 'role_given'::text) AND (g.changed_at >= has_kept_permission.since))))) AND (NOT (EXISTS ( SELECT
                    FROM public.eligibility_changes s
                   WHERE ((s.tenant_id = h.tenant_id) AND (s.role = h.role) AND (s.changed_at >= has_kept_permission.since) AND (s.kind = ANY (ARRAY['role_permissions_changed'::text, 'role_widened'::text])) AND (NOT COALESCE((s.permissions && has_kept_permission.granting), false))))))))) AS "exists";
END;

ALTER FUNCTION public.has_kept_permission(person text, granting text[], since timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.housekeeping_tenants(about text, kept interval, after uuid, at_most integer) RETURNS TABLE(tenant_id uuid, due_count integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    probe text := CASE about
        WHEN 'done_events' THEN
            '((SELECT FROM workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1 LIMIT 1000) UNION ALL '
            '(SELECT FROM workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''discarded'' '
            'AND x.completed_at < now() - $1 LIMIT 1000)) AS done'
        WHEN 'done_effects' THEN
            '((SELECT FROM workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1 LIMIT 1000) UNION ALL '
            '(SELECT FROM workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id '
            'AND x.status IN (''withdrawn'', ''discarded'') AND x.completed_at < now() - $1 LIMIT 1000)) AS done'
        WHEN 'expired_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        WHEN 'expired_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        -- An instance has one of these from its birth on.
        WHEN 'receipts' THEN 'workflow_outbox_receipts x WHERE x.tenant_id = t.tenant_id'
        WHEN 'idempotency_keys' THEN
            'idempotency_keys x WHERE x.tenant_id = t.tenant_id AND x.created_at < now() - $1'
        WHEN 'inbound_events' THEN
            'workflow_inbound_events x WHERE x.tenant_id = t.tenant_id AND x.expires_at < now() - $1'
        WHEN 'notifications' THEN
            'notifications x WHERE x.tenant_id = t.tenant_id AND x.read_at < now() - $1'
        WHEN 'quota_meters' THEN
            'quota_meters x WHERE x.tenant_id = t.tenant_id AND x.full_at < now() - $1'
        WHEN 'eligibility_changes' THEN
            'eligibility_changes x WHERE x.tenant_id = t.tenant_id AND x.changed_at < now() - $1'
        WHEN 'closed_incidents' THEN
            'incidents x WHERE x.tenant_id = t.tenant_id AND x.closed_at < now() - $1'
        WHEN 'deleted_documents' THEN
            'documents x WHERE x.tenant_id = t.tenant_id AND x.deleted_at < now() - $1 AND x.purged_at IS NULL'
        WHEN 'unsealed' THEN
            'audit_log x WHERE x.tenant_id = t.tenant_id AND (x.epoch, x.xid) >= ('
            'coalesce((SELECT s.epoch FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), 0), '
            'coalesce((SELECT s.to_xid FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), ''0''))'
        WHEN 'unanchored' THEN
            'audit_seals x WHERE x.tenant_id = t.tenant_id AND x.sequence > '
            'coalesce((SELECT a.sequence FROM audit_anchors a WHERE a.tenant_id = t.tenant_id), 0)'
        WHEN 'running' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'''
        WHEN 'overdue' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'' '
            'AND x.timeout_at < now() - $1'
    END;
BEGIN
    IF probe IS NULL OR kept IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'nothing of that name, or not between 1 and 1000 tenants: %, %', about, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        SELECT t.tenant_id, found.due_count
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS due_count FROM (SELECT FROM %s LIMIT 1000) AS counted
        ) AS found
        WHERE t.tenant_id > $2 AND found.due_count > 0
        ORDER BY t.tenant_id
        LIMIT $3
    $due$, probe) USING kept, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$_$;

ALTER FUNCTION public.housekeeping_tenants(about text, kept interval, after uuid, at_most integer) OWNER TO signet_dispatch;

CREATE FUNCTION public.is_outbox_empty(queue_table text, from_time timestamp with time zone, to_time timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
DECLARE
    found_any boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE created_at >= $1 AND created_at < $2)', queue_table)
        INTO found_any USING from_time, to_time;
    RETURN NOT found_any;
END
$_$;

ALTER FUNCTION public.is_outbox_empty(queue_table text, from_time timestamp with time zone, to_time timestamp with time zone) OWNER TO signet_dispatch;

CREATE FUNCTION public.is_paused_by_person(paused_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN coalesce((SELECT s.node_id = 'sys:control:paused' AND s.run_as = 'actor' FROM workflow_step_executions s
                     WHERE s.tenant_id = current_tenant_id() AND s.instance_id = paused_id
                       AND s.node_id IN ('sys:control:paused', 'sys:control:resumed', 'sys:control:retried')
                     ORDER BY s.seq DESC LIMIT 1), false);
END
$$;

ALTER FUNCTION public.is_paused_by_person(paused_id uuid) OWNER TO signet_owner;

CREATE PROCEDURE public.isolate_tenant_table(IN tenant_table regclass)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (tenant_id = current_tenant_id()) '
                   'WITH CHECK (tenant_id = current_tenant_id())', tenant_table);
END
$$;

ALTER PROCEDURE public.isolate_tenant_table(IN tenant_table regclass) OWNER TO signet_owner;

CREATE FUNCTION public.keep_hinderers(document uuid, hinderers text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    known  text[];
    joined text[];
    digest bytea;
BEGIN
    SELECT s.persons INTO known
    FROM documents d
    LEFT JOIN responsible_sets s ON s.tenant_id = d.tenant_id AND s.hash = d.hindered_by
    WHERE d.tenant_id = current_tenant_id() AND d.id = document
    FOR NO KEY UPDATE OF d;
    joined := ARRAY(SELECT DISTINCT person COLLATE "C" AS person
                    FROM unnest(coalesce(known, '{}') || hinderers) AS person ORDER BY person);
    IF NOT FOUND OR joined = known OR cardinality(joined) = 0 OR cardinality(joined) > 200 THEN
        RETURN;
    END IF;
    digest := sha256(convert_to(array_to_string(joined, E'\n'), 'UTF8'));
    INSERT INTO responsible_sets (tenant_id, hash, persons) VALUES (current_tenant_id(), digest, joined)
    ON CONFLICT DO NOTHING;
    UPDATE documents d SET hindered_by = digest WHERE d.tenant_id = current_tenant_id() AND d.id = document;
END
$$;

ALTER FUNCTION public.keep_hinderers(document uuid, hinderers text[]) OWNER TO signet_owner;

CREATE FUNCTION public.keep_key_owner() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO api_key_owners (tenant_id, key_id, owner_id, since, by)
    VALUES (NEW.tenant_id, NEW.id, NEW.owner_id, now(),
            CASE WHEN TG_OP = 'INSERT' THEN NEW.created_by ELSE OLD.proposed_by END)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.keep_key_owner() OWNER TO signet_owner;

CREATE FUNCTION public.keep_left_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO left_document_keys (tenant_id, key_hash, document_id)
    VALUES (OLD.tenant_id, hash_document_key(OLD.entity_type, OLD.field, OLD.value), OLD.document_id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.keep_left_key() OWNER TO signet_owner;

CREATE FUNCTION public.keep_withdrawn() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF OLD.status = 'withdrawn' AND NEW.left_at IS NOT DISTINCT FROM OLD.left_at THEN
        RETURN NULL;
    END IF;
    IF OLD.status = 'processing' AND NEW.status IN ('pending', 'failed') THEN
        NEW.status := 'withdrawn';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.keep_withdrawn() OWNER TO signet_owner;

CREATE FUNCTION public.lapse_approval_seats(seat_rows json) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    UPDATE approval_seats s SET status = 'lapsed'
    FROM json_to_recordset(seat_rows) AS row (request_id uuid, stage integer, "position" integer)
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = row.request_id AND s.stage = row.stage
      AND s.position = row.position AND s.status IN ('approved', 'abstained')
$$;

ALTER FUNCTION public.lapse_approval_seats(seat_rows json) OWNER TO signet_owner;

CREATE FUNCTION public.last_giving(since timestamp with time zone, taken_at timestamp with time zone, taking text, person text, role text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT g.persons
    FROM public.eligibility_changes g
   WHERE ((g.tenant_id = public.current_tenant_id()) AND (g.user_id = last_giving.person) AND (g.changed_at >= last_giving.since) AND (g.changed_at < last_giving.taken_at) AND (NOT (g.role IS DISTINCT FROM last_giving.role)) AND (((g.kind = 'role_given'::text) AND (last_giving.taking = ANY (ARRAY['role_taken'::text, 'member_disabled'::text]))) OR ((g.kind = 'member_enabled'::text) AND (last_giving.taking = 'member_disabled'::text))))
   ORDER BY g.changed_at DESC
  LIMIT 1;
END;

ALTER FUNCTION public.last_giving(since timestamp with time zone, taken_at timestamp with time zone, taking text, person text, role text) OWNER TO signet_owner;

CREATE FUNCTION public.line_changes_since(since timestamp with time zone, lines text[], managers text[], concerned text[]) RETURNS TABLE(kind text, changed_at timestamp with time zone, actor_id text, persons text[], user_id text, role text, other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean, is_given_up boolean)
    LANGUAGE sql STABLE ROWS 1 PARALLEL SAFE
    BEGIN ATOMIC
 SELECT DISTINCT ON (c.other_user_id, c.user_id, c.persons) c.kind,
     c.changed_at,
     c.actor_id,
     c.persons,
     c.user_id,
     c.role,
     c.other_user_id,
     '{}'::text[] AS text,
     newest.persons,
     '{}'::jsonb AS jsonb,
     false,
     (EXISTS ( SELECT
            FROM public.eligibility_changes a
           WHERE ((a.tenant_id = c.tenant_id) AND (a.kind = 'manager_set'::text) AND (a.other_user_id = c.other_user_id) AND ("left"((a.id)::text, 19) = "left"((c.id)::text, 19)) AND (a.user_id = ANY (a.persons))))) AS "exists"
    FROM (( SELECT l.tenant_id,
             l.id,
             l.changed_at,
             l.kind,
             l.user_id,
             l.role,
             l.other_user_id,
             l.persons,
             l.actor_id,
             l.permissions
            FROM public.eligibility_changes l
           WHERE ((l.tenant_id = public.current_tenant_id()) AND (l.kind = 'manager_set'::text) AND (l.other_user_id = ANY (line_changes_since.lines)) AND (l.changed_at >= line_changes_since.since) AND (l.persons && line_changes_since.concerned))
         UNION
          SELECT m.tenant_id,
             m.id,
             m.changed_at,
             m.kind,
             m.user_id,
             m.role,
             m.other_user_id,
             m.persons,
             m.actor_id,
             m.permissions
            FROM public.eligibility_changes m
           WHERE ((m.tenant_id = public.current_tenant_id()) AND (m.kind = 'manager_set'::text) AND (m.user_id = ANY (line_changes_since.managers)) AND (m.changed_at >= line_changes_since.since) AND (m.persons && line_changes_since.concerned))) c
      CROSS JOIN LATERAL ( SELECT n.persons
            FROM public.eligibility_changes n
           WHERE ((n.tenant_id = c.tenant_id) AND (n.kind = 'manager_set'::text) AND (n.other_user_id = c.other_user_id) AND (n.changed_at >= line_changes_since.since))
           ORDER BY n.changed_at DESC
          LIMIT 1) newest)
   WHERE (newest.persons && line_changes_since.concerned)
   ORDER BY c.other_user_id, c.user_id, c.persons, c.changed_at DESC
  LIMIT 1001;
END;

ALTER FUNCTION public.line_changes_since(since timestamp with time zone, lines text[], managers text[], concerned text[]) OWNER TO signet_owner;

CREATE FUNCTION public.line_of_amendments(document uuid) RETURNS TABLE(amendment_open uuid, amended_by uuid, current_id uuid)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    place uuid := document;
    next  uuid;
BEGIN
    FOR step IN 1..1000 LOOP
        -- What has not settled stands behind its original.
        SELECT a.original_id INTO next FROM amendments a
        WHERE a.tenant_id = current_tenant_id() AND a.document_id = place AND a.closing IS DISTINCT FROM 'settled';
        next := coalesce(next, amendment_in_place_of(place));
        EXIT WHEN next IS NULL;
        place := next;
    END LOOP;
    RETURN QUERY
    SELECT coalesce(
               (SELECT a.document_id FROM amendments a
                WHERE a.tenant_id = current_tenant_id() AND a.original_id = document AND a.closing IS NULL),
               (SELECT a.document_id FROM amendments a
                WHERE a.tenant_id = current_tenant_id() AND a.document_id = document AND a.closing IS NULL)),
           amendment_in_place_of(document), CASE WHEN next IS NULL THEN place END;
END
$$;

ALTER FUNCTION public.line_of_amendments(document uuid) OWNER TO signet_owner;

CREATE FUNCTION public.list_changed_pins(pins jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    SELECT ARRAY(
        SELECT pin.key FROM jsonb_each(coalesce(pins, '{}')) AS pin
        WHERE (pin.value -> 'version' IS NOT DISTINCT FROM 'null') = EXISTS (
            SELECT FROM documents o
            JOIN documents d ON d.tenant_id = o.tenant_id AND d.id = document_in_force(o.id, o.status)
            WHERE o.tenant_id = current_tenant_id() AND o.id = (pin.value ->> 'document_id')::uuid
              AND o.deleted_at IS NULL AND d.deleted_at IS NULL
              AND CASE
                  WHEN pin.value -> 'version' IS NOT DISTINCT FROM 'null'
                  THEN d.entity_type = pin.value ->> 'entity_type'
                  ELSE NOT EXISTS (
                      SELECT FROM jsonb_each(pin.value -> 'values') AS pinned
                      WHERE pinned.value IS DISTINCT FROM CASE pinned.key
                          WHEN 'status' THEN to_jsonb(d.status) ELSE coalesce(d.data -> pinned.key, 'null') END)
                  END)
        ORDER BY pin.key)
$$;

ALTER FUNCTION public.list_changed_pins(pins jsonb) OWNER TO signet_owner;

CREATE FUNCTION public.list_fields_of_steps(document uuid, document_type text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
BEGIN
    RETURN ARRAY(
        WITH newest AS (
            SELECT i.definition_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.entity_type = document_type AND i.entity_id = document
            ORDER BY i.id DESC
            LIMIT 1000
        ), run AS MATERIALIZED (
            SELECT DISTINCT coalesce(w.contract_version, d.contract_version) AS contract_version,
                   node #>> '{config,action}' AS action
            FROM (SELECT definition_id FROM newest
                  UNION
                  SELECT t.definition_id FROM workflow_triggers t
                  WHERE t.tenant_id = current_tenant_id() AND t.entity_type = document_type) AS n
            JOIN documents d ON d.tenant_id = current_tenant_id() AND d.id = document
            JOIN workflow_definitions w ON w.tenant_id = current_tenant_id() AND w.id = n.definition_id
            JOIN workflow_definitions p ON p.tenant_id = current_tenant_id() AND p.id = coalesce(w.source_id, w.id)
            CROSS JOIN LATERAL (
                SELECT jsonb_path_query(p.body_patches_json, '$.slots.*.nodes[*] ? (@.type == "action")')
                UNION ALL
                SELECT jsonb_path_query(p.body_patches_json, '$.nodes[*] ? (@.type == "action")')) AS found (node)
        ), declared AS MATERIALIZED (
            SELECT c.version, c.body::jsonb -> 'actions' AS actions
            FROM contracts c
            WHERE c.tenant_id = current_tenant_id() AND c.entity_type = document_type
              AND c.version IN (SELECT contract_version FROM run)
        ), known AS (
            SELECT d.actions -> run.action AS action FROM run JOIN declared d ON d.version = run.contract_version
        )
        SELECT jsonb_object_keys(action -> 'set') FROM known WHERE action ->> 'kind' = 'update'
        UNION
        SELECT '*' FROM known WHERE action ->> 'kind' = 'python'
        UNION
        SELECT '*' WHERE (SELECT count(*) FROM newest) = 1000
        UNION
        SELECT jsonb_object_keys(action -> 'values')
        FROM rules r
        CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
        WHERE r.tenant_id = current_tenant_id() AND r.entity_type = document_type AND r.is_enabled
          AND action ->> 'kind' = 'set');
END
$_$;

ALTER FUNCTION public.list_fields_of_steps(document uuid, document_type text) OWNER TO signet_owner;

CREATE FUNCTION public.list_hinderers(document uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    codes text[] := ARRAY(SELECT DISTINCT i.code FROM incidents i
                          WHERE i.tenant_id = current_tenant_id() AND i.entity_id = document AND i.closed_at IS NULL);
BEGIN
    RETURN ARRAY(
        SELECT unnest(s.persons)
        FROM documents d
        JOIN responsible_sets s ON s.tenant_id = current_tenant_id()
         AND (s.hash = d.hindered_by OR codes <> '{}' AND s.hash IN (d.creator_responsible, d.editor_responsible))
        WHERE d.tenant_id = current_tenant_id() AND d.id = document
        UNION
        SELECT unnest(s.persons)
        FROM amendments a
        JOIN documents m ON m.tenant_id = current_tenant_id() AND m.id = a.document_id
        JOIN contracts c ON c.tenant_id = current_tenant_id() AND c.entity_type = m.entity_type
                        AND c.version = (SELECT d.contract_version FROM documents d
                                         WHERE d.tenant_id = current_tenant_id() AND d.id = document)
                        AND c.body::jsonb #>> '{amendment,while_open}' = 'suspended'
        JOIN responsible_sets s ON s.tenant_id = current_tenant_id()
                               AND s.hash IN (m.creator_responsible, m.editor_responsible)
        WHERE a.tenant_id = current_tenant_id() AND a.original_id = document AND a.closing IS NULL
        UNION
        SELECT unnest(taken.persons)
        FROM (SELECT e.persons FROM eligibility_changes e
              WHERE 'PERMISSION_DENIED' = ANY (codes) AND e.tenant_id = current_tenant_id()
                AND e.kind IN ('role_taken', 'role_deleted', 'role_permissions_changed', 'member_disabled')
              ORDER BY e.changed_at DESC LIMIT 1000) AS taken);
END
$$;

ALTER FUNCTION public.list_hinderers(document uuid) OWNER TO signet_owner;

CREATE FUNCTION public.list_months(parent regclass) RETURNS TABLE(partition_name text, from_time timestamp with time zone, to_time timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    BEGIN ATOMIC
 SELECT (c.relname)::text AS relname,
     (month.begins AT TIME ZONE 'UTC'::text) AS timezone,
     ((month.begins + '1 mon'::interval) AT TIME ZONE 'UTC'::text) AS timezone
    FROM ((pg_inherits i
      JOIN pg_class c ON ((c.oid = i.inhrelid)))
      CROSS JOIN LATERAL ( SELECT (to_date("right"((c.relname)::text, 7), 'YYYY_MM'::text))::timestamp without time zone AS begins) month)
   WHERE ((i.inhparent = (list_months.parent)::oid) AND (c.relname ~ '_[0-9]{4}_[0-9]{2}$'::text))
   ORDER BY month.begins;
END;

ALTER FUNCTION public.list_months(parent regclass) OWNER TO signet_owner;

CREATE FUNCTION public.lock_and_read_documents(document_ids uuid[], role_names text[]) RETURNS TABLE(now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb, documents json)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
    IF document_ids <> '{}' THEN
        PERFORM FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
        ORDER BY d.id
        FOR NO KEY UPDATE;
    END IF;
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun. The tenant is named as the policies name it:
    -- against another column they would be asked for each row of each table.
    IF document_ids <> '{}' THEN
        documents := (SELECT json_agg(found) FROM (
            SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                   d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                   i.id AS instance_id, i.version AS instance_version,
                   i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                   i.definition_version,
                   CASE WHEN i.status = 'paused' THEN read_pause(i.id, i.reason, i.active_tokens) END AS pause,
                   q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                   q.actor_roles AS requester_roles,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
                   h.seq AS audit_seq, h.hash AS audit_hash,
                   v.id AS snapshot_id, v.hash AS snapshot_hash,
                   (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                    WHERE p.tenant_id = current_tenant_id() AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
            FROM documents d
            -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost. Each names its columns, the
            -- narrow ones first: every column is made ready in every node of the plan.
            LEFT JOIN LATERAL (
                SELECT v.id, v.hash FROM document_versions v
                WHERE v.tenant_id = current_tenant_id() AND v.document_id = d.id AND v.version = d.version
                LIMIT 1
            ) v ON true
            LEFT JOIN LATERAL (
                SELECT a.seq, a.hash FROM audit_log a
                WHERE a.tenant_id = current_tenant_id() AND a.subject_type = 'document' AND a.subject_id = d.id::text
                  AND a.seq IS NOT NULL
                ORDER BY a.seq DESC LIMIT 1
            ) h ON true
            LEFT JOIN LATERAL (
                SELECT q.id, q.transition, q.actor_id, q.actor_roles, q.responsible FROM transition_requests q
                WHERE q.tenant_id = current_tenant_id() AND q.document_id = d.id AND q.status = 'open'
                LIMIT 1
            ) q ON true
            LEFT JOIN LATERAL (
                SELECT i.id, i.version, i.entity_version, i.edit_window, i.edit_window_node, i.definition_version,
                       i.status, i.reason, i.active_tokens
                FROM workflow_instances i
                WHERE i.tenant_id = current_tenant_id() AND i.entity_type = d.entity_type AND i.entity_id = d.id
                  AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                LIMIT 1
            ) i ON true
            WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found);
    END IF;
    RETURN NEXT;
END
$$;

ALTER FUNCTION public.lock_and_read_documents(document_ids uuid[], role_names text[]) OWNER TO signet_owner;

CREATE FUNCTION public.lock_event_keys(keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    hash bigint;
BEGIN
    FOR hash IN
        SELECT DISTINCT hashtextextended('event key of ' || current_tenant_id() || ': ' || key, 0)
        FROM unnest(keys) AS key ORDER BY 1
    LOOP
        PERFORM pg_advisory_xact_lock(hash);
    END LOOP;
END
$$;

ALTER FUNCTION public.lock_event_keys(keys text[]) OWNER TO signet_owner;

CREATE FUNCTION public.may_have_left(status text, attempts integer, response jsonb, error text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((status = ANY (ARRAY['completed'::text, 'processing'::text])) OR (attempts > 0) OR (response IS NOT NULL) OR COALESCE(starts_with(error, 'LEASE_EXPIRED'::text), false));

ALTER FUNCTION public.may_have_left(status text, attempts integer, response jsonb, error text) OWNER TO signet_owner;

CREATE FUNCTION public.measure_incidents(codes text[], long interval) RETURNS TABLE(code text, open_count bigint, unattended_count bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    IF codes IS NULL OR cardinality(codes) > 200 OR long IS NULL THEN
        RAISE EXCEPTION 'incidents are counted by at most 200 codes, and by a time' USING ERRCODE = '22023';
    END IF;
    RETURN QUERY
        SELECT CASE WHEN counted.code = ANY (codes) THEN counted.code ELSE 'OTHER' END, count(*),
               count(*) FILTER (WHERE counted.opened_at < now() - long AND counted.acknowledged_at IS NULL)
        FROM (SELECT i.code, i.opened_at, i.acknowledged_at FROM incidents i
              WHERE i.closed_at IS NULL LIMIT 100000) AS counted
        GROUP BY 1;
END
$$;

ALTER FUNCTION public.measure_incidents(codes text[], long interval) OWNER TO signet_dispatch;

CREATE FUNCTION public.measure_queue(queue text) RETURNS TABLE(pending bigint, failed bigint, processing bigint, expired bigint, dead_letter bigint, oldest_due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL THEN
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($measured$
        SELECT waiting.pending, waiting.failed, working.processing, working.expired, dead.dead_letter,
               (SELECT d.oldest_due_at FROM due_tenants($1, 1) AS d)
        FROM (SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
                     count(*) FILTER (WHERE status = 'failed') AS failed
              FROM (SELECT status FROM %1$I WHERE status IN ('pending', 'failed') LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE lease_until <= now()) AS expired
              FROM (SELECT lease_until FROM %1$I WHERE status = 'processing' LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I WHERE status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000;
END
$_$;

ALTER FUNCTION public.measure_queue(queue text) OWNER TO signet_dispatch;

CREATE FUNCTION public.measure_queue(queue text, since timestamp with time zone) RETURNS TABLE(pending bigint, failed bigint, processing bigint, expired bigint, dead_letter bigint, oldest_due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL THEN
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($measured$
        SELECT waiting.pending, waiting.failed, working.processing, working.expired, dead.dead_letter,
               (SELECT d.oldest_due_at FROM due_tenants($1, 1, $3, '{}', '{}') AS d)
        FROM (SELECT count(*) FILTER (WHERE counted.status = 'pending') AS pending,
                     count(*) FILTER (WHERE counted.status = 'failed') AS failed
              FROM (SELECT found.status FROM tenants t
                    CROSS JOIN LATERAL (SELECT q.status FROM %1$I q
                                        WHERE q.tenant_id = t.tenant_id AND q.status IN ('pending', 'failed')
                                          AND q.due_at >= $3 ORDER BY q.due_at LIMIT $2) AS found
                    LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE counted.lease_until <= now()) AS expired
              FROM (SELECT found.lease_until FROM tenants t
                    CROSS JOIN LATERAL (SELECT q.lease_until FROM %1$I q
                                        WHERE q.tenant_id = t.tenant_id AND q.status = 'processing'
                                          AND q.lease_until >= $3 ORDER BY q.lease_until LIMIT $2) AS found
                    LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I q WHERE q.status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000, since;
END
$_$;

ALTER FUNCTION public.measure_queue(queue text, since timestamp with time zone) OWNER TO signet_dispatch;

CREATE FUNCTION public.move_approval_requests(request_rows json, written_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(request_rows) AS row (id uuid));
    written bigint;
BEGIN
    -- The release before this one knows no reminders: what it moves reminds no more in this stage.
    UPDATE approval_requests r
    SET stage = row.stage, status = row.status, outcome = row.outcome, applied = row.applied,
        escalate_at = row.escalate_at, expire_at = row.expire_at, remind_at = row.remind_at,
        reminders = coalesce(row.reminders, r.reminders),
        ended_at = CASE WHEN row.status = 'open' THEN NULL ELSE coalesce(r.ended_at, written_at) END
    FROM json_to_recordset(request_rows) AS row (
        id uuid, stage integer, status text, outcome text, applied boolean, escalate_at timestamptz,
        expire_at timestamptz, remind_at timestamptz, reminders integer)
    WHERE r.tenant_id = current_tenant_id() AND r.id = ANY (ids) AND r.id = row.id
      AND (row.status = r.status OR row.status = 'expired'
           OR (row.status = 'open' AND r.status = 'approved'));
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % requests % may be written so', cardinality(ids), written USING ERRCODE = 'SG002';
    END IF;
END
$$;

ALTER FUNCTION public.move_approval_requests(request_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.note_dropped() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    NEW.completed_at := now();
    RETURN NEW;
END
$$;

ALTER FUNCTION public.note_dropped() OWNER TO signet_owner;

CREATE FUNCTION public.open_closed_seats(seat_rows json) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    UPDATE approval_seats s SET status = 'open'
    FROM json_to_recordset(seat_rows) AS row (request_id uuid, stage integer, "position" integer)
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = row.request_id AND s.stage = row.stage
      AND s.position = row.position AND s.status = 'closed'
      AND EXISTS (SELECT FROM approval_requests q
                  WHERE q.tenant_id = s.tenant_id AND q.id = s.request_id AND q.status = 'open' AND q.stage = s.stage)
      AND EXISTS (SELECT FROM approval_seats l
                  WHERE l.tenant_id = s.tenant_id AND l.request_id = s.request_id AND l.stage = s.stage
                    AND l.status = 'lapsed')
$$;

ALTER FUNCTION public.open_closed_seats(seat_rows json) OWNER TO signet_owner;

CREATE FUNCTION public.open_wave(trigger_times timestamp with time zone[], trigger_ids uuid[], own_claim uuid) RETURNS TABLE(now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb, documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    found_ids    uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
    members      jsonb;
    sets         jsonb;
    open_steps   json;
    has_effects  boolean;
    outcomes     json;
BEGIN
    -- LIMIT and OFFSET keep each a lookup by its key, however small a table was when the session has planned it.
    SELECT array_agg(own.id), array_agg(DISTINCT own.instance_id) INTO own_triggers, wanted
    FROM (SELECT * FROM unnest(trigger_times, trigger_ids) AS claimed (created_at, id) ORDER BY 1, 2) AS claimed
    CROSS JOIN LATERAL (
        SELECT q.id, q.instance_id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = claimed.created_at AND q.id = claimed.id
          AND q.claim_id = own_claim
        LIMIT 1
        FOR UPDATE
    ) AS own;
    SELECT array_agg(i.id), array_agg(i.id) FILTER (WHERE i.is_taken), array_agg(i.entity_id) FILTER (WHERE i.is_taken)
    INTO found_ids, taken, entities
    FROM (
        SELECT i.id, i.entity_id, pg_try_advisory_xact_lock(hashtextextended(i.id::text, 0)) AS is_taken
        FROM unnest(wanted) AS asked (id)
        CROSS JOIN LATERAL (
            SELECT i.id, i.entity_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.id = asked.id
            LIMIT 1
        ) AS i
    ) AS i;
    SELECT array_agg(held.id) INTO entities
    FROM (SELECT asked.id FROM unnest(entities) AS asked (id) ORDER BY asked.id) AS asked
    CROSS JOIN LATERAL (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = asked.id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS held;
    -- Most instances of a wave have the same actor, so that each person is read once.
    WITH held AS MATERIALIZED (
        SELECT i.*
        FROM (SELECT asked.id FROM unnest(taken) AS asked (id) ORDER BY asked.id) AS asked
        CROSS JOIN LATERAL (
            SELECT i.id, i.actor_id, i.actor_roles, i.responsible FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.id = asked.id
              AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
            LIMIT 1
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS i
    ), request AS MATERIALIZED (
        SELECT q.*
        FROM unnest(entities) AS asked (id)
        CROSS JOIN LATERAL (
            SELECT q.actor_id, q.actor_roles FROM transition_requests q
            WHERE q.tenant_id = current_tenant_id() AND q.document_id = asked.id AND q.status = 'open'
            LIMIT 1
        ) AS q
    ), role_name AS (
        SELECT 'service_account' AS role
        UNION
        SELECT unnest(held.actor_roles) FROM held
        UNION
        SELECT unnest(request.actor_roles) FROM request
        UNION
        -- Who asked acts with the roles that they have now.
        SELECT h.role
        FROM (SELECT held.actor_id FROM held
              UNION
              SELECT request.actor_id FROM request) AS a
        JOIN member_roles h ON h.tenant_id = current_tenant_id() AND h.user_id = a.actor_id
    )
    SELECT (SELECT array_agg(held.id) FROM held),
           (SELECT array_agg(role_name.role) FROM role_name),
           (SELECT jsonb_object_agg(a.actor_id, read_member(a.actor_id))
            FROM (SELECT DISTINCT held.actor_id FROM held) AS a),
           (SELECT jsonb_object_agg(encode(r.responsible, 'hex'), read_persons(r.responsible))
            FROM (SELECT DISTINCT held.responsible FROM held WHERE held.responsible IS NOT NULL) AS r)
    INTO locked, role_names, members, sets;
    SELECT json_agg(found ORDER BY s.instance_id, s.seq), bool_or(s.node_type IN ('webhook_out', 'notification'))
    INTO open_steps, has_effects
    FROM unnest(locked) AS held (id)
    CROSS JOIN LATERAL (
        SELECT * FROM workflow_step_executions s
        WHERE s.tenant_id = current_tenant_id() AND s.instance_id = held.id AND s.status IN ('pending', 'running')
        OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
        SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
               s.started_at, s.resume_at, s.waiting_for_event_key
    ) AS found;
    -- Most waves have no open step with an effect: they need not even a plan for its answer.
    IF has_effects THEN
        outcomes := (SELECT json_agg(found) FROM (
            SELECT e.step_execution_id,
                   CASE WHEN e.held_at IS NOT NULL AND e.status IN ('pending', 'processing', 'failed')
                        THEN 'held' ELSE e.status END AS status,
                   e.response_json, coalesce(e.withdraw_reason, e.error) AS error
            FROM unnest(locked) AS held (id)
            CROSS JOIN LATERAL (
                SELECT s.id FROM workflow_step_executions s
                WHERE s.tenant_id = current_tenant_id() AND s.instance_id = held.id
                  AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                OFFSET 0
            ) AS s
            CROSS JOIN LATERAL (
                SELECT * FROM workflow_side_effects_outbox e
                WHERE e.tenant_id = current_tenant_id() AND e.step_execution_id = s.id
                OFFSET 0
            ) AS e
            WHERE e.status IN ('completed', 'dead_letter', 'withdrawn', 'discarded') OR e.held_at IS NOT NULL
        ) AS found);
    END IF;
    RETURN QUERY
    SELECT base.*, own_triggers, coalesce(found_ids, '{}'),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id, i.pins,
                      members -> i.actor_id AS actor_member,
                      sets -> encode(i.responsible, 'hex') AS responsible
               FROM (SELECT held.id FROM unnest(locked) AS held (id) ORDER BY held.id) AS held
               CROSS JOIN LATERAL (
                   SELECT * FROM workflow_instances i
                   WHERE i.tenant_id = current_tenant_id() AND i.id = held.id
                   LIMIT 1
               ) AS i
           ) AS found),
           open_steps, outcomes
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

ALTER FUNCTION public.open_wave(trigger_times timestamp with time zone[], trigger_ids uuid[], own_claim uuid) OWNER TO signet_owner;

CREATE FUNCTION public.permission_takings_since(since timestamp with time zone, concerned text[], holders text[], seat_roles text[], needed text[], by_roles text[], own_resources text[]) RETURNS TABLE(kind text, changed_at timestamp with time zone, actor_id text, persons text[], user_id text, role text, other_user_id text, takes_permission boolean)
    LANGUAGE plpgsql STABLE ROWS 10 PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant_id();
    any_role boolean := coalesce(needed && by_roles, false);
BEGIN
    -- Hardly any vote has one.
    IF coalesce(cardinality(needed), 0) = 0 OR NOT EXISTS (
        SELECT FROM eligibility_changes c
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND (c.kind IN ('role_taken', 'role_permissions_changed') OR any_role AND c.kind = 'role_given')) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH need AS MATERIALIZED (
        SELECT permissions_granting(n.permission, own_resources) AS granting
        FROM unnest(needed) AS n (permission)
    ), taken AS MATERIALIZED (
        SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.persons, given.persons) c.*
        FROM eligibility_changes c
        CROSS JOIN LATERAL (
            SELECT last_giving(since, c.changed_at, c.kind, c.user_id, c.role) AS persons
        ) AS given
        WHERE c.tenant_id = tenant AND c.changed_at >= since AND c.persons && concerned
          AND (c.kind IN ('role_taken', 'role_permissions_changed') OR any_role AND c.kind = 'role_given')
          AND EXISTS (
              SELECT FROM (
                  SELECT c.user_id AS id WHERE c.kind IN ('role_taken', 'role_given')
                  -- A role that has changed took it from those who hold it, and from those who held it then.
                  UNION ALL SELECT h.user_id FROM member_roles h
                            WHERE c.kind = 'role_permissions_changed' AND h.tenant_id = tenant AND h.role = c.role
                  UNION ALL SELECT t.user_id FROM eligibility_changes t
                            WHERE c.kind = 'role_permissions_changed' AND t.tenant_id = tenant AND t.role = c.role
                              AND t.kind = 'role_taken' AND t.changed_at > c.changed_at
              ) AS person
              JOIN members m ON m.tenant_id = tenant AND m.user_id = person.id AND m.status = 'active'
              WHERE (m.user_id = ANY (holders)
                     OR EXISTS (SELECT FROM member_roles a WHERE a.tenant_id = tenant AND a.user_id = m.user_id
                                                             AND a.role = ANY (seat_roles)
                              -- Whom these persons have asked by a role takes no vote from the others.
                              AND NOT (c.kind = 'role_given' AND EXISTS (
                                  SELECT FROM eligibility_changes g
                                  WHERE g.tenant_id = tenant AND g.user_id = a.user_id AND g.role = a.role
                                    AND g.kind = 'role_given' AND g.changed_at >= since AND g.persons && concerned))))
                AND (any_role AND c.kind IN ('role_taken', 'role_given')
                     OR c.kind <> 'role_given' AND EXISTS (SELECT FROM need
                                WHERE (c.permissions IS NULL OR c.permissions && need.granting)
                                  AND NOT has_kept_permission(m.user_id, need.granting, since))))
          AND NOT EXISTS (
              SELECT FROM eligibility_changes b
              WHERE b.tenant_id = tenant AND b.role = c.role AND b.changed_at > c.changed_at
                AND NOT b.persons && concerned
                AND CASE c.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = c.user_id
                                WHEN 'role_given' THEN b.kind = 'role_taken' AND b.user_id = c.user_id
                                ELSE b.kind IN ('role_permissions_changed', 'role_widened') END)
        ORDER BY c.kind, c.user_id, c.role, c.persons, given.persons, c.changed_at DESC
        LIMIT 1001
    ), given_back AS (
        SELECT DISTINCT ON (b.kind, b.user_id, b.role, b.persons) b.*
        FROM taken
        JOIN eligibility_changes b ON b.tenant_id = tenant AND b.role = taken.role AND b.persons && concerned
         AND b.changed_at > taken.changed_at
         AND CASE taken.kind WHEN 'role_taken' THEN b.kind = 'role_given' AND b.user_id = taken.user_id
                             WHEN 'role_given' THEN b.kind = 'role_taken' AND b.user_id = taken.user_id
                             ELSE b.kind IN ('role_permissions_changed', 'role_widened') END
        ORDER BY b.kind, b.user_id, b.role, b.persons, b.changed_at DESC
        LIMIT 1001
    )
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, true FROM taken t
    UNION ALL
    SELECT g.kind, g.changed_at, g.actor_id, g.persons, g.user_id, g.role, g.other_user_id, false FROM given_back g;
END
$$;

ALTER FUNCTION public.permission_takings_since(since timestamp with time zone, concerned text[], holders text[], seat_roles text[], needed text[], by_roles text[], own_resources text[]) OWNER TO signet_owner;

CREATE FUNCTION public.permissions_granting(permission text, own_resources text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (ARRAY[permission, (split_part(permission, ':'::text, 1) || ':*'::text), '*:*'::text] ||
         CASE
             WHEN (split_part(permission, ':'::text, 1) <> ALL (own_resources)) THEN ARRAY[('*:'::text || split_part(permission, ':'::text, 2))]
             ELSE '{}'::text[]
         END);
END;

ALTER FUNCTION public.permissions_granting(permission text, own_resources text[]) OWNER TO signet_owner;

CREATE FUNCTION public.prune_eligibility_changes(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    cutoff timestamptz;
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    cutoff := least(now() - kept, (
        SELECT min(i.started_at)
        FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.status IN ('running', 'paused') AND i.started_at < now() - kept
          AND EXISTS (
              SELECT FROM approval_requests q
              WHERE q.tenant_id = i.tenant_id AND q.instance_id = i.id
                AND (q.status = 'open' OR q.status = 'approved' AND NOT q.applied))));
    PERFORM set_config('signet.pruning', 'eligibility_changes', true);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM eligibility_changes o
        WHERE o.tenant_id = current_tenant_id() AND o.changed_at < cutoff
        ORDER BY o.changed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM eligibility_changes c USING old WHERE c.tenant_id = current_tenant_id() AND c.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    PERFORM set_config('signet.pruning', '', true);
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_eligibility_changes(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_idempotency_keys(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.key FROM idempotency_keys o
        WHERE o.tenant_id = current_tenant_id() AND o.created_at < now() - kept
        ORDER BY o.created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM idempotency_keys k USING old WHERE k.tenant_id = current_tenant_id() AND k.key = old.key;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_idempotency_keys(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_inbound_events(at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM workflow_inbound_events o
        WHERE o.tenant_id = current_tenant_id() AND o.expires_at < now() - interval '7 days'
          AND NOT EXISTS (SELECT FROM workflow_event_offers f
                          WHERE f.tenant_id = o.tenant_id AND f.event_id = o.id AND f.status = 'open'
                            AND (o.taken_at IS NULL OR NOT f.is_alone))
        ORDER BY o.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM workflow_inbound_events e USING old WHERE e.tenant_id = current_tenant_id() AND e.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_inbound_events(at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_incidents(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM incidents o
        WHERE o.tenant_id = current_tenant_id() AND o.closed_at < now() - kept
          AND NOT EXISTS (SELECT FROM workflow_instances i
                          WHERE i.tenant_id = o.tenant_id AND i.id = o.instance_id AND i.status IN ('running', 'paused'))
        ORDER BY o.closed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM incidents i USING old WHERE i.tenant_id = current_tenant_id() AND i.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_incidents(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_notifications(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM notifications o
        WHERE o.tenant_id = current_tenant_id() AND o.read_at < now() - kept
        ORDER BY o.read_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM notifications n USING old WHERE n.tenant_id = current_tenant_id() AND n.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_notifications(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_outbox(queue text, kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    IF queue = 'events' THEN
        WITH done AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), dropped AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'discarded'
              AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), old AS MATERIALIZED (
            SELECT created_at, id FROM done UNION ALL SELECT created_at, id FROM dropped LIMIT at_most
        )
        DELETE FROM workflow_events_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSIF queue = 'effects' THEN
        WITH done AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), dropped AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status IN ('withdrawn', 'discarded')
              AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), old AS MATERIALIZED (
            SELECT created_at, id FROM done UNION ALL SELECT created_at, id FROM dropped LIMIT at_most
        )
        DELETE FROM workflow_side_effects_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSE
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_outbox(queue text, kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_quota_meters(at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(interval '0', interval '0', at_most);
    WITH old AS MATERIALIZED (
        SELECT o.name FROM quota_meters o
        WHERE o.tenant_id = current_tenant_id() AND o.full_at < now() - interval '1 day'
        ORDER BY o.name LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM quota_meters m USING old WHERE m.tenant_id = current_tenant_id() AND m.name = old.name;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

ALTER FUNCTION public.prune_quota_meters(at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.prune_receipts(kept interval, after uuid, at_most integer, OUT looked_to uuid, OUT pruned integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
    looked_at integer := 0;
    ended_at  timestamptz;
    is_known  boolean;
    step      bigint;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    looked_to := coalesce(after, '00000000-0000-0000-0000-000000000000');
    pruned := 0;
    WHILE looked_at < at_most AND pruned < at_most LOOP
        -- From each instance to the next one, in both tables.
        looked_to := least(
            (SELECT r.instance_id FROM workflow_step_receipts r
             WHERE r.tenant_id = current_tenant_id() AND r.instance_id > looked_to
             ORDER BY r.instance_id LIMIT 1),
            (SELECT r.instance_id FROM workflow_outbox_receipts r
             WHERE r.tenant_id = current_tenant_id() AND r.instance_id > looked_to
             ORDER BY r.instance_id LIMIT 1));
        EXIT WHEN looked_to IS NULL;
        looked_at := looked_at + 1;
        SELECT i.completed_at INTO ended_at FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = looked_to;
        is_known := FOUND;
        CONTINUE WHEN is_known AND (ended_at IS NULL OR ended_at >= now() - kept);
        DELETE FROM workflow_step_receipts r
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = looked_to
          AND (is_known OR r.created_at < now() - kept);
        GET DIAGNOSTICS step = ROW_COUNT;
        pruned := pruned + step;
        DELETE FROM workflow_outbox_receipts r
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = looked_to
          AND (is_known OR r.created_at < now() - kept);
        GET DIAGNOSTICS step = ROW_COUNT;
        pruned := pruned + step;
    END LOOP;
END
$$;

ALTER FUNCTION public.prune_receipts(kept interval, after uuid, at_most integer, OUT looked_to uuid, OUT pruned integer) OWNER TO signet_owner;

CREATE FUNCTION public.purge_documents(kept interval, at_most integer) RETURNS TABLE(document_id uuid, purged_at timestamp with time zone, erased json)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    target uuid;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    FOR target IN
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.deleted_at < now() - kept AND d.purged_at IS NULL
          AND NOT EXISTS (
              SELECT FROM workflow_instances i
              WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                AND i.status IN ('running', 'paused'))
        ORDER BY d.deleted_at LIMIT at_most FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        WITH gone AS (
            UPDATE personal_values p SET salt = NULL, value = NULL, erased_at = now()
            WHERE p.tenant_id = current_tenant_id() AND p.document_id = target AND p.erased_at IS NULL
            RETURNING p.id, p.field
        ), freed AS (
            DELETE FROM document_keys k WHERE k.tenant_id = current_tenant_id() AND k.document_id = target
        ), emptied AS (
            UPDATE documents d
            SET data = '{}', purged_at = now(), t1 = NULL, t2 = NULL, t3 = NULL, t4 = NULL, n1 = NULL, n2 = NULL,
                n3 = NULL, n4 = NULL, d1 = NULL, d2 = NULL
            WHERE d.tenant_id = current_tenant_id() AND d.id = target
        )
        SELECT target, now(), coalesce(json_agg(json_build_object('personal', gone.id, 'field', gone.field)
                                                ORDER BY gone.field, gone.id), '[]')
        FROM gone;
    END LOOP;
END
$$;

ALTER FUNCTION public.purge_documents(kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.read_causes(instances json) RETURNS json
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
BEGIN
    RETURN (
        SELECT json_object_agg(c.instance_id, json_build_object('cause', c.cause, 'chain', c.chain))
        FROM json_array_elements(instances) AS opened
        CROSS JOIN LATERAL (
            SELECT c.instance_id, c.cause, c.chain FROM instance_causes c
            WHERE c.tenant_id = current_tenant_id() AND c.instance_id = (opened ->> 'id')::uuid
            LIMIT 1
        ) AS c
    );
END
$$;

ALTER FUNCTION public.read_causes(instances json) OWNER TO signet_owner;

CREATE FUNCTION public.read_member(member_id text) RETURNS json
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                       SELECT h.role FROM member_roles h
                       WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
            FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = member_id);
END
$$;

ALTER FUNCTION public.read_member(member_id text) OWNER TO signet_owner;

CREATE FUNCTION public.read_pause(paused_id uuid, reason text, tokens jsonb) RETURNS json
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
BEGIN
    IF tokens @? '$[*] ? (exists(@.hold))'
       AND NOT tokens @? '$[*] ? ((@.state == "ready" || @.state == "waiting") && !exists(@.hold))' THEN
        RETURN NULL;
    END IF;
    RETURN json_build_object('reason', reason, 'is_by_person', is_paused_by_person(paused_id));
END
$_$;

ALTER FUNCTION public.read_pause(paused_id uuid, reason text, tokens jsonb) OWNER TO signet_owner;

CREATE FUNCTION public.read_persons(set_hash bytea) RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN (SELECT s.persons FROM responsible_sets s
            WHERE s.tenant_id = current_tenant_id() AND s.hash = set_hash);
END
$$;

ALTER FUNCTION public.read_persons(set_hash bytea) OWNER TO signet_owner;

CREATE FUNCTION public.record_secret_uses() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    had  text[] := ARRAY(SELECT jsonb_array_elements_text(to_jsonb(OLD) -> TG_ARGV[1]));
    have text[] := ARRAY(SELECT jsonb_array_elements_text(to_jsonb(NEW) -> TG_ARGV[1]));
    seen text := coalesce(current_setting('signet.tenant_id', true), '');
BEGIN
    PERFORM set_config('signet.tenant_id', coalesce(NEW.tenant_id, OLD.tenant_id)::text, true);
    DELETE FROM secret_uses u
    WHERE u.tenant_id = OLD.tenant_id AND u.direction = TG_ARGV[0] AND u.endpoint = OLD.name
      AND u.secret <> ALL (have);
    INSERT INTO secret_uses SELECT DISTINCT NEW.tenant_id, new_one, TG_ARGV[0], NEW.name
    FROM unnest(have) AS new_one WHERE new_one <> ALL (had);
    INSERT INTO secret_uses SELECT DISTINCT NEW.tenant_id, old_one, TG_ARGV[0], NEW.name
    FROM unnest(have) AS old_one WHERE old_one = ANY (had)
    ON CONFLICT (tenant_id, secret) DO NOTHING;
    PERFORM set_config('signet.tenant_id', seen, true);
    RETURN NULL;
END
$$;

ALTER FUNCTION public.record_secret_uses() OWNER TO signet_owner;

CREATE FUNCTION public.reject_any_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are written once: % is refused', TG_TABLE_NAME, lower(TG_OP)
        USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_any_change() OWNER TO signet_owner;

CREATE FUNCTION public.reject_begun_document() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    -- Another tenant's is refused by row security.
    IF NEW.tenant_id <> current_tenant_id() THEN
        RETURN NEW;
    END IF;
    IF NEW.version <> 1 OR NEW.amended_from_id IS NOT NULL OR NOT coalesce(
        (SELECT (c.body::jsonb -> 'states' -> NEW.status ->> 'initial')::boolean FROM contracts c
         WHERE c.tenant_id = NEW.tenant_id AND c.entity_type = NEW.entity_type AND c.version = NEW.contract_version),
        false) THEN
        RAISE EXCEPTION 'document % does not begin in the status %', NEW.id, NEW.status USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_begun_document() OWNER TO signet_owner;

CREATE FUNCTION public.reject_default_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'definition % is a default and never changes', OLD.id USING ERRCODE = 'SG003';
END
$$;

ALTER FUNCTION public.reject_default_definition_mutation() OWNER TO signet_owner;

CREATE FUNCTION public.reject_eligibility_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_user = 'signet_owner'
       AND current_setting('signet.pruning', true) = 'eligibility_changes' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are written once: % is refused', TG_TABLE_NAME, lower(TG_OP)
        USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_eligibility_rewriting() OWNER TO signet_owner;

CREATE FUNCTION public.reject_ended_control_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'control change % has ended as %', OLD.id, OLD.status USING ERRCODE = 'SG003';
END
$$;

ALTER FUNCTION public.reject_ended_control_change() OWNER TO signet_owner;

CREATE FUNCTION public.reject_foreign_transaction() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'an audit row is written under its own transaction' USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_foreign_transaction() OWNER TO signet_owner;

CREATE FUNCTION public.reject_identity_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'a row of % cannot become another one', TG_TABLE_NAME USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_identity_change() OWNER TO signet_owner;

CREATE FUNCTION public.reject_key_revival() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'an API key that is revoked stays revoked' USING ERRCODE = 'restrict_violation';
END
$$;

ALTER FUNCTION public.reject_key_revival() OWNER TO signet_owner;

CREATE FUNCTION public.reject_later_birth() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF NEW.kind = 'automation' AND NEW.birth = 'created' THEN
        RETURN NEW;
    END IF;
    IF NEW.birth IN ('reentered', 'restarted') OR EXISTS (
        SELECT FROM workflow_instances i
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.entity_id) THEN
        RAISE EXCEPTION 'people have document % begin again, and no worker', NEW.entity_id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_later_birth() OWNER TO signet_owner;

CREATE FUNCTION public.reject_lost_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_lost_editors() OWNER TO signet_owner;

CREATE FUNCTION public.reject_move() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'an operator moves instance %, and nobody else', NEW.instance_id USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_move() OWNER TO signet_owner;

CREATE FUNCTION public.reject_personal_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL
       OR (NEW.tenant_id, NEW.id, NEW.document_id, NEW.field, NEW.created_at)
          IS DISTINCT FROM (OLD.tenant_id, OLD.id, OLD.document_id, OLD.field, OLD.created_at) THEN
        RAISE EXCEPTION 'a personal value can only be erased' USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_personal_change() OWNER TO signet_owner;

CREATE FUNCTION public.reject_published_chain_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (to_jsonb(NEW) - 'status') IS DISTINCT FROM (to_jsonb(OLD) - 'status') THEN
        RAISE EXCEPTION 'approval chain % version % is published and frozen', OLD.name, OLD.version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_published_chain_change() OWNER TO signet_owner;

CREATE FUNCTION public.reject_published_chain_mutation() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.reject_published_chain_mutation() OWNER TO signet_owner;

CREATE FUNCTION public.reject_published_contract_mutation() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.reject_published_contract_mutation() OWNER TO signet_owner;

CREATE FUNCTION public.reject_published_definition_mutation() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'DELETE'
       OR (to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at', 'revision'])
          IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at', 'revision']) THEN
        RAISE EXCEPTION 'definition % is published and frozen', OLD.id USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_published_definition_mutation() OWNER TO signet_owner;

CREATE FUNCTION public.reject_seat_without_consent() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'two operators give such a seat: % %', NEW.request_id, NEW.position USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_seat_without_consent() OWNER TO signet_owner;

CREATE FUNCTION public.reject_second_use() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'what a gate has used stays used: % %', TG_TABLE_NAME, OLD.id USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_second_use() OWNER TO signet_owner;

CREATE FUNCTION public.reject_smaller_set_of_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF OLD.editor_ids = '{}' AND OLD.editor_responsible = sha256('') THEN
        IF EXISTS (SELECT FROM responsible_sets n
                   WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible) THEN
            RETURN NULL;
        END IF;
    ELSIF EXISTS (
        SELECT FROM responsible_sets n
        WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible
          AND coalesce((SELECT o.persons FROM responsible_sets o
                        WHERE o.tenant_id = OLD.tenant_id AND o.hash = OLD.editor_responsible),
                       OLD.editor_ids) <@ n.persons) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'persons behind a document are not taken away: %', NEW.id USING ERRCODE = 'SG002';
END
$$;

ALTER FUNCTION public.reject_smaller_set_of_editors() OWNER TO signet_owner;

CREATE FUNCTION public.reject_stray_effect() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    made_at timestamptz := timestamptz 'epoch' + interval '1 millisecond'
        * ('x' || left(replace(NEW.step_execution_id::text, '-', ''), 12))::bit(48)::bigint;
BEGIN
    -- Another tenant's is refused by row security.
    IF NEW.tenant_id <> current_tenant_id() THEN
        RETURN NEW;
    END IF;
    IF NOT EXISTS (
        SELECT FROM workflow_step_executions s
        WHERE s.tenant_id = NEW.tenant_id AND s.created_at = made_at AND s.id = NEW.step_execution_id
          AND s.instance_id = NEW.instance_id AND s.started_at >= now()
          AND s.node_type IN ('webhook_out', 'notification'))
       OR EXISTS (
        SELECT FROM workflow_side_effects_outbox e
        WHERE e.tenant_id = NEW.tenant_id AND e.created_at >= made_at
          AND e.step_execution_id = NEW.step_execution_id) THEN
        RAISE EXCEPTION 'effect % has no step of this wave that sends it', NEW.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_stray_effect() OWNER TO signet_owner;

CREATE FUNCTION public.reject_unversioned_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF NEW.version < OLD.version
       OR (NEW.purged_at IS NULL AND (NEW.status, NEW.data) IS DISTINCT FROM (OLD.status, OLD.data)) THEN
        RAISE EXCEPTION 'a document changes only with its version: %', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.reject_unversioned_change() OWNER TO signet_owner;

CREATE FUNCTION public.release_next_start(released_key text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    next   queued_starts;
    moment timestamptz := date_trunc('milliseconds', clock_timestamp());
BEGIN
    SELECT * INTO next FROM queued_starts q
    WHERE q.tenant_id = current_tenant_id() AND q.overlap_key = released_key
    ORDER BY q.id LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM queued_starts q
    WHERE q.tenant_id = next.tenant_id AND q.overlap_key = next.overlap_key AND q.id = next.id;
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, event_type, payload_json, event_idempotency_key, trace_id,
        due_at, responsible)
    VALUES (next.tenant_id, moment,
            (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
             || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
            next.id, next.entity_version, 'start_automation', next.payload || jsonb_build_object('released_key', released_key),
            sha256(convert_to(next.id::text || clock_timestamp()::text, 'UTF8')), next.trace_id, now(), next.responsible);
END
$$;

ALTER FUNCTION public.release_next_start(released_key text) OWNER TO signet_owner;

CREATE FUNCTION public.release_queued_start() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM release_next_start(NEW.overlap_key);
    RETURN NULL;
END
$$;

ALTER FUNCTION public.release_queued_start() OWNER TO signet_owner;

CREATE FUNCTION public.reopen_amendment() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    UPDATE amendments a SET closed_at = NULL, closing = NULL
    WHERE a.tenant_id = NEW.tenant_id AND a.document_id = NEW.entity_id AND a.closing = 'given_up'
      AND NOT EXISTS (SELECT FROM amendments o
                      WHERE o.tenant_id = a.tenant_id AND o.original_id = a.original_id
                        AND (o.closing IS NULL OR o.closing = 'settled'));
    RETURN NULL;
END
$$;

ALTER FUNCTION public.reopen_amendment() OWNER TO signet_owner;

CREATE FUNCTION public.require_bounds(kept interval, least_kept interval, at_most integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF kept IS NULL OR kept < least_kept OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'at least % must be kept, and between 1 and 10000 rows go at a time: %, %',
            least_kept, kept, at_most USING ERRCODE = '22023';
    END IF;
END
$$;

ALTER FUNCTION public.require_bounds(kept interval, least_kept interval, at_most integer) OWNER TO signet_owner;

CREATE FUNCTION public.restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version)
       AND NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_definitions w
          ON w.tenant_id = i.tenant_id AND w.id = i.definition_id AND w.version = i.definition_version
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status = 'running' AND i.birth = 'restarted' AND i.version = 0
          AND w.contract_version = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.restrict_contract_change() OWNER TO signet_owner;

CREATE FUNCTION public.restrict_definition_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    moved_to jsonb;
BEGIN
    SELECT s.output_json -> 'to' INTO moved_to FROM workflow_step_executions s
    WHERE s.tenant_id = NEW.tenant_id AND s.instance_id = NEW.id AND s.node_id = 'sys:control:moved'
    ORDER BY s.seq DESC
    LIMIT 1;
    IF (moved_to ->> 'id')::uuid IS DISTINCT FROM NEW.definition_id
       OR (moved_to ->> 'version')::integer IS DISTINCT FROM NEW.definition_version THEN
        RAISE EXCEPTION 'instance % was not moved to definition % version %', NEW.id, NEW.definition_id,
            NEW.definition_version USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.restrict_definition_change() OWNER TO signet_owner;

CREATE FUNCTION public.restrict_status_regression() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    allowed text;
BEGIN
    IF NEW.status = OLD.status THEN
        RETURN NEW;
    END IF;
    FOREACH allowed IN ARRAY string_to_array(TG_ARGV[0], ';') LOOP
        IF split_part(allowed, '>', 1) = OLD.status
           AND NEW.status = ANY (string_to_array(split_part(allowed, '>', 2), ',')) THEN
            RETURN NEW;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'status of % cannot go from % to %', TG_TABLE_NAME, OLD.status, NEW.status
        USING ERRCODE = 'SG001';
END
$$;

ALTER FUNCTION public.restrict_status_regression() OWNER TO signet_owner;

CREATE FUNCTION public.restrict_step_execution_updates() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF (NEW.tenant_id, NEW.created_at, NEW.id, NEW.instance_id, NEW.seq, NEW.node_id, NEW.node_type, NEW.token_id,
        NEW.entity_version, NEW.run_as, NEW.idempotency_key, NEW.input_json, NEW.actor_user_id,
        NEW.snapshot_version_id)
       IS DISTINCT FROM
       (OLD.tenant_id, OLD.created_at, OLD.id, OLD.instance_id, OLD.seq, OLD.node_id, OLD.node_type, OLD.token_id,
        OLD.entity_version, OLD.run_as, OLD.idempotency_key, OLD.input_json, OLD.actor_user_id,
        OLD.snapshot_version_id) THEN
        RAISE EXCEPTION 'step % cannot become another step', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.restrict_step_execution_updates() OWNER TO signet_owner;

CREATE FUNCTION public.restrict_updates_of_ended_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF (to_jsonb(NEW) - 'applied') IS DISTINCT FROM (to_jsonb(OLD) - 'applied') THEN
        RAISE EXCEPTION 'step % has ended and keeps its outcome', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION public.restrict_updates_of_ended_step() OWNER TO signet_owner;

CREATE FUNCTION public.seat_by_break_glass(proposal uuid, by text, persons text[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    wanted break_glass_proposals;
    seat   integer;
BEGIN
    SELECT * INTO wanted FROM break_glass_proposals p
    WHERE p.tenant_id = current_tenant_id() AND p.id = proposal AND p.consented_at IS NULL AND p.expires_at > now()
      AND NOT p.proposed_persons && persons AND NOT persons @> ARRAY[p.user_id] AND cardinality(persons) > 0
      AND EXISTS (SELECT FROM approval_requests q
                  WHERE q.tenant_id = p.tenant_id AND q.id = p.request_id AND q.stage = p.stage AND q.status = 'open')
      AND EXISTS (SELECT FROM members m
                  WHERE m.tenant_id = p.tenant_id AND m.user_id = p.user_id AND m.status = 'active')
      AND NOT EXISTS (SELECT FROM approval_seats s
                      WHERE s.tenant_id = p.tenant_id AND s.request_id = p.request_id AND s.stage = p.stage
                        AND p.user_id IN (s.holder_user_id, s.decided_by, s.on_behalf_of))
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, origin)
    SELECT wanted.tenant_id, wanted.request_id, wanted.stage, coalesce(max(s.position), 0) + 1, wanted.user_id,
           'break_glass'
    FROM approval_seats s
    WHERE s.tenant_id = wanted.tenant_id AND s.request_id = wanted.request_id AND s.stage = wanted.stage
    RETURNING position INTO seat;
    UPDATE break_glass_proposals p
    SET consented_by = by, consented_persons = persons, consented_at = now(), position = seat
    WHERE p.tenant_id = wanted.tenant_id AND p.id = wanted.id;
    RETURN seat;
END
$$;

ALTER FUNCTION public.seat_by_break_glass(proposal uuid, by text, persons text[]) OWNER TO signet_owner;

CREATE FUNCTION public.seconds_to_next(queue text, within interval) RETURNS double precision
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $_$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
    seconds     double precision;
BEGIN
    IF queue_table IS NULL OR within IS NULL OR within NOT BETWEEN interval '0' AND interval '15 minutes' THEN
        RAISE EXCEPTION 'no such queue, or not within 15 minutes: %, %', queue, within USING ERRCODE = '22023';
    END IF;
    EXECUTE format($next$
        SELECT extract(epoch FROM CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END - clock_timestamp())
        FROM %1$I q
        WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END > now()
          AND CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END <= now() + $1
        ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
        LIMIT 1
    $next$, queue_table) INTO seconds USING within;
    RETURN CASE WHEN seconds < 0 THEN 0 ELSE seconds END;
END
$_$;

ALTER FUNCTION public.seconds_to_next(queue text, within interval) OWNER TO signet_dispatch;

CREATE FUNCTION public.tell_of_approval_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    people text[] := '{}';
    roles  text[] := '{}';
BEGIN
    IF NEW.status = 'expired' THEN
        SELECT coalesce(array_agg(DISTINCT s.holder_user_id) FILTER (WHERE s.holder_user_id IS NOT NULL), '{}'),
               coalesce(array_agg(DISTINCT s.holder_role) FILTER (WHERE s.holder_role IS NOT NULL), '{}')
        INTO people, roles
        FROM approval_seats s
        WHERE s.tenant_id = NEW.tenant_id AND s.request_id = NEW.id AND s.stage = NEW.stage AND s.decided_by IS NULL;
    END IF;
    PERFORM tell_of_end(
        NEW.tenant_id, 'approval_' || NEW.status, NEW.id,
        jsonb_build_object('node', NEW.node_id, 'document_id', NEW.document_id, 'instance_id', NEW.instance_id,
                           'reason', NEW.outcome),
        NEW.requester_id, NEW.responsible, people, roles, coalesce(NEW.ended_at, now()));
    RETURN NULL;
END
$$;

ALTER FUNCTION public.tell_of_approval_end() OWNER TO signet_owner;

CREATE FUNCTION public.tell_of_arrival() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    about_step record;
    sentence   text := CASE OLD.status WHEN 'completed' THEN ' had arrived when its step was withdrawn'
                                       ELSE ' was withdrawn on its way, and has arrived' END;
    prefix     text := to_hex((extract(epoch FROM now()) * 1000)::bigint);
BEGIN
    SELECT s.node_id, s.status, s.actor_user_id, i.actor_id, i.entity_type, i.entity_id, r.persons INTO about_step
    FROM workflow_step_executions s
    JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
    LEFT JOIN responsible_sets r ON r.tenant_id = i.tenant_id AND r.hash = i.responsible
    WHERE s.tenant_id = NEW.tenant_id AND s.id = NEW.step_execution_id;
    IF about_step IS NULL OR about_step.status IN ('pending', 'running') THEN
        RETURN NULL;
    END IF;
    prefix := lpad(prefix, 12, '0');
    prefix := left(prefix, 8) || '-' || right(prefix, 4) || '-7';
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id, step_execution_id,
                                data, trace_id)
    SELECT NEW.tenant_id, date_trunc('milliseconds', now()), (prefix || substr(gen_random_uuid()::text, 16))::uuid,
           'instance', NEW.instance_id, 'arrived', 'signet:system', NEW.step_execution_id,
           jsonb_build_object('effect', NEW.id, 'node', about_step.node_id, 'reason',
                              'what ' || about_step.node_id || ' sent' || sentence),
           NEW.trace_id;
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, data, created_at, about)
    SELECT NEW.tenant_id, (prefix || substr(gen_random_uuid()::text, 16))::uuid, told.user_id, told.role,
           'withdrawn_effect_arrived',
           jsonb_strip_nulls(jsonb_build_object(
               'effect_id', NEW.id, 'node', about_step.node_id, 'endpoint', NEW.endpoint,
               'entity_type', about_step.entity_type, 'document_id', about_step.entity_id,
               'instance_id', NEW.instance_id)),
           now(), 'arrived:' || NEW.id
    FROM (
        SELECT m.user_id, NULL
        FROM members m
        WHERE m.tenant_id = NEW.tenant_id AND m.status = 'active'
          AND (m.user_id IN (about_step.actor_user_id, about_step.actor_id)
               -- The row of the instance does not name yet who asked, where this transaction serves the request.
               OR m.user_id = (SELECT t.actor_id FROM transition_requests t
                               WHERE t.tenant_id = NEW.tenant_id AND t.document_id = about_step.entity_id
                               ORDER BY t.created_at DESC, t.id DESC LIMIT 1)
               OR about_step.actor_id LIKE 'key:%' AND m.user_id = ANY (about_step.persons))
        UNION ALL
        SELECT NULL, c.body::jsonb #>> '{on_incident,role}'
        FROM documents d
        JOIN contracts c
            ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
        WHERE d.tenant_id = NEW.tenant_id AND d.id = about_step.entity_id
    ) AS told (user_id, role)
    WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.tell_of_arrival() OWNER TO signet_owner;

CREATE FUNCTION public.tell_of_end(tenant uuid, kind text, request_id uuid, data jsonb, asker text, persons_hash bytea, user_ids text[], roles text[], written_at timestamp with time zone) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
    SELECT $1, (substr(moment.hex, 1, 8) || '-' || substr(moment.hex, 9, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid,
           told.user_id, told.role, $2, $3, $4, $9
    FROM (
        SELECT m.user_id, NULL::text AS role
        FROM members m
        WHERE m.tenant_id = $1 AND m.status = 'active'
          AND (m.user_id = $5 OR m.user_id = ANY ($7)
               OR $5 LIKE 'key:%' AND m.user_id = ANY (
                   SELECT unnest(s.persons) FROM responsible_sets s WHERE s.tenant_id = $1 AND s.hash = $6))
        UNION
        SELECT NULL, unnest($8)
    ) AS told
    CROSS JOIN (SELECT lpad(to_hex((extract(epoch FROM $9) * 1000)::bigint), 12, '0') AS hex) AS moment
$_$;

ALTER FUNCTION public.tell_of_end(tenant uuid, kind text, request_id uuid, data jsonb, asker text, persons_hash bytea, user_ids text[], roles text[], written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.tell_of_incident() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, data, created_at, about)
    SELECT NEW.tenant_id, (left(NEW.id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, told.user_id, told.role,
           'incident_opened',
           jsonb_strip_nulls(jsonb_build_object(
               'incident_id', NEW.id, 'code', NEW.code, 'kind', NEW.kind, 'entity_type', NEW.entity_type,
               'document_id', NEW.entity_id, 'instance_id', NEW.instance_id, 'node', NEW.node_id,
               'endpoint', NEW.endpoint)),
           NEW.opened_at, NEW.cause
    FROM (
        SELECT m.user_id, NULL
        FROM members m
        WHERE m.tenant_id = NEW.tenant_id AND m.status = 'active'
          AND (m.user_id = NEW.requester_id
               OR NEW.requester_id LIKE 'key:%' AND m.user_id = ANY (
                   SELECT unnest(s.persons)
                   FROM workflow_instances i
                   JOIN responsible_sets s ON s.tenant_id = i.tenant_id AND s.hash = i.responsible
                   WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.instance_id))
          AND NOT EXISTS (
              SELECT FROM incidents o
              WHERE o.tenant_id = NEW.tenant_id AND o.requester_id = NEW.requester_id AND o.cause = NEW.cause
                AND o.closed_at IS NULL AND o.id < NEW.id)
        UNION ALL
        SELECT NULL, c.body::jsonb #>> '{on_incident,role}'
        FROM documents d
        JOIN contracts c
            ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
        WHERE d.tenant_id = NEW.tenant_id AND d.id = NEW.entity_id
          AND NOT EXISTS (
              SELECT FROM incidents o
              WHERE o.tenant_id = NEW.tenant_id AND o.cause = NEW.cause AND o.closed_at IS NULL AND o.id < NEW.id)
    ) AS told (user_id, role)
    WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.tell_of_incident() OWNER TO signet_owner;

CREATE FUNCTION public.tell_of_superseded() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM tell_of_end(
        NEW.tenant_id, 'request_superseded', NULL,
        jsonb_build_object('transition', NEW.transition, 'document_id', NEW.document_id, 'reason', NEW.outcome),
        NEW.actor_id, NEW.responsible, '{}', '{}', coalesce(NEW.ended_at, now()));
    RETURN NULL;
END
$$;

ALTER FUNCTION public.tell_of_superseded() OWNER TO signet_owner;

CREATE FUNCTION public.void_approval_requests(voided_rows json, written_at timestamp with time zone) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    WITH voided AS (
        UPDATE approval_requests r
        SET status = 'voided', void_code = coalesce(row.code, find_void_code(row.reason)), outcome = row.reason,
            ended_at = coalesce(r.ended_at, written_at)
        FROM json_to_recordset(voided_rows)
             AS row (instance_id uuid, request_id uuid, code text, reason text, notice_id uuid)
        WHERE r.tenant_id = current_tenant_id() AND r.instance_id = row.instance_id
          AND (row.request_id IS NULL OR r.id = row.request_id)
          AND (r.status = 'open' OR (r.status = 'approved' AND r.applied IS NOT TRUE))
        RETURNING r.id, r.node_id, row.reason, row.notice_id
    ), told AS (
        SELECT DISTINCT voided.id, voided.node_id, voided.reason, voided.notice_id, person.user_id, person.role
        FROM voided
        JOIN approval_seats s ON s.tenant_id = current_tenant_id() AND s.request_id = voided.id
        CROSS JOIN LATERAL (
            SELECT s.holder_user_id AS user_id, s.holder_role AS role WHERE s.status = 'open'
            UNION SELECT s.decided_by, NULL WHERE s.decided_by IS NOT NULL
            UNION SELECT s.on_behalf_of, NULL WHERE s.on_behalf_of IS NOT NULL
        ) AS person
    ), closed AS (
        UPDATE approval_seats s SET status = 'closed'
        FROM voided
        WHERE s.tenant_id = current_tenant_id() AND s.request_id = voided.id AND s.status = 'open'
    )
    INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
    SELECT current_tenant_id(), (left(notice_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, user_id, role,
           'approval_voided', id, jsonb_build_object('node', node_id, 'reason', reason), written_at
    FROM told
$$;

ALTER FUNCTION public.void_approval_requests(voided_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.vote_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], holders text[], seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[], own_resources text[]) RETURNS TABLE(kind text, changed_at timestamp with time zone, actor_id text, persons text[], user_id text, role text, other_user_id text, gave text[], given_by text[], granting jsonb, takes_permission boolean, is_given_up boolean)
    LANGUAGE plpgsql STABLE ROWS 10 PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $_$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM eligibility_changes c WHERE c.tenant_id = current_tenant_id() AND c.changed_at >= since) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT c.*, false, false
    FROM barring_changes_since($1, $2, $3, $4, $9, $11) AS c
    WHERE c.kind <> 'manager_set'
    UNION ALL
    SELECT l.*
    FROM line_changes_since($1, $7, $8, $4) AS l
    UNION ALL
    SELECT t.kind, t.changed_at, t.actor_id, t.persons, t.user_id, t.role, t.other_user_id, '{}'::text[],
           last_giving($1, t.changed_at, t.kind, t.user_id, t.role), '{}'::jsonb, t.takes_permission, false
    FROM permission_takings_since($1, $4, $5, $6, $9, $10, $11) AS t;
END
$_$;

ALTER FUNCTION public.vote_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], holders text[], seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[], own_resources text[]) OWNER TO signet_owner;

CREATE FUNCTION public.widen_editors(document_id uuid, responsible bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    BEGIN ATOMIC
 UPDATE public.documents SET editor_responsible = widen_editors.responsible
   WHERE ((documents.tenant_id = public.current_tenant_id()) AND (documents.id = widen_editors.document_id));
END;

ALTER FUNCTION public.widen_editors(document_id uuid, responsible bytea) OWNER TO signet_owner;

CREATE FUNCTION public.withdraw_effects(tenant uuid, step uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    BEGIN ATOMIC
 UPDATE public.workflow_side_effects_outbox e SET status =
         CASE e.status
             WHEN 'processing'::text THEN e.status
             ELSE 'withdrawn'::text
         END, withdrawn_at = now()
   WHERE ((e.tenant_id = withdraw_effects.tenant) AND (e.step_execution_id = withdraw_effects.step) AND (e.status = ANY (ARRAY['pending'::text, 'processing'::text, 'failed'::text, 'dead_letter'::text])));
END;

ALTER FUNCTION public.withdraw_effects(tenant uuid, step uuid) OWNER TO signet_owner;

CREATE FUNCTION public.withdraw_effects_of_incident() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.step_id);
    RETURN NULL;
END
$$;

ALTER FUNCTION public.withdraw_effects_of_incident() OWNER TO signet_owner;

CREATE FUNCTION public.withdraw_effects_of_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM withdraw_effects(NEW.tenant_id, NEW.id);
    UPDATE workflow_side_effects_outbox e SET withdrawn_at = now()
    WHERE e.tenant_id = NEW.tenant_id AND e.step_execution_id = NEW.id AND e.status = 'completed'
      AND e.withdrawn_at IS NULL;
    RETURN NULL;
END
$$;

ALTER FUNCTION public.withdraw_effects_of_step() OWNER TO signet_owner;

CREATE FUNCTION public.write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    SELECT write_edits(ARRAY(SELECT id FROM json_to_recordset(document_rows) AS row (id uuid)), document_rows,
                       version_rows, audit_rows, event_rows, written_at)
$$;

ALTER FUNCTION public.write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
    written bigint;
    versions bigint;
    entries bigint;
BEGIN
    UPDATE documents d
    SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
        editor_responsible = coalesce(row.editor_responsible, d.editor_responsible),
        field_versions = d.field_versions || coalesce(row.field_versions, '{}'),
        deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
        t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
        n4 = row.n4, d1 = row.d1, d2 = row.d2
    FROM json_to_recordset(document_rows) AS row (
        id uuid, status text, seen_version bigint, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
        editor_responsible bytea, field_versions jsonb,
        t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
        d1 timestamptz, d2 timestamptz)
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (ids) AND d.id = row.id AND d.version = row.seen_version
      -- A field is never said to have changed before this edit.
      AND NOT EXISTS (SELECT FROM jsonb_each(row.field_versions) AS field WHERE field.value::bigint <= d.version);
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % documents % were at the version that was seen', cardinality(ids), written
            USING ERRCODE = 'SG004';
    END IF;
    INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, responsible,
                                   created_at)
    SELECT own_tenant, document_id, version, id, snapshot, hash, actor_id, responsible, written_at
    FROM json_to_recordset(version_rows) AS row (
        document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text, responsible bytea);
    GET DIAGNOSTICS versions = ROW_COUNT;
    INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                           actor_id, created_at, epoch, xid)
    SELECT own_tenant, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
           created_at, epoch, xid
    FROM json_to_recordset(audit_rows) AS row (
        id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
        action text, actor_id text, created_at timestamptz, epoch integer, xid xid8);
    GET DIAGNOSTICS entries = ROW_COUNT;
    IF least(versions, entries) < written THEN
        RAISE EXCEPTION '% documents have % versions and % rows in the audit trail', written, versions, entries
            USING ERRCODE = 'SG002';
    END IF;
    WITH event AS (
        -- The same event twice in one batch is one event.
        SELECT DISTINCT ON (instance_id, idempotency_key) * FROM json_to_recordset(event_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, entity_version bigint, definition_version integer,
            event_type text, payload jsonb, idempotency_key bytea, trace_id text, due_at timestamptz, responsible bytea)
        ORDER BY instance_id, idempotency_key, id
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT own_tenant, instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at, responsible)
    SELECT own_tenant, event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at), event.responsible
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;

ALTER FUNCTION public.write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.write_steps(step_rows json, written_at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
    written bigint;
BEGIN
    WITH step AS MATERIALIZED (
        SELECT * FROM json_to_recordset(step_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, seq bigint, end_seq bigint, node_id text,
            node_type text, token_id text, entity_version bigint, version_after bigint, status text, run_as text,
            idempotency_key bytea, input jsonb, output jsonb, error text, actor_id text, resume_at timestamptz,
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text, responsible bytea)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT current_tenant_id(), instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id,
            responsible)
        SELECT current_tenant_id(), step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id, step.responsible
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

ALTER FUNCTION public.write_steps(step_rows json, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE FUNCTION public.write_steps(step_rows json, usual bytea, written_at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
    written bigint;
BEGIN
    WITH step AS MATERIALIZED (
        SELECT * FROM json_to_recordset(step_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, seq bigint, end_seq bigint, node_id text,
            node_type text, token_id text, entity_version bigint, version_after bigint, status text, run_as text,
            idempotency_key bytea, input jsonb, output jsonb, error text, actor_id text, resume_at timestamptz,
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text, responsible bytea)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT own_tenant, instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id,
            responsible)
        SELECT own_tenant, step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id,
               coalesce(step.responsible, usual)
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

ALTER FUNCTION public.write_steps(step_rows json, usual bytea, written_at timestamp with time zone) OWNER TO signet_owner;

CREATE TABLE public.api_key_owners (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    owner_id text NOT NULL,
    since timestamp with time zone NOT NULL,
    by text NOT NULL
);

ALTER TABLE ONLY public.api_key_owners FORCE ROW LEVEL SECURITY;

ALTER TABLE public.api_key_owners OWNER TO signet_owner;

CREATE TABLE public.api_keys (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    roles text[] NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by text,
    last_used_at timestamp with time zone,
    owner_id text NOT NULL,
    proposed_owner_id text,
    proposed_by text,
    CONSTRAINT api_keys_check CHECK ((expires_at > created_at)),
    CONSTRAINT api_keys_check1 CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
    CONSTRAINT api_keys_check2 CHECK (((proposed_owner_id !~ '^(key|service|signet):'::text) AND (proposed_owner_id <> owner_id))),
    CONSTRAINT api_keys_check3 CHECK (((proposed_owner_id IS NULL) = (proposed_by IS NULL))),
    CONSTRAINT api_keys_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT api_keys_owner_id_check CHECK ((owner_id !~ '^(key|service|signet):'::text)),
    CONSTRAINT api_keys_roles_check CHECK (((cardinality(roles) >= 1) AND (cardinality(roles) <= 200))),
    CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys OWNER TO signet_owner;

CREATE TABLE public.approval_chain_steps (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    "position" integer NOT NULL,
    body jsonb NOT NULL,
    CONSTRAINT approval_chain_steps_body_check CHECK ((jsonb_typeof(body) = 'object'::text)),
    CONSTRAINT approval_chain_steps_position_check CHECK ((("position" >= 1) AND ("position" <= 20)))
);

ALTER TABLE ONLY public.approval_chain_steps FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_chain_steps OWNER TO signet_owner;

CREATE TABLE public.approval_chains (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'draft'::text NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    hash text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    same_person text,
    permission text,
    authors text[],
    published_by text,
    publishers text[],
    CONSTRAINT approval_chains_authors_check CHECK ((cardinality(authors) <= 200)),
    CONSTRAINT approval_chains_check CHECK (((status = 'draft'::text) = (published_at IS NULL))),
    CONSTRAINT approval_chains_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT approval_chains_label_check CHECK ((char_length(label) <= 200)),
    CONSTRAINT approval_chains_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT approval_chains_permission_check CHECK ((char_length(permission) <= 200)),
    CONSTRAINT approval_chains_publishers_check CHECK ((cardinality(publishers) <= 200)),
    CONSTRAINT approval_chains_same_person_check CHECK ((same_person = 'allowed'::text)),
    CONSTRAINT approval_chains_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))),
    CONSTRAINT approval_chains_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.approval_chains FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_chains OWNER TO signet_owner;

CREATE TABLE public.approval_decisions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    stage integer NOT NULL,
    "position" integer NOT NULL,
    decision text NOT NULL,
    reason text,
    decided_by text NOT NULL,
    on_behalf_of text,
    delegation_id uuid,
    document_version bigint NOT NULL,
    snapshot_hash text NOT NULL,
    definition_hash text NOT NULL,
    policy_hash text NOT NULL,
    trace_id text,
    created_at timestamp with time zone NOT NULL,
    audit_id uuid,
    pins_hash text,
    CONSTRAINT approval_decisions_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'rejected'::text, 'abstained'::text]))),
    CONSTRAINT approval_decisions_pins_hash_check CHECK ((pins_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT approval_decisions_reason_check CHECK ((char_length(reason) <= 4000))
);

ALTER TABLE ONLY public.approval_decisions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_decisions OWNER TO signet_owner;

CREATE TABLE public.approval_delegations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id text NOT NULL,
    delegate_id text NOT NULL,
    entity_type text,
    from_time timestamp with time zone NOT NULL,
    to_time timestamp with time zone NOT NULL,
    reason text,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    given_by text[],
    given_at timestamp with time zone,
    CONSTRAINT approval_delegations_check CHECK ((delegate_id <> user_id)),
    CONSTRAINT approval_delegations_check1 CHECK ((to_time > from_time)),
    CONSTRAINT approval_delegations_given_by_check CHECK (((cardinality(given_by) >= 1) AND (cardinality(given_by) <= 200))),
    CONSTRAINT approval_delegations_reason_check CHECK ((char_length(reason) <= 4000))
);

ALTER TABLE ONLY public.approval_delegations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_delegations OWNER TO signet_owner;

CREATE TABLE public.approval_seats (
    tenant_id uuid NOT NULL,
    request_id uuid NOT NULL,
    stage integer NOT NULL,
    "position" integer NOT NULL,
    holder_user_id text,
    holder_role text,
    origin text DEFAULT 'resolved'::text NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    decided_by text,
    on_behalf_of text,
    decided_at timestamp with time zone,
    handed_over_from text,
    needed_role text,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    lines text[],
    CONSTRAINT approval_seats_check CHECK (((holder_user_id IS NULL) <> (holder_role IS NULL))),
    CONSTRAINT approval_seats_check1 CHECK (((status = ANY (ARRAY['approved'::text, 'rejected'::text, 'abstained'::text, 'lapsed'::text])) = (decided_by IS NOT NULL))),
    CONSTRAINT approval_seats_lines_check CHECK ((cardinality(lines) <= 1000)),
    CONSTRAINT approval_seats_needed_role_check CHECK (((needed_role IS NULL) OR (holder_user_id IS NOT NULL))),
    CONSTRAINT approval_seats_origin_check CHECK ((origin = ANY (ARRAY['resolved'::text, 'escalated'::text, 'break_glass'::text]))),
    CONSTRAINT approval_seats_status_check CHECK ((status = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'abstained'::text, 'closed'::text, 'lapsed'::text])))
);

ALTER TABLE ONLY public.approval_seats FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_seats OWNER TO signet_owner;

CREATE TABLE public.approval_turns (
    tenant_id uuid NOT NULL,
    role text NOT NULL,
    turn bigint NOT NULL
);

ALTER TABLE ONLY public.approval_turns FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_turns OWNER TO signet_owner;

CREATE TABLE public.audit_anchors (
    tenant_id uuid NOT NULL,
    sequence bigint NOT NULL,
    anchored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT audit_anchors_sequence_check CHECK ((sequence >= 1))
);

ALTER TABLE ONLY public.audit_anchors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_anchors OWNER TO signet_owner;

CREATE TABLE public.audit_epochs (
    epoch integer NOT NULL,
    reason text NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.audit_epochs OWNER TO signet_owner;

CREATE TABLE public.audit_log (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    subject_type text NOT NULL COLLATE pg_catalog."C",
    subject_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint,
    previous_hash text,
    hash text NOT NULL,
    content text NOT NULL,
    action text NOT NULL,
    actor_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    epoch integer NOT NULL,
    xid xid8 NOT NULL,
    CONSTRAINT audit_log_check CHECK (((seq = 1) = ((seq IS NOT NULL) AND (previous_hash IS NULL)))),
    CONSTRAINT audit_log_seq_check CHECK ((seq >= 1))
);

ALTER TABLE ONLY public.audit_log FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log OWNER TO signet_owner;

CREATE TABLE public.audit_seals (
    tenant_id uuid NOT NULL,
    sequence bigint NOT NULL,
    epoch integer NOT NULL,
    from_xid xid8 NOT NULL,
    to_xid xid8 NOT NULL,
    row_count bigint NOT NULL,
    merkle_root text NOT NULL,
    previous_seal text,
    seal text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT audit_seals_check CHECK (((sequence = 1) = (previous_seal IS NULL))),
    CONSTRAINT audit_seals_check1 CHECK ((from_xid < to_xid)),
    CONSTRAINT audit_seals_merkle_root_check CHECK ((merkle_root ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT audit_seals_previous_seal_check CHECK ((previous_seal ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT audit_seals_seal_check CHECK ((seal ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT audit_seals_sequence_check CHECK ((sequence >= 1))
);

ALTER TABLE ONLY public.audit_seals FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_seals OWNER TO signet_owner;

CREATE TABLE public.automation_switches (
    tenant_id uuid NOT NULL,
    stopped_at timestamp with time zone,
    stopped_by text,
    stop_note text,
    revision integer DEFAULT 1 NOT NULL,
    started_minute timestamp with time zone,
    started_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT automation_switches_check CHECK ((((stopped_at IS NULL) = (stopped_by IS NULL)) AND ((stopped_at IS NULL) = (stop_note IS NULL)))),
    CONSTRAINT automation_switches_stop_note_check CHECK (((char_length(stop_note) >= 1) AND (char_length(stop_note) <= 4000)))
);

ALTER TABLE ONLY public.automation_switches FORCE ROW LEVEL SECURITY;

ALTER TABLE public.automation_switches OWNER TO signet_owner;

CREATE TABLE public.automations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    entity_type text NOT NULL,
    definition_id uuid,
    definition_version integer,
    paused_at timestamp with time zone,
    paused_by text,
    pause_note text,
    revision integer DEFAULT 1 NOT NULL,
    started_minute timestamp with time zone,
    started_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT automations_check CHECK (((definition_id IS NULL) = (definition_version IS NULL))),
    CONSTRAINT automations_check1 CHECK ((((paused_at IS NULL) = (paused_by IS NULL)) AND ((paused_at IS NULL) = (pause_note IS NULL)))),
    CONSTRAINT automations_entity_type_check CHECK ((char_length(entity_type) <= 63)),
    CONSTRAINT automations_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 63))),
    CONSTRAINT automations_pause_note_check CHECK (((char_length(pause_note) >= 1) AND (char_length(pause_note) <= 4000)))
);

ALTER TABLE ONLY public.automations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.automations OWNER TO signet_owner;

CREATE TABLE public.break_glass_proposals (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    stage integer NOT NULL,
    user_id text NOT NULL,
    reason text NOT NULL,
    proposed_by text NOT NULL,
    proposed_persons text[] NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    consented_by text,
    consented_persons text[],
    consented_at timestamp with time zone,
    "position" integer,
    CONSTRAINT break_glass_proposals_check CHECK ((expires_at > proposed_at)),
    CONSTRAINT break_glass_proposals_check1 CHECK (((consented_at IS NULL) = (consented_by IS NULL))),
    CONSTRAINT break_glass_proposals_check2 CHECK (((consented_at IS NULL) = (consented_persons IS NULL))),
    CONSTRAINT break_glass_proposals_check3 CHECK (((consented_at IS NULL) = ("position" IS NULL))),
    CONSTRAINT break_glass_proposals_check4 CHECK ((NOT (proposed_persons && consented_persons))),
    CONSTRAINT break_glass_proposals_consented_persons_check CHECK (((cardinality(consented_persons) >= 1) AND (cardinality(consented_persons) <= 200))),
    CONSTRAINT break_glass_proposals_proposed_persons_check CHECK (((cardinality(proposed_persons) >= 1) AND (cardinality(proposed_persons) <= 200))),
    CONSTRAINT break_glass_proposals_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 4000))),
    CONSTRAINT break_glass_proposals_stage_check CHECK ((stage >= 1))
);

ALTER TABLE ONLY public.break_glass_proposals FORCE ROW LEVEL SECURITY;

ALTER TABLE public.break_glass_proposals OWNER TO signet_owner;

CREATE TABLE public.calendar_versions (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    body text NOT NULL,
    hash text NOT NULL,
    created_by text NOT NULL,
    responsible bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT calendar_versions_body_check CHECK ((octet_length(body) <= 1048576)),
    CONSTRAINT calendar_versions_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT calendar_versions_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.calendar_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.calendar_versions OWNER TO signet_owner;

CREATE TABLE public.calendars (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT calendars_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT calendars_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.calendars FORCE ROW LEVEL SECURITY;

ALTER TABLE public.calendars OWNER TO signet_owner;

CREATE TABLE public.contracts (
    tenant_id uuid NOT NULL,
    entity_type text NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'draft'::text NOT NULL,
    body text NOT NULL,
    hash text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    revision integer DEFAULT 1 NOT NULL,
    authors text[],
    published_by text,
    publishers text[],
    CONSTRAINT contracts_authors_check CHECK ((cardinality(authors) <= 200)),
    CONSTRAINT contracts_body_check CHECK ((octet_length(body) <= 1048576)),
    CONSTRAINT contracts_check CHECK (((status = 'draft'::text) = (published_at IS NULL))),
    CONSTRAINT contracts_entity_type_check CHECK ((entity_type ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT contracts_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT contracts_publishers_check CHECK ((cardinality(publishers) <= 200)),
    CONSTRAINT contracts_revision_check CHECK ((revision >= 1)),
    CONSTRAINT contracts_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))),
    CONSTRAINT contracts_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.contracts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.contracts OWNER TO signet_owner;

CREATE TABLE public.control_changes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    act text NOT NULL,
    body text NOT NULL,
    base_version bigint NOT NULL,
    hash text NOT NULL,
    proposed_by text NOT NULL,
    responsible text[] NOT NULL,
    reason text,
    status text DEFAULT 'proposed'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_by text,
    CONSTRAINT control_changes_act_check CHECK ((act ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT control_changes_base_version_check CHECK ((base_version >= 0)),
    CONSTRAINT control_changes_body_check CHECK ((octet_length(body) <= 1048576)),
    CONSTRAINT control_changes_check CHECK ((expires_at > created_at)),
    CONSTRAINT control_changes_check1 CHECK (((status = 'proposed'::text) = (ended_at IS NULL))),
    CONSTRAINT control_changes_check2 CHECK (((status <> ALL (ARRAY['confirmed'::text, 'rejected'::text, 'withdrawn'::text])) OR (ended_by IS NOT NULL))),
    CONSTRAINT control_changes_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT control_changes_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT control_changes_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT control_changes_reason_check CHECK ((char_length(reason) <= 4000)),
    CONSTRAINT control_changes_responsible_check CHECK (((cardinality(responsible) >= 1) AND (cardinality(responsible) <= 200))),
    CONSTRAINT control_changes_status_check CHECK ((status = ANY (ARRAY['proposed'::text, 'confirmed'::text, 'rejected'::text, 'withdrawn'::text, 'expired'::text, 'superseded'::text])))
);

ALTER TABLE ONLY public.control_changes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.control_changes OWNER TO signet_owner;

CREATE TABLE public.document_turns (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    role text NOT NULL,
    turn bigint NOT NULL
);

ALTER TABLE ONLY public.document_turns FORCE ROW LEVEL SECURITY;

ALTER TABLE public.document_turns OWNER TO signet_owner;

CREATE TABLE public.document_versions (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    id uuid NOT NULL,
    snapshot text NOT NULL,
    hash text NOT NULL,
    actor_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    responsible bytea
);

ALTER TABLE ONLY public.document_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.document_versions OWNER TO signet_owner;

CREATE TABLE public.draft_authors (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    entity_type text NOT NULL,
    name text NOT NULL,
    person text NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    put_forward text,
    CONSTRAINT draft_authors_kind_check CHECK ((kind = ANY (ARRAY['contract'::text, 'org_patch'::text, 'automation'::text, 'approval_chain'::text]))),
    CONSTRAINT draft_authors_name_check CHECK ((char_length(name) <= 63)),
    CONSTRAINT draft_authors_person_check CHECK ((char_length(person) <= 200))
);

ALTER TABLE ONLY public.draft_authors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.draft_authors OWNER TO signet_owner;

CREATE TABLE public.endpoints (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    secret_refs text[] NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    disabled_reason text,
    version integer DEFAULT 1 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    rests_until timestamp with time zone,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT endpoints_disabled_reason_check CHECK ((char_length(disabled_reason) <= 4000)),
    CONSTRAINT endpoints_failures_check CHECK ((failures >= 0)),
    CONSTRAINT endpoints_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT endpoints_secret_refs_check CHECK (((cardinality(secret_refs) >= 1) AND (cardinality(secret_refs) <= 2))),
    CONSTRAINT endpoints_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    CONSTRAINT endpoints_url_check CHECK ((char_length(url) <= 2000)),
    CONSTRAINT endpoints_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.endpoints FORCE ROW LEVEL SECURITY;

ALTER TABLE public.endpoints OWNER TO signet_owner;

CREATE TABLE public.housekeeping_tasks (
    task text NOT NULL,
    next_due_at timestamp with time zone DEFAULT now() NOT NULL,
    claim_id uuid,
    lease_until timestamp with time zone,
    cursor jsonb,
    last_began_at timestamp with time zone,
    last_ended_at timestamp with time zone,
    last_outcome text,
    last_error text,
    last_rows bigint DEFAULT 0 NOT NULL,
    total_rows bigint DEFAULT 0 NOT NULL,
    run_count bigint DEFAULT 0 NOT NULL,
    failure_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT housekeeping_tasks_check CHECK (((claim_id IS NULL) = (lease_until IS NULL))),
    CONSTRAINT housekeeping_tasks_last_error_check CHECK ((char_length(last_error) <= 2000)),
    CONSTRAINT housekeeping_tasks_last_outcome_check CHECK ((last_outcome = ANY (ARRAY['done'::text, 'more'::text, 'failed'::text]))),
    CONSTRAINT housekeeping_tasks_task_check CHECK ((task ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

ALTER TABLE public.housekeeping_tasks OWNER TO signet_owner;

CREATE TABLE public.idempotency_keys (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    outcome jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_keys_key_check CHECK (((key <> ''::text) AND (char_length(key) <= 255))),
    CONSTRAINT idempotency_keys_request_hash_check CHECK ((request_hash ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys OWNER TO signet_owner;

CREATE TABLE public.inbound_endpoints (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    key_prefix text NOT NULL,
    key_pointer text,
    secrets text[] NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    responsible bytea,
    consume text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT inbound_endpoints_check CHECK (((key_prefix <> ''::text) OR (key_pointer IS NOT NULL))),
    CONSTRAINT inbound_endpoints_key_pointer_check CHECK ((char_length(key_pointer) <= 300)),
    CONSTRAINT inbound_endpoints_key_prefix_check CHECK ((char_length(key_prefix) <= 200)),
    CONSTRAINT inbound_endpoints_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT inbound_endpoints_secrets_check CHECK (((cardinality(secrets) >= 1) AND (cardinality(secrets) <= 3))),
    CONSTRAINT inbound_endpoints_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    CONSTRAINT inbound_endpoints_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.inbound_endpoints FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbound_endpoints OWNER TO signet_owner;

CREATE TABLE public.incidents (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    seq integer NOT NULL,
    entity_type text,
    entity_id uuid,
    token_id text,
    node_id text,
    endpoint text,
    code text NOT NULL,
    kind text NOT NULL,
    message text NOT NULL,
    attempts integer NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    acknowledged_by text,
    acknowledged_at timestamp with time zone,
    assignee text,
    note text,
    closed_at timestamp with time zone,
    closing text,
    closed_by text,
    step_id uuid,
    requester_id text,
    cause text GENERATED ALWAYS AS (((((((code || ' '::text) || COALESCE(entity_type, ''::text)) || ' '::text) || COALESCE(node_id, ''::text)) || ' '::text) || COALESCE(endpoint, ''::text))) STORED NOT NULL,
    CONSTRAINT incidents_attempts_check CHECK ((attempts >= 1)),
    CONSTRAINT incidents_check CHECK (((token_id IS NULL) = (node_id IS NULL))),
    CONSTRAINT incidents_check1 CHECK (((closed_at IS NULL) = (closing IS NULL))),
    CONSTRAINT incidents_check2 CHECK (((closed_at IS NULL) = (closed_by IS NULL))),
    CONSTRAINT incidents_check3 CHECK (((acknowledged_at IS NULL) = (acknowledged_by IS NULL))),
    CONSTRAINT incidents_closing_check CHECK ((closing = ANY (ARRAY['retried'::text, 'resumed'::text, 'skipped'::text, 'advanced'::text, 'rejected'::text, 'went_on'::text, 'overtaken'::text, 'withdrawn'::text, 'ended'::text, 'restarted'::text]))),
    CONSTRAINT incidents_code_check CHECK ((code ~ '^[A-Z][A-Z0-9_]{1,99}$'::text)),
    CONSTRAINT incidents_kind_check CHECK ((kind = ANY (ARRAY['business'::text, 'configuration'::text, 'outside'::text, 'defect'::text]))),
    CONSTRAINT incidents_note_check CHECK ((char_length(note) <= 4000))
);

ALTER TABLE ONLY public.incidents FORCE ROW LEVEL SECURITY;

ALTER TABLE public.incidents OWNER TO signet_owner;

CREATE TABLE public.instance_causes (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    automation_id uuid,
    cause jsonb DEFAULT '{}'::jsonb NOT NULL,
    chain jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT instance_causes_cause_check CHECK ((jsonb_typeof(cause) = 'object'::text)),
    CONSTRAINT instance_causes_chain_check CHECK (((jsonb_typeof(chain) = 'array'::text) AND (jsonb_array_length(chain) <= 17)))
);

ALTER TABLE ONLY public.instance_causes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.instance_causes OWNER TO signet_owner;

CREATE TABLE public.members (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    display_name text NOT NULL,
    email text,
    status text DEFAULT 'active'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    phone text,
    skeleton text,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT members_display_name_check CHECK ((char_length(display_name) <= 200)),
    CONSTRAINT members_email_check CHECK ((char_length(email) <= 320)),
    CONSTRAINT members_phone_check CHECK ((phone ~ '^\+[1-9][0-9]{6,14}$'::text)),
    CONSTRAINT members_skeleton_check CHECK ((char_length(skeleton) <= 400)),
    CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    CONSTRAINT members_user_id_check CHECK (((user_id <> ''::text) AND (char_length(user_id) <= 200))),
    CONSTRAINT members_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.members FORCE ROW LEVEL SECURITY;

ALTER TABLE public.members OWNER TO signet_owner;

CREATE TABLE public.notifications (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id text,
    role text,
    kind text NOT NULL,
    request_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    read_at timestamp with time zone,
    about text,
    CONSTRAINT notifications_check CHECK (((user_id IS NULL) <> (role IS NULL))),
    CONSTRAINT notifications_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

ALTER TABLE ONLY public.notifications FORCE ROW LEVEL SECURITY;

ALTER TABLE public.notifications OWNER TO signet_owner;

CREATE TABLE public.org_chart (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    manager_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT org_chart_check CHECK ((manager_id <> user_id)),
    CONSTRAINT org_chart_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.org_chart FORCE ROW LEVEL SECURITY;

ALTER TABLE public.org_chart OWNER TO signet_owner;

CREATE TABLE public.personal_values (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    field text NOT NULL,
    salt bytea,
    value jsonb,
    created_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT personal_values_check CHECK (((erased_at IS NULL) = (salt IS NOT NULL))),
    CONSTRAINT personal_values_check1 CHECK (((erased_at IS NULL) OR (value IS NULL)))
);

ALTER TABLE ONLY public.personal_values FORCE ROW LEVEL SECURITY;

ALTER TABLE public.personal_values OWNER TO signet_owner;

CREATE TABLE public.queued_starts (
    tenant_id uuid NOT NULL,
    overlap_key text NOT NULL,
    id uuid NOT NULL,
    automation_id uuid NOT NULL,
    payload jsonb NOT NULL,
    entity_version bigint NOT NULL,
    trace_id text,
    responsible bytea,
    CONSTRAINT queued_starts_overlap_key_check CHECK ((char_length(overlap_key) <= 100))
);

ALTER TABLE ONLY public.queued_starts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.queued_starts OWNER TO signet_owner;

CREATE TABLE public.quota_meters (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    full_at timestamp with time zone NOT NULL,
    CONSTRAINT quota_meters_name_check CHECK ((char_length(name) <= 100))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.quota_meters FORCE ROW LEVEL SECURITY;

ALTER TABLE public.quota_meters OWNER TO signet_owner;

CREATE TABLE public.request_waits (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    waiter text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT request_waits_waiter_check CHECK ((char_length(waiter) <= 100))
);

ALTER TABLE ONLY public.request_waits FORCE ROW LEVEL SECURITY;

ALTER TABLE public.request_waits OWNER TO signet_owner;

CREATE TABLE public.rule_executions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    document_version bigint NOT NULL,
    entity_type text NOT NULL,
    rule text NOT NULL,
    rule_version bigint NOT NULL,
    phase text NOT NULL,
    matched boolean NOT NULL,
    evidence jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    is_rejection boolean DEFAULT false NOT NULL,
    operation text,
    actor_id text,
    responsible bytea,
    origin jsonb,
    instance_id uuid,
    step_id uuid,
    trace_id text,
    CONSTRAINT rule_executions_rejected CHECK (((NOT is_rejection) OR (matched AND (actor_id IS NOT NULL))))
);

ALTER TABLE ONLY public.rule_executions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.rule_executions OWNER TO signet_owner;

CREATE TABLE public.rules (
    tenant_id uuid NOT NULL,
    entity_type text NOT NULL,
    name text NOT NULL,
    phase text NOT NULL,
    operations text[] DEFAULT '{}'::text[] NOT NULL,
    priority integer DEFAULT 100 NOT NULL,
    condition jsonb NOT NULL,
    actions jsonb NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    responsible bytea,
    CONSTRAINT rules_actions_check CHECK ((jsonb_typeof(actions) = 'array'::text)),
    CONSTRAINT rules_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT rules_phase_check CHECK ((phase = ANY (ARRAY['before'::text, 'after'::text])))
);

ALTER TABLE ONLY public.rules FORCE ROW LEVEL SECURITY;

ALTER TABLE public.rules OWNER TO signet_owner;

CREATE TABLE public.secret_uses (
    tenant_id uuid NOT NULL,
    secret text NOT NULL,
    direction text NOT NULL,
    endpoint text NOT NULL,
    CONSTRAINT secret_uses_direction_check CHECK ((direction = ANY (ARRAY['out'::text, 'in'::text])))
);

ALTER TABLE ONLY public.secret_uses FORCE ROW LEVEL SECURITY;

ALTER TABLE public.secret_uses OWNER TO signet_owner;

CREATE TABLE public.service_accounts (
    tenant_id uuid NOT NULL,
    id text NOT NULL,
    label text NOT NULL,
    roles text[] NOT NULL,
    owner_id text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT service_accounts_id_check CHECK ((id ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT service_accounts_label_check CHECK (((label <> ''::text) AND (char_length(label) <= 200))),
    CONSTRAINT service_accounts_roles_check CHECK (((cardinality(roles) >= 1) AND (cardinality(roles) <= 200))),
    CONSTRAINT service_accounts_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);

ALTER TABLE ONLY public.service_accounts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.service_accounts OWNER TO signet_owner;

CREATE TABLE public.signet_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.signet_migrations OWNER TO signet_owner;

CREATE TABLE public.tenant_files (
    tenant_id uuid NOT NULL,
    content jsonb NOT NULL,
    installed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_files_content_check CHECK ((jsonb_typeof(content) = 'object'::text))
);

ALTER TABLE ONLY public.tenant_files FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_files OWNER TO signet_owner;

CREATE TABLE public.tenant_quotas (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    capacity integer NOT NULL,
    refill_seconds integer NOT NULL,
    granted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_quotas_capacity_check CHECK (((capacity >= 1) AND (capacity <= 10000000))),
    CONSTRAINT tenant_quotas_name_check CHECK ((name ~ '^[a-z_]+:[a-z_]+$'::text)),
    CONSTRAINT tenant_quotas_refill_seconds_check CHECK (((refill_seconds >= 1) AND (refill_seconds <= 86400)))
);

ALTER TABLE ONLY public.tenant_quotas FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_quotas OWNER TO signet_owner;

CREATE TABLE public.tenants (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    settings jsonb NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenants_name_check CHECK (((name <> ''::text) AND (char_length(name) <= 200))),
    CONSTRAINT tenants_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
    CONSTRAINT tenants_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text])))
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenants OWNER TO signet_owner;

CREATE TABLE public.workflow_definitions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    definition_kind text NOT NULL,
    entity_type text NOT NULL,
    name text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    status text DEFAULT 'draft'::text NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    contract_version integer,
    nodes_json jsonb,
    edges_json jsonb,
    slots_json jsonb,
    base_ref jsonb,
    body_patches_json jsonb,
    compiled_json text,
    compiled_hash text,
    compiler_version text,
    source_id uuid,
    canvas_json jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    revision integer DEFAULT 1 NOT NULL,
    authors text[],
    published_by text,
    publishers text[],
    CONSTRAINT workflow_definitions_authors_check CHECK ((cardinality(authors) <= 200)),
    CONSTRAINT workflow_definitions_check CHECK (((definition_kind <> 'envelope'::text) OR (is_default AND (nodes_json IS NOT NULL) AND (edges_json IS NOT NULL) AND (slots_json IS NOT NULL) AND (body_patches_json IS NULL) AND (compiled_json IS NOT NULL) AND (contract_version IS NOT NULL)))),
    CONSTRAINT workflow_definitions_check1 CHECK (((definition_kind <> 'org_patch'::text) OR ((NOT is_default) AND (body_patches_json IS NOT NULL) AND (base_ref IS NOT NULL) AND (nodes_json IS NULL) AND (edges_json IS NULL) AND (compiled_json IS NULL)))),
    CONSTRAINT workflow_definitions_check2 CHECK (((definition_kind <> 'effective'::text) OR ((NOT is_default) AND (compiled_json IS NOT NULL) AND (nodes_json IS NOT NULL) AND (edges_json IS NOT NULL) AND (contract_version IS NOT NULL)))),
    CONSTRAINT workflow_definitions_check3 CHECK (((definition_kind <> 'automation'::text) OR ((NOT is_default) AND (body_patches_json IS NOT NULL) AND ((status = 'draft'::text) OR (compiled_json IS NOT NULL))))),
    CONSTRAINT workflow_definitions_check4 CHECK (((compiled_json IS NULL) = (compiled_hash IS NULL))),
    CONSTRAINT workflow_definitions_check5 CHECK (((compiled_json IS NULL) = (compiler_version IS NULL))),
    CONSTRAINT workflow_definitions_compiled_hash_check CHECK ((compiled_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT workflow_definitions_definition_kind_check CHECK ((definition_kind = ANY (ARRAY['envelope'::text, 'org_patch'::text, 'effective'::text, 'automation'::text]))),
    CONSTRAINT workflow_definitions_name_check CHECK ((char_length(name) <= 63)),
    CONSTRAINT workflow_definitions_publishers_check CHECK ((cardinality(publishers) <= 200)),
    CONSTRAINT workflow_definitions_revision_check CHECK ((revision >= 1)),
    CONSTRAINT workflow_definitions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))),
    CONSTRAINT workflow_definitions_version_check CHECK ((version >= 1))
);

ALTER TABLE ONLY public.workflow_definitions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_definitions OWNER TO signet_owner;

CREATE TABLE public.workflow_event (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    subject_kind text NOT NULL,
    subject_id uuid NOT NULL,
    entry text NOT NULL,
    actor_id text NOT NULL,
    step_execution_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    trace_id text,
    responsible bytea,
    CONSTRAINT workflow_event_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT workflow_event_entry_check CHECK ((entry ~ '^[a-z][a-z0-9_]{0,62}$'::text))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY public.workflow_event FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event OWNER TO signet_owner;

CREATE TABLE public.workflow_event_default (
    tenant_id uuid CONSTRAINT workflow_event_tenant_id_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT workflow_event_created_at_not_null NOT NULL,
    id uuid CONSTRAINT workflow_event_id_not_null NOT NULL,
    subject_kind text CONSTRAINT workflow_event_subject_kind_not_null NOT NULL,
    subject_id uuid CONSTRAINT workflow_event_subject_id_not_null NOT NULL,
    entry text CONSTRAINT workflow_event_entry_not_null NOT NULL,
    actor_id text CONSTRAINT workflow_event_actor_id_not_null NOT NULL,
    step_execution_id uuid,
    data jsonb DEFAULT '{}'::jsonb CONSTRAINT workflow_event_data_not_null NOT NULL,
    trace_id text,
    responsible bytea,
    CONSTRAINT workflow_event_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT workflow_event_entry_check CHECK ((entry ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

ALTER TABLE ONLY public.workflow_event_default FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_default OWNER TO signet_owner;

CREATE TABLE public.workflow_event_offers (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    step_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    waiting_since timestamp with time zone NOT NULL,
    is_alone boolean NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    reason text,
    decided_at timestamp with time zone,
    CONSTRAINT workflow_event_offers_check CHECK (((status = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT workflow_event_offers_reason_check CHECK ((char_length(reason) <= 2000)),
    CONSTRAINT workflow_event_offers_status_check CHECK ((status = ANY (ARRAY['open'::text, 'taken'::text, 'unfit'::text, 'ended'::text])))
);

ALTER TABLE ONLY public.workflow_event_offers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_offers OWNER TO signet_owner;

CREATE TABLE public.workflow_event_waits (
    tenant_id uuid NOT NULL,
    event_key text NOT NULL,
    step_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    waiting_since timestamp with time zone NOT NULL,
    payload_schema jsonb,
    CONSTRAINT workflow_event_waits_event_key_check CHECK (((char_length(event_key) >= 1) AND (char_length(event_key) <= 500)))
);

ALTER TABLE ONLY public.workflow_event_waits FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_waits OWNER TO signet_owner;

CREATE TABLE public.workflow_events_outbox_default (
    tenant_id uuid CONSTRAINT workflow_events_outbox_tenant_id_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT workflow_events_outbox_created_at_not_null NOT NULL,
    id uuid CONSTRAINT workflow_events_outbox_id_not_null NOT NULL,
    instance_id uuid CONSTRAINT workflow_events_outbox_instance_id_not_null NOT NULL,
    entity_version bigint CONSTRAINT workflow_events_outbox_entity_version_not_null NOT NULL,
    definition_version integer,
    event_type text CONSTRAINT workflow_events_outbox_event_type_not_null NOT NULL,
    payload_json jsonb DEFAULT '{}'::jsonb CONSTRAINT workflow_events_outbox_payload_json_not_null NOT NULL,
    event_idempotency_key bytea CONSTRAINT workflow_events_outbox_event_idempotency_key_not_null NOT NULL,
    depth integer DEFAULT 0 CONSTRAINT workflow_events_outbox_depth_not_null NOT NULL,
    trace_id text,
    status text DEFAULT 'pending'::text CONSTRAINT workflow_events_outbox_status_not_null NOT NULL,
    attempts integer DEFAULT 0 CONSTRAINT workflow_events_outbox_attempts_not_null NOT NULL,
    max_attempts integer DEFAULT 5 CONSTRAINT workflow_events_outbox_max_attempts_not_null NOT NULL,
    due_at timestamp with time zone CONSTRAINT workflow_events_outbox_due_at_not_null NOT NULL,
    claim_id uuid,
    lease_until timestamp with time zone,
    completed_at timestamp with time zone,
    error text,
    responsible bytea,
    discard_reason text,
    given_back integer DEFAULT 0 CONSTRAINT workflow_events_outbox_given_back_not_null NOT NULL,
    given_back_since timestamp with time zone,
    given_back_code text,
    CONSTRAINT workflow_events_outbox_claim CHECK ((((status = 'processing'::text) = (claim_id IS NOT NULL)) AND ((claim_id IS NULL) = (lease_until IS NULL)))),
    CONSTRAINT workflow_events_outbox_discard_reason_check CHECK (((char_length(discard_reason) >= 1) AND (char_length(discard_reason) <= 4000))),
    CONSTRAINT workflow_events_outbox_discarded CHECK (((status = 'discarded'::text) = (discard_reason IS NOT NULL))),
    CONSTRAINT workflow_events_outbox_event_idempotency_key_check CHECK ((octet_length(event_idempotency_key) = 32)),
    CONSTRAINT workflow_events_outbox_max_attempts_check CHECK ((max_attempts >= 1)),
    CONSTRAINT workflow_events_outbox_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'dead_letter'::text, 'discarded'::text])))
);

ALTER TABLE ONLY public.workflow_events_outbox_default FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_events_outbox_default OWNER TO signet_owner;

CREATE TABLE public.workflow_inbound_events (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    event_key text NOT NULL,
    payload jsonb NOT NULL,
    source text NOT NULL,
    message_id text NOT NULL,
    trace_id text,
    received_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    responsible bytea,
    is_consumed boolean DEFAULT false NOT NULL,
    taken_at timestamp with time zone,
    replayed_by bytea,
    CONSTRAINT workflow_inbound_events_check CHECK ((expires_at > received_at)),
    CONSTRAINT workflow_inbound_events_event_key_check CHECK (((char_length(event_key) >= 1) AND (char_length(event_key) <= 500))),
    CONSTRAINT workflow_inbound_events_message_id_check CHECK (((char_length(message_id) >= 1) AND (char_length(message_id) <= 200))),
    CONSTRAINT workflow_inbound_events_source_check CHECK ((char_length(source) <= 300))
);

ALTER TABLE ONLY public.workflow_inbound_events FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_inbound_events OWNER TO signet_owner;

CREATE TABLE public.workflow_instances (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    definition_id uuid NOT NULL,
    definition_version integer NOT NULL,
    entity_type text,
    entity_id uuid,
    entity_version bigint DEFAULT 0 NOT NULL,
    subject_id text NOT NULL,
    partition_id text DEFAULT ''::text NOT NULL,
    overlap_key text,
    status text DEFAULT 'running'::text NOT NULL,
    reason text,
    version bigint DEFAULT 0 NOT NULL,
    begin_node text NOT NULL,
    begin_version bigint NOT NULL,
    active_tokens jsonb DEFAULT '[]'::jsonb NOT NULL,
    current_nodes text[] DEFAULT '{}'::text[] NOT NULL,
    edit_window text,
    edit_window_node text,
    context_json jsonb DEFAULT '{}'::jsonb NOT NULL,
    timeout_at timestamp with time zone,
    last_step_execution_id uuid,
    depth integer DEFAULT 0 NOT NULL,
    trace_id text,
    started_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    birth text DEFAULT 'created'::text NOT NULL,
    begin_actor_id text DEFAULT ''::text NOT NULL,
    begin_actor_roles text[] DEFAULT '{}'::text[] NOT NULL,
    actor_id text DEFAULT ''::text NOT NULL,
    actor_roles text[] DEFAULT '{}'::text[] NOT NULL,
    request_id uuid,
    begin_responsible bytea,
    responsible bytea,
    pins jsonb DEFAULT '{}'::jsonb NOT NULL,
    begin_pins jsonb DEFAULT '{}'::jsonb NOT NULL,
    begin_context jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT workflow_instances_begin_context_check CHECK ((jsonb_typeof(begin_context) = 'object'::text)),
    CONSTRAINT workflow_instances_begin_pins_check CHECK ((jsonb_typeof(begin_pins) = 'object'::text)),
    CONSTRAINT workflow_instances_birth_check CHECK ((birth = ANY (ARRAY['created'::text, 'amended'::text, 'reentered'::text, 'restarted'::text]))),
    CONSTRAINT workflow_instances_check CHECK (((status = ANY (ARRAY['running'::text, 'paused'::text])) = (completed_at IS NULL))),
    CONSTRAINT workflow_instances_edit_window_check CHECK ((edit_window = ANY (ARRAY['editable'::text, 'amend_only'::text, 'locked'::text]))),
    CONSTRAINT workflow_instances_kind_check CHECK ((kind = ANY (ARRAY['envelope'::text, 'automation'::text]))),
    CONSTRAINT workflow_instances_pins_check CHECK ((jsonb_typeof(pins) = 'object'::text)),
    CONSTRAINT workflow_instances_status_check CHECK ((status = ANY (ARRAY['running'::text, 'paused'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.workflow_instances FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_instances OWNER TO signet_owner;

CREATE TABLE public.workflow_outbox_receipts (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    source_table text NOT NULL,
    event_idempotency_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT workflow_outbox_receipts_event_idempotency_key_check CHECK ((octet_length(event_idempotency_key) = 32)),
    CONSTRAINT workflow_outbox_receipts_source_table_check CHECK ((source_table = ANY (ARRAY['events'::text, 'side_effects'::text])))
);

ALTER TABLE ONLY public.workflow_outbox_receipts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_outbox_receipts OWNER TO signet_owner;

CREATE TABLE public.workflow_side_effects_outbox_default (
    tenant_id uuid CONSTRAINT workflow_side_effects_outbox_tenant_id_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT workflow_side_effects_outbox_created_at_not_null NOT NULL,
    id uuid CONSTRAINT workflow_side_effects_outbox_id_not_null NOT NULL,
    instance_id uuid CONSTRAINT workflow_side_effects_outbox_instance_id_not_null NOT NULL,
    step_execution_id uuid CONSTRAINT workflow_side_effects_outbox_step_execution_id_not_null NOT NULL,
    effect_type text CONSTRAINT workflow_side_effects_outbox_effect_type_not_null NOT NULL,
    endpoint text,
    payload_json jsonb DEFAULT '{}'::jsonb CONSTRAINT workflow_side_effects_outbox_payload_json_not_null NOT NULL,
    event_idempotency_key bytea CONSTRAINT workflow_side_effects_outbox_event_idempotency_key_not_null NOT NULL,
    trace_id text,
    status text DEFAULT 'pending'::text CONSTRAINT workflow_side_effects_outbox_status_not_null NOT NULL,
    attempts integer DEFAULT 0 CONSTRAINT workflow_side_effects_outbox_attempts_not_null NOT NULL,
    max_attempts integer DEFAULT 12 CONSTRAINT workflow_side_effects_outbox_max_attempts_not_null NOT NULL,
    due_at timestamp with time zone CONSTRAINT workflow_side_effects_outbox_due_at_not_null NOT NULL,
    claim_id uuid,
    lease_until timestamp with time zone,
    completed_at timestamp with time zone,
    error text,
    response_json jsonb,
    withdrawn_at timestamp with time zone,
    discard_reason text,
    first_id uuid,
    held_at timestamp with time zone,
    withdraw_reason text,
    planned_at timestamp with time zone,
    claimed_at timestamp with time zone,
    left_at timestamp with time zone,
    lost_at timestamp with time zone,
    CONSTRAINT workflow_side_effects_outbox_claim CHECK ((((status = 'processing'::text) = (claim_id IS NOT NULL)) AND ((claim_id IS NULL) = (lease_until IS NULL)))),
    CONSTRAINT workflow_side_effects_outbox_discard_reason_check CHECK (((char_length(discard_reason) >= 1) AND (char_length(discard_reason) <= 4000))),
    CONSTRAINT workflow_side_effects_outbox_discarded CHECK (((status = 'discarded'::text) = (discard_reason IS NOT NULL))),
    CONSTRAINT workflow_side_effects_outbox_effect_type_check CHECK ((effect_type = ANY (ARRAY['webhook'::text, 'email'::text, 'sms'::text, 'in_app'::text, 'integration'::text]))),
    CONSTRAINT workflow_side_effects_outbox_endpoint_check CHECK ((char_length(endpoint) <= 200)),
    CONSTRAINT workflow_side_effects_outbox_event_idempotency_key_check CHECK ((octet_length(event_idempotency_key) = 32)),
    CONSTRAINT workflow_side_effects_outbox_max_attempts_check CHECK ((max_attempts >= 1)),
    CONSTRAINT workflow_side_effects_outbox_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'dead_letter'::text, 'withdrawn'::text, 'discarded'::text]))),
    CONSTRAINT workflow_side_effects_outbox_withdraw_reason_check CHECK (((char_length(withdraw_reason) >= 1) AND (char_length(withdraw_reason) <= 4000))),
    CONSTRAINT workflow_side_effects_outbox_withdrawn CHECK (((withdraw_reason IS NULL) OR (withdrawn_at IS NOT NULL)))
);

ALTER TABLE ONLY public.workflow_side_effects_outbox_default FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_side_effects_outbox_default OWNER TO signet_owner;

CREATE TABLE public.workflow_step_executions (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    end_seq bigint,
    node_id text NOT NULL,
    node_type text NOT NULL,
    token_id text NOT NULL,
    entity_version bigint NOT NULL,
    version_after bigint NOT NULL,
    status text NOT NULL,
    run_as text DEFAULT 'actor'::text NOT NULL,
    idempotency_key bytea NOT NULL,
    started_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    duration_ms bigint,
    input_json jsonb,
    output_json jsonb,
    error text,
    actor_user_id text NOT NULL,
    approval_request_id uuid,
    applied boolean,
    snapshot_version_id uuid,
    resume_at timestamp with time zone,
    waiting_for_event_key text,
    trace_id text,
    responsible bytea,
    CONSTRAINT workflow_step_executions_check CHECK (((status = ANY (ARRAY['pending'::text, 'running'::text])) = (end_seq IS NULL))),
    CONSTRAINT workflow_step_executions_idempotency_key_check CHECK ((octet_length(idempotency_key) = 32)),
    CONSTRAINT workflow_step_executions_run_as_check CHECK ((run_as = ANY (ARRAY['actor'::text, 'system'::text, 'service_account'::text]))),
    CONSTRAINT workflow_step_executions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY public.workflow_step_executions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_executions OWNER TO signet_owner;

CREATE TABLE public.workflow_step_executions_default (
    tenant_id uuid CONSTRAINT workflow_step_executions_tenant_id_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT workflow_step_executions_created_at_not_null NOT NULL,
    id uuid CONSTRAINT workflow_step_executions_id_not_null NOT NULL,
    instance_id uuid CONSTRAINT workflow_step_executions_instance_id_not_null NOT NULL,
    seq bigint CONSTRAINT workflow_step_executions_seq_not_null NOT NULL,
    end_seq bigint,
    node_id text CONSTRAINT workflow_step_executions_node_id_not_null NOT NULL,
    node_type text CONSTRAINT workflow_step_executions_node_type_not_null NOT NULL,
    token_id text CONSTRAINT workflow_step_executions_token_id_not_null NOT NULL,
    entity_version bigint CONSTRAINT workflow_step_executions_entity_version_not_null NOT NULL,
    version_after bigint CONSTRAINT workflow_step_executions_version_after_not_null NOT NULL,
    status text CONSTRAINT workflow_step_executions_status_not_null NOT NULL,
    run_as text DEFAULT 'actor'::text CONSTRAINT workflow_step_executions_run_as_not_null NOT NULL,
    idempotency_key bytea CONSTRAINT workflow_step_executions_idempotency_key_not_null NOT NULL,
    started_at timestamp with time zone CONSTRAINT workflow_step_executions_started_at_not_null NOT NULL,
    completed_at timestamp with time zone,
    duration_ms bigint,
    input_json jsonb,
    output_json jsonb,
    error text,
    actor_user_id text CONSTRAINT workflow_step_executions_actor_user_id_not_null NOT NULL,
    approval_request_id uuid,
    applied boolean,
    snapshot_version_id uuid,
    resume_at timestamp with time zone,
    waiting_for_event_key text,
    trace_id text,
    responsible bytea,
    CONSTRAINT workflow_step_executions_check CHECK (((status = ANY (ARRAY['pending'::text, 'running'::text])) = (end_seq IS NULL))),
    CONSTRAINT workflow_step_executions_idempotency_key_check CHECK ((octet_length(idempotency_key) = 32)),
    CONSTRAINT workflow_step_executions_run_as_check CHECK ((run_as = ANY (ARRAY['actor'::text, 'system'::text, 'service_account'::text]))),
    CONSTRAINT workflow_step_executions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.workflow_step_executions_default FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_executions_default OWNER TO signet_owner;

CREATE TABLE public.workflow_step_receipts (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    idempotency_key bytea NOT NULL,
    step_execution_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT workflow_step_receipts_idempotency_key_check CHECK ((octet_length(idempotency_key) = 32))
);

ALTER TABLE ONLY public.workflow_step_receipts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_receipts OWNER TO signet_owner;

CREATE TABLE public.workflow_triggers (
    tenant_id uuid NOT NULL,
    entity_type text NOT NULL,
    sign text NOT NULL,
    automation_id uuid NOT NULL,
    definition_id uuid NOT NULL,
    definition_version integer NOT NULL,
    CONSTRAINT workflow_triggers_entity_type_check CHECK ((char_length(entity_type) <= 63)),
    CONSTRAINT workflow_triggers_sign_check CHECK (((char_length(sign) >= 1) AND (char_length(sign) <= 500)))
);

ALTER TABLE ONLY public.workflow_triggers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_triggers OWNER TO signet_owner;

ALTER TABLE ONLY public.workflow_event ATTACH PARTITION public.workflow_event_default DEFAULT;

ALTER TABLE ONLY public.workflow_events_outbox ATTACH PARTITION public.workflow_events_outbox_default DEFAULT;

ALTER TABLE ONLY public.workflow_side_effects_outbox ATTACH PARTITION public.workflow_side_effects_outbox_default DEFAULT;

ALTER TABLE ONLY public.workflow_step_executions ATTACH PARTITION public.workflow_step_executions_default DEFAULT;

ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_pkey PRIMARY KEY (tenant_id, document_id);

ALTER TABLE ONLY public.api_key_owners
    ADD CONSTRAINT api_key_owners_pkey PRIMARY KEY (tenant_id, key_id, owner_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_chain_steps
    ADD CONSTRAINT approval_chain_steps_pkey PRIMARY KEY (tenant_id, name, version, "position");

ALTER TABLE ONLY public.approval_chains
    ADD CONSTRAINT approval_chains_pkey PRIMARY KEY (tenant_id, name, version);

ALTER TABLE ONLY public.approval_decisions
    ADD CONSTRAINT approval_decisions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_decisions
    ADD CONSTRAINT approval_decisions_tenant_id_request_id_stage_position_key UNIQUE (tenant_id, request_id, stage, "position");

ALTER TABLE ONLY public.approval_delegations
    ADD CONSTRAINT approval_delegations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_requests
    ADD CONSTRAINT approval_requests_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_seats
    ADD CONSTRAINT approval_seats_pkey PRIMARY KEY (tenant_id, request_id, stage, "position");

ALTER TABLE ONLY public.approval_turns
    ADD CONSTRAINT approval_turns_pkey PRIMARY KEY (tenant_id, role);

ALTER TABLE ONLY public.audit_anchors
    ADD CONSTRAINT audit_anchors_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.audit_epochs
    ADD CONSTRAINT audit_epochs_pkey PRIMARY KEY (epoch);

ALTER TABLE public.audit_log
    ADD CONSTRAINT audit_log_hash_check CHECK (((octet_length(hash) = 64) AND (hash !~ '[^0-9a-f]'::text))) NOT VALID;

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE public.audit_log
    ADD CONSTRAINT audit_log_previous_hash_check CHECK (((octet_length(previous_hash) = 64) AND (previous_hash !~ '[^0-9a-f]'::text))) NOT VALID;

ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_pkey PRIMARY KEY (tenant_id, sequence);

ALTER TABLE ONLY public.automation_switches
    ADD CONSTRAINT automation_switches_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.break_glass_proposals
    ADD CONSTRAINT break_glass_proposals_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.calendar_versions
    ADD CONSTRAINT calendar_versions_pkey PRIMARY KEY (tenant_id, name, version);

ALTER TABLE ONLY public.calendars
    ADD CONSTRAINT calendars_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.contracts
    ADD CONSTRAINT contracts_pkey PRIMARY KEY (tenant_id, entity_type, version);

ALTER TABLE ONLY public.control_changes
    ADD CONSTRAINT control_changes_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.document_keys
    ADD CONSTRAINT document_keys_pkey PRIMARY KEY (tenant_id, entity_type, field, value);

ALTER TABLE ONLY public.document_turns
    ADD CONSTRAINT document_turns_pkey PRIMARY KEY (tenant_id, document_id, role);

ALTER TABLE public.document_versions
    ADD CONSTRAINT document_versions_hash_check CHECK (((octet_length(hash) = 64) AND (hash !~ '[^0-9a-f]'::text))) NOT VALID;

ALTER TABLE ONLY public.document_versions
    ADD CONSTRAINT document_versions_pkey PRIMARY KEY (tenant_id, document_id, version);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.draft_authors
    ADD CONSTRAINT draft_authors_pkey PRIMARY KEY (tenant_id, kind, entity_type, name, person);

ALTER TABLE ONLY public.eligibility_changes
    ADD CONSTRAINT eligibility_changes_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.housekeeping_tasks
    ADD CONSTRAINT housekeeping_tasks_pkey PRIMARY KEY (task);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key);

ALTER TABLE ONLY public.inbound_endpoints
    ADD CONSTRAINT inbound_endpoints_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_tenant_id_instance_id_seq_key UNIQUE (tenant_id, instance_id, seq);

ALTER TABLE ONLY public.instance_causes
    ADD CONSTRAINT instance_causes_pkey PRIMARY KEY (tenant_id, instance_id);

ALTER TABLE ONLY public.left_document_keys
    ADD CONSTRAINT left_document_keys_pkey PRIMARY KEY (tenant_id, key_hash, document_id);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_pkey PRIMARY KEY (tenant_id, user_id, role);

ALTER TABLE public.members
    ADD CONSTRAINT members_are_people CHECK ((user_id !~ '^(key|service|signet):'::text)) NOT VALID;

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY public.personal_values
    ADD CONSTRAINT personal_values_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.queued_starts
    ADD CONSTRAINT queued_starts_pkey PRIMARY KEY (tenant_id, overlap_key, id);

ALTER TABLE ONLY public.quota_meters
    ADD CONSTRAINT quota_meters_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.request_waits
    ADD CONSTRAINT request_waits_pkey PRIMARY KEY (tenant_id, expires_at, id);

ALTER TABLE ONLY public.responsible_sets
    ADD CONSTRAINT responsible_sets_pkey PRIMARY KEY (tenant_id, hash);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, role);

ALTER TABLE ONLY public.rule_executions
    ADD CONSTRAINT rule_executions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.rules
    ADD CONSTRAINT rules_pkey PRIMARY KEY (tenant_id, entity_type, name);

ALTER TABLE ONLY public.secret_uses
    ADD CONSTRAINT secret_uses_pkey PRIMARY KEY (tenant_id, secret);

ALTER TABLE ONLY public.service_accounts
    ADD CONSTRAINT service_accounts_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.signet_migrations
    ADD CONSTRAINT signet_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.tenant_files
    ADD CONSTRAINT tenant_files_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.tenant_quotas
    ADD CONSTRAINT tenant_quotas_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.transition_requests
    ADD CONSTRAINT transition_requests_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.workflow_definitions
    ADD CONSTRAINT workflow_definitions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.workflow_definitions
    ADD CONSTRAINT workflow_definitions_tenant_id_definition_kind_entity_type__key UNIQUE (tenant_id, definition_kind, entity_type, name, version);

ALTER TABLE ONLY public.workflow_event
    ADD CONSTRAINT workflow_event_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_event_default
    ADD CONSTRAINT workflow_event_default_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_event_offers
    ADD CONSTRAINT workflow_event_offers_pkey PRIMARY KEY (tenant_id, event_id, step_id);

ALTER TABLE public.workflow_event
    ADD CONSTRAINT workflow_event_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['instance'::text, 'run'::text, 'session'::text, 'automation'::text]))) NOT VALID;

ALTER TABLE ONLY public.workflow_event_waits
    ADD CONSTRAINT workflow_event_waits_pkey PRIMARY KEY (tenant_id, event_key, step_id);

ALTER TABLE ONLY public.workflow_events_outbox
    ADD CONSTRAINT workflow_events_outbox_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_events_outbox_default
    ADD CONSTRAINT workflow_events_outbox_default_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_inbound_events
    ADD CONSTRAINT workflow_inbound_events_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.workflow_inbound_events
    ADD CONSTRAINT workflow_inbound_events_tenant_id_source_message_id_key UNIQUE (tenant_id, source, message_id);

ALTER TABLE ONLY public.workflow_instances
    ADD CONSTRAINT workflow_instances_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.workflow_outbox_receipts
    ADD CONSTRAINT workflow_outbox_receipts_pkey PRIMARY KEY (tenant_id, instance_id, source_table, event_idempotency_key);

ALTER TABLE ONLY public.workflow_side_effects_outbox
    ADD CONSTRAINT workflow_side_effects_outbox_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_side_effects_outbox_default
    ADD CONSTRAINT workflow_side_effects_outbox_default_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_step_executions
    ADD CONSTRAINT workflow_step_executions_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_step_executions_default
    ADD CONSTRAINT workflow_step_executions_default_pkey PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY public.workflow_step_receipts
    ADD CONSTRAINT workflow_step_receipts_pkey PRIMARY KEY (tenant_id, instance_id, idempotency_key);

ALTER TABLE ONLY public.workflow_triggers
    ADD CONSTRAINT workflow_triggers_pkey PRIMARY KEY (tenant_id, entity_type, sign, automation_id);

CREATE UNIQUE INDEX amendments_by_original ON public.amendments USING btree (tenant_id, original_id) WHERE ((closing IS NULL) OR (closing = 'settled'::text));

CREATE INDEX approval_decisions_by_person ON public.approval_decisions USING btree (tenant_id, decided_by, id) WHERE (decided_by IS NOT NULL);

CREATE INDEX approval_delegations_of_delegate ON public.approval_delegations USING btree (tenant_id, delegate_id, user_id) WHERE (revoked_at IS NULL);

CREATE INDEX approval_delegations_of_user ON public.approval_delegations USING btree (tenant_id, user_id, id) WHERE (revoked_at IS NULL);

CREATE INDEX approval_requests_by_content ON public.approval_requests USING btree (tenant_id, content_hash) WHERE (status = 'rejected'::text);

CREATE INDEX approval_requests_by_document ON public.approval_requests USING btree (tenant_id, document_id, id) WHERE (document_id IS NOT NULL);

CREATE INDEX approval_requests_by_instance ON public.approval_requests USING btree (tenant_id, instance_id, id) WHERE (instance_id IS NOT NULL);

CREATE INDEX approval_requests_by_likeness ON public.approval_requests USING btree (tenant_id, likeness_hash) WHERE ((status = 'rejected'::text) AND (likeness_hash IS NOT NULL));

CREATE UNIQUE INDEX approval_requests_by_step ON public.approval_requests USING btree (tenant_id, step_execution_id) WHERE (step_execution_id IS NOT NULL);

CREATE INDEX approval_requests_unpinned ON public.approval_requests USING btree (tenant_id, instance_id) WHERE ((status = 'open'::text) AND (pins_hash IS NULL));

CREATE INDEX approval_seats_of_needed_role ON public.approval_seats USING btree (tenant_id, needed_role, request_id) WHERE ((status = 'open'::text) AND (needed_role IS NOT NULL));

CREATE INDEX approval_seats_of_role ON public.approval_seats USING btree (tenant_id, holder_role, request_id) WHERE ((status = 'open'::text) AND (holder_role IS NOT NULL));

CREATE INDEX approval_seats_of_user ON public.approval_seats USING btree (tenant_id, holder_user_id, request_id) WHERE (status = 'open'::text);

CREATE INDEX audit_log_by_transaction ON public.audit_log USING btree (tenant_id, epoch, xid, id);

CREATE UNIQUE INDEX audit_log_chain ON public.audit_log USING btree (tenant_id, subject_type, subject_id, seq) WHERE (seq IS NOT NULL);

CREATE INDEX audit_log_of_tenant ON public.audit_log USING btree (tenant_id, id) WHERE (subject_type <> 'document'::text);

CREATE INDEX break_glass_proposals_of_request ON public.break_glass_proposals USING btree (tenant_id, request_id, id) WHERE (request_id IS NOT NULL);

CREATE INDEX break_glass_proposals_waiting ON public.break_glass_proposals USING btree (tenant_id, expires_at) WHERE (consented_at IS NULL);

CREATE INDEX control_changes_open ON public.control_changes USING btree (tenant_id, kind, name) WHERE (status = 'proposed'::text);

CREATE INDEX document_keys_by_document ON public.document_keys USING btree (tenant_id, document_id);

CREATE UNIQUE INDEX document_versions_by_id ON public.document_versions USING btree (tenant_id, id);

CREATE INDEX documents_by_amended_from ON public.documents USING btree (tenant_id, amended_from_id) WHERE (amended_from_id IS NOT NULL);

CREATE INDEX documents_by_creation ON public.documents USING btree (tenant_id, entity_type, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX documents_by_d1 ON public.documents USING btree (tenant_id, entity_type, d1) WHERE (d1 IS NOT NULL);

CREATE INDEX documents_by_d2 ON public.documents USING btree (tenant_id, entity_type, d2) WHERE (d2 IS NOT NULL);

CREATE INDEX documents_by_n1 ON public.documents USING btree (tenant_id, entity_type, n1) WHERE (n1 IS NOT NULL);

CREATE INDEX documents_by_n2 ON public.documents USING btree (tenant_id, entity_type, n2) WHERE (n2 IS NOT NULL);

CREATE INDEX documents_by_n3 ON public.documents USING btree (tenant_id, entity_type, n3) WHERE (n3 IS NOT NULL);

CREATE INDEX documents_by_n4 ON public.documents USING btree (tenant_id, entity_type, n4) WHERE (n4 IS NOT NULL);

CREATE INDEX documents_by_status_and_creation ON public.documents USING btree (tenant_id, entity_type, status, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX documents_by_t1 ON public.documents USING btree (tenant_id, entity_type, t1 text_pattern_ops) WHERE (t1 IS NOT NULL);

CREATE INDEX documents_by_t2 ON public.documents USING btree (tenant_id, entity_type, t2 text_pattern_ops) WHERE (t2 IS NOT NULL);

CREATE INDEX documents_by_t3 ON public.documents USING btree (tenant_id, entity_type, t3 text_pattern_ops) WHERE (t3 IS NOT NULL);

CREATE INDEX documents_by_t4 ON public.documents USING btree (tenant_id, entity_type, t4 text_pattern_ops) WHERE (t4 IS NOT NULL);

CREATE INDEX documents_deleted ON public.documents USING btree (tenant_id, deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));

CREATE INDEX eligibility_changes_by_time ON public.eligibility_changes USING btree (tenant_id, changed_at);

CREATE INDEX eligibility_changes_of_line ON public.eligibility_changes USING btree (tenant_id, other_user_id, changed_at) WHERE (kind = 'manager_set'::text);

CREATE INDEX eligibility_changes_of_role ON public.eligibility_changes USING btree (tenant_id, role, changed_at) WHERE (role IS NOT NULL);

CREATE INDEX eligibility_changes_of_user ON public.eligibility_changes USING btree (tenant_id, user_id, changed_at) WHERE (user_id IS NOT NULL);

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (tenant_id, created_at);

CREATE INDEX incidents_closed ON public.incidents USING btree (tenant_id, closed_at) WHERE (closed_at IS NOT NULL);

CREATE INDEX incidents_of_documents ON public.incidents USING btree (tenant_id, entity_id) WHERE (closed_at IS NULL);

CREATE INDEX incidents_open ON public.incidents USING btree (tenant_id, id) WHERE (closed_at IS NULL);

CREATE INDEX incidents_open_cause ON public.incidents USING btree (tenant_id, cause, id) WHERE (closed_at IS NULL);

CREATE INDEX incidents_open_document ON public.incidents USING btree (tenant_id, entity_id) WHERE (closed_at IS NULL);

CREATE INDEX incidents_open_requester ON public.incidents USING btree (tenant_id, requester_id, cause, id) WHERE (closed_at IS NULL);

CREATE INDEX left_document_keys_by_document ON public.left_document_keys USING btree (tenant_id, document_id);

CREATE INDEX member_roles_by_role ON public.member_roles USING btree (tenant_id, role, user_id);

CREATE UNIQUE INDEX members_by_skeleton ON public.members USING btree (tenant_id, skeleton);

CREATE UNIQUE INDEX notifications_about ON public.notifications USING btree (tenant_id, user_id, role, about) NULLS NOT DISTINCT WHERE ((about IS NOT NULL) AND (read_at IS NULL));

CREATE INDEX notifications_of_role ON public.notifications USING btree (tenant_id, role, id) WHERE (role IS NOT NULL);

CREATE INDEX notifications_of_user ON public.notifications USING btree (tenant_id, user_id, id) WHERE (user_id IS NOT NULL);

CREATE INDEX notifications_read ON public.notifications USING btree (tenant_id, read_at) WHERE (read_at IS NOT NULL);

CREATE INDEX org_chart_by_manager ON public.org_chart USING btree (tenant_id, manager_id);

CREATE INDEX personal_values_by_document ON public.personal_values USING btree (tenant_id, document_id);

CREATE INDEX request_waits_expiry ON public.request_waits USING btree (expires_at);

CREATE INDEX rule_executions_by_document ON public.rule_executions USING btree (tenant_id, document_id, id);

CREATE INDEX rule_executions_rejected ON public.rule_executions USING btree (tenant_id, document_id, id) WHERE is_rejection;

CREATE INDEX rule_executions_rejections ON public.rule_executions USING btree (tenant_id, id) WHERE is_rejection;

CREATE INDEX transition_requests_by_document ON public.transition_requests USING btree (tenant_id, document_id, created_at);

CREATE UNIQUE INDEX transition_requests_open ON public.transition_requests USING btree (tenant_id, document_id) WHERE (status = 'open'::text);

CREATE INDEX transition_requests_open_by_actor ON public.transition_requests USING btree (tenant_id, actor_id, created_at) WHERE (status = 'open'::text);

CREATE INDEX workflow_definitions_by_status ON public.workflow_definitions USING btree (tenant_id, entity_type, status, published_at DESC);

CREATE INDEX workflow_event_by_subject ON ONLY public.workflow_event USING btree (tenant_id, subject_id, created_at, id);

CREATE INDEX workflow_event_default_tenant_id_subject_id_created_at_id_idx ON public.workflow_event_default USING btree (tenant_id, subject_id, created_at, id);

CREATE INDEX workflow_event_offers_open ON public.workflow_event_offers USING btree (tenant_id, step_id) WHERE (status = 'open'::text);

CREATE INDEX workflow_event_waits_by_step ON public.workflow_event_waits USING btree (tenant_id, step_id);

CREATE INDEX workflow_events_outbox_by_instance ON ONLY public.workflow_events_outbox USING btree (tenant_id, instance_id, id) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_events_outbox_by_time ON ONLY public.workflow_events_outbox USING btree ((
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END), tenant_id) WHERE (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END IS NOT NULL);

CREATE INDEX workflow_events_outbox_dead ON ONLY public.workflow_events_outbox USING btree (tenant_id, id) WHERE (status = 'dead_letter'::text);

CREATE INDEX workflow_events_outbox_default_by_time ON public.workflow_events_outbox_default USING btree ((
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END), tenant_id) WHERE (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END IS NOT NULL);

CREATE INDEX workflow_events_outbox_done ON ONLY public.workflow_events_outbox USING btree (tenant_id, completed_at) WHERE (status = 'completed'::text);

CREATE INDEX workflow_events_outbox_default_tenant_id_completed_at_idx ON public.workflow_events_outbox_default USING btree (tenant_id, completed_at) WHERE (status = 'completed'::text);

CREATE INDEX workflow_events_outbox_dropped ON ONLY public.workflow_events_outbox USING btree (tenant_id, completed_at) WHERE (status = 'discarded'::text);

CREATE INDEX workflow_events_outbox_default_tenant_id_completed_at_idx1 ON public.workflow_events_outbox_default USING btree (tenant_id, completed_at) WHERE (status = 'discarded'::text);

CREATE INDEX workflow_events_outbox_due ON ONLY public.workflow_events_outbox USING btree (tenant_id, due_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'failed'::text]));

CREATE INDEX workflow_events_outbox_default_tenant_id_due_at_id_idx ON public.workflow_events_outbox_default USING btree (tenant_id, due_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'failed'::text]));

CREATE INDEX workflow_events_outbox_default_tenant_id_id_idx ON public.workflow_events_outbox_default USING btree (tenant_id, id) WHERE (status = 'dead_letter'::text);

CREATE INDEX workflow_events_outbox_default_tenant_id_instance_id_id_idx ON public.workflow_events_outbox_default USING btree (tenant_id, instance_id, id) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_events_outbox_leased ON ONLY public.workflow_events_outbox USING btree (tenant_id, lease_until) WHERE (status = 'processing'::text);

CREATE INDEX workflow_events_outbox_default_tenant_id_lease_until_idx ON public.workflow_events_outbox_default USING btree (tenant_id, lease_until) WHERE (status = 'processing'::text);

CREATE INDEX workflow_inbound_events_by_expiry ON public.workflow_inbound_events USING btree (tenant_id, expires_at);

CREATE INDEX workflow_inbound_events_by_key ON public.workflow_inbound_events USING btree (tenant_id, event_key, id);

CREATE INDEX workflow_inbound_events_kept ON public.workflow_inbound_events USING btree (tenant_id, event_key, received_at, id) WHERE (taken_at IS NULL);

CREATE INDEX workflow_instances_by_definition ON public.workflow_instances USING btree (tenant_id, definition_id, status, id) WHERE (definition_id IS NOT NULL);

CREATE INDEX workflow_instances_by_entity ON public.workflow_instances USING btree (tenant_id, entity_type, entity_id, id) WHERE (entity_id IS NOT NULL);

CREATE INDEX workflow_instances_by_status ON public.workflow_instances USING btree (tenant_id, status, id) WHERE (status IS NOT NULL);

CREATE INDEX workflow_instances_by_subject ON public.workflow_instances USING btree (tenant_id, subject_id, id) WHERE (subject_id IS NOT NULL);

CREATE INDEX workflow_instances_by_timeout ON public.workflow_instances USING btree (tenant_id, timeout_at) WHERE ((timeout_at IS NOT NULL) AND (status = 'running'::text));

CREATE UNIQUE INDEX workflow_instances_live ON public.workflow_instances USING btree (tenant_id, entity_type, entity_id) WHERE ((status = ANY (ARRAY['running'::text, 'paused'::text])) AND (kind = 'envelope'::text));

CREATE INDEX workflow_instances_open_automations ON public.workflow_instances USING btree (tenant_id, overlap_key COLLATE "C") WHERE ((kind = 'automation'::text) AND (status = ANY (ARRAY['running'::text, 'paused'::text])));

CREATE UNIQUE INDEX workflow_instances_overlap ON public.workflow_instances USING btree (tenant_id, overlap_key) WHERE ((status = ANY (ARRAY['running'::text, 'paused'::text])) AND (overlap_key IS NOT NULL));

CREATE INDEX workflow_side_effects_outbox_by_instance ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, instance_id, id) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_by_step ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, step_execution_id) WHERE (step_execution_id IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_by_time ON ONLY public.workflow_side_effects_outbox USING btree ((
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END), tenant_id) WHERE (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_de_tenant_id_step_execution_id_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, step_execution_id) WHERE (step_execution_id IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_dead ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, id) WHERE (status = 'dead_letter'::text);

CREATE INDEX workflow_side_effects_outbox_defau_tenant_id_instance_id_id_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, instance_id, id) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_dropped ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, completed_at) WHERE (status = ANY (ARRAY['withdrawn'::text, 'discarded'::text]));

CREATE INDEX workflow_side_effects_outbox_defaul_tenant_id_completed_at_idx1 ON public.workflow_side_effects_outbox_default USING btree (tenant_id, completed_at) WHERE (status = ANY (ARRAY['withdrawn'::text, 'discarded'::text]));

CREATE INDEX workflow_side_effects_outbox_default_by_time ON public.workflow_side_effects_outbox_default USING btree ((
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END), tenant_id) WHERE (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'failed'::text])) THEN due_at
    ELSE lease_until
END IS NOT NULL);

CREATE INDEX workflow_side_effects_outbox_done ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, completed_at) WHERE (status = 'completed'::text);

CREATE INDEX workflow_side_effects_outbox_default_tenant_id_completed_at_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, completed_at) WHERE (status = 'completed'::text);

CREATE INDEX workflow_side_effects_outbox_due ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, due_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'failed'::text]));

CREATE INDEX workflow_side_effects_outbox_default_tenant_id_due_at_id_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, due_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'failed'::text]));

CREATE INDEX workflow_side_effects_outbox_held ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, endpoint, id) WHERE ((held_at IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'failed'::text])));

CREATE INDEX workflow_side_effects_outbox_default_tenant_id_endpoint_id_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, endpoint, id) WHERE ((held_at IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'failed'::text])));

CREATE INDEX workflow_side_effects_outbox_default_tenant_id_id_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, id) WHERE (status = 'dead_letter'::text);

CREATE INDEX workflow_side_effects_outbox_leased ON ONLY public.workflow_side_effects_outbox USING btree (tenant_id, lease_until) WHERE (status = 'processing'::text);

CREATE INDEX workflow_side_effects_outbox_default_tenant_id_lease_until_idx ON public.workflow_side_effects_outbox_default USING btree (tenant_id, lease_until) WHERE (status = 'processing'::text);

CREATE INDEX workflow_step_executions_by_actor ON ONLY public.workflow_step_executions USING btree (tenant_id, actor_user_id, id) WHERE (status = 'running'::text);

CREATE INDEX workflow_step_executions_by_instance ON ONLY public.workflow_step_executions USING btree (tenant_id, instance_id, seq) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_step_executions_by_resume ON ONLY public.workflow_step_executions USING btree (tenant_id, resume_at) WHERE ((status = 'running'::text) AND (resume_at IS NOT NULL));

CREATE INDEX workflow_step_executions_by_snapshot ON ONLY public.workflow_step_executions USING btree (tenant_id, snapshot_version_id) WHERE (snapshot_version_id IS NOT NULL);

CREATE INDEX workflow_step_executions_defa_tenant_id_snapshot_version_id_idx ON public.workflow_step_executions_default USING btree (tenant_id, snapshot_version_id) WHERE (snapshot_version_id IS NOT NULL);

CREATE INDEX workflow_step_executions_waiting ON ONLY public.workflow_step_executions USING btree (tenant_id, waiting_for_event_key) WHERE ((status = 'running'::text) AND (waiting_for_event_key IS NOT NULL));

CREATE INDEX workflow_step_executions_defa_tenant_id_waiting_for_event_k_idx ON public.workflow_step_executions_default USING btree (tenant_id, waiting_for_event_key) WHERE ((status = 'running'::text) AND (waiting_for_event_key IS NOT NULL));

CREATE INDEX workflow_step_executions_default_tenant_id_actor_user_id_id_idx ON public.workflow_step_executions_default USING btree (tenant_id, actor_user_id, id) WHERE (status = 'running'::text);

CREATE INDEX workflow_step_executions_open ON ONLY public.workflow_step_executions USING btree (tenant_id, instance_id) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));

CREATE INDEX workflow_step_executions_default_tenant_id_instance_id_idx ON public.workflow_step_executions_default USING btree (tenant_id, instance_id) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));

CREATE INDEX workflow_step_executions_default_tenant_id_instance_id_seq_idx ON public.workflow_step_executions_default USING btree (tenant_id, instance_id, seq) WHERE (instance_id IS NOT NULL);

CREATE INDEX workflow_step_executions_default_tenant_id_resume_at_idx ON public.workflow_step_executions_default USING btree (tenant_id, resume_at) WHERE ((status = 'running'::text) AND (resume_at IS NOT NULL));

CREATE INDEX workflow_triggers_of_automation ON public.workflow_triggers USING btree (tenant_id, automation_id);

ALTER INDEX public.workflow_event_pkey ATTACH PARTITION public.workflow_event_default_pkey;

ALTER INDEX public.workflow_event_by_subject ATTACH PARTITION public.workflow_event_default_tenant_id_subject_id_created_at_id_idx;

ALTER INDEX public.workflow_events_outbox_by_time ATTACH PARTITION public.workflow_events_outbox_default_by_time;

ALTER INDEX public.workflow_events_outbox_pkey ATTACH PARTITION public.workflow_events_outbox_default_pkey;

ALTER INDEX public.workflow_events_outbox_done ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_completed_at_idx;

ALTER INDEX public.workflow_events_outbox_dropped ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_completed_at_idx1;

ALTER INDEX public.workflow_events_outbox_due ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_due_at_id_idx;

ALTER INDEX public.workflow_events_outbox_dead ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_id_idx;

ALTER INDEX public.workflow_events_outbox_by_instance ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_instance_id_id_idx;

ALTER INDEX public.workflow_events_outbox_leased ATTACH PARTITION public.workflow_events_outbox_default_tenant_id_lease_until_idx;

ALTER INDEX public.workflow_side_effects_outbox_by_step ATTACH PARTITION public.workflow_side_effects_outbox_de_tenant_id_step_execution_id_idx;

ALTER INDEX public.workflow_side_effects_outbox_by_instance ATTACH PARTITION public.workflow_side_effects_outbox_defau_tenant_id_instance_id_id_idx;

ALTER INDEX public.workflow_side_effects_outbox_dropped ATTACH PARTITION public.workflow_side_effects_outbox_defaul_tenant_id_completed_at_idx1;

ALTER INDEX public.workflow_side_effects_outbox_by_time ATTACH PARTITION public.workflow_side_effects_outbox_default_by_time;

ALTER INDEX public.workflow_side_effects_outbox_pkey ATTACH PARTITION public.workflow_side_effects_outbox_default_pkey;

ALTER INDEX public.workflow_side_effects_outbox_done ATTACH PARTITION public.workflow_side_effects_outbox_default_tenant_id_completed_at_idx;

ALTER INDEX public.workflow_side_effects_outbox_due ATTACH PARTITION public.workflow_side_effects_outbox_default_tenant_id_due_at_id_idx;

ALTER INDEX public.workflow_side_effects_outbox_held ATTACH PARTITION public.workflow_side_effects_outbox_default_tenant_id_endpoint_id_idx;

ALTER INDEX public.workflow_side_effects_outbox_dead ATTACH PARTITION public.workflow_side_effects_outbox_default_tenant_id_id_idx;

ALTER INDEX public.workflow_side_effects_outbox_leased ATTACH PARTITION public.workflow_side_effects_outbox_default_tenant_id_lease_until_idx;

ALTER INDEX public.workflow_step_executions_by_snapshot ATTACH PARTITION public.workflow_step_executions_defa_tenant_id_snapshot_version_id_idx;

ALTER INDEX public.workflow_step_executions_waiting ATTACH PARTITION public.workflow_step_executions_defa_tenant_id_waiting_for_event_k_idx;

ALTER INDEX public.workflow_step_executions_pkey ATTACH PARTITION public.workflow_step_executions_default_pkey;

ALTER INDEX public.workflow_step_executions_by_actor ATTACH PARTITION public.workflow_step_executions_default_tenant_id_actor_user_id_id_idx;

ALTER INDEX public.workflow_step_executions_open ATTACH PARTITION public.workflow_step_executions_default_tenant_id_instance_id_idx;

ALTER INDEX public.workflow_step_executions_by_instance ATTACH PARTITION public.workflow_step_executions_default_tenant_id_instance_id_seq_idx;

ALTER INDEX public.workflow_step_executions_by_resume ATTACH PARTITION public.workflow_step_executions_default_tenant_id_resume_at_idx;

CREATE TRIGGER check_key_owner BEFORE INSERT OR UPDATE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.check_key_owner();

CREATE TRIGGER count_version BEFORE UPDATE ON public.members FOR EACH ROW EXECUTE FUNCTION public.count_version();

CREATE TRIGGER count_version BEFORE UPDATE ON public.org_chart FOR EACH ROW EXECUTE FUNCTION public.count_version();

CREATE TRIGGER count_version BEFORE UPDATE ON public.roles FOR EACH ROW EXECUTE FUNCTION public.count_version();

CREATE TRIGGER count_version_of_member AFTER INSERT OR DELETE OR UPDATE ON public.member_roles FOR EACH ROW EXECUTE FUNCTION public.count_version_of_member();

CREATE TRIGGER count_version_of_member AFTER INSERT OR DELETE OR UPDATE ON public.org_chart FOR EACH ROW EXECUTE FUNCTION public.count_version_of_member();

CREATE TRIGGER end_event_wait AFTER UPDATE OF status ON public.workflow_step_executions FOR EACH ROW WHEN (((new.node_type = 'wait_event'::text) AND (old.status = 'running'::text) AND (new.status <> 'running'::text))) EXECUTE FUNCTION public.end_event_wait();

CREATE TRIGGER forget_left_keys AFTER UPDATE OF purged_at ON public.documents FOR EACH ROW WHEN (((old.purged_at IS NULL) AND (new.purged_at IS NOT NULL))) EXECUTE FUNCTION public.forget_left_keys();

CREATE TRIGGER give_up_amendment AFTER UPDATE OF status ON public.workflow_instances FOR EACH ROW WHEN (((old.status = ANY (ARRAY['running'::text, 'paused'::text])) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (new.birth <> 'created'::text) AND (new.entity_id IS NOT NULL))) EXECUTE FUNCTION public.give_up_amendment();

CREATE TRIGGER guard_change BEFORE UPDATE ON public.amendments FOR EACH ROW WHEN ((old.closing = ANY (ARRAY['settled'::text, 'handed_on'::text]))) EXECUTE FUNCTION public.guard_amendment();

CREATE TRIGGER guard_change BEFORE UPDATE ON public.incidents FOR EACH ROW EXECUTE FUNCTION public.guard_incident();

CREATE TRIGGER keep_key_owner AFTER INSERT OR UPDATE OF owner_id ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.keep_key_owner();

CREATE TRIGGER keep_left_key AFTER DELETE ON public.document_keys FOR EACH ROW EXECUTE FUNCTION public.keep_left_key();

CREATE TRIGGER keep_withdrawn BEFORE UPDATE ON public.workflow_side_effects_outbox FOR EACH ROW WHEN ((old.withdrawn_at IS NOT NULL)) EXECUTE FUNCTION public.keep_withdrawn();

CREATE TRIGGER note_dropped BEFORE UPDATE ON public.workflow_events_outbox FOR EACH ROW WHEN (((new.status = 'discarded'::text) AND (old.status <> new.status))) EXECUTE FUNCTION public.note_dropped();

CREATE TRIGGER note_dropped BEFORE UPDATE ON public.workflow_side_effects_outbox FOR EACH ROW WHEN (((new.status = ANY (ARRAY['withdrawn'::text, 'discarded'::text])) AND (old.status <> new.status))) EXECUTE FUNCTION public.note_dropped();

CREATE TRIGGER record_secret_uses AFTER INSERT OR DELETE OR UPDATE OF name, secret_refs ON public.endpoints FOR EACH ROW EXECUTE FUNCTION public.record_secret_uses('out', 'secret_refs');

CREATE TRIGGER record_secret_uses AFTER INSERT OR DELETE OR UPDATE OF name, secrets ON public.inbound_endpoints FOR EACH ROW EXECUTE FUNCTION public.record_secret_uses('in', 'secrets');

CREATE TRIGGER reject_begin_change BEFORE UPDATE OF begin_responsible ON public.workflow_instances FOR EACH ROW WHEN ((new.begin_responsible IS DISTINCT FROM old.begin_responsible)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_begin_context_change BEFORE UPDATE OF begin_context ON public.workflow_instances FOR EACH ROW WHEN ((new.begin_context IS DISTINCT FROM old.begin_context)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_begin_pins_change BEFORE UPDATE OF begin_pins ON public.workflow_instances FOR EACH ROW WHEN ((new.begin_pins IS DISTINCT FROM old.begin_pins)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_begun_document BEFORE INSERT ON public.documents FOR EACH ROW WHEN ((CURRENT_USER = 'signet_worker'::name)) EXECUTE FUNCTION public.reject_begun_document();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.api_key_owners FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.approval_decisions FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.audit_seals FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.break_glass_proposals FOR EACH ROW WHEN ((old.consented_at IS NOT NULL)) EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.calendar_versions FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.document_turns FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.document_versions FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.eligibility_changes FOR EACH ROW EXECUTE FUNCTION public.reject_eligibility_rewriting();

CREATE TRIGGER reject_change BEFORE UPDATE ON public.idempotency_keys FOR EACH ROW WHEN ((old.outcome IS NOT NULL)) EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.personal_values FOR EACH ROW EXECUTE FUNCTION public.reject_personal_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.responsible_sets FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.rule_executions FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE DELETE OR UPDATE ON public.workflow_event FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE UPDATE ON public.workflow_outbox_receipts FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_change BEFORE UPDATE ON public.workflow_step_receipts FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_content_hash_change BEFORE UPDATE OF content_hash ON public.approval_requests FOR EACH ROW WHEN ((new.content_hash IS DISTINCT FROM old.content_hash)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_default_mutation BEFORE DELETE OR UPDATE ON public.workflow_definitions FOR EACH ROW WHEN (old.is_default) EXECUTE FUNCTION public.reject_default_definition_mutation();

CREATE TRIGGER reject_delete BEFORE DELETE ON public.workflow_step_executions FOR EACH ROW EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_ended_mutation BEFORE UPDATE ON public.control_changes FOR EACH ROW WHEN (((old.status <> 'proposed'::text) AND (new.status = old.status))) EXECUTE FUNCTION public.reject_ended_control_change();

CREATE TRIGGER reject_foreign_transaction BEFORE INSERT ON public.audit_log FOR EACH ROW WHEN ((new.xid <> pg_current_xact_id())) EXECUTE FUNCTION public.reject_foreign_transaction();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, instance_id, step_execution_id, node_id, document_id, document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash, requester_id, responsible, voter_permissions, pins, pins_hash, created_at ON public.approval_requests FOR EACH ROW WHEN (((((((((((((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.id IS DISTINCT FROM old.id)) OR (new.instance_id IS DISTINCT FROM old.instance_id)) OR (new.step_execution_id IS DISTINCT FROM old.step_execution_id)) OR (new.node_id IS DISTINCT FROM old.node_id)) OR (new.document_id IS DISTINCT FROM old.document_id)) OR (new.document_version IS DISTINCT FROM old.document_version)) OR (new.snapshot_version_id IS DISTINCT FROM old.snapshot_version_id)) OR (new.snapshot_hash IS DISTINCT FROM old.snapshot_hash)) OR (new.definition_hash IS DISTINCT FROM old.definition_hash)) OR (new.policy IS DISTINCT FROM old.policy)) OR (new.policy_hash IS DISTINCT FROM old.policy_hash)) OR (new.requester_id IS DISTINCT FROM old.requester_id)) OR (new.responsible IS DISTINCT FROM old.responsible)) OR (new.voter_permissions IS DISTINCT FROM old.voter_permissions)) OR (new.pins IS DISTINCT FROM old.pins)) OR (new.pins_hash IS DISTINCT FROM old.pins_hash)) OR (new.created_at IS DISTINCT FROM old.created_at))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, name ON public.automations FOR EACH ROW WHEN (((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.id IS DISTINCT FROM old.id) OR (new.name IS DISTINCT FROM old.name))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, entity_type, creator_id, creator_responsible, created_at, amended_from_id ON public.documents FOR EACH ROW WHEN ((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.id IS DISTINCT FROM old.id)) OR (new.entity_type IS DISTINCT FROM old.entity_type)) OR (new.creator_id IS DISTINCT FROM old.creator_id)) OR (new.creator_responsible IS DISTINCT FROM old.creator_responsible)) OR (new.created_at IS DISTINCT FROM old.created_at)) OR (new.amended_from_id IS DISTINCT FROM old.amended_from_id))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, document_id, document_version, transition, actor_id, actor_roles, responsible, created_at ON public.transition_requests FOR EACH ROW WHEN ((((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.id IS DISTINCT FROM old.id)) OR (new.document_id IS DISTINCT FROM old.document_id)) OR (new.document_version IS DISTINCT FROM old.document_version)) OR (new.transition IS DISTINCT FROM old.transition)) OR (new.actor_id IS DISTINCT FROM old.actor_id)) OR (new.actor_roles IS DISTINCT FROM old.actor_roles)) OR (new.responsible IS DISTINCT FROM old.responsible)) OR (new.created_at IS DISTINCT FROM old.created_at))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json, event_idempotency_key, depth, trace_id ON public.workflow_events_outbox FOR EACH ROW WHEN ((((((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.created_at IS DISTINCT FROM old.created_at)) OR (new.id IS DISTINCT FROM old.id)) OR (new.instance_id IS DISTINCT FROM old.instance_id)) OR (new.entity_version IS DISTINCT FROM old.entity_version)) OR (new.definition_version IS DISTINCT FROM old.definition_version)) OR (new.event_type IS DISTINCT FROM old.event_type)) OR (new.payload_json IS DISTINCT FROM old.payload_json)) OR (new.event_idempotency_key IS DISTINCT FROM old.event_idempotency_key)) OR (new.depth IS DISTINCT FROM old.depth)) OR (new.trace_id IS DISTINCT FROM old.trace_id))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, id, kind, entity_type, entity_id, subject_id, partition_id, begin_node, begin_version, birth, begin_actor_id, begin_actor_roles, started_at, depth ON public.workflow_instances FOR EACH ROW WHEN (((((((((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.id IS DISTINCT FROM old.id)) OR (new.kind IS DISTINCT FROM old.kind)) OR (new.entity_type IS DISTINCT FROM old.entity_type)) OR (new.entity_id IS DISTINCT FROM old.entity_id)) OR (new.subject_id IS DISTINCT FROM old.subject_id)) OR (new.partition_id IS DISTINCT FROM old.partition_id)) OR (new.begin_node IS DISTINCT FROM old.begin_node)) OR (new.begin_version IS DISTINCT FROM old.begin_version)) OR (new.birth IS DISTINCT FROM old.birth)) OR (new.begin_actor_id IS DISTINCT FROM old.begin_actor_id)) OR (new.begin_actor_roles IS DISTINCT FROM old.begin_actor_roles)) OR (new.started_at IS DISTINCT FROM old.started_at)) OR (new.depth IS DISTINCT FROM old.depth))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_identity_change BEFORE UPDATE OF tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json, event_idempotency_key, trace_id ON public.workflow_side_effects_outbox FOR EACH ROW WHEN (((((((((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.created_at IS DISTINCT FROM old.created_at)) OR (new.id IS DISTINCT FROM old.id)) OR (new.instance_id IS DISTINCT FROM old.instance_id)) OR (new.step_execution_id IS DISTINCT FROM old.step_execution_id)) OR (new.effect_type IS DISTINCT FROM old.effect_type)) OR (new.endpoint IS DISTINCT FROM old.endpoint)) OR (new.payload_json IS DISTINCT FROM old.payload_json)) OR (new.event_idempotency_key IS DISTINCT FROM old.event_idempotency_key)) OR (new.trace_id IS DISTINCT FROM old.trace_id))) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_key_revival BEFORE UPDATE ON public.api_keys FOR EACH ROW WHEN (((old.revoked_at IS NOT NULL) AND (new.revoked_at IS DISTINCT FROM old.revoked_at))) EXECUTE FUNCTION public.reject_key_revival();

CREATE TRIGGER reject_later_asking BEFORE UPDATE OF asked_since ON public.approval_requests FOR EACH ROW WHEN ((new.asked_since IS DISTINCT FROM old.asked_since)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_later_birth BEFORE INSERT ON public.workflow_instances FOR EACH ROW WHEN ((CURRENT_USER = ANY (ARRAY['signet_worker'::name, 'signet_janitor'::name]))) EXECUTE FUNCTION public.reject_later_birth();

CREATE TRIGGER reject_likeness_hash_change BEFORE UPDATE OF likeness_hash ON public.approval_requests FOR EACH ROW WHEN ((new.likeness_hash IS DISTINCT FROM old.likeness_hash)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids ON public.documents FOR EACH ROW WHEN ((NOT (old.editor_ids <@ new.editor_ids))) EXECUTE FUNCTION public.reject_lost_editors();

CREATE TRIGGER reject_move BEFORE INSERT ON public.workflow_step_executions FOR EACH ROW WHEN (((new.node_id = 'sys:control:moved'::text) AND (CURRENT_USER = ANY (ARRAY['signet_worker'::name, 'signet_janitor'::name])))) EXECUTE FUNCTION public.reject_move();

CREATE TRIGGER reject_published_mutation BEFORE INSERT OR DELETE OR UPDATE ON public.approval_chain_steps FOR EACH ROW EXECUTE FUNCTION public.reject_published_chain_mutation();

CREATE TRIGGER reject_published_mutation BEFORE DELETE OR UPDATE ON public.approval_chains FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION public.reject_published_chain_change();

CREATE TRIGGER reject_published_mutation BEFORE DELETE OR UPDATE ON public.contracts FOR EACH ROW EXECUTE FUNCTION public.reject_published_contract_mutation();

CREATE TRIGGER reject_published_mutation BEFORE DELETE OR UPDATE ON public.workflow_definitions FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION public.reject_published_definition_mutation();

CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON public.workflow_events_outbox FOR EACH ROW WHEN ((new.responsible IS DISTINCT FROM old.responsible)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON public.workflow_inbound_events FOR EACH ROW WHEN ((new.responsible IS DISTINCT FROM old.responsible)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON public.workflow_step_executions FOR EACH ROW WHEN ((new.responsible IS DISTINCT FROM old.responsible)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER reject_seat_without_consent BEFORE INSERT ON public.approval_seats FOR EACH ROW WHEN (((new.origin = 'break_glass'::text) AND (CURRENT_USER <> 'signet_owner'::name))) EXECUTE FUNCTION public.reject_seat_without_consent();

CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON public.approval_requests FOR EACH ROW WHEN ((old.applied AND (new.applied IS DISTINCT FROM old.applied))) EXECUTE FUNCTION public.reject_second_use();

CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON public.workflow_step_executions FOR EACH ROW WHEN ((old.applied AND (new.applied IS DISTINCT FROM old.applied))) EXECUTE FUNCTION public.reject_second_use();

CREATE CONSTRAINT TRIGGER reject_smaller_set_of_editors AFTER UPDATE OF editor_responsible ON public.documents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.editor_responsible IS DISTINCT FROM old.editor_responsible)) EXECUTE FUNCTION public.reject_smaller_set_of_editors();

CREATE TRIGGER reject_stray_effect BEFORE INSERT ON public.workflow_side_effects_outbox FOR EACH ROW WHEN ((CURRENT_USER = 'signet_worker'::name)) EXECUTE FUNCTION public.reject_stray_effect();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.amendments FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.api_key_owners FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.approval_decisions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.audit_seals FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.break_glass_proposals FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.calendar_versions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.contracts FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.control_changes FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.document_turns FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.document_versions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.eligibility_changes FOR EACH STATEMENT EXECUTE FUNCTION public.reject_eligibility_rewriting();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.incidents FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.left_document_keys FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.personal_values FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.responsible_sets FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.rule_executions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.workflow_definitions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.workflow_event FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.workflow_event_default FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.workflow_step_executions FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON public.workflow_step_executions_default FOR EACH STATEMENT EXECUTE FUNCTION public.reject_any_change();

CREATE TRIGGER reject_unversioned_change BEFORE UPDATE OF status, data, version ON public.documents FOR EACH ROW WHEN ((new.version <= old.version)) EXECUTE FUNCTION public.reject_unversioned_change();

CREATE TRIGGER reject_variables_change BEFORE UPDATE OF variables ON public.approval_requests FOR EACH ROW WHEN ((new.variables IS DISTINCT FROM old.variables)) EXECUTE FUNCTION public.reject_identity_change();

CREATE TRIGGER release_queued_start AFTER UPDATE OF status ON public.workflow_instances FOR EACH ROW WHEN (((new.kind = 'automation'::text) AND (new.overlap_key IS NOT NULL) AND (old.status = ANY (ARRAY['running'::text, 'paused'::text])) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))) EXECUTE FUNCTION public.release_queued_start();

CREATE TRIGGER reopen_amendment AFTER INSERT ON public.workflow_instances FOR EACH ROW WHEN (((new.birth = ANY (ARRAY['reentered'::text, 'restarted'::text])) AND (new.entity_id IS NOT NULL))) EXECUTE FUNCTION public.reopen_amendment();

CREATE TRIGGER restrict_contract_change BEFORE UPDATE OF contract_version ON public.documents FOR EACH ROW WHEN ((new.contract_version <> old.contract_version)) EXECUTE FUNCTION public.restrict_contract_change();

CREATE TRIGGER restrict_definition_change BEFORE UPDATE OF definition_id, definition_version ON public.workflow_instances FOR EACH ROW WHEN (((new.definition_id IS DISTINCT FROM old.definition_id) OR (new.definition_version IS DISTINCT FROM old.definition_version))) EXECUTE FUNCTION public.restrict_definition_change();

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.approval_chains FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('draft>published;published>archived');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.approval_requests FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('open>approved,rejected,expired,voided;approved>voided,open');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.approval_seats FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('open>approved,rejected,abstained,closed;approved>lapsed;abstained>lapsed;closed>open');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.contracts FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('draft>published;published>archived');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.control_changes FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('proposed>confirmed,rejected,withdrawn,expired,superseded');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.transition_requests FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('open>performed,refused,superseded');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_definitions FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('draft>published;published>archived');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_event_offers FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('open>taken,unfit,ended;unfit>open;ended>open');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_events_outbox FOR EACH ROW WHEN (((new.status <> old.status) AND ((old.status <> 'pending'::text) OR (new.status <> 'processing'::text)) AND ((old.status <> 'processing'::text) OR (new.status <> 'completed'::text)))) EXECUTE FUNCTION public.restrict_status_regression('pending>processing;processing>completed,failed,pending;failed>pending,processing,dead_letter;dead_letter>pending,discarded');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_instances FOR EACH ROW WHEN (((new.status <> old.status) AND ((old.status <> 'running'::text) OR (new.status <> 'completed'::text)))) EXECUTE FUNCTION public.restrict_status_regression('running>paused,completed,failed,cancelled;paused>running,completed,failed,cancelled');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_side_effects_outbox FOR EACH ROW EXECUTE FUNCTION public.restrict_status_regression('pending>processing,withdrawn;processing>completed,failed,pending,withdrawn;failed>pending,processing,dead_letter,withdrawn;dead_letter>pending,withdrawn,discarded');

CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON public.workflow_step_executions FOR EACH ROW WHEN (((new.status <> old.status) AND ((old.status <> 'running'::text) OR (new.status <> 'completed'::text)))) EXECUTE FUNCTION public.restrict_status_regression('pending>running,cancelled;running>completed,failed,skipped,cancelled');

CREATE TRIGGER restrict_step_execution_updates BEFORE UPDATE OF tenant_id, created_at, id, instance_id, seq, node_id, node_type, token_id, entity_version, run_as, idempotency_key, input_json, actor_user_id, snapshot_version_id ON public.workflow_step_executions FOR EACH ROW EXECUTE FUNCTION public.restrict_step_execution_updates();

CREATE TRIGGER restrict_updates_of_ended BEFORE UPDATE ON public.workflow_step_executions FOR EACH ROW WHEN ((old.status <> ALL (ARRAY['pending'::text, 'running'::text]))) EXECUTE FUNCTION public.restrict_updates_of_ended_step();

CREATE TRIGGER tell AFTER INSERT ON public.incidents FOR EACH ROW WHEN ((new.closed_at IS NULL)) EXECUTE FUNCTION public.tell_of_incident();

CREATE TRIGGER tell_of_arrival AFTER UPDATE OF status ON public.workflow_side_effects_outbox FOR EACH ROW WHEN (((new.status = 'completed'::text) AND (old.status = 'processing'::text) AND (new.withdrawn_at IS NOT NULL))) EXECUTE FUNCTION public.tell_of_arrival();

CREATE TRIGGER tell_of_end AFTER UPDATE OF status ON public.approval_requests FOR EACH ROW WHEN (((old.status = 'open'::text) AND (new.status = ANY (ARRAY['rejected'::text, 'expired'::text])))) EXECUTE FUNCTION public.tell_of_approval_end();

CREATE TRIGGER tell_of_end AFTER UPDATE OF status ON public.transition_requests FOR EACH ROW WHEN (((new.status = 'superseded'::text) AND (new.outcome = 'amended'::text))) EXECUTE FUNCTION public.tell_of_superseded();

CREATE TRIGGER tell_of_what_had_arrived AFTER UPDATE OF withdrawn_at ON public.workflow_side_effects_outbox FOR EACH ROW WHEN (((new.status = 'completed'::text) AND (old.status = 'completed'::text) AND (old.withdrawn_at IS NULL))) EXECUTE FUNCTION public.tell_of_arrival();

CREATE TRIGGER withdraw_effects AFTER UPDATE OF closed_at ON public.incidents FOR EACH ROW WHEN (((new.closed_at IS NOT NULL) AND (new.step_id IS NOT NULL))) EXECUTE FUNCTION public.withdraw_effects_of_incident();

CREATE TRIGGER withdraw_effects AFTER UPDATE OF status ON public.workflow_step_executions FOR EACH ROW WHEN (((new.node_type = ANY (ARRAY['webhook_out'::text, 'notification'::text])) AND (old.status = 'running'::text) AND ((new.status = ANY (ARRAY['cancelled'::text, 'skipped'::text])) OR ((new.output_json #> '{evidence,advanced_by}'::text[]) IS NOT NULL) OR ((new.output_json #> '{evidence,timed_out}'::text[]) IS NOT NULL)))) EXECUTE FUNCTION public.withdraw_effects_of_step();

ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_tenant_id_original_id_fkey FOREIGN KEY (tenant_id, original_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.api_key_owners
    ADD CONSTRAINT api_key_owners_tenant_id_key_id_fkey FOREIGN KEY (tenant_id, key_id) REFERENCES public.api_keys(tenant_id, id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.approval_chain_steps
    ADD CONSTRAINT approval_chain_steps_tenant_id_name_version_fkey FOREIGN KEY (tenant_id, name, version) REFERENCES public.approval_chains(tenant_id, name, version);

ALTER TABLE ONLY public.approval_chains
    ADD CONSTRAINT approval_chains_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.approval_decisions
    ADD CONSTRAINT approval_decisions_tenant_id_request_id_fkey FOREIGN KEY (tenant_id, request_id) REFERENCES public.approval_requests(tenant_id, id);

ALTER TABLE ONLY public.approval_delegations
    ADD CONSTRAINT approval_delegations_tenant_id_delegate_id_fkey FOREIGN KEY (tenant_id, delegate_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.approval_delegations
    ADD CONSTRAINT approval_delegations_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.approval_requests
    ADD CONSTRAINT approval_requests_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.approval_seats
    ADD CONSTRAINT approval_seats_tenant_id_request_id_fkey FOREIGN KEY (tenant_id, request_id) REFERENCES public.approval_requests(tenant_id, id);

ALTER TABLE ONLY public.audit_anchors
    ADD CONSTRAINT audit_anchors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.automation_switches
    ADD CONSTRAINT automation_switches_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.break_glass_proposals
    ADD CONSTRAINT break_glass_proposals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.break_glass_proposals
    ADD CONSTRAINT break_glass_proposals_tenant_id_request_id_fkey FOREIGN KEY (tenant_id, request_id) REFERENCES public.approval_requests(tenant_id, id);

ALTER TABLE ONLY public.break_glass_proposals
    ADD CONSTRAINT break_glass_proposals_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.calendar_versions
    ADD CONSTRAINT calendar_versions_tenant_id_name_fkey FOREIGN KEY (tenant_id, name) REFERENCES public.calendars(tenant_id, name);

ALTER TABLE ONLY public.calendars
    ADD CONSTRAINT calendars_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.contracts
    ADD CONSTRAINT contracts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.control_changes
    ADD CONSTRAINT control_changes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.document_turns
    ADD CONSTRAINT document_turns_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.document_versions
    ADD CONSTRAINT document_versions_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_tenant_id_amended_from_id_fkey FOREIGN KEY (tenant_id, amended_from_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_tenant_id_entity_type_contract_version_fkey FOREIGN KEY (tenant_id, entity_type, contract_version) REFERENCES public.contracts(tenant_id, entity_type, version);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.draft_authors
    ADD CONSTRAINT draft_authors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.eligibility_changes
    ADD CONSTRAINT eligibility_changes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.inbound_endpoints
    ADD CONSTRAINT inbound_endpoints_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.instance_causes
    ADD CONSTRAINT instance_causes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.left_document_keys
    ADD CONSTRAINT left_document_keys_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_role_fkey FOREIGN KEY (tenant_id, role) REFERENCES public.roles(tenant_id, role);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_manager_id_fkey FOREIGN KEY (tenant_id, manager_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.personal_values
    ADD CONSTRAINT personal_values_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.queued_starts
    ADD CONSTRAINT queued_starts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.quota_meters
    ADD CONSTRAINT quota_meters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.request_waits
    ADD CONSTRAINT request_waits_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.responsible_sets
    ADD CONSTRAINT responsible_sets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.rule_executions
    ADD CONSTRAINT rule_executions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.rules
    ADD CONSTRAINT rules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.secret_uses
    ADD CONSTRAINT secret_uses_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.service_accounts
    ADD CONSTRAINT service_accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.service_accounts
    ADD CONSTRAINT service_accounts_tenant_id_owner_id_fkey FOREIGN KEY (tenant_id, owner_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.tenant_files
    ADD CONSTRAINT tenant_files_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.tenant_quotas
    ADD CONSTRAINT tenant_quotas_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.transition_requests
    ADD CONSTRAINT transition_requests_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES public.documents(tenant_id, id);

ALTER TABLE ONLY public.workflow_definitions
    ADD CONSTRAINT workflow_definitions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.workflow_event_offers
    ADD CONSTRAINT workflow_event_offers_tenant_id_event_id_fkey FOREIGN KEY (tenant_id, event_id) REFERENCES public.workflow_inbound_events(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.workflow_event_offers
    ADD CONSTRAINT workflow_event_offers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.workflow_event_waits
    ADD CONSTRAINT workflow_event_waits_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.workflow_inbound_events
    ADD CONSTRAINT workflow_inbound_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.workflow_instances
    ADD CONSTRAINT workflow_instances_tenant_id_definition_id_fkey FOREIGN KEY (tenant_id, definition_id) REFERENCES public.workflow_definitions(tenant_id, id);

ALTER TABLE ONLY public.workflow_instances
    ADD CONSTRAINT workflow_instances_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.workflow_triggers
    ADD CONSTRAINT workflow_triggers_tenant_id_automation_id_fkey FOREIGN KEY (tenant_id, automation_id) REFERENCES public.automations(tenant_id, id);

ALTER TABLE ONLY public.workflow_triggers
    ADD CONSTRAINT workflow_triggers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE public.amendments ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_key_owners ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_chain_steps ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_chains ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_decisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_delegations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_seats ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_anchors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_seals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.automation_switches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.automations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.break_glass_proposals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.calendar_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.calendars ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.contracts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.control_changes ENABLE ROW LEVEL SECURITY;

CREATE POLICY dispatch ON public.audit_anchors FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.audit_log FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.audit_seals FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.documents FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.eligibility_changes FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.idempotency_keys FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.incidents FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.notifications FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.quota_meters FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.request_waits FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.tenants FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.workflow_events_outbox FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.workflow_inbound_events FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.workflow_instances FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.workflow_outbox_receipts FOR SELECT TO signet_dispatch USING (true);

CREATE POLICY dispatch ON public.workflow_side_effects_outbox FOR SELECT TO signet_dispatch USING (true);

ALTER TABLE public.document_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.draft_authors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.eligibility_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.endpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbound_endpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.incidents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.instance_causes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.left_document_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.member_roles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notifications ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.org_chart ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.personal_values ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.queued_starts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.quota_meters ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.request_waits ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.responsible_sets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.roles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.rule_executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.secret_uses ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.service_accounts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_files ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON public.amendments USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.api_key_owners USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.api_keys USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_chain_steps USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_chains USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_decisions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_delegations USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_requests USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_seats USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.approval_turns USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.audit_anchors USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.audit_log USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.audit_seals USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.automation_switches USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.automations USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.break_glass_proposals USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.calendar_versions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.calendars USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.contracts USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.control_changes USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.document_keys USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.document_turns USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.document_versions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.documents USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.draft_authors USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.eligibility_changes USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.endpoints USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.idempotency_keys USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.inbound_endpoints USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.incidents USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.instance_causes USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.left_document_keys USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.member_roles USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.members USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.notifications USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.org_chart USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.personal_values USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.queued_starts USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.quota_meters USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.request_waits USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.responsible_sets USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.roles USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.rule_executions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.rules USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.secret_uses USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.service_accounts USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.tenant_files USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.tenant_quotas USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.tenants USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.transition_requests USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_definitions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_event USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_event_default USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_event_offers USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_event_waits USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_events_outbox USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_events_outbox_default USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_inbound_events USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_instances USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_outbox_receipts USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_side_effects_outbox USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_side_effects_outbox_default USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_step_executions USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_step_executions_default USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_step_receipts USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.workflow_triggers USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

ALTER TABLE public.tenant_quotas ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.transition_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_definitions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_offers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_event_waits ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_events_outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_events_outbox_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_inbound_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_instances ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_outbox_receipts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_side_effects_outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_side_effects_outbox_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_executions_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_step_receipts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workflow_triggers ENABLE ROW LEVEL SECURITY;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;

GRANT ALL ON SCHEMA public TO signet_owner;

GRANT USAGE ON SCHEMA public TO signet_api;

GRANT USAGE ON SCHEMA public TO signet_worker;

GRANT USAGE ON SCHEMA public TO signet_janitor;

GRANT USAGE ON SCHEMA public TO signet_dispatch;

REVOKE ALL ON FUNCTION public.current_tenant_id() FROM PUBLIC;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_api;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_worker;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_janitor;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_dispatch;

GRANT SELECT ON TABLE public.amendments TO signet_api;

GRANT SELECT ON TABLE public.amendments TO signet_worker;

GRANT INSERT(tenant_id) ON TABLE public.amendments TO signet_api;

GRANT INSERT(tenant_id) ON TABLE public.amendments TO signet_worker;

GRANT INSERT(document_id) ON TABLE public.amendments TO signet_api;

GRANT INSERT(document_id) ON TABLE public.amendments TO signet_worker;

GRANT INSERT(original_id) ON TABLE public.amendments TO signet_api;

GRANT INSERT(original_id) ON TABLE public.amendments TO signet_worker;

GRANT INSERT(original_version),UPDATE(original_version) ON TABLE public.amendments TO signet_api;

GRANT INSERT(original_version),UPDATE(original_version) ON TABLE public.amendments TO signet_worker;

GRANT INSERT(original_status),UPDATE(original_status) ON TABLE public.amendments TO signet_api;

GRANT INSERT(original_status),UPDATE(original_status) ON TABLE public.amendments TO signet_worker;

GRANT INSERT(opened_at) ON TABLE public.amendments TO signet_api;

GRANT INSERT(opened_at) ON TABLE public.amendments TO signet_worker;

GRANT UPDATE(closed_at) ON TABLE public.amendments TO signet_api;

GRANT UPDATE(closed_at) ON TABLE public.amendments TO signet_worker;

GRANT UPDATE(closing) ON TABLE public.amendments TO signet_api;

GRANT UPDATE(closing) ON TABLE public.amendments TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.documents TO signet_api;

GRANT SELECT,INSERT ON TABLE public.documents TO signet_worker;

GRANT SELECT ON TABLE public.documents TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.documents TO signet_dispatch;

GRANT UPDATE(contract_version) ON TABLE public.documents TO signet_api;

GRANT UPDATE(contract_version) ON TABLE public.documents TO signet_worker;

GRANT UPDATE(updated_at) ON TABLE public.documents TO signet_api;

GRANT UPDATE(updated_at) ON TABLE public.documents TO signet_worker;

GRANT SELECT(deleted_at) ON TABLE public.documents TO signet_dispatch;

GRANT SELECT(purged_at) ON TABLE public.documents TO signet_dispatch;

GRANT UPDATE(editor_responsible) ON TABLE public.documents TO signet_api;

REVOKE ALL ON FUNCTION public.amendment_in_place_of(document uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.amendment_in_place_of(document uuid) TO signet_api;

GRANT ALL ON FUNCTION public.amendment_in_place_of(document uuid) TO signet_worker;

REVOKE ALL ON FUNCTION public.barring_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], needed text[], own_resources text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.barring_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], needed text[], own_resources text[]) TO signet_api;

GRANT ALL ON FUNCTION public.barring_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], needed text[], own_resources text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.check_key_owner() FROM PUBLIC;

GRANT SELECT,INSERT ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT SELECT ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT SELECT ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT SELECT(created_at) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT UPDATE(status) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(status) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(status) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT SELECT(status) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT UPDATE(attempts) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(attempts) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(max_attempts) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(max_attempts) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(due_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(due_at) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(due_at) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT SELECT(due_at) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT UPDATE(claim_id) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(claim_id) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT UPDATE(lease_until) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(lease_until) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT SELECT(lease_until) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT UPDATE(completed_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT SELECT(completed_at) ON TABLE public.workflow_side_effects_outbox TO signet_dispatch;

GRANT UPDATE(error) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(error) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

GRANT UPDATE(response_json) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(withdrawn_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(withdrawn_at) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(discard_reason) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(first_id) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(held_at) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(held_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(withdraw_reason) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(planned_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(planned_at) ON TABLE public.workflow_side_effects_outbox TO signet_api;

GRANT UPDATE(claimed_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(left_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(lost_at) ON TABLE public.workflow_side_effects_outbox TO signet_worker;

GRANT UPDATE(lost_at) ON TABLE public.workflow_side_effects_outbox TO signet_janitor;

REVOKE ALL ON FUNCTION public.claim_effects(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) FROM PUBLIC;

GRANT ALL ON FUNCTION public.claim_effects(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_events_outbox TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT SELECT(created_at) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT UPDATE(status) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(status) ON TABLE public.workflow_events_outbox TO signet_api;

GRANT UPDATE(status) ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT SELECT(status) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT UPDATE(attempts) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(attempts) ON TABLE public.workflow_events_outbox TO signet_api;

GRANT UPDATE(due_at) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(due_at) ON TABLE public.workflow_events_outbox TO signet_api;

GRANT UPDATE(due_at) ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT SELECT(due_at) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT UPDATE(claim_id) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(claim_id) ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT UPDATE(lease_until) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(lease_until) ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT SELECT(lease_until) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT UPDATE(completed_at) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT SELECT(completed_at) ON TABLE public.workflow_events_outbox TO signet_dispatch;

GRANT UPDATE(error) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(error) ON TABLE public.workflow_events_outbox TO signet_janitor;

GRANT UPDATE(discard_reason) ON TABLE public.workflow_events_outbox TO signet_api;

GRANT UPDATE(given_back) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(given_back_since) ON TABLE public.workflow_events_outbox TO signet_worker;

GRANT UPDATE(given_back_code) ON TABLE public.workflow_events_outbox TO signet_worker;

REVOKE ALL ON FUNCTION public.claim_events(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) FROM PUBLIC;

GRANT ALL ON FUNCTION public.claim_events(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision) TO signet_worker;

REVOKE ALL ON FUNCTION public.claim_events_and_look(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision, looks_at_leases boolean) FROM PUBLIC;

GRANT ALL ON FUNCTION public.claim_events_and_look(own_claim uuid, since timestamp with time zone, at_most integer, alone_from integer, lease_seconds double precision, looks_at_leases boolean) TO signet_worker;

REVOKE ALL ON FUNCTION public.close_approval_seats(request_ids uuid[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.close_approval_seats(request_ids uuid[]) TO signet_api;

GRANT ALL ON FUNCTION public.close_approval_seats(request_ids uuid[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.coming_tenants(queue text, ahead interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.coming_tenants(queue text, ahead interval, at_most integer) TO signet_worker;

REVOKE ALL ON FUNCTION public.count_due(queue_table text, tenants uuid[], counted_since timestamp with time zone[], oldest timestamp with time zone[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.count_due(queue_table text, tenants uuid[], counted_since timestamp with time zone[], oldest timestamp with time zone[]) TO signet_dispatch;

REVOKE ALL ON FUNCTION public.count_version() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_version_of_member() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_waits(at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.count_waits(at_most integer) TO signet_api;

REVOKE ALL ON FUNCTION public.create_month_partitions(first date, months integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.create_month_partitions(first date, months integer) TO signet_janitor;

REVOKE ALL ON PROCEDURE public.create_partition(IN parent regclass, IN partition_name text, IN from_time timestamp with time zone, IN to_time timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.document_in_force(document uuid, status text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.document_in_force(document uuid, status text) TO signet_worker;

GRANT ALL ON FUNCTION public.document_in_force(document uuid, status text) TO signet_api;

REVOKE ALL ON FUNCTION public.drop_empty_months(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.drop_empty_months(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.drop_history_months(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.drop_history_months(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.due_tenants(queue text, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.due_tenants(queue text, at_most integer) TO signet_worker;

GRANT ALL ON FUNCTION public.due_tenants(queue text, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.due_tenants(queue text, at_most integer, since timestamp with time zone, known uuid[], known_since timestamp with time zone[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.due_tenants(queue text, at_most integer, since timestamp with time zone, known uuid[], known_since timestamp with time zone[]) TO signet_worker;

GRANT ALL ON FUNCTION public.due_tenants(queue text, at_most integer, since timestamp with time zone, known uuid[], known_since timestamp with time zone[]) TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.responsible_sets TO signet_api;

GRANT SELECT,INSERT ON TABLE public.responsible_sets TO signet_worker;

GRANT SELECT ON TABLE public.responsible_sets TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.transition_requests TO signet_api;

GRANT SELECT ON TABLE public.transition_requests TO signet_worker;

GRANT SELECT ON TABLE public.transition_requests TO signet_janitor;

GRANT UPDATE(status) ON TABLE public.transition_requests TO signet_api;

GRANT UPDATE(status) ON TABLE public.transition_requests TO signet_worker;

GRANT UPDATE(outcome) ON TABLE public.transition_requests TO signet_api;

GRANT UPDATE(outcome) ON TABLE public.transition_requests TO signet_worker;

GRANT UPDATE(ended_at) ON TABLE public.transition_requests TO signet_api;

GRANT UPDATE(ended_at) ON TABLE public.transition_requests TO signet_worker;

REVOKE ALL ON FUNCTION public.earlier_requesters(document uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.earlier_requesters(document uuid) TO signet_api;

GRANT ALL ON FUNCTION public.earlier_requesters(document uuid) TO signet_worker;

REVOKE ALL ON FUNCTION public.end_event_wait() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json, trigger_times timestamp with time zone[], trigger_ids uuid[], written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json, trigger_times timestamp with time zone[], trigger_ids uuid[], written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.expired_tenants(queue text, since timestamp with time zone, after uuid, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.expired_tenants(queue text, since timestamp with time zone, after uuid, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.find_due_early(queue_table text, since timestamp with time zone, known uuid[], at_most integer, OUT tenants uuid[], OUT oldest timestamp with time zone[], OUT is_whole boolean) FROM PUBLIC;

GRANT ALL ON FUNCTION public.find_due_early(queue_table text, since timestamp with time zone, known uuid[], at_most integer, OUT tenants uuid[], OUT oldest timestamp with time zone[], OUT is_whole boolean) TO signet_dispatch;

REVOKE ALL ON FUNCTION public.find_oldest_due(queue text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.find_oldest_due(queue text) TO signet_api;

GRANT ALL ON FUNCTION public.find_oldest_due(queue text) TO signet_worker;

GRANT ALL ON FUNCTION public.find_oldest_due(queue text) TO signet_janitor;

REVOKE ALL ON FUNCTION public.find_void_code(outcome text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.fire_automations(firing_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.fire_automations(firing_rows json, written_at timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.fire_automations(firing_rows json, written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.hash_document_key(entity_type text, field text, value text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.hash_document_key(entity_type text, field text, value text) TO signet_api;

GRANT ALL ON FUNCTION public.hash_document_key(entity_type text, field text, value text) TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.approval_requests TO signet_worker;

GRANT SELECT ON TABLE public.approval_requests TO signet_api;

GRANT SELECT ON TABLE public.approval_requests TO signet_janitor;

GRANT UPDATE(stage) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(status) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(outcome) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(applied) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(escalate_at) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(expire_at) ON TABLE public.approval_requests TO signet_api;

GRANT UPDATE(ended_at) ON TABLE public.approval_requests TO signet_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.document_keys TO signet_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.document_keys TO signet_worker;

GRANT SELECT ON TABLE public.document_keys TO signet_janitor;

GRANT SELECT ON TABLE public.left_document_keys TO signet_api;

GRANT SELECT ON TABLE public.left_document_keys TO signet_worker;

GRANT SELECT ON TABLE public.left_document_keys TO signet_janitor;

REVOKE ALL ON FUNCTION public.first_asked(document uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.first_asked(document uuid) TO signet_api;

GRANT ALL ON FUNCTION public.first_asked(document uuid) TO signet_worker;

REVOKE ALL ON FUNCTION public.forget_left_keys() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.give_up_amendment() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.guard_amendment() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.guard_incident() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.hand_over_seats(from_user text, to_user text, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.hand_over_seats(from_user text, to_user text, at_most integer) TO signet_api;

GRANT SELECT,INSERT ON TABLE public.eligibility_changes TO signet_api;

GRANT SELECT ON TABLE public.eligibility_changes TO signet_worker;

GRANT SELECT(tenant_id) ON TABLE public.eligibility_changes TO signet_dispatch;

GRANT SELECT(changed_at) ON TABLE public.eligibility_changes TO signet_dispatch;

GRANT SELECT,INSERT,DELETE ON TABLE public.member_roles TO signet_api;

GRANT SELECT ON TABLE public.member_roles TO signet_worker;

GRANT SELECT ON TABLE public.member_roles TO signet_janitor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.roles TO signet_api;

GRANT SELECT ON TABLE public.roles TO signet_worker;

GRANT SELECT ON TABLE public.roles TO signet_janitor;

REVOKE ALL ON FUNCTION public.has_kept_permission(person text, granting text[], since timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.has_kept_permission(person text, granting text[], since timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.has_kept_permission(person text, granting text[], since timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.housekeeping_tenants(about text, kept interval, after uuid, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.housekeeping_tenants(about text, kept interval, after uuid, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.is_outbox_empty(queue_table text, from_time timestamp with time zone, to_time timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.is_outbox_empty(queue_table text, from_time timestamp with time zone, to_time timestamp with time zone) TO signet_owner;

REVOKE ALL ON FUNCTION public.is_paused_by_person(paused_id uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.is_paused_by_person(paused_id uuid) TO signet_api;

GRANT ALL ON FUNCTION public.is_paused_by_person(paused_id uuid) TO signet_worker;

REVOKE ALL ON PROCEDURE public.isolate_tenant_table(IN tenant_table regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_hinderers(document uuid, hinderers text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.keep_hinderers(document uuid, hinderers text[]) TO signet_worker;

GRANT ALL ON FUNCTION public.keep_hinderers(document uuid, hinderers text[]) TO signet_api;

REVOKE ALL ON FUNCTION public.keep_key_owner() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_left_key() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_withdrawn() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.lapse_approval_seats(seat_rows json) FROM PUBLIC;

GRANT ALL ON FUNCTION public.lapse_approval_seats(seat_rows json) TO signet_api;

GRANT ALL ON FUNCTION public.lapse_approval_seats(seat_rows json) TO signet_worker;

REVOKE ALL ON FUNCTION public.last_giving(since timestamp with time zone, taken_at timestamp with time zone, taking text, person text, role text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.last_giving(since timestamp with time zone, taken_at timestamp with time zone, taking text, person text, role text) TO signet_api;

GRANT ALL ON FUNCTION public.last_giving(since timestamp with time zone, taken_at timestamp with time zone, taking text, person text, role text) TO signet_worker;

REVOKE ALL ON FUNCTION public.line_changes_since(since timestamp with time zone, lines text[], managers text[], concerned text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.line_changes_since(since timestamp with time zone, lines text[], managers text[], concerned text[]) TO signet_api;

GRANT ALL ON FUNCTION public.line_changes_since(since timestamp with time zone, lines text[], managers text[], concerned text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.line_of_amendments(document uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.line_of_amendments(document uuid) TO signet_api;

GRANT ALL ON FUNCTION public.line_of_amendments(document uuid) TO signet_worker;

REVOKE ALL ON FUNCTION public.list_changed_pins(pins jsonb) FROM PUBLIC;

GRANT ALL ON FUNCTION public.list_changed_pins(pins jsonb) TO signet_api;

GRANT ALL ON FUNCTION public.list_changed_pins(pins jsonb) TO signet_worker;

REVOKE ALL ON FUNCTION public.list_fields_of_steps(document uuid, document_type text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.list_fields_of_steps(document uuid, document_type text) TO signet_worker;

GRANT ALL ON FUNCTION public.list_fields_of_steps(document uuid, document_type text) TO signet_api;

REVOKE ALL ON FUNCTION public.list_hinderers(document uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.list_hinderers(document uuid) TO signet_worker;

GRANT ALL ON FUNCTION public.list_hinderers(document uuid) TO signet_api;

REVOKE ALL ON FUNCTION public.list_months(parent regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.lock_and_read_documents(document_ids uuid[], role_names text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.lock_and_read_documents(document_ids uuid[], role_names text[]) TO signet_api;

GRANT ALL ON FUNCTION public.lock_and_read_documents(document_ids uuid[], role_names text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.lock_event_keys(keys text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.lock_event_keys(keys text[]) TO signet_api;

GRANT ALL ON FUNCTION public.lock_event_keys(keys text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.may_have_left(status text, attempts integer, response jsonb, error text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.may_have_left(status text, attempts integer, response jsonb, error text) TO signet_worker;

GRANT ALL ON FUNCTION public.may_have_left(status text, attempts integer, response jsonb, error text) TO signet_api;

REVOKE ALL ON FUNCTION public.measure_incidents(codes text[], long interval) FROM PUBLIC;

GRANT ALL ON FUNCTION public.measure_incidents(codes text[], long interval) TO signet_api;

GRANT ALL ON FUNCTION public.measure_incidents(codes text[], long interval) TO signet_worker;

GRANT ALL ON FUNCTION public.measure_incidents(codes text[], long interval) TO signet_janitor;

REVOKE ALL ON FUNCTION public.measure_queue(queue text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.measure_queue(queue text) TO signet_api;

GRANT ALL ON FUNCTION public.measure_queue(queue text) TO signet_worker;

GRANT ALL ON FUNCTION public.measure_queue(queue text) TO signet_janitor;

REVOKE ALL ON FUNCTION public.measure_queue(queue text, since timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.measure_queue(queue text, since timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.measure_queue(queue text, since timestamp with time zone) TO signet_worker;

GRANT ALL ON FUNCTION public.measure_queue(queue text, since timestamp with time zone) TO signet_janitor;

REVOKE ALL ON FUNCTION public.move_approval_requests(request_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.move_approval_requests(request_rows json, written_at timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.move_approval_requests(request_rows json, written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.note_dropped() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.open_closed_seats(seat_rows json) FROM PUBLIC;

GRANT ALL ON FUNCTION public.open_closed_seats(seat_rows json) TO signet_worker;

REVOKE ALL ON FUNCTION public.open_wave(trigger_times timestamp with time zone[], trigger_ids uuid[], own_claim uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.open_wave(trigger_times timestamp with time zone[], trigger_ids uuid[], own_claim uuid) TO signet_worker;

REVOKE ALL ON FUNCTION public.permission_takings_since(since timestamp with time zone, concerned text[], holders text[], seat_roles text[], needed text[], by_roles text[], own_resources text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.permission_takings_since(since timestamp with time zone, concerned text[], holders text[], seat_roles text[], needed text[], by_roles text[], own_resources text[]) TO signet_api;

GRANT ALL ON FUNCTION public.permission_takings_since(since timestamp with time zone, concerned text[], holders text[], seat_roles text[], needed text[], by_roles text[], own_resources text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.permissions_granting(permission text, own_resources text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.permissions_granting(permission text, own_resources text[]) TO signet_api;

GRANT ALL ON FUNCTION public.permissions_granting(permission text, own_resources text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.prune_eligibility_changes(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_eligibility_changes(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_idempotency_keys(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_idempotency_keys(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_inbound_events(at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_inbound_events(at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_incidents(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_incidents(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_notifications(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_notifications(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_outbox(queue text, kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_outbox(queue text, kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_quota_meters(at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_quota_meters(at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.prune_receipts(kept interval, after uuid, at_most integer, OUT looked_to uuid, OUT pruned integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.prune_receipts(kept interval, after uuid, at_most integer, OUT looked_to uuid, OUT pruned integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.purge_documents(kept interval, at_most integer) FROM PUBLIC;

GRANT ALL ON FUNCTION public.purge_documents(kept interval, at_most integer) TO signet_janitor;

REVOKE ALL ON FUNCTION public.read_causes(instances json) FROM PUBLIC;

GRANT ALL ON FUNCTION public.read_causes(instances json) TO signet_api;

GRANT ALL ON FUNCTION public.read_causes(instances json) TO signet_worker;

REVOKE ALL ON FUNCTION public.read_member(member_id text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.read_member(member_id text) TO signet_api;

GRANT ALL ON FUNCTION public.read_member(member_id text) TO signet_worker;

REVOKE ALL ON FUNCTION public.read_pause(paused_id uuid, reason text, tokens jsonb) FROM PUBLIC;

GRANT ALL ON FUNCTION public.read_pause(paused_id uuid, reason text, tokens jsonb) TO signet_api;

GRANT ALL ON FUNCTION public.read_pause(paused_id uuid, reason text, tokens jsonb) TO signet_worker;

REVOKE ALL ON FUNCTION public.read_persons(set_hash bytea) FROM PUBLIC;

GRANT ALL ON FUNCTION public.read_persons(set_hash bytea) TO signet_api;

GRANT ALL ON FUNCTION public.read_persons(set_hash bytea) TO signet_worker;

REVOKE ALL ON FUNCTION public.record_secret_uses() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_any_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_begun_document() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_default_definition_mutation() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_eligibility_rewriting() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_ended_control_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_foreign_transaction() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_identity_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_key_revival() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_later_birth() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_lost_editors() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_move() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_personal_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_published_chain_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_published_chain_mutation() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_published_contract_mutation() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_published_definition_mutation() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_seat_without_consent() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_second_use() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_smaller_set_of_editors() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_stray_effect() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reject_unversioned_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.release_next_start(released_key text) FROM PUBLIC;

GRANT ALL ON FUNCTION public.release_next_start(released_key text) TO signet_worker;

REVOKE ALL ON FUNCTION public.release_queued_start() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.reopen_amendment() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.require_bounds(kept interval, least_kept interval, at_most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.restrict_contract_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.restrict_definition_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.restrict_status_regression() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.restrict_step_execution_updates() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.restrict_updates_of_ended_step() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.seat_by_break_glass(proposal uuid, by text, persons text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.seat_by_break_glass(proposal uuid, by text, persons text[]) TO signet_api;

REVOKE ALL ON FUNCTION public.seconds_to_next(queue text, within interval) FROM PUBLIC;

GRANT ALL ON FUNCTION public.seconds_to_next(queue text, within interval) TO signet_worker;

REVOKE ALL ON FUNCTION public.tell_of_approval_end() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_of_arrival() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_of_end(tenant uuid, kind text, request_id uuid, data jsonb, asker text, persons_hash bytea, user_ids text[], roles text[], written_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_of_incident() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_of_superseded() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.void_approval_requests(voided_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.void_approval_requests(voided_rows json, written_at timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.void_approval_requests(voided_rows json, written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.vote_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], holders text[], seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[], own_resources text[]) FROM PUBLIC;

GRANT ALL ON FUNCTION public.vote_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], holders text[], seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[], own_resources text[]) TO signet_api;

GRANT ALL ON FUNCTION public.vote_changes_since(since timestamp with time zone, user_ids text[], roles text[], concerned text[], holders text[], seat_roles text[], lines text[], line_holders text[], needed text[], by_roles text[], own_resources text[]) TO signet_worker;

REVOKE ALL ON FUNCTION public.widen_editors(document_id uuid, responsible bytea) FROM PUBLIC;

GRANT ALL ON FUNCTION public.widen_editors(document_id uuid, responsible bytea) TO signet_worker;

GRANT ALL ON FUNCTION public.widen_editors(document_id uuid, responsible bytea) TO signet_api;

REVOKE ALL ON FUNCTION public.withdraw_effects(tenant uuid, step uuid) FROM PUBLIC;

GRANT ALL ON FUNCTION public.withdraw_effects(tenant uuid, step uuid) TO signet_worker;

GRANT ALL ON FUNCTION public.withdraw_effects(tenant uuid, step uuid) TO signet_api;

REVOKE ALL ON FUNCTION public.withdraw_effects_of_incident() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.withdraw_effects_of_step() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) TO signet_api;

GRANT ALL ON FUNCTION public.write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamp with time zone) TO signet_worker;

REVOKE ALL ON FUNCTION public.write_steps(step_rows json, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.write_steps(step_rows json, written_at timestamp with time zone) TO signet_worker;

GRANT ALL ON FUNCTION public.write_steps(step_rows json, written_at timestamp with time zone) TO signet_api;

REVOKE ALL ON FUNCTION public.write_steps(step_rows json, usual bytea, written_at timestamp with time zone) FROM PUBLIC;

GRANT ALL ON FUNCTION public.write_steps(step_rows json, usual bytea, written_at timestamp with time zone) TO signet_worker;

GRANT ALL ON FUNCTION public.write_steps(step_rows json, usual bytea, written_at timestamp with time zone) TO signet_api;

GRANT SELECT,INSERT ON TABLE public.api_key_owners TO signet_api;

GRANT SELECT,INSERT ON TABLE public.api_keys TO signet_api;

GRANT SELECT(tenant_id) ON TABLE public.api_keys TO signet_worker;

GRANT SELECT(id) ON TABLE public.api_keys TO signet_worker;

GRANT SELECT(roles) ON TABLE public.api_keys TO signet_worker;

GRANT UPDATE(revoked_at) ON TABLE public.api_keys TO signet_api;

GRANT UPDATE(revoked_by) ON TABLE public.api_keys TO signet_api;

GRANT UPDATE(last_used_at) ON TABLE public.api_keys TO signet_api;

GRANT UPDATE(owner_id) ON TABLE public.api_keys TO signet_api;

GRANT SELECT(owner_id) ON TABLE public.api_keys TO signet_worker;

GRANT UPDATE(proposed_owner_id) ON TABLE public.api_keys TO signet_api;

GRANT UPDATE(proposed_by) ON TABLE public.api_keys TO signet_api;

GRANT SELECT,INSERT ON TABLE public.approval_chain_steps TO signet_api;

GRANT SELECT ON TABLE public.approval_chain_steps TO signet_worker;

GRANT SELECT ON TABLE public.approval_chain_steps TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.approval_chains TO signet_api;

GRANT SELECT ON TABLE public.approval_chains TO signet_worker;

GRANT SELECT ON TABLE public.approval_chains TO signet_janitor;

GRANT UPDATE(status) ON TABLE public.approval_chains TO signet_api;

GRANT UPDATE(published_at) ON TABLE public.approval_chains TO signet_api;

GRANT UPDATE(published_by) ON TABLE public.approval_chains TO signet_api;

GRANT UPDATE(publishers) ON TABLE public.approval_chains TO signet_api;

GRANT SELECT,INSERT ON TABLE public.approval_decisions TO signet_api;

GRANT SELECT ON TABLE public.approval_decisions TO signet_worker;

GRANT SELECT ON TABLE public.approval_decisions TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.approval_delegations TO signet_api;

GRANT SELECT ON TABLE public.approval_delegations TO signet_worker;

GRANT SELECT ON TABLE public.approval_delegations TO signet_janitor;

GRANT UPDATE(revoked_at) ON TABLE public.approval_delegations TO signet_api;

GRANT SELECT ON TABLE public.approval_seats TO signet_worker;

GRANT SELECT ON TABLE public.approval_seats TO signet_api;

GRANT SELECT ON TABLE public.approval_seats TO signet_janitor;

GRANT INSERT(tenant_id) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(request_id) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(stage) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT("position") ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(holder_user_id) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(holder_role) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(origin) ON TABLE public.approval_seats TO signet_worker;

GRANT UPDATE(status) ON TABLE public.approval_seats TO signet_api;

GRANT UPDATE(decided_by) ON TABLE public.approval_seats TO signet_api;

GRANT UPDATE(on_behalf_of) ON TABLE public.approval_seats TO signet_api;

GRANT UPDATE(decided_at) ON TABLE public.approval_seats TO signet_api;

GRANT INSERT(needed_role) ON TABLE public.approval_seats TO signet_worker;

GRANT INSERT(lines) ON TABLE public.approval_seats TO signet_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.approval_turns TO signet_worker;

GRANT SELECT ON TABLE public.audit_anchors TO signet_api;

GRANT SELECT,INSERT ON TABLE public.audit_anchors TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.audit_anchors TO signet_dispatch;

GRANT UPDATE(sequence) ON TABLE public.audit_anchors TO signet_janitor;

GRANT SELECT(sequence) ON TABLE public.audit_anchors TO signet_dispatch;

GRANT UPDATE(anchored_at) ON TABLE public.audit_anchors TO signet_janitor;

GRANT SELECT ON TABLE public.audit_epochs TO signet_api;

GRANT SELECT ON TABLE public.audit_epochs TO signet_worker;

GRANT SELECT ON TABLE public.audit_epochs TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.audit_log TO signet_api;

GRANT SELECT,INSERT ON TABLE public.audit_log TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.audit_log TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.audit_log TO signet_dispatch;

GRANT SELECT(epoch) ON TABLE public.audit_log TO signet_dispatch;

GRANT SELECT(xid) ON TABLE public.audit_log TO signet_dispatch;

GRANT SELECT ON TABLE public.audit_seals TO signet_api;

GRANT SELECT ON TABLE public.audit_seals TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.audit_seals TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.audit_seals TO signet_dispatch;

GRANT SELECT(sequence) ON TABLE public.audit_seals TO signet_dispatch;

GRANT SELECT(epoch) ON TABLE public.audit_seals TO signet_dispatch;

GRANT SELECT(to_xid) ON TABLE public.audit_seals TO signet_dispatch;

GRANT SELECT,INSERT,UPDATE ON TABLE public.automation_switches TO signet_api;

GRANT SELECT ON TABLE public.automation_switches TO signet_worker;

GRANT UPDATE(started_minute) ON TABLE public.automation_switches TO signet_worker;

GRANT UPDATE(started_count) ON TABLE public.automation_switches TO signet_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.automations TO signet_api;

GRANT SELECT ON TABLE public.automations TO signet_worker;

GRANT UPDATE(started_minute) ON TABLE public.automations TO signet_worker;

GRANT UPDATE(started_count) ON TABLE public.automations TO signet_worker;

GRANT SELECT ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(tenant_id) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(id) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(request_id) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(stage) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(user_id) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(reason) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(proposed_by) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(proposed_persons) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(proposed_at) ON TABLE public.break_glass_proposals TO signet_api;

GRANT INSERT(expires_at) ON TABLE public.break_glass_proposals TO signet_api;

GRANT SELECT,INSERT ON TABLE public.calendar_versions TO signet_api;

GRANT SELECT ON TABLE public.calendar_versions TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.calendars TO signet_api;

GRANT SELECT ON TABLE public.calendars TO signet_worker;

GRANT UPDATE(version) ON TABLE public.calendars TO signet_api;

GRANT UPDATE(updated_at) ON TABLE public.calendars TO signet_api;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.contracts TO signet_api;

GRANT SELECT ON TABLE public.contracts TO signet_worker;

GRANT SELECT ON TABLE public.contracts TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.control_changes TO signet_api;

GRANT UPDATE(status) ON TABLE public.control_changes TO signet_api;

GRANT UPDATE(ended_at) ON TABLE public.control_changes TO signet_api;

GRANT UPDATE(ended_by) ON TABLE public.control_changes TO signet_api;

GRANT SELECT,INSERT ON TABLE public.document_turns TO signet_worker;

GRANT SELECT ON TABLE public.document_turns TO signet_api;

GRANT SELECT ON TABLE public.document_turns TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.document_versions TO signet_api;

GRANT SELECT,INSERT ON TABLE public.document_versions TO signet_worker;

GRANT SELECT ON TABLE public.document_versions TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.draft_authors TO signet_api;

GRANT UPDATE(saved_at) ON TABLE public.draft_authors TO signet_api;

GRANT UPDATE(put_forward) ON TABLE public.draft_authors TO signet_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.endpoints TO signet_api;

GRANT SELECT ON TABLE public.endpoints TO signet_worker;

GRANT UPDATE(url) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(secret_refs) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(status) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(status) ON TABLE public.endpoints TO signet_worker;

GRANT UPDATE(disabled_reason) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(disabled_reason) ON TABLE public.endpoints TO signet_worker;

GRANT UPDATE(version) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(failures) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(failures) ON TABLE public.endpoints TO signet_worker;

GRANT UPDATE(rests_until) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(rests_until) ON TABLE public.endpoints TO signet_worker;

GRANT UPDATE(updated_at) ON TABLE public.endpoints TO signet_api;

GRANT UPDATE(updated_at) ON TABLE public.endpoints TO signet_worker;

GRANT SELECT ON TABLE public.housekeeping_tasks TO signet_api;

GRANT SELECT ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT INSERT(task) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(next_due_at) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(claim_id) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(lease_until) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(cursor) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(last_began_at) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(last_ended_at) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(last_outcome) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(last_error) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(last_rows) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(total_rows) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(run_count) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT UPDATE(failure_count) ON TABLE public.housekeeping_tasks TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.idempotency_keys TO signet_api;

GRANT SELECT(tenant_id) ON TABLE public.idempotency_keys TO signet_dispatch;

GRANT UPDATE(outcome) ON TABLE public.idempotency_keys TO signet_api;

GRANT SELECT(created_at) ON TABLE public.idempotency_keys TO signet_dispatch;

GRANT SELECT,INSERT ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(key_prefix) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(key_pointer) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(secrets) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(status) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(version) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(updated_at) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(responsible) ON TABLE public.inbound_endpoints TO signet_api;

GRANT UPDATE(consume) ON TABLE public.inbound_endpoints TO signet_api;

GRANT SELECT ON TABLE public.incidents TO signet_worker;

GRANT SELECT ON TABLE public.incidents TO signet_api;

GRANT SELECT ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(tenant_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(tenant_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(tenant_id) ON TABLE public.incidents TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.incidents TO signet_dispatch;

GRANT INSERT(id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(id) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(instance_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(instance_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(instance_id) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(seq) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(seq) ON TABLE public.incidents TO signet_api;

GRANT INSERT(seq) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(entity_type) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(entity_type) ON TABLE public.incidents TO signet_api;

GRANT INSERT(entity_type) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(entity_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(entity_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(entity_id) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(token_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(token_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(node_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(node_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(endpoint) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(endpoint) ON TABLE public.incidents TO signet_api;

GRANT INSERT(code) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(code) ON TABLE public.incidents TO signet_api;

GRANT INSERT(code) ON TABLE public.incidents TO signet_janitor;

GRANT SELECT(code) ON TABLE public.incidents TO signet_dispatch;

GRANT INSERT(kind) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(kind) ON TABLE public.incidents TO signet_api;

GRANT INSERT(kind) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(message) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(message) ON TABLE public.incidents TO signet_api;

GRANT INSERT(message) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(attempts) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(attempts) ON TABLE public.incidents TO signet_api;

GRANT INSERT(attempts) ON TABLE public.incidents TO signet_janitor;

GRANT INSERT(opened_at) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(opened_at) ON TABLE public.incidents TO signet_api;

GRANT INSERT(opened_at) ON TABLE public.incidents TO signet_janitor;

GRANT SELECT(opened_at) ON TABLE public.incidents TO signet_dispatch;

GRANT UPDATE(acknowledged_by) ON TABLE public.incidents TO signet_api;

GRANT UPDATE(acknowledged_at) ON TABLE public.incidents TO signet_api;

GRANT SELECT(acknowledged_at) ON TABLE public.incidents TO signet_dispatch;

GRANT UPDATE(assignee) ON TABLE public.incidents TO signet_api;

GRANT UPDATE(note) ON TABLE public.incidents TO signet_api;

GRANT INSERT(closed_at),UPDATE(closed_at) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(closed_at),UPDATE(closed_at) ON TABLE public.incidents TO signet_api;

GRANT SELECT(closed_at) ON TABLE public.incidents TO signet_dispatch;

GRANT INSERT(closing),UPDATE(closing) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(closing),UPDATE(closing) ON TABLE public.incidents TO signet_api;

GRANT INSERT(closed_by),UPDATE(closed_by) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(closed_by),UPDATE(closed_by) ON TABLE public.incidents TO signet_api;

GRANT INSERT(step_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(step_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(requester_id) ON TABLE public.incidents TO signet_worker;

GRANT INSERT(requester_id) ON TABLE public.incidents TO signet_api;

GRANT INSERT(requester_id) ON TABLE public.incidents TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.instance_causes TO signet_api;

GRANT SELECT,INSERT ON TABLE public.instance_causes TO signet_worker;

GRANT UPDATE(chain) ON TABLE public.instance_causes TO signet_api;

GRANT UPDATE(chain) ON TABLE public.instance_causes TO signet_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.members TO signet_api;

GRANT SELECT ON TABLE public.members TO signet_worker;

GRANT SELECT ON TABLE public.members TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.notifications TO signet_api;

GRANT SELECT,INSERT ON TABLE public.notifications TO signet_worker;

GRANT SELECT ON TABLE public.notifications TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.notifications TO signet_dispatch;

GRANT UPDATE(read_at) ON TABLE public.notifications TO signet_api;

GRANT SELECT(read_at) ON TABLE public.notifications TO signet_dispatch;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_chart TO signet_api;

GRANT SELECT ON TABLE public.org_chart TO signet_worker;

GRANT SELECT ON TABLE public.org_chart TO signet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE public.personal_values TO signet_api;

GRANT SELECT,INSERT ON TABLE public.personal_values TO signet_worker;

GRANT SELECT,INSERT,DELETE ON TABLE public.queued_starts TO signet_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.queued_starts TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.quota_meters TO signet_api;

GRANT SELECT,INSERT ON TABLE public.quota_meters TO signet_worker;

GRANT SELECT(tenant_id) ON TABLE public.quota_meters TO signet_dispatch;

GRANT UPDATE(full_at) ON TABLE public.quota_meters TO signet_api;

GRANT UPDATE(full_at) ON TABLE public.quota_meters TO signet_worker;

GRANT SELECT(full_at) ON TABLE public.quota_meters TO signet_dispatch;

GRANT SELECT,INSERT,DELETE ON TABLE public.request_waits TO signet_api;

GRANT SELECT(expires_at) ON TABLE public.request_waits TO signet_dispatch;

GRANT SELECT,INSERT ON TABLE public.rule_executions TO signet_api;

GRANT SELECT,INSERT ON TABLE public.rule_executions TO signet_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rules TO signet_api;

GRANT SELECT ON TABLE public.rules TO signet_worker;

GRANT SELECT ON TABLE public.rules TO signet_janitor;

GRANT SELECT ON TABLE public.secret_uses TO signet_api;

GRANT SELECT,INSERT ON TABLE public.service_accounts TO signet_api;

GRANT SELECT ON TABLE public.service_accounts TO signet_worker;

GRANT UPDATE(label) ON TABLE public.service_accounts TO signet_api;

GRANT UPDATE(roles) ON TABLE public.service_accounts TO signet_api;

GRANT UPDATE(owner_id) ON TABLE public.service_accounts TO signet_api;

GRANT UPDATE(status) ON TABLE public.service_accounts TO signet_api;

GRANT UPDATE(version) ON TABLE public.service_accounts TO signet_api;

GRANT UPDATE(updated_at) ON TABLE public.service_accounts TO signet_api;

GRANT SELECT ON TABLE public.signet_migrations TO signet_api;

GRANT SELECT ON TABLE public.signet_migrations TO signet_worker;

GRANT SELECT ON TABLE public.signet_migrations TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.tenant_files TO signet_api;

GRANT UPDATE(content) ON TABLE public.tenant_files TO signet_api;

GRANT UPDATE(installed_at) ON TABLE public.tenant_files TO signet_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.tenant_quotas TO signet_api;

GRANT SELECT ON TABLE public.tenant_quotas TO signet_worker;

GRANT UPDATE(capacity) ON TABLE public.tenant_quotas TO signet_api;

GRANT UPDATE(refill_seconds) ON TABLE public.tenant_quotas TO signet_api;

GRANT UPDATE(granted_at) ON TABLE public.tenant_quotas TO signet_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.tenants TO signet_api;

GRANT SELECT ON TABLE public.tenants TO signet_worker;

GRANT SELECT ON TABLE public.tenants TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.tenants TO signet_dispatch;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workflow_definitions TO signet_api;

GRANT SELECT ON TABLE public.workflow_definitions TO signet_worker;

GRANT SELECT ON TABLE public.workflow_definitions TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.workflow_event TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.workflow_event TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_event TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_event_offers TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_event_offers TO signet_worker;

GRANT UPDATE(is_alone) ON TABLE public.workflow_event_offers TO signet_api;

GRANT UPDATE(status) ON TABLE public.workflow_event_offers TO signet_worker;

GRANT UPDATE(status) ON TABLE public.workflow_event_offers TO signet_api;

GRANT UPDATE(reason) ON TABLE public.workflow_event_offers TO signet_worker;

GRANT UPDATE(reason) ON TABLE public.workflow_event_offers TO signet_api;

GRANT UPDATE(decided_at) ON TABLE public.workflow_event_offers TO signet_worker;

GRANT UPDATE(decided_at) ON TABLE public.workflow_event_offers TO signet_api;

GRANT SELECT ON TABLE public.workflow_event_waits TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_event_waits TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_inbound_events TO signet_api;

GRANT SELECT ON TABLE public.workflow_inbound_events TO signet_worker;

GRANT SELECT(tenant_id) ON TABLE public.workflow_inbound_events TO signet_dispatch;

GRANT SELECT(expires_at) ON TABLE public.workflow_inbound_events TO signet_dispatch;

GRANT UPDATE(expires_at) ON TABLE public.workflow_inbound_events TO signet_api;

GRANT UPDATE(taken_at) ON TABLE public.workflow_inbound_events TO signet_worker;

GRANT UPDATE(replayed_by) ON TABLE public.workflow_inbound_events TO signet_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.workflow_instances TO signet_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.workflow_instances TO signet_worker;

GRANT SELECT ON TABLE public.workflow_instances TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.workflow_instances TO signet_dispatch;

GRANT UPDATE(status) ON TABLE public.workflow_instances TO signet_janitor;

GRANT SELECT(status) ON TABLE public.workflow_instances TO signet_dispatch;

GRANT UPDATE(reason) ON TABLE public.workflow_instances TO signet_janitor;

GRANT UPDATE(version) ON TABLE public.workflow_instances TO signet_janitor;

GRANT SELECT(timeout_at) ON TABLE public.workflow_instances TO signet_dispatch;

GRANT UPDATE(last_step_execution_id) ON TABLE public.workflow_instances TO signet_janitor;

GRANT UPDATE(updated_at) ON TABLE public.workflow_instances TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.workflow_outbox_receipts TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_outbox_receipts TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_outbox_receipts TO signet_janitor;

GRANT SELECT(tenant_id) ON TABLE public.workflow_outbox_receipts TO signet_dispatch;

GRANT SELECT,INSERT,UPDATE ON TABLE public.workflow_step_executions TO signet_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.workflow_step_executions TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_step_executions TO signet_janitor;

GRANT SELECT,INSERT ON TABLE public.workflow_step_receipts TO signet_api;

GRANT SELECT,INSERT ON TABLE public.workflow_step_receipts TO signet_worker;

GRANT SELECT,INSERT ON TABLE public.workflow_step_receipts TO signet_janitor;

GRANT SELECT,INSERT,DELETE ON TABLE public.workflow_triggers TO signet_api;

GRANT SELECT ON TABLE public.workflow_triggers TO signet_worker;

ALTER DEFAULT PRIVILEGES FOR ROLE signet_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;
