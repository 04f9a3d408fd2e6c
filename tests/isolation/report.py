"""Writes docs/isolation.md: the coverage of the matrix."""

from collections.abc import Sequence
from pathlib import Path

from tests.isolation.matrix import ROLES, Operation

REPORT = Path(__file__).parents[2] / "docs" / "isolation.md"


def write_report(operations: Sequence[Operation]) -> str:
    of_one = [one for one in operations if one.is_of_one_thing]
    cases = len(operations) * len(ROLES)
    roles = ", ".join(ROLES)
    rows = "\n".join(
        f"| `{one.method} {one.path}` | {_say_through(one)} | {len(ROLES)} |" for one in operations
    )
    return f"""# Isolation

`make isolation` makes this page from the OpenAPI document; `make check` runs every case.

People of another company call each of the {len(operations)} routes that want a token.
They do so in each of {len(ROLES)} roles ({roles}), and send everything that the victim has.
Those are {cases} cases; {len(of_one)} of the routes have an id or name in the path.

No answer may

- hold anything of the victim: an id that was not sent, or a text that only the victim has;
- differ from the answer for something that never existed: status, code and words are compared;
- change a row: all rows of the victim are the same afterwards, table by table.

As a control, the victim's own administrator sends the same GET requests and must find the data.
The victim's cursors and idempotency keys are tried on every list and every POST.

| route | another tenant's things come in by | roles |
|---|---|---|
{rows}
"""


def _say_through(one: Operation) -> str:
    ways = ["path"] if one.is_of_one_thing else []
    ways += ["body"] if one.has_body else []
    ways += ["cursor"] if one.is_list else []
    ways += ["idempotency key"] if one.method == "POST" else []
    return ", ".join(ways) or "the token alone"
