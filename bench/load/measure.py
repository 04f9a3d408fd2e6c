"""Requests a second and their times by HTTP: steady and in bursts, beside a handler that only answers."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from bench.company import BenchTenant, durable_server, make_tenants, open_database
from bench.load.wrk import LoadRun, run_wrk
from signet.core.approvals.policy import Policy, hash_policy
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.quotas import READS, WRITES, Quota
from signet.core.tenants.tenant_file import Member
from signet.engine.access.quotas import set_quota
from signet.local.development_token import make_development_token
from signet.store.schema.server import act_as
from signet.store.tenants.tenants import save_members

SECRET = "the secret of the load bench, of enough bytes"
STEADY_CLIENTS, BURST_CLIENTS = 2, 32
SECONDS = 5
CALLS = ("create", "patch", "inbox", "get")
WAITING = 1_000
PLENTY = 10_000_000


def measure(seconds: int = SECONDS) -> Iterator[str]:
    with durable_server() as url:
        database = open_database(url, 2)
        (tenant,) = make_tenants(database, [2 * BURST_CLIENTS * len(CALLS)])
        _prepare(url, tenant)
        database.close()
        token = make_development_token(SECRET, tenant.tenant_id, "bench", ["admin"], 3_600, datetime.now(UTC))
        ids = [str(document_id) for document_id in tenant.document_ids]
        with _serving("bare", url) as bare, _serving("api", act_as(url, "signet_api")) as api:
            run_wrk(api, "get", token, ids[:1], clients=1, seconds=1)
            for name, clients in [("steady", STEADY_CLIENTS), ("burst", BURST_CLIENTS)]:
                reference = run_wrk(bare, "get", token, ids, clients=clients, seconds=seconds)
                yield _describe(name, clients, "bare", reference, None)
                for call in CALLS:
                    own, ids = ids[:clients], ids[clients:]
                    run = run_wrk(api, call, token, own, clients=clients, seconds=seconds)
                    yield _describe(name, clients, call, run, reference)


def _describe(name: str, clients: int, call: str, run: LoadRun, reference: LoadRun | None) -> str:
    share = f"{run.requests_per_second / reference.requests_per_second:.2f} of bare" if reference else ""
    return (
        f"{name:6} {clients:3} clients  {call:6} {run.requests_per_second:7.0f}/s   p50 {run.p50_ms:6.1f} ms"
        f"   p95 {run.p95_ms:6.1f} ms   errors {run.errors}   {share}"
    )


@contextmanager
def _serving(kind: str, url: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load.server", kind, url, SECRET],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def _prepare(url: str, tenant: BenchTenant) -> None:
    """Grant more requests than wrk can send, and make the caller a member."""
    owner = open_database(url, 1, "signet_owner")
    for name in (READS, WRITES):
        set_quota(owner, tenant.tenant_id, Quota(name, PLENTY, 60))
    with owner.transaction(tenant.tenant_id) as connection:
        member = Member(user_id="bench", display_name="Bench", roles=("admin",))
        save_members(connection, tenant.tenant_id, (member,), COMMAND_LINE)
    owner.close()
    with psycopg.connect(url, autocommit=True) as admin:
        _fill_inbox(admin, tenant.tenant_id, tenant.document_ids[-1])


def _fill_inbox(admin: psycopg.Connection[tuple[object, ...]], tenant_id: UUID, document_id: UUID) -> None:
    text = _make_policy().to_text()
    admin.execute(
        "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,"
        " document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash,"
        " requester_id, created_at)"
        " SELECT %s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'usr:approval:a', %s, 1, v.id,"
        " v.hash, v.hash, %s, %s, 'rita', now()"
        " FROM document_versions v, generate_series(1, %s) WHERE v.document_id = %s AND v.version = 1",
        (tenant_id, document_id, text, hash_policy(text), WAITING, document_id),
    )
    admin.execute(
        "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id)"
        " SELECT tenant_id, id, 1, 1, 'bench' FROM approval_requests"
    )
    admin.execute("ANALYZE approval_requests, approval_seats, documents")


def _make_policy() -> Policy:
    stage = {"approvers": [{"by": "user", "user": "bench"}]}
    return Policy.model_validate({"stages": (stage,)}, strict=False)
