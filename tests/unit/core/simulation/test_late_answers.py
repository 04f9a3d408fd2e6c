"""Answers that a script lets be late: only where the author says how long they may take."""

from typing import Any

from signet.core.simulation import Simulation
from tests.unit.core.simulation.test_run import TELL, chain, path, run


def test_an_answer_is_late_only_where_that_is_declared() -> None:
    def play(**config: Any) -> Simulation:
        call = ("call", "webhook_out", {"endpoint": "erp", **config})
        late = chain(call, ("thanks", "notification", TELL), edges=[
            {"source": "call", "target": "sorry", "on": "error"}])  # fmt: skip
        late["nodes"].append({"id": "sorry", "type": "notification", "config": {**TELL, "await": True}})
        return run(late, effects={"call": "timeout"})

    assert path(play(timeout="PT1H")) == ["call", "sorry"]
    assert path(play()) == ["call"]
    (failed,) = [step.step for step in play(timeout="PT1H").steps if step.step.node == "usr:approval:call"]
    assert failed.error == "EFFECT_TIMEOUT: there was no answer within PT1H"
