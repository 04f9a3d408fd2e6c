"""`mutate()` is the only code that writes documents: by grants, by statements, and by imports."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import Connection

import signet
from signet.store.statements import read_statements
from tests.support.database.catalogue import RUNTIME_ROLES

Admin = Connection[tuple[object, ...]]
SOURCES = Path(signet.__file__).parent
WRITE_SQL = SOURCES / "store/documents/write.sql"
WRITERS = ("signet_api", "signet_worker")
GUARDED = ("documents", "document_versions", "document_keys", "transition_requests", "personal_values")
WRITING_FUNCTIONS = frozenset(
    {"write_batch", "_make_edits", "reserve_business_keys", "_take_over_keys", "write_editors"}
)
# Table → privileges that runtime roles have beyond reading.
GRANTS = {
    "documents": {"INSERT", "UPDATE"},
    "document_versions": {"INSERT"},
    "document_keys": {"INSERT", "DELETE"},
    "transition_requests": {"INSERT", "UPDATE"},
    "personal_values": {"INSERT", "UPDATE"},
}
# People and their keys ask for transitions, and steps ask for none. Nor does a step erase personal values.
NOT_GRANTED = {
    ("signet_worker", "transition_requests"): {"INSERT"},
    ("signet_worker", "personal_values"): {"UPDATE"},
}
# Each exception has its reason.
STATEMENTS_ELSEWHERE = {
    (
        "documents/personal_values",
        "erase_values",
    ): "erasure takes values away and makes no version: hashes stay as they are",
    (
        "operations/housekeeping",
        "purge_documents",
    ): "takes away what a deleted document said, and makes no version",
}
# This function has the owner's rights for these tables alone; the janitor writes no document itself.
PURGING = {"purge_documents": {"documents", "document_keys", "personal_values"}}
# This one writes the persons behind a refusal, and neither version nor status: a refused act writes no more.
HINDERING = {"keep_hinderers": {"documents"}}
# Functions of the database that write them with the rights of their caller: a call is a write.
ROUTINES = {"write_edits": {"documents", "document_versions"}}
_TARGET = re.compile(
    r"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?|COPY)\s+(?:ONLY\s+)?"
    r"(?:public\s*\.\s*)?\"?(\w+)",
    re.IGNORECASE,
)


def find_written(statement: str) -> set[str]:
    without_comments = re.sub(r"--.*$", "", statement, flags=re.MULTILINE)
    written = {name.lower() for name in _TARGET.findall(without_comments)} & set(GUARDED)
    for routine, tables in (ROUTINES | PURGING).items():
        if re.search(rf"\b{routine}\s*\(", without_comments, re.IGNORECASE):
            written |= tables
    return written


def find_texts(source: str) -> Iterator[str]:
    """Yield every text in the code that is no docstring."""
    tree = ast.parse(source)
    holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def find_writer_uses(source: str) -> set[str]:
    """Return the writing functions of store.documents.write that a module imports or reaches."""
    used: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "signet.store.documents.write":
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "signet.store.documents":
            used |= {"*" for alias in node.names if alias.name == "write"}
        elif isinstance(node, ast.Import):
            used |= {"*" for alias in node.names if alias.name == "signet.store.documents.write"}
    return used & {*WRITING_FUNCTIONS, "*"}


@pytest.mark.parametrize("table", GUARDED)
def test_who_may_write(admin: Admin, table: str) -> None:
    """A privilege may be held directly, through PUBLIC, or through a role that they are members of."""
    for role in RUNTIME_ROLES:
        held = {
            privilege
            for privilege in ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
            if admin.execute(
                "SELECT has_table_privilege(%(role)s, %(table)s, %(privilege)s)"
                " OR (%(privilege)s IN ('INSERT', 'UPDATE', 'REFERENCES')"
                " AND has_any_column_privilege(%(role)s, %(table)s, %(privilege)s))",
                {"role": role, "table": table, "privilege": privilege},
            ).fetchone()
            == (True,)
        }
        granted = GRANTS[table] if role in WRITERS else set()
        assert held == granted - NOT_GRANTED.get((role, table), set()), role


def test_nobody_deletes_documents(admin: Admin) -> None:
    roles = admin.execute(
        "SELECT rolname FROM pg_roles WHERE NOT rolsuper AND rolname <> 'signet_owner'"
        " AND rolname NOT LIKE 'pg\\_%' AND (has_table_privilege(rolname, 'documents', 'DELETE')"
        " OR has_table_privilege(rolname, 'documents', 'TRUNCATE'))"
        " AND NOT pg_has_role(rolname, 'signet_owner', 'MEMBER')"
    ).fetchall()
    assert roles == []


def test_no_function_of_the_database_writes_documents_for_others(admin: Admin) -> None:
    functions = admin.execute(
        "SELECT proname, coalesce(prosrc, ''), prosecdef, ARRAY(SELECT r FROM unnest(%s::text[]) r"
        " WHERE has_function_privilege(r, oid, 'EXECUTE')) FROM pg_proc"
        " WHERE pronamespace = 'public'::regnamespace",
        [RUNTIME_ROLES],
    ).fetchall()
    writing = {str(name): rest for name, body, *rest in functions if find_written(str(body))}
    assert writing == {
        **{name: [True, list(WRITERS)] for name in ROUTINES},
        **{name: [True, ["signet_janitor"]] for name in PURGING},
        **{name: [True, list(WRITERS)] for name in HINDERING},
    }
    owned = ROUTINES | PURGING | HINDERING
    bodies = {str(name): find_written(str(body)) for name, body, *_ in functions}
    assert {name: bodies[name] for name in owned} == owned


def test_no_statement_elsewhere_writes_them() -> None:
    found = {
        (path.relative_to(SOURCES / "store").with_suffix("").as_posix(), name)
        for path in (SOURCES / "store").rglob("*.sql")
        for name, statement in read_statements(str(path)).items()
        if path != WRITE_SQL and find_written(statement)
    }
    assert found == set(STATEMENTS_ELSEWHERE)
    assert all(STATEMENTS_ELSEWHERE.values())


def test_documents_sql_writes_them() -> None:
    written = {table for text in read_statements(str(WRITE_SQL)).values() for table in find_written(text)}
    assert written == set(GUARDED)


def test_no_code_carries_such_a_statement() -> None:
    folders = [SOURCES, SOURCES.parents[1] / "functions"]
    found = [
        f"{path.name}: {text[:80]}"
        for folder in folders
        for path in folder.rglob("*.py")
        for text in find_texts(path.read_text(encoding="utf-8"))
        if find_written(text)
    ]
    assert found == []


def test_only_the_use_case_imports_the_writers() -> None:
    users = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if find_writer_uses(path.read_text(encoding="utf-8"))
    }
    assert users and all(name.startswith("engine/documents/") for name in users), users


def test_every_writing_function_is_known() -> None:
    """A function of store.documents.write that uses a writing statement is one of the guarded ones."""
    writing = {name for name, text in read_statements(str(WRITE_SQL)).items() if find_written(text)}
    tree = ast.parse(WRITE_SQL.with_suffix(".py").read_text(encoding="utf-8"))
    functions = {
        function.name
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in writing
    }
    assert functions == WRITING_FUNCTIONS


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("update  Documents d SET x = 1", {"documents"}),
        ("WITH a AS (DELETE FROM ONLY public.document_keys) SELECT", {"document_keys"}),
        ('INSERT INTO "personal_values" VALUES (1)', {"personal_values"}),
        ("SELECT 1 FROM documents FOR NO KEY UPDATE", set()),
        ("-- UPDATE documents\nSELECT 1", set()),
        ("UPDATE documents_of_others SET x = 1", set()),
        ("SELECT write_edits (1)", {"documents", "document_versions"}),
    ],
)
def test_a_write_is_found(text: str, tables: set[str]) -> None:
    assert find_written(text) == tables


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("from signet.store.documents.write import DocumentRow, write_batch", {"write_batch"}),
        ("from signet.store.documents import write", {"*"}),
        ("import signet.store.documents.write as d", {"*"}),
        ("from signet.store.documents.write import DocumentRow", set()),
    ],
)
def test_a_use_is_found(source: str, used: set[str]) -> None:
    assert find_writer_uses(source) == used
