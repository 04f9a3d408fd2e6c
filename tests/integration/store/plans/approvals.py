"""Indexes of approvals, notifications and histories of documents, each with its query."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from uuid import UUID

from signet.store.approvals.inbox import EVERYTHING
from signet.store.instances.lists import NEVER
from tests.integration.store.plans.probes import API, PAGE, ROW, WORKER, Probe, plain, statements_of

# The highest id: a list with the newest first begins there.
LAST = UUID(int=2**128 - 1)
BREAK_GLASS, DEPENDENTS, ELIGIBILITY, INBOX = map(
    statements_of, ("approvals/break_glass", "tenants/dependents", "tenants/eligibility", "approvals/inbox")
)
APPROVALS, CHAINS, CONTROL, DELEGATIONS, HISTORY, HOUSEKEEPING, NOTIFICATIONS, RECORDS, REQUESTS = map(
    statements_of,
    (
        "approvals/decisions",
        "approvals/chains",
        "control/changes",
        "approvals/delegations",
        "documents/versions",
        "operations/housekeeping",
        "integrations/notifications",
        "instances/record",
        "approvals/requests",
    ),
)


def approval_probes() -> Iterator[Probe]:
    yield from chain_probes()
    yield from request_probes()
    yield from people_probes()
    yield from voter_probes()
    yield from history_probes()
    yield from granting_probes()
    yield from control_probes()


def control_probes() -> Iterator[Probe]:
    table = "control_changes"
    yield Probe(f"{table}_pkey", CONTROL["find_change"], {"id": ROW}, API)
    listed = {"kinds": ["endpoint"], "before": LAST, "status": None, "limit": 50}
    yield Probe(f"{table}_pkey", CONTROL["list_changes"], listed, API)
    for name in ("count_open", "expire_changes"):
        yield Probe(f"{table}_open", CONTROL[name], {"persons": ["u0"]}, API)
    named = {"kind": "endpoint", "name": "e5"}
    yield Probe(f"{table}_open", CONTROL["supersede_changes"], named, API)


def chain_probes() -> Iterator[Probe]:
    table = "approval_chains_pkey"
    yield Probe(table, CHAINS["list_published"], {"after": "c5", "limit": 50}, API)
    yield Probe(table, CHAINS["list_versions"], {"name": "c5", "before": 90, "limit": 50}, API)
    for name in ("find_newest", "find_published"):
        yield Probe(table, CHAINS[name], {"name": "c5"}, API)
    yield Probe(table, REQUESTS["read_chain"], {"name": "c5"})


def request_probes() -> Iterator[Probe]:
    table, seats, decisions = "approval_requests", "approval_seats", "approval_decisions"
    asked, by_request = {"request_ids": [ROW]}, f"{decisions}_tenant_id_request_id_stage_position_key"
    of_instance: dict[str, Any] = {"id": ROW, "instance_ids": [ROW], "limit": 20}
    # the requests and seats that void_approval_requests() finds
    for role in (API, WORKER):
        yield plain(f"{table}_by_instance", table, "instance_id = %(id)s", role=role, id=ROW)
        yield plain(f"{seats}_pkey", seats, "request_id = %(id)s", role=role, id=ROW)
    yield Probe(by_request, REQUESTS["read_votes"], {**asked, "own_resources": []})
    yield Probe(f"{table}_by_instance", REQUESTS["read_of_instances"], of_instance)
    yield Probe(f"{table}_by_instance", RECORDS["list_approvals"], of_instance, API)
    yield Probe(f"{table}_pkey", APPROVALS["lock_request"], {"id": ROW}, API)
    # the requests of older releases that the janitor wakes
    waking: dict[str, Any] = {"event_type": "unpinned", "again_seconds": 60.0, "limit": 500}
    yield Probe(f"{table}_unpinned", HOUSEKEEPING["list_unpinned"], waking, API)
    # all requests about a document, newest first
    of_document = "document_id = %(id)s"
    yield plain(f"{table}_by_document", table, of_document, f"ORDER BY id DESC {PAGE}", API, id=ROW)
    # the request that a step waits for
    yield plain(f"{table}_by_step", table, "step_execution_id = %(id)s", id=ROW)
    yield Probe(f"{seats}_pkey", RECORDS["list_seats"], asked, API)
    for index in ("of_user", "of_role"):
        inbox: dict[str, Any] = {"user_id": "u0", "after": UUID(int=0), "limit": 50, **asdict(EVERYTHING)}
        yield Probe(f"{seats}_{index}", INBOX["list_inbox"], inbox, API)
    yield Probe(by_request, RECORDS["list_decisions"], asked, API)
    yield plain(f"{decisions}_pkey", decisions, "id = %(id)s", role=API, id=ROW)
    decided: dict[str, Any] = {"user_id": "u0", "before": LAST, "limit": 50, **asdict(EVERYTHING)}
    yield Probe(f"{decisions}_by_person", INBOX["list_decided"], decided, API)
    yield Probe("documents_pkey", INBOX["read_shown_fields"], {"ids": [ROW], "fields": ["number"]}, API)


def people_probes() -> Iterator[Probe]:
    table = "approval_delegations"
    page: dict[str, Any] = {"user_id": "u0", "before": LAST, "limit": 50}
    yield Probe(f"{table}_pkey", DELEGATIONS["find_delegation"], {"id": ROW}, API)
    yield Probe(f"{table}_of_user", DELEGATIONS["list_given"], page, API)
    yield Probe(f"{table}_of_delegate", DELEGATIONS["list_taken"], page, API)
    table = "notifications"
    for index in ("of_user", "of_role"):
        for is_unread in (False, True):
            values = {**page, "is_unread": is_unread}
            yield Probe(f"{table}_{index}", NOTIFICATIONS["list_notifications"], values, API)
    # what tell_of_incident() does not tell twice
    told = "user_id = 'u0' AND role IS NULL AND about = 'x' AND read_at IS NULL"
    yield plain(f"{table}_about", table, told, "", API)
    # the rows that prune_notifications() finds
    yield plain(f"{table}_read", table, "read_at < %(before)s", f"ORDER BY read_at {PAGE}", API, before=NEVER)
    yield Probe(f"{table}_pkey", NOTIFICATIONS["mark_read"], {"user_id": "u0", "ids": [ROW]}, API)


def voter_probes() -> Iterator[Probe]:
    """Yield the queries of decisions and waves about voters."""
    seats, delegations = "approval_seats", "approval_delegations"
    voting: dict[str, Any] = {
        "id": ROW,
        "user_id": "u0",
        "entity_type": "invoice",
        "now": "now",
        "at_most": 10,
        "responsible": ["u1"],
        "by_roles": [],
        "own_resources": [],
    }
    for name in ("read_seats", "read_people"):
        yield Probe(f"{seats}_pkey", APPROVALS[name], voting, API)
    for name in ("lock_delegations", "read_represented_people"):
        yield Probe(f"{delegations}_of_delegate", APPROVALS[name], voting, API)
    asked: dict[str, Any] = {"user_id": "u0", "after": UUID(int=0), "limit": 50, **asdict(EVERYTHING)}
    yield Probe(f"{delegations}_of_delegate", INBOX["list_inbox"], asked, API)
    both = {"user_id": "u0", "delegate_id": "u1", "now": "now"}
    for index in ("of_user", "of_delegate"):
        yield Probe(f"{delegations}_{index}", DELEGATIONS["count_open"], both, API)
    # requests without a voter after a person lost a role
    asking = {"role": "r0", "user_id": "u0", "after": UUID(int=0), "limit": 500, "holders": 3}
    by_holder = (f"{seats}_of_role", f"{seats}_of_needed_role", f"{seats}_of_user")
    for index in (*by_holder, "approval_requests_pkey", "documents_pkey"):
        yield Probe(index, REQUESTS["list_asking"], asking)
    # in first_asked()
    of_document = "document_id = %(id)s AND created_at > '-infinity'"
    yield plain("approval_requests_by_document", "approval_requests", of_document, id=ROW)
    alike = {"document_id": ROW, "node_id": "look", "content_hash": "0" * 64, "data": "[{}]", "limit": 20}
    yield plain(
        "approval_requests_by_likeness", "approval_requests", "likeness_hash = 'x' AND status = 'rejected'"
    )
    yield Probe("approval_requests_by_content", REQUESTS["list_rejected_alike"], alike)
    candidates = {"user_ids": ["u0"], "roles": ["r0"], "at_most": 10, "document_id": ROW}
    yield Probe("members_pkey", REQUESTS["read_candidates"], candidates)
    yield Probe("member_roles_by_role", REQUESTS["read_members"], {"role": "r0", "after": "", "limit": 1000})
    yield Probe("transition_requests_by_document", REQUESTS["read_last_requester"], {"document_id": ROW})


def granting_probes() -> Iterator[Probe]:
    """Yield the queries about who gave eligibility, what depends on a member, and break-glass."""
    changes, proposals = "eligibility_changes", "break_glass_proposals"
    asked: dict[str, Any] = {"since": NEVER, "user_ids": ["u0"], "roles": ["r0"]}
    recent = {"since": NEVER, "limit": 1000}
    yield Probe(f"{changes}_by_time", ELIGIBILITY["list_authors"], recent)
    # in barring_changes_since() and line_changes_since()
    late = "changed_at >= %(since)s"
    by_user, by_role = f"user_id = ANY (%(user_ids)s) AND {late}", f"role = ANY (%(roles)s) AND {late}"
    yield plain(f"{changes}_of_user", changes, by_user, role=API, **asked)
    yield plain(f"{changes}_of_role", changes, by_role, role=API, **asked)
    of_line = f"kind = 'manager_set' AND other_user_id = ANY (%(user_ids)s) AND {late}"
    yield plain(f"{changes}_of_line", changes, of_line, role=API, **asked)
    # the rows that prune_eligibility_changes() finds
    due = "changed_at < %(before)s"
    yield plain(f"{changes}_by_time", changes, due, f"ORDER BY changed_at {PAGE}", API, before=NEVER)
    yield plain(f"{changes}_pkey", changes, "id = %(id)s", role=API, id=ROW)
    of_member = {"user_id": "u0", "limit": 200}
    yield Probe("approval_seats_of_user", DEPENDENTS["count_dependents"], of_member, API)
    yield Probe("approval_seats_of_user", DEPENDENTS["list_seats"], of_member, API)
    yield Probe("transition_requests_open_by_actor", DEPENDENTS["count_dependents"], of_member, API)
    for index in ("of_user", "of_delegate"):
        yield Probe(f"approval_delegations_{index}", DEPENDENTS["list_delegations"], of_member, API)
    waiting = {"now": NEVER, "limit": 100}
    yield Probe(f"{proposals}_waiting", BREAK_GLASS["list_waiting"], waiting, API)
    yield Probe(f"{proposals}_of_request", BREAK_GLASS["list_seated"], {"request_id": ROW, "limit": 100}, API)
    yield Probe(f"{proposals}_pkey", BREAK_GLASS["find_proposal"], {"id": ROW}, API)


def history_probes() -> Iterator[Probe]:
    versions = "document_versions"
    page = {"document_id": ROW, "before": 9, "before_at": "now", "before_id": ROW, "limit": 50}
    yield Probe(f"{versions}_pkey", HISTORY["list_versions"], page, API)
    yield Probe(f"{versions}_pkey", HISTORY["read_version"], {"document_id": ROW, "version": 1}, API)
    edits = {"document_id": ROW, "since": 1, "limit": 20}
    yield Probe(f"{versions}_pkey", RECORDS["list_edits"], edits, API)
    # the snapshot that a request is pinned to
    yield plain(f"{versions}_by_id", versions, "id = %(id)s", role=API, id=ROW)
    yield Probe("transition_requests_by_document", HISTORY["list_requests"], page, API)
