"""One patch of a type in force: another takes its place only where the person who publishes names it."""

from signet.core.errors import Rejected
from signet.engine.access.admin import AdminTransaction
from signet.store.definitions import names
from signet.store.definitions import write as store
from signet.store.definitions.names import PatchInForce
from signet.store.definitions.write import DefinitionRow


def require_replaced(
    act: AdminTransaction, patch: DefinitionRow, replaces: str | None
) -> PatchInForce | None:
    """Return the patch of another name that new documents run, or refuse where it is not the one to replace.

    Those who publish go one after another, so that the second sees the patch of the first.
    """
    active = names.find_patch_in_force(act.connection, act.caller.principal.tenant_id, patch.entity_type)
    if active is None or active.name == patch.name:
        return None
    if active.name != replaces:
        raise Rejected(
            "ANOTHER_WORKFLOW_ACTIVE",
            f"new documents of '{patch.entity_type}' run the patch '{active.name}', version {active.version},"
            f" and would run '{patch.name}' instead",
            remedy=f"Publish it with replaces: {active.name}, if that is wanted; else give it that name.",
            details={"active": active.name, "version": active.version},
        )
    return active


def put_out_of_force(
    act: AdminTransaction, replaced: PatchInForce, by: DefinitionRow, contract_version: int
) -> None:
    """Archive what the replaced patch was compiled to, so that it does not come back by itself."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    store.archive_effective_of_name(connection, tenant_id, by.entity_type, replaced.name, contract_version)
    detail = {"name": replaced.name, "version": replaced.version, "by": by.name, "by_version": by.version}
    act.note(("definition", str(replaced.id)), "replaced", detail)
