"""Hypothesis strategies over random contracts, patches, automations and the events of their instances.

Each draws a number that makes the same thing in every process. SIGNET_FUZZ_EXAMPLES asks for more examples
than a quick run's, and then for new ones each time.
"""

import os
from functools import lru_cache
from random import Random

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from signet.core.compiler.artifact import Artifact
from signet.core.runtime.workflow import Workflow
from tests.support.generated.workflows import WorkflowCase, make_case

_EXAMPLES = int(os.environ.get("SIGNET_FUZZ_EXAMPLES", "0"))

# A quick run takes its workflows from a few hundred, compiled once for all tests of a process.
_QUICK_WORKFLOWS = 300
seeds = st.integers(0, 2**32 - 1 if _EXAMPLES else _QUICK_WORKFLOWS - 1)
numbers = st.integers(0, 2**32 - 1)


def fuzz(examples: int, *, shrinks: bool = True) -> settings:
    """Return the settings. Tests with a database do not shrink a failure, because its seed says enough."""
    return settings(
        max_examples=_EXAMPLES or examples,
        phases=[phase for phase in Phase if shrinks or phase is not Phase.shrink],
        derandomize=not _EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def make(seed: int) -> WorkflowCase:
    return make_case(Random(seed))


@lru_cache(maxsize=_QUICK_WORKFLOWS)
def compile_seed(seed: int) -> Artifact:
    compilation = make(seed).compile()
    assert compilation.artifact is not None, compilation.findings
    return compilation.artifact


@lru_cache(maxsize=_QUICK_WORKFLOWS)
def load_seed(seed: int) -> Workflow:
    return Workflow(compile_seed(seed))
