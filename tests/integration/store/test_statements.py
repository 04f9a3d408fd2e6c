"""Named statements: each prepares on the migrated database, each is used, and each use is known."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection

import signet.store
from signet.core.documents.list_filter import Operator, Scalar
from signet.core.errors import Defect
from signet.store.documents.lists import TYPE_OF, ColumnTerm, CursorPosition, Slice, write_list
from signet.store.outbox.queue import EFFECTS, EVENTS, QUEUES, fill
from signet.store.outbox.trigger_claims import CLAIM
from signet.store.statements import Statements, read_statements

STORE = Path(signet.store.__file__).parent
CONCEPTS = sorted(str(path.relative_to(STORE).with_suffix("")) for path in STORE.rglob("*.sql"))
# The server's PREPARE takes these kinds only; migrations test the rest by running it.
PREPARABLE = ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "WITH")


def prepare(connection: Connection[tuple[object, ...]], statement: str) -> None:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match["name"] not in names:
            names.append(match["name"])
        return f"${names.index(match['name']) + 1}"

    text = re.sub(r"%\((?P<name>\w+)\)s", number, statement).replace("%%", "%")
    connection.execute(f"PREPARE probe AS {text}".encode())
    connection.execute("DEALLOCATE probe")


def filled(concept: str) -> list[str]:
    """Return each statement as it is sent, those of the queues once for each queue."""
    statements = list(read_statements(str(STORE / concept)).values())
    if concept == "outbox/trigger_claims":
        return [CLAIM, fill(read_statements(str(STORE / concept))["list_claimed"], EVENTS)]
    if concept in ("outbox/queue", "outbox/measures", "outbox/effect_acts"):
        return [
            fill(statement, queue) for statement in statements for queue in QUEUES if fits(statement, queue)
        ]
    if concept == "documents/lists":
        return list(list_of_every_kind())
    return statements


def list_of_every_kind() -> Iterator[str]:
    """Yield every column with every operator, in every order, from the beginning and from a cursor on."""
    place: dict[str, Scalar] = {"text": "a", "bigint": 1, "timestamptz": datetime(2026, 1, 1, tzinfo=UTC)}
    operators: tuple[Operator, ...] = ("==", "<", "<=", ">", ">=", "in", "null", "not null")
    for column, is_descending in product((None, *TYPE_OF), (True, False)):
        value = place[TYPE_OF[column]] if column else None
        terms = [ColumnTerm(column or "status", each, None) for each in operators]
        asked = Slice("invoice", terms, [1], column, is_descending)
        for after in (None, CursorPosition(value, datetime(2026, 1, 1, tzinfo=UTC), UUID(int=1))):
            yield write_list(UUID(int=1), asked, after, 50).text
    yield read_statements(str(STORE / "documents/lists"))["list_contract_versions"]


def fits(statement: str, queue: object) -> bool:
    """Return whether the statement is for the queue: responses are of effects only."""
    return queue is EFFECTS or "response_json" not in statement


def find_used_names(source: str) -> set[str]:
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_SQL"
    }


def test_there_are_statements() -> None:
    assert {"tenants/tenants", "schema/migrations", "operations/health"} <= set(CONCEPTS)


@pytest.mark.parametrize("concept", CONCEPTS)
def test_names_in_the_file_and_names_used_agree(concept: str) -> None:
    source = (STORE / f"{concept}.py").read_text()
    if "read_explained_statements(__file__)" in source:
        return  # It takes every statement of its file.
    used = find_used_names(source)
    assert used == set(read_statements(str(STORE / concept)))


@pytest.mark.parametrize("concept", CONCEPTS)
def test_every_statement_prepares(concept: str, admin: Connection[tuple[object, ...]]) -> None:
    for statement in filled(concept):
        without_comments = re.sub(r"^\s*--.*$", "", statement, flags=re.MULTILINE).lstrip()
        if without_comments.upper().startswith(PREPARABLE):
            prepare(admin, statement)


def test_a_wrong_statement_does_not_prepare(admin: Connection[tuple[object, ...]]) -> None:
    with pytest.raises(psycopg.errors.UndefinedColumn):
        prepare(admin, "SELECT no_such_column FROM tenants WHERE tenant_id = %(tenant_id)s")


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"tenants\.sql has no statement 'find_nobody'"):
        _ = Statements(str(STORE / "tenants/tenants")).find_nobody


def test_unused_and_unknown_names_are_told_apart() -> None:
    assert find_used_names("_SQL.one; _SQL.two; other.three") == {"one", "two"}


def test_a_name_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "twice.sql").write_text("-- name: a\n-- One.\nSELECT 1\n-- name: a\n-- Two.\nSELECT 2\n")
    with pytest.raises(Defect, match="twice"):
        read_statements(str(tmp_path / "twice.py"))


@pytest.mark.parametrize("kind", ["name", "part"])
def test_a_statement_that_no_sentence_explains_is_an_error(tmp_path: Path, kind: str) -> None:
    (tmp_path / "mute.sql").write_text(f"-- name: a\n-- One.\nSELECT 1\n\n-- {kind}: b\nSELECT 2 -- Two.\n")
    with pytest.raises(Defect, match=r"no sentence says what b in mute\.sql does"):
        read_statements(str(tmp_path / "mute.py"))


def test_a_sentence_is_not_sent_and_a_part_is_filled_in(tmp_path: Path) -> None:
    text = (
        "-- part: p\n-- A part.\n1 AS one\n\n-- name: a\n-- One,\n-- in two lines: {p}.\nSELECT {p} -- {q}\n"
    )
    (tmp_path / "some.sql").write_text(text)
    assert read_statements(str(tmp_path / "some.py")) == {"a": "SELECT 1 AS one -- {q}"}
