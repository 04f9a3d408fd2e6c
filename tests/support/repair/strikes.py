"""Failures that strand documents, one by one or all together, and the removal of their causes."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from signet.engine.documents.commands import Amend
from signet.engine.integrations.endpoints import Endpoints, EndpointTerms
from signet.outbound.connector import Delivery
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import Made

GONE = Delivery(400, "refused: 400", None, is_final=True)
BUSY = Delivery(503, "503", None)


def breaks(scene: RepairScene) -> None:
    scene.is_broken = True


def repairs(scene: RepairScene) -> None:
    scene.is_broken = False


def refuses(scene: RepairScene) -> None:
    """Let the receiver refuse for good what is sent."""
    scene.deliver(GONE)


def is_busy(scene: RepairScene) -> None:
    scene.deliver(BUSY)


def answers(scene: RepairScene, document: Made) -> None:
    scene.deliver()


def gives_role(scene: RepairScene) -> None:
    scene.stage.standing.run(
        "UPDATE roles SET permissions = permissions || '{*:run}' WHERE tenant_id = %s AND role = 'starter'",
        scene.stage.tenant_id,
    )


def seats_bench(scene: RepairScene) -> None:
    scene.seat_bench()


def archives_chain(scene: RepairScene) -> None:
    archives_chain_of(scene, "lost")


def publishes_chain(scene: RepairScene) -> None:
    publishes_chain_of(scene, "lost", {})


def removes_endpoint(scene: RepairScene) -> None:
    scene.stage.standing.run("DELETE FROM endpoints WHERE name = 'erp'")


def makes_endpoint(scene: RepairScene) -> None:
    """Make the endpoint as a person does: what is held for it goes on by itself."""
    endpoints = Endpoints(scene.database, lambda url, hosts: None)
    endpoints.create(scene.olga, "erp", EndpointTerms("https://erp.example/", ["new"]))
    scene.stage.drain()


def adds_rule(scene: RepairScene) -> None:
    scene.stage.add_rule(scene.entity_type, "of_tomorrow", "entity.amount > 100", on="update")


def pauses(scene: RepairScene, document: Made) -> None:
    row = scene.row_of(document)
    scene.instances.pause(scene.olga, row["id"], row["version"], "hold it")


def abstains(scene: RepairScene, document: Made) -> None:
    scene.vote(document, "abstained")
    scene.stage.drain()


def expires(scene: RepairScene, document: Made) -> None:
    scene.stage.standing.run("UPDATE approval_requests SET expire_at = now() WHERE status = 'open'")
    scene.stage.wake(document.instance_id)
    scene.stage.drain()


def is_amended_in_vain(scene: RepairScene, document: Made) -> None:
    """Amend it, and give the amendment up: an operator ends its workflow."""
    applied = scene.stage.mutate(
        Amend(document.id, scene.stage.version_of(document.id), {"amount": 3}, "why")
    )
    assert applied.instance_id is not None
    scene.stage.drain()
    row = scene.stage.instance(applied.instance_id)
    scene.instances.cancel(scene.olga, row["id"], row["version"], "not wanted")


def cancels(scene: RepairScene, document: Made) -> None:
    row = scene.row_of(document)
    scene.instances.cancel(scene.olga, row["id"], row["version"], "not now")


def drifts(scene: RepairScene, document: Made) -> None:
    """Edit in spite of the edit window, as a defect or a server's owner could."""
    scene.stage.standing.run(
        "UPDATE workflow_instances SET edit_window = 'editable' WHERE id = %s", document.instance_id
    )
    scene.stage.edit(document.id, amount=9)
    scene.stage.drain()


def forbids_booking(scene: RepairScene) -> None:
    scene.stage.add_rule(scene.entity_type, "closed", "entity.status == 'active'", on="transition")


def allows_booking(scene: RepairScene) -> None:
    scene.stage.standing.run("DELETE FROM rules WHERE name = 'closed'")


def lets_chain_expire(scene: RepairScene) -> None:
    """Replace the chain that publishing has supplied by one that expires."""
    archives_chain_of(scene, "brief")
    publishes_chain_of(scene, "brief", {"expire_after": "P14D"})


def archives_chain_of(scene: RepairScene, name: str) -> None:
    scene.stage.standing.run_unguarded("DELETE FROM approval_chain_steps WHERE name = %s", name)
    scene.stage.standing.run_unguarded("DELETE FROM approval_chains WHERE name = %s", name)


def publishes_chain_of(scene: RepairScene, name: str, terms: Mapping[str, Any]) -> None:
    """Publish a chain that asks anna."""
    scene.stage.standing.run(
        "INSERT INTO approval_chains (tenant_id, name, version, hash, created_by)"
        " VALUES (%s, %s, 1, %s, 'carl')",
        scene.stage.tenant_id,
        name,
        "0" * 64,
    )
    body = {"approvers": [{"by": "user", "user": "anna"}], **terms}
    scene.stage.standing.run(
        "INSERT INTO approval_chain_steps VALUES (%s, %s, 1, 1, %s)", scene.stage.tenant_id, name, Jsonb(body)
    )
    scene.stage.standing.run(
        "UPDATE approval_chains SET status = 'published', published_at = now() WHERE name = %s", name
    )


def vote(scene: RepairScene, document: Made) -> None:
    scene.vote(document)
