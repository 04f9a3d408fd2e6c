"""`signet simulate` names what a scenario has wrong, and why a gate refuses."""

from pathlib import Path
from typing import Any

from tests.unit.cli.test_author_commands import EXAMPLES, put, signet


def simulate_orders(tmp_path: Path, **scenario: Any) -> Any:
    """Simulate one scenario on the orders of the examples."""
    customer = "01900000-0000-7000-8000-0000000000c1"
    document = {"number": "S-1", "customer": customer, "grand_total": 5000, "lines": []}
    described = {"name": "an order", "document": document, "refs": {"customer": {}}, **scenario}
    file = put(tmp_path / "scenarios.yaml", {"scenarios": [described]})
    return signet("simulate", EXAMPLES / "sales_order_calls", "--scenarios", file)


def test_a_scenario_that_names_what_is_not_there_is_found(tmp_path: Path) -> None:
    refused = simulate_orders(tmp_path, requests=["plase"], document={"number": 7})
    assert refused.exit_code == 1
    assert (
        "an order: /requests/0 names no transition of the workflow. Did you mean 'place'?" in refused.output
    )
    assert "[NAME_UNKNOWN]" in refused.output
    assert "an order: /document/customer is required [FIELD_REQUIRED]" in refused.output


def test_a_simulation_says_why_a_gate_refused(tmp_path: Path) -> None:
    blocked = simulate_orders(tmp_path, requests=["place"], refs={"customer": {"is_blocked": True}})
    assert "refused at place: the condition '" in blocked.output
    late = simulate_orders(tmp_path, requests=["fulfil"])
    assert "could not be asked for here: fulfil" in late.output
    assert "refused at fulfil: " in late.output
