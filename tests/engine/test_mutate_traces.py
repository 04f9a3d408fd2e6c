"""Values in places where they must not be: personal ones, and those of refused changes."""

from typing import Any

from psycopg import Connection

from signet.authoring.files import read_document
from signet.engine.documents.commands import Create, RequestTransition, Update
from tests.engine.conftest import EXAMPLES, INVOICE, Company

Admin = Connection[tuple[Any, ...]]


def find_word(admin: Admin, word: str) -> list[str]:
    """Return the tables in which any row contains the word."""
    tables = admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    ).fetchall()
    return [
        name
        for (name,) in tables
        if admin.execute(f"SELECT FROM {name} AS one WHERE one::text LIKE '%{word}%'".encode()).rowcount
    ]


def test_personal_values_are_in_one_table_after_every_operation(company: Company, admin: Admin) -> None:
    fields = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    home = {"type": "object", "personal": True, "fields": {"city": {"type": "string"}}}
    company.publish("invoice", version=2, fields={**fields, "home": home})
    looked = "entity.vendor_contact == 'x' || entity.home.city == 'x'"
    company.add_rule("looks", "after", looked, {"kind": "reject", "message": "no"})
    data = {**INVOICE, "vendor_contact": "Zacharias", "home": {"city": "Zachastadt"}}
    applied = company.documents.mutate(company.caller(), Create("invoice", data))
    caller = company.caller()
    company.documents.mutate(caller, Update(applied.document_id, 1, {"vendor_contact": "Zacharina"}))
    company.documents.mutate(caller, RequestTransition(applied.document_id, 2, "submit"))
    admin.execute("UPDATE workflow_instances SET edit_window = 'amend_only'")
    change = {"vendor_contact": "Zacharelle", "home": {"city": "Zachaburg"}, "grand_total": 5}
    company.documents.mutate(caller, Update(applied.document_id, 2, change))
    assert find_word(admin, "Zacha") == ["personal_values"]
    step = admin.execute("SELECT output_json -> 'diff' FROM workflow_step_executions").fetchone()
    assert step == (
        {
            "grand_total": {"before": 60000, "after": 5},
            "vendor_contact": "(personal)",
            "home": "(personal)",
        },
    )


def test_a_rule_sets_nothing_where_no_version_is_made(company: Company, admin: Admin) -> None:
    """Ask for a transition, which changes no document: no business key may move for it."""
    renaming = {"kind": "set", "values": {"number": "R-other"}}
    company.add_rule("renames", "before", "entity.grand_total > 0", renaming, operations=["transition"])
    applied = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    company.documents.mutate(company.caller(), RequestTransition(applied.document_id, 1, "submit"))
    assert admin.execute("SELECT value FROM document_keys").fetchall() == [("R-1",)]
    assert admin.execute("SELECT data ->> 'number', version FROM documents").fetchall() == [("R-1", 1)]
