"""JSON as a literal: the server reads what was meant, however its session reads backslashes."""

import psycopg
import pytest
from psycopg.rows import scalar_row

from signet.store.json_values import to_json

Admin = psycopg.Connection[tuple[object, ...]]
ROWS = [{"text": "it's \\x1b \" ''; DROP TABLE documents; -- \n\t\\' ä € 🖋", "\\'": ["'", "\\", "\u0001"]}]


@pytest.mark.parametrize("reading", ["on", "off"])
def test_a_literal_says_what_the_rows_say(admin: Admin, reading: str) -> None:
    admin.execute(f"SET standard_conforming_strings = {reading}")
    admin.execute("SET escape_string_warning = off")
    cursor = psycopg.ClientCursor(admin, row_factory=scalar_row)
    assert cursor.execute("SELECT %(rows)s::json", {"rows": to_json(ROWS)}).fetchone() == ROWS


def test_a_parameter_says_what_the_rows_say(admin: Admin) -> None:
    with admin.cursor(row_factory=scalar_row) as cursor:
        assert cursor.execute("SELECT %(rows)s::json", {"rows": to_json(ROWS)}).fetchone() == ROWS


def test_a_plain_literal_is_no_longer_than_its_json(admin: Admin) -> None:
    """An escaped literal doubles each backslash, and each hash in a row has one."""
    rows = [{"hash": "\\x1b"}]
    assert psycopg.ClientCursor(admin).mogrify("%s", (to_json(rows),)) == f"'{to_json(rows).decode()}'"
