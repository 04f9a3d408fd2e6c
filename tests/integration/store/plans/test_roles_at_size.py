"""The pages of requests that ask a role: each costs the same, however many are open."""

import json
from typing import Any
from uuid import UUID

import pytest

from signet.engine.approvals.lost_approvers import MAX_SEATS_LOOKED_AT
from signet.store.approvals import requests
from signet.store.approvals.requests import MAX_HOLDERS_ASKED, list_asking
from signet.store.database import Database
from signet.store.statements import Statements
from tests.integration.store.plans.test_inbox_at_size import (
    ALL,
    FILL,
    OPEN_ALL,
    TENANT,
    Superuser,
    fill,
    scans_of_large_tables,
)

# Blocks of each request: itself, its document, its seats, its policy, its voters.
BLOCKS_OF_A_REQUEST = 40


@pytest.mark.parametrize("is_analysed", [False, True])
def test_a_page_of_a_hundred_thousand_is_a_page(
    database: Database, superuser: Superuser, is_analysed: bool
) -> None:
    fill(superuser, FILL)
    fill(superuser, OPEN_ALL)
    superuser.execute("UPDATE approval_seats SET holder_user_id = NULL, holder_role = 'finance'")
    superuser.execute("SET session_replication_role = origin")
    if is_analysed:
        superuser.execute("ANALYZE")
    middle = UUID(f"00000000-0000-7000-8000-{ALL // 2:012x}")
    asked = {"role": "finance", "user_id": None, "holders": MAX_HOLDERS_ASKED}
    values = {"tenant_id": TENANT, **asked, "limit": MAX_SEATS_LOOKED_AT}
    with database.transaction(TENANT) as connection:
        page = list_asking(connection, TENANT, "finance", None, after=middle, limit=MAX_SEATS_LOOKED_AT)
        assert [row.id.int - middle.int for row in page] == list(range(1, MAX_SEATS_LOOKED_AT + 1))
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {Statements(requests.__file__).list_asking}"
        found: Any = connection.execute(explain, {**values, "after": middle}).fetchone()
    plan = found[0][0]["Plan"]
    assert "Seq Scan" not in scans_of_large_tables(plan), json.dumps(plan, indent=1)
    blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    assert blocks < BLOCKS_OF_A_REQUEST * MAX_SEATS_LOOKED_AT
