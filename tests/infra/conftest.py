"""The templates of each environment, synthesized once. Needs Node, as CDK does; CI must have it."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.cloud.templates import Assembly

NEEDS_NODE = ["test_data.py", "test_findings.py", "test_fronts.py", "test_functions.py", "test_messaging.py"]
NEEDS_NODE += ["test_network.py", "test_observability.py"]
if shutil.which("node") is None and not os.environ.get("CI"):
    collect_ignore = NEEDS_NODE

# All settings that are off in every file, switched on at once.
EVERYTHING = {
    "signet:mail_sender": "signet@mail.example",
    "signet:sends_sms": "true",
    "signet:api_domain_name": "api.signet.example",
    "signet:machine_domain_name": "machines.signet.example",
    "signet:certificate_arn": "arn:aws:acm:eu-central-1:000000000000:certificate/1",
    "signet:cors_origins": "https://a.example,https://b.example",
    "signet:alarm_emails": "oncall@mail.example",
    "signet:has_telemetry": "true",
    "signet:operator_role": "signet:operator",
    "signet:jwt_issuer": "https://login.acme.test/",
    "signet:jwt_keys_url": "https://login.acme.test/keys",
    "signet:account": "000000000000",
}


@pytest.fixture(scope="session")
def synthesize() -> Iterator[Callable[[str], Assembly]]:
    """Return a function of an environment's name; `everything` is production with every setting on."""
    os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
    from aws_cdk import App

    from infra.app import build_app

    with TemporaryDirectory() as folder:
        bundles = make_bundles(Path(folder) / "build")

        @cache
        def of(name: str) -> Assembly:
            more: dict[str, Any] = EVERYTHING if name == "everything" else {}
            environment = "prod" if name == "everything" else name
            context = {"environment": environment, "aws:cdk:disable-asset-staging": True, **more}
            app = build_app(App(context=context, outdir=str(Path(folder) / name)), bundles)
            # synth raises if cdk-nag finds anything without an explanation.
            made = app.synth()
            report = json.loads(Path(made.directory, "validation-report.json").read_text())
            templates = {stack.stack_name: stack.template for stack in made.stacks}
            warnings = [
                str(said.entry.data)
                for stack in made.stacks
                for said in stack.messages
                if said.level.name in ("WARNING", "ERROR")
            ]
            return Assembly(environment, templates, report, warnings)

        yield of


def make_bundles(folder: Path) -> Path:
    """Make empty bundles, because CDK wants to see them and templates do not depend on their content."""
    for target in ("lambda", "local"):
        (folder / target).mkdir(parents=True)
        for name in ("layer", "telemetry", "functions"):
            (folder / target / f"{name}.zip").write_bytes(f"{target} {name}".encode())
    return folder
