"""Random worlds for the simulator: documents, people, events and effects."""

from random import Random
from typing import Any

from signet.core.simulation import WorldScript

NODES = [f"n{index}" for index in range(60)]
# They are no member, so that they keep the roles with which they ask.
ASKER = "ada"


def make_document(rng: Random) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "amount": rng.randint(-10, 2_500),
        "count": rng.randint(-10, 2_500),
        "name": rng.choice(["acme", "else", None]),
        "urgent": rng.choice([True, False, None]),
        "due": rng.choice(["2026-01-03", "2030-12-31", None]),
        "seen": rng.choice(["2025-01-01T00:00:00Z", "2026-02-01T10:00:00Z", None]),
        "colour": rng.choice(["red", "green", "blue"]),
        "tags": rng.choice([["vip"], [], None]),
        "lines": [{"sku": f"a{index}"} for index in range(rng.randint(0, 3))],
    }
    return {name: value for name, value in whole.items() if rng.random() < 0.9}


def make_script(rng: Random, contract: dict[str, Any]) -> WorldScript:
    transitions = list(contract["transitions"])
    return WorldScript(
        requests=[rng.choice([*transitions, "t1", "nothing"]) for _ in range(rng.randint(0, 8))],
        approvals=_answers(rng, ["approved", "approved", "rejected", "expired"], 0.9),
        events={key: {"by": "test"} for key in ("paid", "shipped", "of-acme", "of-") if rng.random() < 0.6},
        effects=_answers(rng, ["delivered", "done", "error"], 0.5),
        outputs={"count_up": {"count": 3}},
        rules={name: rng.random() < 0.7 for name in ("known", "solvent")},
        actor={"user_id": ASKER, "roles": rng.choice([["clerk"], []])},
        permissions=rng.choice([("*:*",), ("thing:*",), ()]),
        org={"trusted": ["acme"]},
        birth="amended" if "amendment" in contract and rng.random() < 0.3 else "created",
        payload={"source": "web"},
    )


def _answers(rng: Random, outcomes: list[str], everybody: float) -> dict[str, str]:
    answers = {name: rng.choice(outcomes) for name in NODES if rng.random() < 0.5}
    if rng.random() < everybody:
        answers["*"] = rng.choice(outcomes)
    return answers
