"""docs/isolation.md: what the matrix covers."""

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

Made by `make isolation` from the OpenAPI document; `make check` runs it all. Each of the {len(operations)}
routes that want a token is called by people of another company in each of {len(ROLES)} roles ({roles}),
with everything that the victim has: {cases} cases, {len(of_one)} of the routes by an id or name in the path.
None may

- answer with anything of the victim: an id that was not sent, or a text that only the victim has;
- answer otherwise than for something that never was: status, code and words are compared;
- change a row: all rows of the victim are the same afterwards, table by table.

The victim's own administrator finds what is looked for, so that the matrix does not hold for want of
something to find. Cursors and idempotency keys of the victim are tried on every list and every POST.

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
