"""The CDK app: `cdk synth -c environment=dev`.

`-c signet:<setting>=…` changes one setting of that environment.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Annotations, App, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from infra.environments import ENVIRONMENTS
from infra.settings import EnvironmentSettings, SettingsRefused, override
from infra.settings_mistakes import list_missing, list_mistakes
from infra.stacks.app import AppStack, Neighbours
from infra.stacks.data import DataStack
from infra.stacks.messaging import MessagingStack
from infra.stacks.network import NetworkStack
from infra.stacks.observability import ObservabilityStack

ROOT = Path(__file__).resolve().parents[1]
BUNDLES = ROOT / "build"


def build_app(app: App, bundles: Path = BUNDLES) -> App:
    settings = read_settings(app)
    mistakes = list_mistakes(settings)
    if mistakes:
        raise SettingsRefused(mistakes)
    for name, value in read_flags().items():
        app.node.set_context(name, value)
    # A value that one stack takes from another cannot be taken away while it is used.
    app.node.set_context("@aws-cdk/core:defaultCrossStackReferences", "strong")
    network = NetworkStack(app, settings)
    data = DataStack(app, settings, network)
    messaging = MessagingStack(app, settings)
    others = Neighbours(network, data, messaging)
    functions = AppStack(app, settings, others, bundles / settings.bundle)
    ObservabilityStack(app, settings, others, functions)
    # `--strict`, with which `make deploy` calls CDK, refuses each of them before anything is made.
    for missing in list_missing(settings):
        Annotations.of(functions).add_warning_v2(
            f"signet:{missing.partition(' ')[0]}", f"infra/environments/{settings.name}.py: {missing}"
        )
    for key, value in {"system": "signet", "environment": settings.name}.items():
        # CloudFormation takes no tags there, although CDK writes them.
        Tags.of(app).add(key, value, exclude_resource_types=["AWS::RDS::DBProxyTargetGroup"])
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def read_flags() -> Mapping[str, Any]:
    """Read how CDK is to behave: all that its release recommends, wherever the app is synthesized."""
    flags: Mapping[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return flags


def read_settings(app: App) -> EnvironmentSettings:
    name = app.node.try_get_context("environment") or "dev"
    if name not in ENVIRONMENTS:
        raise SystemExit(f"-c environment= must be one of {', '.join(ENVIRONMENTS)}, not {name!r}")
    context: Mapping[str, Any] = app.node.get_all_context()
    named = {key: value for key, value in context.items() if key.startswith("signet:")}
    return override(ENVIRONMENTS[name], named)


if __name__ == "__main__":
    build_app(App()).synth()
