"""Edges for errors that are not taken, because a contract reads the documents: who publishes is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CONTRACT, WorkflowStage, standing_stage

STEP = {"id": "step", "type": "action", "config": {"action": "post", "run_as": "system"}}
SLOT = {
    "nodes": [STEP],
    "edges": [{"source": "step", "target": "out"}, {"source": "step", "target": "out", "on": "error"}],
    "exit": "join",
}
READS = {"number": {"type": "string"}}
DECIDING = {"separation_of_duties": {"deciding": ["submit"]}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def publish_patch_of(stage: WorkflowStage, vendor: str) -> list[tuple[str, str]]:
    base = {"entity_type": vendor, "envelope_version": 1}
    published = publish_patch(
        stage.standing.company, {"patch": "own", "base": base, "slots": {"checks": SLOT}}
    )
    found = [(finding.code, finding.place) for finding in published.findings]
    return [one for one in found if one[0] == "ERROR_EDGE_NOT_TAKEN"]


def publish_reader(stage: WorkflowStage, vendor: str, **ref: Any) -> list[tuple[str, str]]:
    """Publish a contract with a ref, after one that has none; return what is found of errors."""
    fields = {**CONTRACT["fields"], "vendor": {"type": "ref", "entity_type": vendor, **ref}}
    name = stage.publish()
    definitions, caller = stage.standing.company.definitions, stage.standing.company.caller()
    definitions.create_contract(caller, {**CONTRACT, "contract": name, "version": 2, "fields": fields})
    published = definitions.publish_contract(caller, name, 2)
    found = [(finding.code, finding.sentence) for finding in published.findings]
    return [one for one in found if one[0] == "ERROR_EDGE_READ"]


def test_who_publishes_the_edge_is_told(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    assert publish_patch_of(stage, vendor) == []
    publish_reader(stage, vendor)
    assert publish_patch_of(stage, vendor) == []
    publish_reader(stage, vendor, reads=READS)
    ((_, place),) = publish_patch_of(stage, vendor)
    assert place == "usr:checks:step"


def test_where_a_request_decides_the_edge_is_named_once(stage: WorkflowStage) -> None:
    vendor = stage.publish({**CONTRACT, **DECIDING})
    publish_reader(stage, vendor, reads=READS)
    assert len(publish_patch_of(stage, vendor)) == 1


def test_who_publishes_what_reads_the_document_is_told(stage: WorkflowStage) -> None:
    vendor = stage.publish(checks=SLOT)
    assert publish_reader(stage, vendor) == []
    ((_, sentence),) = publish_reader(stage, vendor, reads=READS)
    assert sentence == (
        f"The edges for errors of usr:checks:step in the workflow of '{vendor}' are not taken any more: this"
        " contract reads such documents, and nothing outside fails there."
    )


@pytest.mark.parametrize(
    "contract", [{**CONTRACT, **DECIDING}, CONTRACT], ids=["it is held", "none is drawn"]
)
def test_what_changes_for_no_edge_is_not_told(stage: WorkflowStage, contract: dict[str, Any]) -> None:
    drawn = {"checks": SLOT} if contract is not CONTRACT else {}
    vendor = stage.publish(contract, **drawn)
    assert publish_reader(stage, vendor, reads=READS) == []
    assert publish_reader(stage, "nowhere", reads=READS) == []
