"""Nine ways in which a person has to do with a document, or with the vote about it (docs/approvals.md).

Most take part before the request is opened, some by `bind` right after. `bar` is the answer to their vote.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from signet.core.tenants.caller import Caller
from signet.engine.cache import ContractCache
from signet.engine.definitions.rules import Rules
from tests.support.core.approval_policies import role, user
from tests.support.ways.scene import FINANCE, AuthorityScene, Plan, approvers, refusal
from tests.support.workflow_stage import Made

DUTIES, SAME, GRANTED = "SEPARATION_OF_DUTIES", "APPROVAL_SAME_PERSON", "VOTE_BARRED_BY_GRANT"
NOT_ASKED = "APPROVAL_NOT_YOURS"


class Involvement:
    """A person who has no part in anything; the involved ones change what is theirs."""

    does = "has no part in it"
    bar = NOT_ASKED

    def plan(self, scene: AuthorityScene, plan: Plan) -> Plan:
        return plan

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        return scene.create(entity_type, scene.caller(scene.clerk), **plan.data)

    def requester(self, scene: AuthorityScene) -> Caller:
        return scene.caller(scene.clerk)

    def bind(self, scene: AuthorityScene) -> None:
        """Involve the person in the request that was just opened."""


class Creator(Involvement):
    does = "created the document"
    bar = DUTIES

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        return scene.create(entity_type, scene.hand, **plan.data)


class Editor(Involvement):
    does = "edited it"
    bar = DUTIES

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        made = super().create(scene, entity_type, plan)
        return scene.edit(made, scene.hand)


class Requester(Involvement):
    does = "asked for the transition"
    bar = DUTIES

    def requester(self, scene: AuthorityScene) -> Caller:
        return scene.hand


class KeyOwner(Involvement):
    does = "made, or owns, the API key that created it"
    bar = DUTIES

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        key = scene.hand if scene.hand.principal.is_key else scene.make_key(scene.person)
        return scene.create(entity_type, key, **plan.data)


class RuleAuthor(Involvement):
    does = "saved the rule that set one of its values"
    bar = DUTIES

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        save_rule(scene, entity_type, "create")
        return super().create(scene, entity_type, plan)


class ReferenceEditor(Involvement):
    does = "last changed the field of another document that is read for it"
    bar = DUTIES

    def plan(self, scene: AuthorityScene, plan: Plan) -> Plan:
        """Have the definition read the number of a vendor."""
        vendor_type = scene.stage.publish()
        vendor = scene.create(vendor_type, scene.caller(scene.clerk), number="DE-OLD")
        scene.edit(vendor, scene.hand, number="DE-NEW")
        fields = {**plan.contract["fields"], "vendor": refer_to(vendor_type)}
        payload = {"account": "{entity.vendor.number}"}
        call = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
        slots = {"posting": {"nodes": [call]}, **plan.slots}
        data = {**plan.data, "vendor": str(vendor.id)}
        return replace(plan.changed(fields=fields), slots=slots, data=data)


class Delegator(Involvement):
    does = "let a delegate approve for them in an approval that the same gate uses"
    bar = SAME

    def plan(self, scene: AuthorityScene, plan: Plan) -> Plan:
        """Have another approval come first."""
        seats = approvers(user(scene.person), role(FINANCE))
        return replace(plan, first=[{"id": "first", "type": "approval", "config": seats}])

    def create(self, scene: AuthorityScene, entity_type: str, plan: Plan) -> Made:
        # For a second document it is given already.
        delegate = scene.hire("delegate")
        refusal(lambda: scene.delegate(scene.caller(scene.person), scene.person, delegate))
        return super().create(scene, entity_type, plan)

    def bind(self, scene: AuthorityScene) -> None:
        assert scene.vote(scene.named("delegate")) == "approved"


class Granter(Involvement):
    does = "took the role that is asked from another holder, after it was asked"
    bar = GRANTED

    def bind(self, scene: AuthorityScene) -> None:
        # Written past every use case: the person takes it, and nobody gives it.
        scene.hire("other", *scene.roles_of_other)
        kept = [role for role in scene.roles_of_other if role != scene.role]
        scene.save(scene.hand, scene.other, *kept)


class Operator(Involvement):
    does = "is an operator of the deployment, or has its command line"


def refer_to(entity_type: str) -> Mapping[str, Any]:
    """Return a field that refers to a document and reads its number."""
    return {"type": "ref", "entity_type": entity_type, "reads": {"number": {"type": "string"}}}


def save_rule(scene: AuthorityScene, entity_type: str, operation: str) -> None:
    """Save a rule that sets the number, as the person."""
    body = {
        "phase": "before",
        "operations": [operation],
        "condition": {"expression": "entity.amount > 0"},
        "actions": [{"kind": "set", "values": {"number": f"DE-{scene.number}"}}],
    }
    Rules(scene.database, ContractCache()).save(scene.hand, entity_type, "fill", body, None)


WHO: Mapping[str, Involvement] = {
    "creator": Creator(),
    "editor": Editor(),
    "requester": Requester(),
    "key owner": KeyOwner(),
    "rule author": RuleAuthor(),
    "reference editor": ReferenceEditor(),
    "delegator": Delegator(),
    "granter": Granter(),
    "operator": Operator(),
}
# Everybody who is responsible for the document or the request: separation of duties bars them.
RESPONSIBLE = ("creator", "editor", "requester", "key owner", "rule author", "reference editor")
