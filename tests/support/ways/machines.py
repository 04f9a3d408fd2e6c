"""Ways through a machine: a key of one's own, a document that an action makes, a step of the system."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Create
from signet.engine.instances.actions import Instances
from signet.engine.tenants.api_keys import ApiKeys
from tests.support.machines import add_account
from tests.support.ways.cells import Cell, NotPossible, Played, same
from tests.support.ways.hands import LOOKUP, advance
from tests.support.ways.involvements import (
    DUTIES,
    GRANTED,
    NOT_ASKED,
    RESPONSIBLE,
    SAME,
    WHO,
    refer_to,
)
from tests.support.ways.operators import install
from tests.support.ways.scene import DENIED, NOT_REFUSED, AuthorityScene, Plan, refusal
from tests.support.workflow_stage import CONTRACT, Made

# --- a key ---


def use_a_key(scene: AuthorityScene) -> Iterator[str]:
    """Take part by a key, and then vote by it, let it delegate, and vote oneself."""
    scene.hand = scene.make_key(scene.person)
    scene.submit()
    yield from _vote_by_key_and_oneself(scene)


def take_a_key_over(scene: AuthorityScene) -> Iterator[str]:
    """Take over a key that another person made, and have it create the document."""
    keys, maker = ApiKeys(scene.database), scene.hire("maker")
    made = keys.create(scene.caller(maker), scene.named("key"), ("admin",))
    keys.propose_owner(scene.caller(maker), made.record.id, scene.person)
    keys.accept_ownership(scene.caller(scene.person), made.record.id)
    scene.hand = Caller(keys.verify(made.token).principal, via="test")
    scene.submit()
    yield from _vote_by_key_and_oneself(scene)


def _vote_by_key_and_oneself(scene: AuthorityScene) -> Iterator[str]:
    yield scene.vote(scene.hand)
    yield refusal(lambda: scene.delegate(scene.hand, scene.lawful, scene.hire("second")))
    yield scene.vote(scene.person)


def operate_by_key(scene: AuthorityScene) -> Iterator[str]:
    """Install the tenant by a key of the operator, who is a member; then vote by it."""
    scene.submit()
    key = scene.make_key(scene.person)
    yield refusal(lambda: install(scene, key))
    yield scene.vote(key)


def by_key(does: str, code: str) -> Played:
    steps = (("votes by the key", NOT_ASKED), ("has the key delegate the voice of a lawful person", DENIED))
    return Played(use_a_key, (*steps, (does, code)))


KEY: Mapping[str, Cell] = {
    **same(by_key("votes, after the key did their part", DUTIES), *RESPONSIBLE),
    "key owner": Played(
        take_a_key_over,
        (
            ("votes by the key that they took over", NOT_ASKED),
            ("has the key delegate the voice of a lawful person", DENIED),
            ("votes, after the key created the document", DUTIES),
        ),
    ),
    "delegator": by_key("approves too", SAME),
    "granter": by_key("votes, after the key took the role from another", GRANTED),
    "operator": Played(
        operate_by_key, (("installs the tenant by a key", DENIED), ("votes by the key", NOT_ASKED))
    ),
}

# --- a document that an action makes ---


def derive(scene: AuthorityScene, **runs: Any) -> None:
    """Have a step of another document make the document; the person is involved in that other one."""
    bill = scene.publish(Plan())
    origin = scene.involvement.plan(scene, Plan(data={"number": "N1"}))
    source = "vendor.number" if "vendor" in origin.contract["fields"] else "number"
    spawn = {"kind": "create", "entity_type": bill, "set": {"number": "of {entity." + source + "}"}}
    node = {"id": "make", "type": "action", "config": {"action": "spawn", **runs}}
    plan = replace(
        origin.changed(actions={**CONTRACT["actions"], "spawn": spawn}),
        slots={**origin.slots, "checks": {"nodes": [node]}},
    )
    made = scene.involvement.create(scene, scene.publish(plan), plan)
    scene.request(made, scene.involvement.requester(scene))
    scene.document = find_newest_of(scene, bill)
    scene.request(scene.made, scene.caller(scene.clerk))
    scene.involvement.bind(scene)


def find_newest_of(scene: AuthorityScene, entity_type: str) -> Made:
    (document_id,) = scene.stage.standing.row(
        "SELECT id FROM documents WHERE entity_type = %s ORDER BY created_at DESC LIMIT 1", entity_type
    )
    return Made(document_id, scene.stage.instance_of(document_id))


def derive_as_actor(scene: AuthorityScene) -> Iterator[str]:
    derive(scene)
    yield scene.vote(scene.person)


def derive_and_let_a_delegate_vote(scene: AuthorityScene) -> Iterator[str]:
    """Write the origin, and let a delegate vote about what is made of it."""
    scene.involvement = WHO["creator"]
    derive(scene)
    second = scene.hire("second")
    scene.delegate(scene.caller(scene.person), scene.person, second)
    yield scene.vote(second)


def derive_and_answer(scene: AuthorityScene) -> Iterator[str]:
    """Have a delegate approve the origin, and answer for what is made of it; then write an origin."""
    bill = scene.publish(Plan(first=[LOOKUP]))
    spawn = {"kind": "create", "entity_type": bill, "set": {"number": "of {entity.number}"}}
    node = {"id": "make", "type": "action", "config": {"action": "spawn", "run_as": "system"}}
    plan = scene.involvement.plan(scene, Plan(data={"number": "N1"}, slots={"posting": {"nodes": [node]}}))
    scene.submit(plan.changed(actions={**CONTRACT["actions"], "spawn": spawn}))
    assert scene.vote(scene.lawful) == "approved"
    scene.document = find_newest_of(scene, bill)
    scene.request(scene.made, scene.caller(scene.clerk))
    yield advance(scene, scene.caller(scene.person))
    assert advance(scene, scene.caller(scene.boss)) == NOT_REFUSED
    yield from derive_and_let_a_delegate_vote(scene)


def derive_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    """Try to write the origin, and to ask for the step that makes a document of it."""
    scene.submit()
    yield refusal(lambda: scene.mutate(scene.command_line, Create(scene.type_of_document(), {"amount": 1})))
    yield refusal(lambda: scene.request(scene.made, scene.command_line))


DERIVE: Mapping[str, Cell] = {
    **same(
        Played(
            derive_as_actor, (("votes about a document that is made of the one they took part in", DUTIES),)
        ),
        *RESPONSIBLE,
    ),
    "delegator": Played(
        derive_and_answer,
        (
            ("lets their delegate approve the origin, and answers a call of what is made of it", DUTIES),
            ("writes the origin, and lets a delegate vote about what is made of it", DUTIES),
        ),
    ),
    "granter": Played(derive_as_actor, (("votes about the document that was made", GRANTED),)),
    "operator": Played(
        derive_by_command_line,
        (
            ("writes the origin by the command line", DENIED),
            ("asks by the command line for the step that makes a document of it", DENIED),
        ),
    ),
}

# --- a step of the system ---

POST = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
ACCOUNT = "{entity.vendor.number}"
COPY = {"id": "copy", "type": "script", "config": {"set": {"account": "entity.vendor.number"}}}
POSTING: Mapping[str, Any] = {"checks": {"nodes": [POST]}}


def derive_as_system(scene: AuthorityScene) -> Iterator[str]:
    """Have the system make the document, and then a service account."""
    derive(scene, run_as="system")
    yield scene.vote(scene.person)
    account = scene.named("account")
    add_account(scene.stage.standing.company, account, "admin", owner=scene.boss)
    derive(scene, run_as="service_account", service_account=account)
    yield scene.vote(scene.person)


def edit_as_system(scene: AuthorityScene) -> Iterator[str]:
    """Ask, where requesters may decide, and have the system edit the document on the way."""
    plan = Plan(slots=POSTING).changed(separation_of_duties={"may_decide": ["requester"]})
    scene.involvement = WHO["requester"]
    scene.submit(plan)
    yield scene.vote(scene.person)


def read_as_system(scene: AuthorityScene) -> Iterator[str]:
    """Have the system take over what the person wrote: by an action, its payload, and a variable."""
    _read_by(scene, {"number": ACCOUNT})
    yield scene.vote(scene.person)
    taken = {"number": "{payload.account}"}
    for payload, script in (({"account": ACCOUNT}, ()), ({"account": "{context.account}"}, (COPY,))):
        vendor = _read_by(scene, taken, payload, script)
        # What is pinned is another person's by now. What was written before is not.
        scene.edit(vendor, scene.caller(scene.clerk), number="DE-OTHER")
        scene.vote(scene.lawful)
        scene.stage.drain()
        yield scene.vote(scene.person)


def _read_by(
    scene: AuthorityScene,
    values: Mapping[str, str],
    payload: Mapping[str, str] | None = None,
    script: Sequence[Mapping[str, Any]] = (),
) -> Made:
    """Have a step of the system read the value on the way to the approval; return the other document."""
    vendor_type = scene.stage.publish()
    vendor = scene.create(vendor_type, scene.hand, number="DE-NEW")
    fields = {**CONTRACT["fields"], "vendor": refer_to(vendor_type)}
    take = {"kind": "update", "payload": {"account": {"type": "string"}}, "set": values}
    config = {"action": "post", "run_as": "system", "payload": payload or {}}
    post = {**POST, "config": config}
    edges = [{"source": node["id"], "target": post["id"]} for node in script]
    slots = {"checks": {"nodes": [*script, post], "edges": edges}}
    plan = Plan(slots=slots, data={"vendor": str(vendor.id)}).changed(fields=fields, actions={"post": take})
    scene.document = scene.create(scene.publish(plan), scene.caller(scene.clerk), **plan.data)
    scene.request(scene.made, scene.caller(scene.clerk))
    return vendor


def end_the_wait(scene: AuthorityScene) -> Iterator[str]:
    """Try to end the wait for the approval by the command line, as if it were given."""
    scene.submit()
    instances = Instances(scene.database, scene.stage.caches(), CompiledCache())
    instance_id = scene.made.instance_id
    version = int(scene.stage.instance(instance_id)["version"])
    node = "usr:approval:look"
    yield refusal(lambda: instances.advance(scene.command_line, instance_id, version, node, "given"))


SYSTEM_STEP: Mapping[str, Cell] = {
    **same(
        Played(
            derive_as_system,
            (
                ("votes about a document that the system made of the one they took part in", DUTIES),
                ("votes about one that a service account made of it", DUTIES),
            ),
        ),
        "creator",
        "requester",
        "key owner",
    ),
    "editor": Played(
        edit_as_system, (("votes, after a step of the system that they asked for edited it", DUTIES),)
    ),
    "rule author": NotPossible("a rule changes nothing that a step writes: the step is held"),
    "reference editor": Played(
        read_as_system,
        (
            ("votes, after a step of the system took over the value that they wrote", DUTIES),
            ("votes, after the payload of a step took it over, and another person has changed it", DUTIES),
            ("votes, after a script took it over, and a step read it from the variable", DUTIES),
        ),
    ),
    "delegator": NotPossible("no step votes, and none gives or takes a voice"),
    "granter": NotPossible("no step gives or takes roles, lines or seats"),
    "operator": Played(
        end_the_wait,
        (("ends the wait for the approval by the command line", "INSTANCE_TOKEN_NOT_ADVANCEABLE"),),
    ),
}
