"""The stacks of dev on an emulator: same templates, without what no emulator has.

Its Postgres asks for no token and speaks no TLS, one endpoint answers for all of AWS, and the functions run
on this machine's interpreter.
"""

from dataclasses import replace

from infra.environments.dev import DEV

LOCAL = replace(
    DEV,
    name="local",
    region="us-east-1",
    bundle="local",
    database_auth="url",
    uses_dual_stack_endpoints=False,
    closes_default_group=False,
    sweep_minutes=1,
    log_level="INFO",
)
