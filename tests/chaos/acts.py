"""The acts of chaos on a town: it kills processes, the server and its sessions. Each act takes a moment."""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from types import MappingProxyType

import psycopg

from tests.chaos.town import Process, Town

SESSIONS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = 'chaos' AND pid <> pg_backend_pid()"
    " ORDER BY random() LIMIT 1"
)
ENDED = "SELECT pg_terminate_backend(%s)"
MOST_DOWN_SECONDS, MOST_STOPPED_SECONDS = 2.0, 2.0
# How Postgres is shut down: killed, at once, or with its sessions ended first.
SHUTDOWNS = (signal.SIGKILL, signal.SIGQUIT, signal.SIGINT)
Act = Callable[[Town, Random], str]


def _choose(town: Town, chance: Random) -> Process:
    return chance.choice(town.processes)


def kill_a_process(town: Town, chance: Random) -> str:
    process = _choose(town, chance)
    process.kill()
    return f"kill {process.module.rpartition('.')[2]}"


def kill_the_api(town: Town, chance: Random) -> str:
    """Kill the process that callers talk to; they send again what had no answer."""
    chance.choice(town.apis).kill()
    return "kill the api"


def stop_a_process(town: Town, chance: Random) -> str:
    """Stop a process in the middle of what it does, longer than its leases last."""
    process = _choose(town, chance)
    if not process.has_ended():
        process.send(signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, MOST_STOPPED_SECONDS))
        process.send(signal.SIGCONT)
    return f"stop {process.module.rpartition('.')[2]}"


def shut_the_server_down(town: Town, chance: Random) -> str:
    number = chance.choice(SHUTDOWNS)
    os.kill(town.server.pid, number)
    time.sleep(chance.uniform(0.1, MOST_DOWN_SECONDS))
    ended = "" if town.tend_server() else ", which only SIGQUIT ended"
    return f"server {number.name}{ended}"


def end_a_session(town: Town, chance: Random) -> str:
    for (pid,) in town.ask(SESSIONS):
        town.ask(ENDED, pid)
    return "end a session"


def kill_a_session(town: Town, chance: Random) -> str:
    """Kill a child of the server, which then restarts by itself."""
    for (pid,) in town.ask(SESSIONS):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return "kill a session"


# Some come more often than others.
ACTS: Mapping[Act, int] = MappingProxyType(
    {
        kill_a_process: 6,
        kill_the_api: 2,
        stop_a_process: 2,
        shut_the_server_down: 2,
        end_a_session: 4,
        kill_a_session: 1,
    }
)


def do_something(town: Town, chance: Random) -> str:
    (act,) = chance.choices(list(ACTS), weights=list(ACTS.values()))
    try:
        return act(town, chance)
    except psycopg.OperationalError:
        return "the server was away"
