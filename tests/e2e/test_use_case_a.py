"""Invoices over HTTP, from the token to the ledger: each hop a function of its own."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.support.cloud.people import DeployedCaller, await_that, make_trace
from tests.support.cloud.stacks import Deployed
from tests.support.cloud.verifying_receiver import HttpReceiver

pytestmark = pytest.mark.usefixtures("invoices")


def make_invoice(caller: DeployedCaller, *, total: int, vendor: str = "V-999", **headers: str) -> str:
    """Create an invoice and return its path."""
    data = {
        "number": f"R-{uuid4().hex[:8]}",
        "vendor_id": vendor,
        "invoice_date": "2026-03-01",
        "grand_total": total,
        "cost_center_owner": "olga",
    }
    made = caller.post("/v1/documents", {"entity_type": "invoice", "data": data}, **headers).expect(201)
    return str(made.headers["location"])


def submit(caller: DeployedCaller, invoice: str, **headers: str) -> None:
    etag = caller.get(invoice).etag
    told = {"transition": "submit", "reason": "as agreed"}
    caller.post(f"{invoice}/requests", told, if_match=etag, **headers).expect(200, 202)


def approve(caller: DeployedCaller, invoice: str) -> None:
    """Approve the invoice once the caller is asked."""
    document_id = invoice.rpartition("/")[2]

    def find() -> Any:
        asked = caller.get("/v1/approvals").expect(200).body["items"]
        return next((one for one in asked if document_id in json.dumps(one)), None)

    approval = await_that(find, f"an approval of {invoice}")
    caller.post(f"/v1/approvals/{approval['request_id']}/decision", {"vote": "approved"}).expect(200)


def await_status(caller: DeployedCaller, invoice: str, status: str) -> None:
    await_that(lambda: caller.get(invoice).expect(200).body["status"] == status, f"{invoice} is {status}")


def test_an_invoice_goes_through_its_chain(deployed: Deployed, receiver: HttpReceiver) -> None:
    carl = deployed.as_person("carl")
    invoice = make_invoice(carl, total=260_000)
    submit(carl, invoice)
    approve(deployed.as_person("anton"), invoice)
    approve(deployed.as_person("fiona"), invoice)
    await_status(carl, invoice, "active")
    told = receiver.received.get(timeout=10)
    assert json.loads(told.body)["data"]["invoice"] == carl.get(invoice).body["data"]["number"]


def test_one_trace_from_the_request_to_the_receiver(deployed: Deployed, receiver: HttpReceiver) -> None:
    """A small invoice of a trusted vendor asks nobody: all its steps follow from the one request."""
    carl, trace = deployed.as_person("carl"), make_trace()
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice, traceparent=trace["traceparent"])
    await_status(carl, invoice, "active")
    request = deployed.await_line("api", "request", trace["id"])
    assert (request["method"], request["tenant_id"]) == ("POST", str(deployed.tenant_id))
    # A wave that finds the document locked leaves its trigger to the next, and takes no step.
    await_that(lambda: sum(wave["steps"] for wave in deployed.list_waves(trace["id"])), "a wave takes steps")
    effect = deployed.await_line("side-effect-io", "effect", trace["id"])
    assert (effect["effect_type"], effect["outcome"], effect["answered"]) == ("webhook", "delivered", 200)
    told = receiver.received.get(timeout=10)
    assert trace["id"] in told.headers["traceparent"]


def test_a_webhook_is_signed_for_its_receiver(deployed: Deployed, receiver: HttpReceiver) -> None:
    carl = deployed.as_person("carl")
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice)
    await_status(carl, invoice, "active")
    told = receiver.received.get(timeout=10)
    assert told.path == "/posted"
    assert told.is_signed


def test_without_a_token_of_the_issuer_nobody_comes_in(deployed: Deployed) -> None:
    assert DeployedCaller(deployed.stack.api_url).get("/v1/documents").status == 401
    token = deployed.stack.tokens["carl"]
    forged = token[:-8] + ("A" * 8 if token[-8:] != "A" * 8 else "B" * 8)
    assert DeployedCaller(deployed.stack.api_url, forged).get("/v1/documents").status == 401
    # The second API demands no JWT, so the function itself checks the request.
    assert DeployedCaller(deployed.stack.machine_url).get("/v1/documents").status == 401
    assert DeployedCaller(deployed.stack.machine_url, forged).get("/v1/documents").status == 401
