"""The stage that each scene of repair stands on."""

from collections.abc import Iterator

import pytest

from tests.support.workflow_stage import WorkflowStage, standing_stage


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made
