"""Random workflows of nodes that the engine runs; calls take the place of events and timers."""

import json
from random import Random
from typing import Any

from tests.support.generated.contracts import make_contract
from tests.support.generated.regions import RECIPIENTS, End, Region, RegionRules
from tests.support.generated.workflows import WorkflowCase, make_patch


class RunnableRegion(Region):
    def _approval(self, ends: list[End], place: RegionRules) -> list[End]:
        node = self.add("approval", {"approvers": [{"by": "user", "user": "cora"}], "same_person": "allowed"})
        self.connect(ends, node)
        self.has_asked = True
        return [End(node), *self._aside(node, "rejected", place, required=not place.takes_rejections)]

    def _timer(self, ends: list[End], place: RegionRules) -> list[End]:
        return self._webhook(ends, place)

    def _event(self, ends: list[End], place: RegionRules) -> list[End]:
        node = self.add(
            "notification",
            {"channel": "sms", "to": [self.rng.choice(RECIPIENTS)], "text": "{entity.name}", "await": True},
        )
        self.connect(ends, node)
        return [End(node), *self._aside(node, "error", place)]

    def _webhook(self, ends: list[End], place: RegionRules) -> list[End]:
        config: dict[str, Any] = {"endpoint": "erp", "payload": {"id": "{entity.name}", "n": 1}}
        if self.rng.random() < 0.4:
            config["save_as"] = self._variable()
        node = self.add("webhook_out", config)
        self.connect(ends, node)
        return [End(node), *self._aside(node, "error", place)]

    def _create(self, ends: list[End], place: RegionRules) -> list[End]:
        config: dict[str, Any] = {"action": "spawn"}
        if self.rng.random() < 0.5:
            config["for_each"] = "entity.lines"
        node = self.add("action", config)
        self.connect(ends, node)
        return [End(node), *self._aside(node, "error", place)]

    def _update(self, ends: list[End], place: RegionRules) -> list[End]:
        action = self.rng.choice(["mark", "count_up", "call"])
        config: dict[str, Any] = {"action": action, "run_as": self.rng.choice(["actor", "system"])}
        if action == "count_up":
            config["payload"] = {"to": {"$expr": "entity.version"}}
        if action == "call":
            config["save_as"] = self._variable()
        node = self.add("action", config)
        self.connect(ends, node)
        return [End(node)]


def make_runnable(seed: int, name: str) -> WorkflowCase:
    """Return the workflow of the seed, under a name of its own."""
    rng = Random(seed)
    contract = make_contract(rng)
    patch = make_patch(rng, contract, RunnableRegion)
    return WorkflowCase(_rename(contract, name), _rename(patch, name))


def _rename(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Rename the entity type, also in the names of its permissions."""
    text = json.dumps(document).replace('"thing"', f'"{name}"').replace('"thing:', f'"{name}:')
    renamed: dict[str, Any] = json.loads(text)
    return renamed
