"""Random patches for a contract's slots, and random automations; the same seed gives the same one."""

from dataclasses import dataclass
from random import Random
from typing import Any

from signet.core.compiler.compiler import Compilation, compile_automation, compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.tenants.tenant_file import CustomSetting, TenantSettings
from signet.core.validation.strict_model import parse_strictly
from tests.support.generated.contracts import make_contract
from tests.support.generated.regions import End, Region, RegionRules

SETTINGS = TenantSettings(custom={"trusted": CustomSetting(type="list of string", value=["acme"])})
WINDOWS = ("editable", "amend_only", "locked")


@dataclass(frozen=True)
class WorkflowCase:
    """A contract and a tenant's workflow on it, as authors write them."""

    contract: dict[str, Any]
    patch: dict[str, Any]
    is_automation: bool = False

    def compile(self) -> Compilation:
        contract, mistakes = parse_contract(self.contract)
        assert contract is not None, mistakes
        if self.is_automation:
            automation, mistakes = parse_strictly(Automation, self.patch)
            assert automation is not None, mistakes
            return compile_automation(automation, contract, SETTINGS)
        patch, mistakes = parse_strictly(Patch, self.patch)
        assert patch is not None, mistakes
        return compile_effective(make_envelope(contract), patch, SETTINGS)


def make_case(rng: Random) -> WorkflowCase:
    contract = make_contract(rng)
    if rng.random() < 0.15:
        case = WorkflowCase(contract, make_automation(rng), is_automation=True)
        accept_losses(case)
        return case
    return WorkflowCase(contract, make_patch(rng, contract))


def make_patch(rng: Random, contract: dict[str, Any], make_region: type[Region] = Region) -> dict[str, Any]:
    names = sorted(contract["slots"])
    read, mistakes = parse_contract(contract)
    assert read is not None, mistakes
    envelope = make_envelope(read)
    slots: dict[str, Any] = {}
    for name in rng.sample(names, rng.randint(1, min(3, len(names)))):
        slot = envelope.slots[name]
        place = RegionRules(*_find_who_may(read, name))
        slots[name] = make_slot_patch(rng, place, make_region)
        if rng.random() < 0.2:
            stricter = WINDOWS[WINDOWS.index(slot.window.value) :]
            slots[name]["edit"] = rng.choice([w for w in stricter if w != "amend_only" or read.amendment])
    base = {"entity_type": "thing", "envelope_version": contract["version"]}
    patch = {"patch": "own", "base": base, "slots": slots}
    accept_losses(WorkflowCase(contract, patch))
    return patch


def accept_losses(case: WorkflowCase) -> None:
    """Accept, by the names of their joins, the approvals that a branch beside them can cancel."""
    for finding in case.compile().findings:
        if finding.code == "APPROVAL_CAN_BE_LOST":
            slot, join = finding.place.split(":")[1:]
            body = case.patch if case.is_automation else case.patch["slots"][slot]
            accepted = body.setdefault("accepts", {"approval_can_be_lost": []})["approval_can_be_lost"]
            accepted += [] if join in accepted else [join]


def _find_who_may(contract: Contract, slot_name: str) -> tuple[bool, bool]:
    """Return whether the slot's gate takes rejections, and whether people may be asked at all."""
    slot = contract.slots[slot_name]
    transition = contract.transitions[slot.transition]
    if slot.position == "after":
        return False, True
    takes = transition.kind == "requested" or transition.rejected_to is not None
    return takes, takes


def make_slot_patch(rng: Random, place: RegionRules, make_region: type[Region] = Region) -> dict[str, Any]:
    region = make_region(rng)
    patch: dict[str, Any] = {"nodes": region.nodes, "edges": region.edges, "exit": "join"}
    if rng.random() < 0.3:
        patch["entry"] = "branch"
        ends = region.branch("in", place, 2)
        if not region.nodes:
            ends = region.series(ends, place, 1)
    else:
        ends = region.series([End("in")], place, 2)
    region.connect(ends, "out")
    _leave_unsaid(rng, region)
    return patch


def _leave_unsaid(rng: Random, region: Region) -> None:
    """Remove what the compiler completes by itself: ids of edges, main outcomes, edges at the slot's ends."""
    pairs = [(edge["source"], edge["target"], edge.get("on")) for edge in region.edges]
    for edge, pair in zip(list(region.edges), pairs, strict=True):
        if pairs.count(pair) == 1 and edge.get("on") != "approved" and rng.random() < 0.5:
            del edge["id"]
    if rng.random() < 0.5:
        entries = [edge for edge in region.edges if edge["source"] == "in"]
        if len(entries) == 1 and "condition" not in entries[0] and entries[0]["target"] != "out":
            region.edges.remove(entries[0])


def make_automation(rng: Random) -> dict[str, Any]:
    trigger: dict[str, Any] = {"on": rng.choice(["create", "manual"])}
    if rng.random() < 0.5:
        trigger["condition"] = "entity.amount > 5 && payload.source == 'web'"
    return {
        "automation": "helper",
        "entity_type": "thing",
        "trigger": trigger,
        "payload": {"source": {"type": "string"}},
        "variables": {"kept": {"type": "int"}},
        **make_slot_patch(rng, RegionRules(takes_rejections=False)),
    }
