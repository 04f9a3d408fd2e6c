"""CPU that this process spends on a request: what every route costs, and two whole ones beside it.

The log and the metrics are on as in production; their lines are made and thrown away.
"""

import json
import os
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.company import BenchTenant, durable_server, make_tenants, open_database
from signet.api.application import Application
from signet.api.http.call import Call
from signet.api.http.routing import Routes
from signet.core.tenants.quotas import READS, Quota
from signet.engine.access.quotas import set_quota
from signet.local.development_token import make_development_token
from signet.settings import read_settings
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from signet.wiring.api import make_ports
from signet.wiring.process import make_telemetry

SECRET = "the secret of the benchmark, which is long"
GOAL_MICROSECONDS = 150
REPETITIONS, REQUESTS = 9, 400
SETTINGS = {
    "SIGNET_ENVIRONMENT": "local",
    "SIGNET_DEVELOPMENT_SECRET": SECRET,
    "POWERTOOLS_METRICS_NAMESPACE": "signet",
}


def measure() -> list[str]:
    with durable_server() as url, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        database = open_database(url, 1)
        (tenant,) = make_tenants(database, [1])
        database.close()
        _grant_quota(url, tenant)
        settings = read_settings({**SETTINGS, "SIGNET_DATABASE_URL": act_as(url, "signet_api")})
        dependencies = make_ports(settings, make_telemetry(settings, nowhere))
        application = Application(dependencies, [("Bench", _add_bare_route)])
        document = f"/v1/documents/{tenant.document_ids[0]}"
        shown = {"/bare": "a bare route", "/v1/health": "GET health", document: "GET document"}
        lines = [_measure(application, tenant, path, name) for path, name in shown.items()]
        dependencies.use.database.close()
    return lines


def _grant_quota(url: str, tenant: BenchTenant) -> None:
    """Grant as much as the benchmark asks for, because a refusal is answered too soon."""
    owner = Database(url, PoolSettings())
    set_quota(owner, tenant.tenant_id, Quota(READS, capacity=10_000_000, refill_seconds=1))
    owner.close()


def _add_bare_route(routes: Routes) -> None:
    @routes.get("/bare", "Does nothing", dict)
    def get_bare(call: Call) -> dict[str, str]:
        return {"status": "ok"}


def _measure(application: Application, tenant: BenchTenant, path: str, name: str) -> str:
    event = make_event(path, tenant)
    answer = application(event, None)
    if answer["statusCode"] != 200:
        raise RuntimeError(f"{path} answers {answer['statusCode']}")
    spent = [_spend(application, json.dumps(event)) for _ in range(REPETITIONS)]
    goal = f"   goal ≤ {GOAL_MICROSECONDS} µs" if path == "/bare" else ""
    return f"{name:12} {min(spent):6.1f} µs best, {statistics.median(spent):6.1f} µs median{goal}"


def _spend(application: Application, request: str) -> float:
    """Return the microseconds of CPU for one request. Lambda has parsed the event's text already."""
    events = [json.loads(request) for _ in range(REQUESTS)]
    begin = time.process_time()
    for event in events:
        application(event, None)
    return (time.process_time() - begin) / REQUESTS * 1e6


def make_event(path: str, tenant: BenchTenant) -> dict[str, Any]:
    """Make an event as API Gateway sends it, with a caller's usual headers."""
    token = make_development_token(SECRET, tenant.tenant_id, "bench", ["admin"], 3_600, datetime.now(UTC))
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "accept": "*/*",
            "authorization": f"Bearer {token}",
            "content-length": "0",
            "host": "id.execute-api.eu-central-1.amazonaws.com",
            "user-agent": "bench",
            "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
            "x-forwarded-for": "205.255.255.176",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "id",
            "http": {"method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "205.255.255.176"},
            "requestId": str(uuid4()),
            "stage": "$default",
            "timeEpoch": 1583817383220,
        },
        "isBase64Encoded": False,
    }
