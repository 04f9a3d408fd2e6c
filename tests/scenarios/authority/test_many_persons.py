"""Many persons behind one document: the next beyond the limit is refused, and nobody is overlooked."""

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.responsible import MAX_PERSONS, hash_responsible
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals import decide as deciding
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Update
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, standing_stage


def test_the_person_beyond_the_limit_changes_nothing_and_the_others_do(server_url: str) -> None:
    with standing_stage(server_url) as stage:
        document = stage.create(stage.publish(), "mia")
        people = [f"p{number:03}" for number in range(MAX_PERSONS)]
        stage.standing.run_unguarded(
            "INSERT INTO responsible_sets (tenant_id, hash, persons) VALUES (%s, decode(%s, 'hex'), %s)",
            stage.tenant_id,
            hash_responsible(frozenset(people)),
            people,
        )
        stage.standing.run_unguarded(
            "UPDATE documents SET editor_responsible = decode(%s, 'hex') WHERE id = %s",
            hash_responsible(frozenset(people)),
            document.id,
        )
        with pytest.raises(Rejected) as refused:
            stage.mutate(Update(document.id, 1, {"amount": 2}), "carl")
        assert refused.value.code == "RESPONSIBLE_TOO_MANY"
        assert refused.value.remedy is not None and "who has worked on the document" in refused.value.remedy
        stage.mutate(Update(document.id, 1, {"amount": 2}), people[-1])
        assert stage.version_of(document.id) == 2


def test_persons_of_pins_hide_nobody_who_may_still_vote(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as many holders as can be barred, and one more: abe is barred by the account, and zoe is left."""
    for spare in ("MAX_PERSONS", "MAX_SEATS"):
        monkeypatch.setattr(deciding, spare, 0)
    look = {"id": "look", "type": "approval", "config": {"approvers": [role("seer"), role("seer")]}}
    told = {"event": "paid", "payload": {"account": "{entity.vendor.number}"}}
    call = {"id": "call", "type": "webhook_out", "config": told}
    with standing_stage(server_url) as stage:
        people = [
            Member(user_id=name, display_name=name, roles=("seer", "admin")) for name in ("abe", "bob", "zoe")
        ]
        with stage.standing.company.database.transaction(stage.tenant_id) as connection:
            save_roles(connection, stage.tenant_id, (Role(role="seer", permissions=()),), COMMAND_LINE)
            save_members(connection, stage.tenant_id, tuple(people), COMMAND_LINE)
        vendor = stage.publish()
        ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
        contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}}
        supplier = stage.create(vendor, "abe", number="DE-GOOD")
        payment = stage.publish(contract, checks={"nodes": [look]}, posting={"nodes": [call]})
        document = stage.create(payment, "carl", vendor=str(supplier.id))
        submit(stage, document, "carl")
        approvals = Approvals(stage.standing.company.database, stage.caches())
        caller = stage.standing.company.caller("bob")
        assert approvals.decide(caller, newest(stage, document.id), "approved").stage_state == "open"
