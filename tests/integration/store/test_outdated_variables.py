"""The statement about outdated variables: what it joins to the versions of a document is made once."""

from typing import Any
from uuid import uuid4

import psycopg

from signet.store.instances import outdated_variables
from signet.store.statements import Statements

STATEMENTS = Statements(outdated_variables.__file__)


def test_a_document_of_many_edits_is_read_once_for_each(admin: psycopg.Connection[Any]) -> None:
    """Whatever the statistics say: else the lists would be made again for each version."""
    place = {"tenant_id": uuid4(), "entity_type": "invoice", "document_id": uuid4()}
    values = place | {"data": "{}", "variables": "[]", "edits": "[]"}
    plan = admin.execute(f"EXPLAIN {STATEMENTS.list_outdated}".encode(), values).fetchall()
    text = "\n".join(line for (line,) in plan)
    assert "CTE Scan on known" in text and "CTE Scan on edited" in text
