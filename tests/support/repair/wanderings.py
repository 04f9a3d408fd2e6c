"""Documents that wander by chance among failures and repairs, and what must hold whenever all is quiet."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from signet.core.errors import Rejected
from signet.engine.instances.incidents import Incident, list_open
from signet.store.incidents.incidents import IncidentFilter
from tests.support.repair.acts import ACTS, resume
from tests.support.repair.contract import (
    BLOCK,
    CONTRACT,
    LOOK,
    LOOK_OF_BENCH,
    RUN,
    TELL,
    chain_of,
    slot,
)
from tests.support.repair.scene import Act, RepairScene
from tests.support.repair.strikes import lets_chain_expire
from tests.support.workflow_stage import CALL, Made

# The slots of the definitions that the documents wander through.
DEFINITIONS: Sequence[Mapping[str, Any]] = (
    {"checks": slot(RUN), "approval": slot(LOOK), "booking": slot(CALL)},
    {"approval": BLOCK, "booking": slot(RUN), "filing": slot(CALL)},
    {"checks": slot(CALL), "approval": slot(chain_of("brief")), "archive": slot(RUN)},
    {"approval": slot(LOOK_OF_BENCH), "filing": slot(TELL), "archive": slot(CALL)},
)
PAUSED_BY_HAND = "by hand"
# What ends an instance and leaves its document is no repair.
NO_REPAIRS = frozenset(("cancel", "fail"))
MAX_REPAIRS = 8
UNDELIVERED: LiteralString = (
    "SELECT count(*) FROM workflow_side_effects_outbox e JOIN workflow_instances i"
    " ON (i.tenant_id, i.id) = (e.tenant_id, e.instance_id)"
    " WHERE i.entity_id = %s AND e.status IN ('pending', 'failed', 'processing')"
)
SENT_AFTER_WITHDRAWAL: LiteralString = (
    "SELECT count(*) FROM workflow_side_effects_outbox"
    " WHERE status = 'completed' AND withdrawn_at IS NOT NULL"
)
# Open requests of the document, with the number of people who can answer one of their open seats.
ASKED: LiteralString = (
    "SELECT r.id, count(m.user_id) FROM approval_requests r"
    " LEFT JOIN approval_seats s ON (s.tenant_id, s.request_id) = (r.tenant_id, r.id) AND s.status = 'open'"
    " LEFT JOIN members m ON m.tenant_id = s.tenant_id AND m.status = 'active'"
    " AND (m.user_id = s.holder_user_id OR EXISTS (SELECT FROM member_roles h"
    " WHERE (h.tenant_id, h.user_id, h.role) = (m.tenant_id, m.user_id, s.holder_role)))"
    " WHERE r.document_id = %s AND r.status = 'open' GROUP BY r.id"
)


class Wandering:
    """One document on its way, and all that may befall it."""

    def __init__(self, scene: RepairScene, entity_type: str) -> None:
        self.scene = scene
        self.stage = scene.stage
        scene.entity_type = entity_type
        scene.is_broken = False
        self.document = self.stage.create(entity_type)
        self.scene.settle()

    def act(self, name: str) -> str:
        """Try an act, whose refusal is an answer like any other."""
        outcome = self.scene.attempt(self.document, WANDERING_ACTS[name])
        self.scene.settle()
        return outcome

    def vote(self, vote: Any) -> None:
        for request_id, people in self.asked():
            if people:
                self._decide(request_id, vote)
        self.scene.settle()

    def _decide(self, request_id: Any, vote: Any) -> None:
        for user_id in ("anna", "ben"):
            try:
                self.scene.decide(request_id, vote, user_id)
            except Rejected:
                continue
            return

    def expire(self) -> None:
        self.stage.standing.run(
            "UPDATE approval_requests SET expire_at = now()"
            " WHERE document_id = %s AND status = 'open' AND expire_at IS NOT NULL",
            self.document.id,
        )
        if (live := self.scene.live(self.document)) is not None:
            self.stage.wake(live)
        self.scene.settle()

    # --- what must hold when all is quiet ---

    def asked(self) -> Sequence[tuple[Any, int]]:
        return [(row[0], row[1]) for row in self.stage.standing.rows(ASKED, self.document.id)]

    def incidents(self) -> Sequence[Incident]:
        company = self.stage.standing.company
        wanted = IncidentFilter()
        found = list_open(company.database, self.stage.tenant_id, wanted, limit=100)
        return [one for one in found if one.document_id == self.document.id]

    def find_stranding(self) -> str | None:
        """Return why nothing would ever bring the document on, if that is so."""
        status = self.stage.status_of(self.document.id)
        for incident in self.incidents():
            if not {act.name for act in incident.acts} - NO_REPAIRS:
                return f"{status}: nothing repairs the incident {incident.code}"
        live = self.scene.live(self.document)
        if live is None:
            return self._find_stranding_at_rest(status)
        row = self.stage.instance(live)
        if row["status"] == "paused":
            is_named = row["reason"] == PAUSED_BY_HAND or bool(self.incidents())
            return None if is_named else f"{status}: paused, and no incident says why"
        problems = (self._find_stranding_of(token) for token in row["active_tokens"])
        return next((f"{status}: {problem}" for problem in problems if problem is not None), None)

    def _find_stranding_at_rest(self, status: str) -> str | None:
        state = CONTRACT["states"][status]
        if state.get("final") or state.get("settled") or self.incidents():
            return None
        is_asked_for = any(
            status in transition["from"] and transition["kind"] == "requested"
            for transition in CONTRACT["transitions"].values()
        )
        return None if is_asked_for else f"{status}: there is no workflow, and nobody can ask for one"

    def _find_stranding_of(self, token: Mapping[str, Any]) -> str | None:
        """Return why the token waits for nothing that can come."""
        node, state = str(token["node"]), token["state"]
        if token.get("hold"):
            known = any(incident.token == token["id"] for incident in self.incidents())
            return None if known else f"{node} is held, and no incident says so"
        if state == "ready":
            return f"{node} is ready, and nothing runs it"
        if state != "waiting" or node.startswith("sys:state:"):
            return None
        if node.endswith(":look") or node.startswith("sys:gate:"):
            return None if any(people for _, people in self.asked()) else f"{node} asks nobody"
        (sent,) = self.stage.standing.row(UNDELIVERED, self.document.id)
        return None if sent else f"{node} waits for what is not on its way"

    def check(self) -> None:
        assert self.find_stranding() is None
        assert self.stage.standing.row(SENT_AFTER_WITHDRAWAL) == (0,)
        answered = self.scene.receiver.accepted
        assert len(answered) == len(set(answered)), "one message was answered twice"
        for (instance_id,) in self.stage.standing.rows(
            "SELECT id FROM workflow_instances WHERE entity_id = %s", self.document.id
        ):
            self.stage.check_rebuild(instance_id)

    # --- the way on ---

    def bring_on(self) -> str:
        """Remove each cause, and follow the acts that are named, until nothing is held; return the status."""
        self.scene.is_broken = False
        self.scene.seat_bench()
        for _ in range(MAX_REPAIRS):
            if self._is_at_rest():
                break
            self._bring_on_once()
        assert not self.incidents(), self.incidents()
        return self.stage.status_of(self.document.id)

    def _is_at_rest(self) -> bool:
        place = self.scene.describe(self.document)
        return not self.incidents() and not self.asked() and place in CONTRACT["states"]

    def _bring_on_once(self) -> None:
        row = self.scene.row_of(self.document)
        if row["status"] == "paused" and row["reason"] == PAUSED_BY_HAND:
            self.act("resume")
        for incident in self.incidents()[:1]:
            named = [act.name for act in incident.acts if act.name not in NO_REPAIRS]
            before = self.scene.describe(self.document)
            for name in named:
                self.act(name)
                if self.scene.describe(self.document) != before:
                    break
        self.scene.deliver()
        self.vote("approved")


def pause(scene: RepairScene, document: Made) -> None:
    row = scene.row_of(document)
    scene.instances.pause(scene.olga, row["id"], row["version"], PAUSED_BY_HAND)


WANDERING_ACTS: Mapping[str, Act] = {**ACTS, "resume": resume, "pause": pause}


def publish_all(scene: RepairScene) -> list[str]:
    """Publish the definitions; return their entity types."""
    scene.hire()
    types = []
    for slots in DEFINITIONS:
        scene.publish(CONTRACT, slots)
        types.append(scene.entity_type)
    lets_chain_expire(scene)
    return types
