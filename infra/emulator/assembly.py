"""Synthesizes the stacks for the emulator: `python -m infra.emulator.assembly <folder> <bundles> <settings>`.

They are those of every other environment. Only settings differ, which are given as JSON.
"""

import json
import sys
from pathlib import Path

from aws_cdk import App

from infra.app import build_app


def synthesize(assembly: Path, bundles: Path, settings: dict[str, object]) -> None:
    context = {
        "environment": "local",
        # The bundles are read in their place, and not copied.
        "aws:cdk:disable-asset-staging": True,
        **{f"signet:{name}": value for name, value in settings.items()},
    }
    build_app(App(outdir=str(assembly), context=context), bundles).synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
