"""Reports of compilations: what the tenant lacks is added to one that is written already."""

import json
from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.previews import compile_report
from signet.core.previews.compile_report import add_to_report, write_compile_report
from signet.core.validation.finding import make_finding
from tests.support.core.valid_workflow import CONTRACT, PATCH, SETTINGS

TEXT = json.dumps(PATCH)
NODE = "usr:checks:nobody"


def read_contract() -> Contract:
    contract, mistakes = parse_contract(CONTRACT)
    assert contract is not None, mistakes
    return contract


def report(text: str = TEXT) -> str:
    return write_compile_report("org_patch", text, read_contract(), SETTINGS).text


def add(written: str, *codes: str) -> Any:
    found = [make_finding(code, NODE, name="nobody") for code in codes]
    return json.loads(add_to_report(written, "org_patch", TEXT, found))


def test_a_workflow_that_compiles_has_its_hash_and_the_names_in_it() -> None:
    written = write_compile_report("org_patch", TEXT, read_contract(), SETTINGS)
    assert json.loads(written.text)["hash"] and written.names is not None
    assert (written.names.kind, written.names.entity_type) == ("effective", CONTRACT["contract"])


def test_one_that_does_not_compile_names_nothing() -> None:
    text = json.dumps({**PATCH, "slots": {"nowhere": {"nodes": [{"id": "a", "type": "condition"}]}}})
    written = write_compile_report("org_patch", text, read_contract(), SETTINGS)
    assert written.names is None
    told = json.loads(written.text)
    assert told["hash"] is None and told["finding_count"] == len(told["findings"]) > 0


def test_an_error_of_the_tenant_leaves_no_hash() -> None:
    before = json.loads(report())
    told = add(report(), "ROLE_UNKNOWN")
    assert told["hash"] is None and told["finding_count"] == before["finding_count"] + 1
    assert told["findings"][0]["code"] == "ROLE_UNKNOWN"


def test_a_warning_of_the_tenant_leaves_the_hash_and_comes_after_the_errors() -> None:
    before = json.loads(report())
    assert add(report(), "ACTION_NOT_LOADED_HERE")["hash"] == before["hash"]
    codes = [
        finding["code"] for finding in add(report(), "ACTION_NOT_LOADED_HERE", "ROLE_UNKNOWN")["findings"]
    ]
    assert codes.index("ROLE_UNKNOWN") < codes.index("ACTION_NOT_LOADED_HERE")


def test_the_list_is_bounded_and_the_count_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_report, "MAX_FINDINGS", 1)
    told = add(report(), "ACTION_NOT_LOADED_HERE", "ROLE_UNKNOWN")
    assert [finding["code"] for finding in told["findings"]] == ["ROLE_UNKNOWN"]
    assert told["finding_count"] >= 2
