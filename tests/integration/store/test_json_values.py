"""JSON and arrays as literals: the server reads what was meant, however its session reads backslashes."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import scalar_row

from signet.store.json_values import to_id_array, to_json, to_time_array

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


def test_an_array_says_the_same_ids_and_moments(admin: Admin) -> None:
    ids = [UUID(int=1), UUID(int=2**128 - 1)]
    zone = timezone(timedelta(hours=-9, minutes=-30))
    times = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC),
        datetime(2026, 1, 2, tzinfo=zone),
    ]
    for cursor in (psycopg.ClientCursor(admin), admin.cursor()):
        for listed in (ids, []):
            cursor.execute("SELECT %s::uuid[]", [to_id_array(listed)])
            assert cursor.fetchone() == (listed,)
        cursor.execute("SELECT %s::timestamptz[] = %s", [to_time_array(times), times])
        assert cursor.fetchone() == (True,)
