"""The stacks of dev on an emulator: the same templates, without the parts that the emulator lacks.

One endpoint answers for all of AWS, over IPv4. The functions run on this machine's interpreter.
"""

from dataclasses import replace

from infra.environments.dev import DEV

LOCAL = replace(
    DEV,
    name="local",
    region="us-east-1",
    bundle="local",
    uses_dual_stack_endpoints=False,
    closes_default_group=False,
    sweep_minutes=1,
    log_level="INFO",
)
