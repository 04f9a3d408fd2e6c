"""cdk-nag and CDK's own checks: nothing is found without an explanation in words."""

from collections.abc import Callable
from pathlib import Path

import pytest

from infra.environments import ENVIRONMENTS
from infra.settings_mistakes import list_missing
from tests.infra.conftest import make_bundles
from tests.support.cloud.templates import Assembly


@pytest.mark.parametrize("name", [*ENVIRONMENTS, "everything"])
def test_nothing_is_found(synthesize: Callable[[str], Assembly], name: str) -> None:
    assembly = synthesize(name)
    assert {report["pluginName"] for report in assembly.report["pluginReports"]} <= {"Construct Annotations"}
    # They are about files that are not filled in; `make deploy` stops there.
    missing = [] if name == "everything" else list_missing(ENVIRONMENTS[name])
    assert [said.rpartition(" [ack:")[0].partition(": ")[2] for said in assembly.warnings] == missing


def test_something_would_be_found(tmp_path: Path) -> None:
    """The checks are on: a bucket that is open to all is refused."""
    from aws_cdk import App, Stack, aws_s3

    from infra.app import build_app

    app = build_app(
        App(context={"environment": "local"}, outdir=str(tmp_path / "out")), make_bundles(tmp_path / "build")
    )
    stack = app.node.find_child("signet-local-messaging")
    assert isinstance(stack, Stack)
    aws_s3.Bucket(stack, "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
