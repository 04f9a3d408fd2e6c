"""The database of `signet run` in this folder: commands use it where they are told no other."""

import os
import sys
from pathlib import Path

from signet.cli.console import stop
from signet.local.member_token import LOCAL, find_local_database
from signet.local.postgres import PostgresFailed

_VARIABLE, _STATE = "SIGNET_DATABASE_URL", Path(".signet")


def use_local_database() -> None:
    """Name the database that runs in `.signet`, unless the environment names one or is not local.

    It listens on the loopback alone, and its password is readable for the owner of the folder only.
    """
    if os.environ.get(_VARIABLE) or os.environ.get("SIGNET_ENVIRONMENT", LOCAL) != LOCAL:
        return
    try:
        url = find_local_database(_STATE)
    except PostgresFailed as error:
        stop(str(error))
    if url is not None:
        os.environ[_VARIABLE] = url
        print(f"signet: on the database that runs in {_STATE}", file=sys.stderr)
