"""The CDK app. `cdk synth -c environment=dev` picks the environment."""

from aws_cdk import App, Tags

from infra.environments import ENVIRONMENTS
from infra.stacks.data import DataStack


def build_app(app: App) -> App:
    name = app.node.try_get_context("environment") or "dev"
    if name not in ENVIRONMENTS:
        raise SystemExit(f"-c environment= must be one of {', '.join(ENVIRONMENTS)}, not {name!r}")
    DataStack(app, f"signet-{name}-data", ENVIRONMENTS[name])
    Tags.of(app).add("system", "signet")
    Tags.of(app).add("environment", name)
    return app


if __name__ == "__main__":
    build_app(App()).synth()
