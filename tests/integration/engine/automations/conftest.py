"""A stage of its own for each module, for tests of automations."""

from collections.abc import Iterator

import pytest

from tests.support.workflow_stage import WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made
