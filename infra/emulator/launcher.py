"""Starts ministack as this project needs it: `python -m infra.emulator.launcher <plan.json>`.

ministack's version is pinned exactly, because some of its inner parts are replaced.
"""

import os
import sys
import threading
from pathlib import Path

from infra.emulator.plan import ACCOUNT, EmulatorPlan, read_plan

# Seconds between two looks at what is due; ministack's own are 10.
_SCHEDULE_SECONDS = 1.0
# A message that arrives while ministack has just looked is taken up this much later.
_WAKE_GAP_SECONDS = 0.002


def main() -> None:
    plan = read_plan(Path(sys.argv[1]))
    _end_with_parent()
    _tell_ministack(plan)
    # Imported only now, because ministack reads the environment when it is imported.
    from ministack import app
    from ministack.services import eventbridge, lambda_svc, scheduler

    from infra.emulator.cloudformation import add_what_is_missing
    from infra.emulator.database_door import open_door
    from infra.emulator.execution import run_functions_as_lambda_does
    from infra.emulator.permissions import check_permissions_as_aws_does

    add_what_is_missing(plan)
    check_permissions_as_aws_does()
    run_functions_as_lambda_does(plan)
    eventbridge._SCHEDULER_TICK_INTERVAL = scheduler._SCHEDULE_TICK_INTERVAL = _SCHEDULE_SECONDS
    lambda_svc._ESM_IDLE_WAKE_GAP_SECONDS = _WAKE_GAP_SECONDS
    open_door(plan)
    sys.argv[1:] = []
    app.main()


def _end_with_parent() -> None:
    """End when the other end of standard input closes, which it does however our parent ends."""

    def wait() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _tell_ministack(plan: EmulatorPlan) -> None:
    os.environ.update(
        {
            "GATEWAY_PORT": str(plan.gateway_port),
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_REGION": plan.region,
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "AWS_ENDPOINT_URL": plan.gateway_url,
            # Every call is checked against the policies of its role.
            "AUTH": "true",
            "LOG_LEVEL": "INFO",
            # They listen on fixed ports, which another clone would use too.
            "IOT_MTLS_ENABLED": "false",
            "SFTP_ENABLED": "false",
            # ministack fetches an issuer's keys itself, and may trust the same authority as the functions.
            "SSL_CERT_FILE": str(plan.authority),
            "TMPDIR": str(plan.state),
            "S3_DATA_DIR": str(plan.state / "s3"),
        }
    )


if __name__ == "__main__":
    main()
