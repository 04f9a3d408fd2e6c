"""cdk-nag and CDK's own checks: nothing is found without an explanation in words."""

from collections.abc import Callable
from pathlib import Path

import pytest

from infra.environments import ENVIRONMENTS
from tests.infra.conftest import make_bundles
from tests.support.cloud.templates import Assembly


@pytest.mark.parametrize("name", [*ENVIRONMENTS, "everything"])
def test_nothing_is_found(synthesize: Callable[[str], Assembly], name: str) -> None:
    assembly = synthesize(name)
    assert assembly.report["pluginReports"] == []
    # This warning is about a file that is not filled in; `make deploy` stops there.
    assert [said for said in assembly.warnings if "names no jwt_issuer" not in said] == []
    assert len(assembly.warnings) == 1


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
