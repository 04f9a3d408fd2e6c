"""The database of `signet run` in this folder: commands use it where they are told no other."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from signet.core.explain.vocabulary import escape
from signet.local.member_token import LOCAL, find_local_database
from signet.local.postgres import PostgresFailed

_OPTION, _VARIABLE, _STATE = "--database-url", "SIGNET_DATABASE_URL", Path(".signet")


def use_local_database(words: Sequence[str]) -> None:
    """Name the database that runs in `.signet`, where neither a word nor the environment names one.

    It listens on the loopback alone, and its password is readable for the owner of the folder only.
    """
    if any(word.startswith(_OPTION) for word in words) or os.environ.get(_VARIABLE):
        return
    if os.environ.get("SIGNET_ENVIRONMENT", LOCAL) != LOCAL:
        return
    try:
        url = find_local_database(_STATE)
    except PostgresFailed as error:
        print(f"signet: {escape(str(error))}".encode("ascii", "backslashreplace").decode(), file=sys.stderr)
        return
    if url is not None:
        os.environ[_VARIABLE] = url
        print(f"signet: on the database that runs in {_STATE}", file=sys.stderr)
