"""The differences of two compiled workflows, made and written where they are compared."""

import orjson

from signet.core.compiler.artifact import Artifact
from signet.core.diagrams.diff import describe_differences
from signet.core.diagrams.mermaid import draw_diff


def write_differences(before: Artifact, after: Artifact) -> str:
    """Return the differences as JSON."""
    return orjson.dumps(describe_differences(before.content, after.content)).decode()


def draw_differences(before: Artifact, after: Artifact) -> str:
    return draw_diff(before.content, after.content)
