"""Timers in a simulation, in the time zone of the node or of the tenant."""

from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.patch import Automation
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import WorldScript, simulate
from signet.core.validation.strict_model import parse_strictly
from signet.zones import find_zone

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("config", "due"),
    [
        ({"for": "P3M"}, "2026-03-31T23:00:00+00:00"),
        ({"for": "P3M", "zone": "UTC"}, "2026-04-01T00:00:00+00:00"),
        ({"until": "2026-07-01"}, "2026-06-30T22:00:00+00:00"),
        ({"until": "2026-07-01", "at": "09:00", "zone": "Asia/Tokyo"}, "2026-07-01T00:00:00+00:00"),
        ({"until": "2026-07-01T09:00:00+09:00"}, "2026-07-01T00:00:00+00:00"),
        ({"next": "0 6 1 * *"}, "2026-01-01T05:00:00+00:00"),
    ],
)
def test_timers_know_the_zone(config: dict[str, Any], due: str) -> None:
    document = {
        "automation": "later",
        "trigger": {"on": "manual"},
        "nodes": [{"id": "wait", "type": "wait_timer", "config": config}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    artifact = compile_automation(automation).artifact
    assert artifact is not None
    script = WorldScript(org={"time_zone": "Europe/Berlin"}, find_zone=find_zone)
    done = simulate(Workflow(artifact), {}, script, NOW)
    assert [step.shown for step in done.steps if step.outcome == "elapsed"] == [f"until {due}"]
