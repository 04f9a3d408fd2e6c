"""The statement about outdated variables: the lists that it joins to versions of a document are made once."""

from typing import Any
from uuid import uuid4

import psycopg

from signet.store.instances import outdated_variables
from signet.store.statements import Statements

STATEMENTS = Statements(outdated_variables.__file__)


def test_a_document_of_many_edits_is_read_once_for_each(admin: psycopg.Connection[Any]) -> None:
    """Make no list again for each version, as the planner might by its statistics."""
    place = {"tenant_id": uuid4(), "entity_type": "invoice", "document_id": uuid4(), "instance_id": uuid4()}
    values = place | {"data": "{}", "variables": "[]", "edits": "[]"}
    plan = admin.execute(f"EXPLAIN {STATEMENTS.list_outdated}".encode(), values).fetchall()
    text = "\n".join(line for (line,) in plan)
    assert "CTE Scan on known" in text and "CTE Scan on edited" in text
