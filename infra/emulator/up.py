"""`make up-local`: the stacks on this machine until Ctrl-C, SIGTERM or the end of its parent."""

import signal
import sys
import threading

from infra.emulator.deploy import DeployFailed
from infra.emulator.emulator import EmulatorFailed
from infra.emulator.stack import EmulatedStack, running_stack
from signet.local.parent import end_with_parent
from signet.local.postgres import PostgresFailed


class _EmulatorStopped(Exception):
    """The end of the work in progress, and of everything that was started with it."""


def main() -> None:
    end_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        with running_stack(say=lambda text: print(text, flush=True)) as stack:
            _greet(stack)
            threading.Event().wait()
    except _EmulatorStopped:
        print("stopped", flush=True)
    except (DeployFailed, EmulatorFailed, PostgresFailed) as error:
        print(f"make up-local: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _stop(_number: int, _frame: object) -> None:
    # A second signal changes nothing, because the first one is already ending everything.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise _EmulatorStopped


def _greet(stack: EmulatedStack) -> None:
    member = stack.tenant.members[0]
    print(f"Signet is at {stack.api_url}")
    print(f"  with API keys at {stack.machine_url}")
    print(f"  tokens from {stack.emulator.issuer.url}/token, AWS at {stack.emulator.plan.gateway_url}")
    print(f"  what the functions say is in {stack.emulator.log}")
    print(f"As {member.display_name} of {stack.tenant.name} (for an hour):")
    print(f"  curl -H 'authorization: Bearer {stack.tokens[member.user_id]}' '{stack.api_url}/v1/health'")
    print("Ctrl-C stops it.", flush=True)


if __name__ == "__main__":
    main()
