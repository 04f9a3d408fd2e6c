"""`signet run`: everything on one machine, stopped together."""

import os
import sys
from pathlib import Path

from signet.local.parent import end_with_parent as arm_end_with_parent
from signet.local.postgres import PostgresFailed
from signet.local.runner import run_signet


def run(*, port: int, state: Path, end_with_parent: bool) -> None:
    if end_with_parent:
        arm_end_with_parent()
    try:
        run_signet(port=port, state=state, database_url=os.environ.get("SIGNET_DATABASE_URL") or None)
    except PostgresFailed as error:
        print(f"signet: {error}", file=sys.stderr)
        raise SystemExit(1) from None
