"""The stacks, deployed once for all of these tests: `make e2e`, and nothing else, runs them."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from infra.emulator.emulator import ROOT
from infra.emulator.stack import PREFIX, running_stack
from signet.authoring.files import read_document
from tests.support.cloud.people import DeployedAnswer
from tests.support.cloud.stacks import Deployed
from tests.support.cloud.verifying_receiver import ADDRESS, SECRET, HttpReceiver, receiving

if not os.environ.get("SIGNET_E2E"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def deployed() -> Iterator[Deployed]:
    with (
        running_stack(say=print, environment={"SIGNET_WEBHOOK_ADDRESSES": ADDRESS}) as stack,
        psycopg.connect(stack.owner_url, autocommit=True) as database,
    ):
        deployed = Deployed(stack, database)
        _stop_clock(deployed)
        for queue in ("events", "effects"):
            deployed.come_back_soon(queue)
        yield deployed


def _stop_clock(deployed: Deployed) -> None:
    """Stop the schedules, because the tests start the functions themselves."""
    client = deployed.stack.client("scheduler")
    for schedule in client.list_schedules()["Schedules"]:
        found = client.get_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])
        kept = ("ScheduleExpression", "FlexibleTimeWindow", "Target", "Name", "GroupName")
        client.update_schedule(**{name: found[name] for name in kept}, State="DISABLED")


@pytest.fixture(scope="session")
def ledger(deployed: Deployed) -> Iterator[HttpReceiver]:
    """Yield the tenant's receiver, whose secret is where the deployment keeps them."""
    name = f"{PREFIX.replace('-', '/')}/{deployed.tenant_id}/ledger_secret"
    deployed.stack.client("secretsmanager").create_secret(Name=name, SecretString=SECRET)
    with receiving() as receiver:
        told = {"name": "ledger", "url": f"{receiver.url}/posted", "secrets": ["ledger_secret"]}
        confirm(deployed, deployed.as_person("ada").post("/v1/endpoints", told))
        yield receiver


@pytest.fixture
def receiver(ledger: HttpReceiver) -> HttpReceiver:
    """Yield the ledger, with nothing of another test in it."""
    while not ledger.received.empty():
        ledger.received.get()
    return ledger


@pytest.fixture(scope="session")
def invoices(deployed: Deployed, ledger: HttpReceiver) -> str:
    """Publish use case A over HTTP, with a webhook to the ledger at its end. Return the definition's id."""
    ada, sam = deployed.as_person("ada"), deployed.as_person("sam")
    publish_contract(deployed, "invoice")
    chain, _ = read_document(ROOT / "examples" / "invoice" / "chain.yaml")
    ada.post("/v1/approval_chains", chain).expect(201)
    ada.post("/v1/approval_chains/accounts_payable/versions/1/put_forward").expect(200)
    sam.post("/v1/approval_chains/accounts_payable/versions/1/publish").expect(200)
    patch, _ = read_document(ROOT / "examples" / "invoice" / "patch.yaml")
    slot = patch["slots"]["approved_to_active"]
    config = {"endpoint": "ledger", "payload": {"invoice": "{entity.number}"}}
    slot["nodes"].append({"id": "tell", "type": "webhook_out", "label": "Tell the ledger", "config": config})
    slot["edges"] = [{"source": "post", "target": "tell"}]
    return publish_patch(deployed, patch)


def publish_contract(deployed: Deployed, folder: str) -> None:
    contract, _ = read_document(ROOT / "examples" / folder / "contract.yaml")
    saved = deployed.as_person("sam").post("/v1/contracts", contract).expect(201)
    publish(deployed, saved.headers["location"], saved.etag)


def publish_patch(deployed: Deployed, patch: object) -> str:
    saved = deployed.as_person("sam").post("/v1/definitions", patch).expect(201)
    definition = str(saved.body["id"])
    publish(deployed, f"/v1/definitions/{definition}", saved.etag)
    return definition


def publish(deployed: Deployed, place: str, etag: str) -> None:
    """Put a draft of Sam's forward, and publish it as another person."""
    deployed.as_person("sam").post(f"{place}/put_forward", if_match=etag).expect(200)
    deployed.as_person("ada").post(f"{place}/publish", if_match=etag).expect(200)


def confirm(deployed: Deployed, proposed: DeployedAnswer) -> None:
    """Confirm a proposed change of the control as another person."""
    place = f"{proposed.expect(202).headers['location']}/confirm"
    deployed.as_person("sam").post(place, {"hash": proposed.body["hash"]}).expect(200)
