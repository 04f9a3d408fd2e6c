"""Documents whose instances operators act on, and their state afterwards."""

from collections.abc import Mapping
from typing import Any, LiteralString

from signet.core.tenants.caller import Caller
from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from tests.engine.waves.stage import Made, WorkflowStage

# The audit rows of the acts on an instance.
DETAILS: LiteralString = (
    "SELECT content::jsonb ->> 'action', actor_id, content::jsonb ->> 'reason', content::jsonb -> 'detail'"
    " FROM audit_log WHERE subject_type = 'instance' AND subject_id = %s ORDER BY seq"
)


def operating_on(stage: WorkflowStage) -> tuple[Instances, Caller]:
    """Return the operator actions and a caller in the API's role, where operators come from."""
    company = stage.standing.company
    return Instances(company.database, stage.caches(), CompiledCache()), company.caller("olga")


def submitted(stage: WorkflowStage, contract: Mapping[str, Any] | None = None, **slots: Any) -> Made:
    document = stage.create(stage.publish(contract, **slots))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def version(stage: WorkflowStage, document: Made) -> int:
    return int(stage.instance(document.instance_id)["version"])


def check(stage: WorkflowStage, document: Made) -> None:
    stage.check_rebuild(document.instance_id)
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound


def status_of(stage: WorkflowStage, document: Made) -> tuple[Any, ...]:
    """Return (status, nodes, reason)."""
    row = stage.instance(document.instance_id)
    return row["status"], row["current_nodes"], row["reason"]
