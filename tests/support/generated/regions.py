"""Random nodes and edges, built as regions with one entry and loose ends: sound by construction."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

NUMBERS = ("entity.amount", "entity.count", "entity.partner.limit", "entity.version")
TESTS = (
    "entity.urgent == true",
    "entity.colour == 'red'",
    "entity.colour in ['red', 'blue']",
    "entity.tags contains 'vip'",
    "entity.name != null",
    "entity.due < '2026-06-01'",
    "actor.roles contains 'clerk'",
    "org.trusted contains entity.name",
    "now > entity.seen",
)
RECIPIENTS: tuple[dict[str, Any], ...] = (
    {"by": "role", "role": "clerk"},
    {"by": "user", "user": "ann"},
    {"by": "manager"},
    {"by": "expression", "expression": "entity.name"},
)
APPROVERS = (*RECIPIENTS[:-1], {**RECIPIENTS[-1], "who": "clerk"})


@dataclass(frozen=True)
class End:
    """An edge whose target is not known yet."""

    source: str
    on: str | None = None
    condition: str | None = None
    role: str = "forward"


@dataclass(frozen=True)
class RegionRules:
    """The nodes allowed in a region: actions and approvals never beside or after one another."""

    takes_rejections: bool
    may_ask: bool = True
    may_act: bool = True
    in_block: bool = False


@dataclass
class Region:
    """Nodes and edges under construction, and the variables that conditions after them may read."""

    rng: Random
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    has_asked: bool = False
    # Early exits of the block under construction.
    exits: list[End] = field(default_factory=list)

    def add(self, node_type: str, config: dict[str, Any] | None = None) -> str:
        node_id = f"n{len(self.nodes)}"
        node: dict[str, Any] = {"id": node_id, "type": node_type}
        if config:
            node["config"] = config
        if self.rng.random() < 0.2:
            node["label"] = f"Step {node_id}"
        self.nodes.append(node)
        return node_id

    def connect(self, ends: list[End], target: str) -> None:
        for end in ends:
            edge: dict[str, Any] = {"source": end.source, "target": target, "id": f"e{len(self.edges)}"}
            if end.on is not None:
                edge["on"] = end.on
            if end.condition is not None:
                edge["condition"] = end.condition
                edge["priority"] = self.rng.randint(0, 200)
            if end.role != "forward":
                edge["role"] = end.role
            self.edges.append(edge)

    def series(self, ends: list[End], place: RegionRules, depth: int) -> list[End]:
        for _ in range(self.rng.randint(1, 3)):
            ends = self.part(ends, place, depth)
        return ends

    def part(self, ends: list[End], place: RegionRules, depth: int) -> list[End]:
        makers = [self._simple, self._simple]
        if depth > 0:
            makers += [self._choice, self._block]
        return self.rng.choice(makers)(ends, place, depth)

    def _choice(self, ends: list[End], place: RegionRules, depth: int) -> list[End]:
        node_id = self.add("condition")
        self.connect(ends, node_id)
        return self.branch(node_id, place, depth)

    def branch(self, source: str, place: RegionRules, depth: int) -> list[End]:
        """Add edges under conditions and a default, each a region or nothing; one may leave the block."""
        known, asked_before, asked = list(self.variables), self.has_asked, False
        ways = [End(source, condition=self.condition()) for _ in range(self.rng.randint(1, 3))]
        ends: list[End] = []
        for way in [*ways, End(source)]:
            self.variables, self.has_asked = list(known), asked_before
            if place.in_block and way.condition is not None and self.rng.random() < 0.25:
                self.exits.append(replace(way, role="exit"))
            elif self.rng.random() < 0.3:
                ends.append(way)
            else:
                ends += self.series([way], place, depth - 1)
            asked = asked or self.has_asked
        self.variables, self.has_asked = known, asked
        return ends

    def _block(self, ends: list[End], place: RegionRules, depth: int) -> list[End]:
        split, join = self.add("parallel_split"), self.add("parallel_join", {"mode": "all"})
        self.nodes[-1]["config"] = {"mode": self.rng.choice(["all", "any"])}
        self.connect(ends, split)
        asks = place.may_ask and (not place.may_act or self.has_asked or self.rng.random() < 0.6)
        may_act = place.may_act and not asks and not self.has_asked
        inside = replace(place, may_ask=asks, may_act=may_act, in_block=True)
        known, asked_before, asked = list(self.variables), self.has_asked, False
        outer_exits, self.exits = self.exits, []
        for index in range(self.rng.randint(2, 3)):
            self.variables, self.has_asked = list(known), asked_before
            if index > 0 and self.rng.random() < 0.1:
                self.connect([End(split)], join)
                continue
            self.connect(self.series([End(split)], inside, depth - 1), join)
            asked = asked or self.has_asked
        self.variables, self.has_asked = known, asked or asked_before
        left, self.exits = self.exits, outer_exits
        return [End(join), *self._rejected_of(join, place), *left]

    def _rejected_of(self, join: str, place: RegionRules) -> list[End]:
        """Return the edge of a rejected block, which the author draws where no gate takes rejections."""
        return [] if place.takes_rejections else [End(join, "rejected")]

    def _simple(self, ends: list[End], place: RegionRules, depth: int) -> list[End]:
        makers = [self._script, self._timer, self._event, self._webhook, self._notification, self._create]
        if place.may_ask:
            makers += [self._approval, self._approval, self._rule]
        if place.may_act and not self.has_asked:
            makers.append(self._update)
        return self.rng.choice(makers)(ends, place)

    def _aside(self, node: str, on: str, place: RegionRules, *, required: bool = False) -> list[End]:
        """Return the edge of an outcome beside the main one: an edge, an early exit, or none."""
        chance = self.rng.random()
        if chance < 0.3 and not required:
            return []
        end = End(node, on)
        if place.in_block and chance > 0.8:
            self.exits.append(replace(end, role="exit"))
            return []
        if chance < 0.6:
            asked, known = self.has_asked, list(self.variables)
            ends = self._notification([end], place)
            self.has_asked, self.variables = asked, known
            return ends
        return [end]

    def _approval(self, ends: list[End], place: RegionRules) -> list[End]:
        config: dict[str, Any] = {"approvers": self.rng.sample(APPROVERS, self.rng.randint(1, 3))}
        config["quorum"] = self.rng.choice(["all", "any", 1])
        expires = self.rng.random() < 0.3
        if expires:
            config["expire_after"] = "PT24H"
        if self.rng.random() < 0.2:
            config["escalate"] = {"after": "PT1H", "to": {"by": "manager"}}
        if self.rng.random() < 0.1:
            config = {"chain": "standard"}
            expires = False
        node = self.add("approval", config)
        self.connect(ends, node)
        aside = self._aside(node, "rejected", place, required=not place.takes_rejections)
        if expires:
            aside += self._aside(node, "expired", place, required=not place.takes_rejections)
        self.has_asked = True
        return [End(node, self.rng.choice([None, "approved"])), *aside]

    def _rule(self, ends: list[End], place: RegionRules) -> list[End]:
        node = self.add("rule", {"rules": ["known", "solvent"][: self.rng.randint(1, 2)]})
        self.connect(ends, node)
        return [End(node), *self._aside(node, "rejected", place, required=not place.takes_rejections)]

    def _update(self, ends: list[End], place: RegionRules) -> list[End]:
        action = self.rng.choice(["mark", "count_up", "call"])
        config: dict[str, Any] = {"action": action, "run_as": self.rng.choice(["actor", "system"])}
        if action == "count_up":
            config["payload"] = {"to": {"$expr": "entity.version"}}
            config["save_as"] = self._variable()
        node = self.add("action", config)
        self.connect(ends, node)
        return [End(node)]

    def _create(self, ends: list[End], place: RegionRules) -> list[End]:
        name = "spawn" if self.rng.random() < 0.7 else "store.set"
        config: dict[str, Any] = {"action": name}
        if self.rng.random() < 0.5:
            config["for_each"] = "entity.lines"
        if name == "store.set":
            config["payload"] = {"key": "k", "value": {"of": "{item.sku}" if len(config) > 1 else "x"}}
        node = self.add("action", config)
        self.connect(ends, node)
        return [End(node), *self._aside(node, "error", place)]

    def _script(self, ends: list[End], place: RegionRules) -> list[End]:
        names = [self._variable() for _ in range(self.rng.randint(1, 2))]
        node = self.add("script", {"set": dict.fromkeys(names, "entity.amount > 100")})
        self.connect(ends, node)
        self.variables += names
        return [End(node)]

    def _timer(self, ends: list[End], place: RegionRules) -> list[End]:
        config = self.rng.choice([{"for": "PT2H"}, {"until": "entity.due"}, {"until": "entity.seen"}])
        node = self.add("wait_timer", config)
        self.connect(ends, node)
        return [End(node)]

    def _event(self, ends: list[End], place: RegionRules) -> list[End]:
        config: dict[str, Any] = {"key": self.rng.choice(["paid", "shipped", "of-{entity.name}"])}
        if self.rng.random() < 0.5:
            config["save_as"] = self._variable()
        times_out = self.rng.random() < 0.5
        if times_out:
            config["timeout"] = "P1D"
        node = self.add("wait_event", config)
        self.connect(ends, node)
        aside = self._aside(node, "timeout", place, required=True) if times_out else []
        return [End(node), *aside]

    def _webhook(self, ends: list[End], place: RegionRules) -> list[End]:
        node = self.add("webhook_out", {"endpoint": "erp", "payload": {"id": "{entity.name}", "n": 1}})
        self.connect(ends, node)
        return [End(node), *self._aside(node, "error", place)]

    def _notification(self, ends: list[End], place: RegionRules) -> list[End]:
        config = {"channel": "email", "to": [self.rng.choice(RECIPIENTS)], "text": "About {entity.name}"}
        node = self.add("notification", {**config, "await": self.rng.random() < 0.5})
        self.connect(ends, node)
        return [End(node)]

    def _variable(self) -> str:
        return f"v{len(self.nodes)}_{self.rng.randint(0, 999)}"

    def condition(self) -> str:
        parts = [self._test() for _ in range(self.rng.randint(1, 2))]
        text = self.rng.choice([" && ", " || "]).join(parts)
        return f"!({text})" if self.rng.random() < 0.2 else text

    def _test(self) -> str:
        if self.variables and self.rng.random() < 0.4:
            return f"context.{self.rng.choice(self.variables)} == true"
        if self.rng.random() < 0.5:
            operator = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
            return f"{self.rng.choice(NUMBERS)} {operator} {self.rng.randint(-5, 2_000)}"
        return self.rng.choice(TESTS)
