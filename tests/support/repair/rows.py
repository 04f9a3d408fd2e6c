"""The rows of the table in docs/operating.md: where a document stands, how it fails, and its way on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tests.support.repair.acts import ACTS, resume
from tests.support.repair.contract import (
    AMENDABLE,
    BLOCK,
    BY_ITSELF,
    CONTRACT,
    JUDGE,
    LOOK,
    LOOK_OF_BENCH,
    PAUSE,
    RUN,
    STABLE,
    TELL,
    chain_of,
    slot,
)
from tests.support.repair.scene import Act, RepairScene
from tests.support.repair.strikes import (
    abstains,
    adds_rule,
    allows_booking,
    answers,
    archives_chain,
    breaks,
    cancels,
    drifts,
    expires,
    forbids_booking,
    gives_role,
    is_amended_in_vain,
    is_busy,
    lets_chain_expire,
    makes_endpoint,
    pauses,
    publishes_chain,
    refuses,
    removes_endpoint,
    repairs,
    seats_bench,
    vote,
)
from tests.support.workflow_stage import CALL, Made

OfAll = Callable[[RepairScene], None]
OfOne = Callable[[RepairScene, Made], None]


def _nothing(scene: RepairScene) -> None:
    """Leave all as it is."""


@dataclass(frozen=True)
class Row:
    where: str
    fails: str
    # The place where it then stands.
    rests: str
    # What removes the cause, in words; empty where nothing need be removed.
    cause: str
    # The acts that then bring it on, in order, and the place where it is after them.
    way_on: Sequence[str]
    ends: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    contract: Mapping[str, Any] = field(default_factory=lambda: CONTRACT)
    prepare: OfAll = _nothing
    # The transitions that are asked for, the first by this person.
    asks: Sequence[str] = ("submit",)
    submitter: tuple[str, ...] = ("carl",)
    # What befalls all of them, or each, when they are on their way.
    strikes: OfAll = _nothing
    strikes_each: OfOne | None = None
    mends: OfAll = _nothing


# What one may do besides the acts that are tried on every row.
FURTHER: Mapping[str, Act] = MappingProxyType({"resume": resume, "vote": vote, "deliver": answers})
ALL_ACTS: Mapping[str, Act] = MappingProxyType({**ACTS, **FURTHER})

REQUESTED = "slot of a requested way"
AUTOMATIC = "slot of an automatic way, an interrupt leaves its status"
ALONE = "slot of an automatic way, and nothing else leaves its status"
FINAL, SETTLED, ACTIVE = (
    "behind the gate, in a final status",
    "behind the gate, in a settled status",
    "active",
)

ROWS: Mapping[int, Row] = MappingProxyType(
    {
        1: Row(
            REQUESTED,
            "an action raises",
            "draft, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            ACTIVE,
            {"checks": slot(RUN)},
            prepare=breaks,
            mends=repairs,
        ),
        2: Row(
            REQUESTED,
            "its requester may not do it",
            "draft, held: PERMISSION_DENIED",
            "give the permission",
            ["retry"],
            ACTIVE,
            {"checks": slot(RUN)},
            submitter=("vera", "starter"),
            mends=gives_role,
        ),
        3: Row(
            REQUESTED,
            "a call is refused for good",
            "draft, held: EFFECT_DEAD",
            "",
            ["retry", "deliver"],
            ACTIVE,
            {"checks": slot(CALL)},
            strikes=refuses,
        ),
        4: Row(
            AUTOMATIC,
            "an action raises",
            "review, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            ACTIVE,
            {"approval": slot(RUN)},
            prepare=breaks,
            mends=repairs,
        ),
        5: Row(
            AUTOMATIC,
            "a call is refused for good",
            "review, held: EFFECT_DEAD",
            "",
            ["retry", "deliver"],
            ACTIVE,
            {"approval": slot(CALL)},
            strikes=refuses,
        ),
        6: Row(
            AUTOMATIC,
            "nobody is there for an awaited message",
            "review, held: EFFECT_DEAD",
            "give the role",
            ["retry", "deliver"],
            ACTIVE,
            {"approval": slot(TELL)},
            strikes=refuses,
            mends=seats_bench,
        ),
        7: Row(
            AUTOMATIC,
            "nobody may decide",
            "review, held: APPROVAL_NOBODY_ELIGIBLE",
            "give the role",
            ["retry", "vote"],
            ACTIVE,
            {"approval": slot(LOOK_OF_BENCH)},
            mends=seats_bench,
        ),
        8: Row(
            AUTOMATIC,
            "its chain is gone",
            "review, held: APPROVAL_CHAIN_UNKNOWN",
            "publish the chain",
            ["retry", "vote"],
            ACTIVE,
            {"approval": slot(chain_of("lost"))},
            prepare=archives_chain,
            mends=publishes_chain,
        ),
        9: Row(
            REQUESTED,
            "its rule is gone",
            "draft, held: RULE_UNKNOWN",
            "save the rule",
            ["retry"],
            ACTIVE,
            {"checks": slot(JUDGE)},
            mends=adds_rule,
        ),
        10: Row(
            AUTOMATIC,
            "the key of its event has a hole",
            "review, held: EVENT_KEY_INVALID",
            "",
            ["skip"],
            ACTIVE,
            {"approval": slot(PAUSE)},
        ),
        11: Row(
            AUTOMATIC,
            "its endpoint is gone",
            "review, held: ENDPOINT_UNKNOWN",
            "make the endpoint",
            ["deliver"],
            ACTIVE,
            {"approval": slot(CALL)},
            prepare=removes_endpoint,
            strikes=is_busy,
            mends=makes_endpoint,
        ),
        12: Row(
            AUTOMATIC,
            "the receiver is busy",
            "review, waits at usr:approval:call",
            "",
            ["deliver"],
            ACTIVE,
            {"approval": slot(CALL)},
            strikes=is_busy,
        ),
        13: Row(
            AUTOMATIC,
            "nothing: people are asked",
            "review, waits at usr:approval:look",
            "",
            ["vote"],
            ACTIVE,
            {"approval": slot(LOOK)},
        ),
        14: Row(
            "one branch of a block",
            "a call is refused for good",
            "review, held: EFFECT_DEAD",
            "",
            ["retry", "deliver", "vote"],
            ACTIVE,
            {"approval": BLOCK},
            strikes=refuses,
        ),
        15: Row(
            ALONE,
            "an action raises",
            "approved, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            ACTIVE,
            {"booking": slot(RUN)},
            prepare=breaks,
            mends=repairs,
        ),
        16: Row(
            ALONE,
            "the receiver is busy",
            "approved, waits at usr:booking:call",
            "",
            ["deliver"],
            ACTIVE,
            {"booking": slot(CALL)},
            strikes=is_busy,
        ),
        17: Row(
            ALONE,
            "a rule is against its gate",
            "approved, held: RULE_REJECTED",
            "change the rule",
            ["retry"],
            ACTIVE,
            prepare=forbids_booking,
            mends=allows_booking,
        ),
        18: Row(
            FINAL,
            "an action raises",
            "closed, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            "closed",
            {"archive": slot(RUN)},
            asks=("submit", "close"),
            prepare=breaks,
            mends=repairs,
        ),
        19: Row(
            FINAL,
            "a call is refused for good",
            "closed, held: EFFECT_DEAD",
            "",
            ["retry", "deliver"],
            "closed",
            {"archive": slot(CALL)},
            asks=("submit", "close"),
            strikes=refuses,
        ),
        20: Row(
            ALONE,
            "a call is refused for good",
            "approved, held: EFFECT_DEAD",
            "",
            ["retry", "deliver"],
            ACTIVE,
            {"booking": slot(CALL)},
            strikes=refuses,
        ),
        21: Row(
            AUTOMATIC,
            "a person has paused it",
            "review, paused",
            "",
            ["resume", "vote"],
            ACTIVE,
            {"approval": slot(LOOK)},
            strikes_each=pauses,
        ),
        22: Row(
            AUTOMATIC,
            "all have abstained",
            "review, held: APPROVAL_ALL_ABSTAINED",
            "",
            ["ask_again", "vote"],
            ACTIVE,
            {"approval": slot(LOOK)},
            strikes_each=abstains,
        ),
        23: Row(
            AUTOMATIC,
            "its chain expires",
            "draft",
            "",
            ["ask", "vote"],
            ACTIVE,
            {"approval": slot(chain_of("brief"))},
            prepare=lets_chain_expire,
            strikes_each=expires,
        ),
        24: Row(
            "the first status, left by itself",
            "an action raises",
            "draft, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            ACTIVE,
            {"checks": slot(RUN)},
            contract=BY_ITSELF,
            asks=(),
            prepare=breaks,
            mends=repairs,
        ),
        25: Row(
            SETTLED,
            "an action raises",
            "active, held: ACTION_FAILED",
            "mend the code",
            ["retry"],
            ACTIVE,
            {"filing": slot(RUN)},
            prepare=breaks,
            mends=repairs,
        ),
        26: Row(
            "in force, with an amendment",
            "the amendment is given up",
            ACTIVE,
            "",
            ["ask"],
            "closed",
            contract=AMENDABLE,
            strikes_each=is_amended_in_vain,
        ),
        27: Row(
            "a status that people leave",
            "an operator cancels",
            "draft, no workflow",
            "",
            ["ask"],
            ACTIVE,
            asks=(),
            strikes_each=cancels,
        ),
        28: Row(
            "a stable region",
            "the document was changed past its window",
            "review, held: WORKFLOW_VERSION_DRIFT",
            "",
            ["go_to", "vote"],
            ACTIVE,
            {"approval": slot(LOOK)},
            contract=STABLE,
            strikes_each=drifts,
        ),
    }
)
