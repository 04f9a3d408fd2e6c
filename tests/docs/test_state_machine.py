"""The drawings of `docs/state_machine.md` show what the database's triggers allow and what tokens do."""

import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from psycopg import Connection

from signet.core.runtime.decisions import Decision
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import Actor
from tests.integration.store.catalogue.test_invariants import (
    change_status,
    one_row_without_checks,
    publish_effective,
)
from tests.support.core.waiting_calls import begin_block
from tests.support.database.attacks import OWNER, STATUS_REGRESSION, filled_company
from tests.support.generated.histories import History
from tests.support.generated.strategies import load_seed
from tests.support.shared_company import CompanyWithWorkers

Arrows = set[tuple[str, str]]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "state_machine.md"
EDGE = "[*]"  # the begin or end of a life
TOKENS = "Tokens"
_SECTION = re.compile(r"^## `?(\w+)`?\n\n```mermaid\nstateDiagram-v2\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ARROW = re.compile(r" {4}(\w+|\[\*]) --> (\w+|\[\*])(?:: .+)?")
HISTORIES = 60


def read_drawings(text: str) -> dict[str, Arrows]:
    drawings = {}
    for name, drawing in _SECTION.findall(text):
        arrows = [_ARROW.fullmatch(line) for line in drawing.splitlines()]
        assert all(arrows), f"{name} has a line that is no arrow"
        drawings[name] = {(arrow[1], arrow[2]) for arrow in arrows if arrow}
        assert len(drawings[name]) == len(arrows), f"{name} has an arrow twice"
    return drawings


DRAWINGS = read_drawings(PAGE.read_text(encoding="utf-8"))
TABLES = sorted(DRAWINGS.keys() - {TOKENS})


def list_changes(arrows: Arrows) -> Arrows:
    return {(before, after) for before, after in arrows if EDGE not in (before, after)}


def list_states(arrows: Arrows) -> set[str]:
    return {state for arrow in arrows for state in arrow} - {EDGE}


def read_triggers(admin: Connection[Any]) -> dict[str, Arrows]:
    """Return, for each table, the changes of status that its trigger lets through."""
    rows = admin.execute(
        "SELECT c.relname, encode(t.tgargs, 'escape') FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " WHERE t.tgfoid = 'restrict_status_regression'::regproc AND NOT c.relispartition"
    ).fetchall()
    return {
        table: {
            (before, after)
            for allowed in argument.removesuffix("\\000").split(";")
            for before, _, afters in [allowed.partition(">")]
            for after in afters.split(",")
        }
        for table, argument in rows
    }


def test_every_section_of_the_page_is_read() -> None:
    assert len(DRAWINGS) == PAGE.read_text(encoding="utf-8").count("stateDiagram-v2") > 1


def test_what_is_drawn_is_what_the_triggers_allow(admin: Connection[Any]) -> None:
    """Tables and arrows are compared in both directions."""
    drawn = {table: list_changes(DRAWINGS[table]) for table in TABLES}
    assert drawn == read_triggers(admin)


def test_every_status_is_drawn_and_begins_where_rows_do(admin: Connection[Any]) -> None:
    for table in TABLES:
        default, check = admin.execute(
            "SELECT pg_get_expr(d.adbin, d.adrelid), pg_get_constraintdef(k.oid) FROM pg_constraint k"
            " JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'status'"
            " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
            " WHERE k.conrelid = %s::regclass AND pg_get_constraintdef(k.oid) ~ '^CHECK \\(\\(status = ANY'",
            [table],
        ).fetchall()[0]
        assert set(re.findall(r"'(\w+)'::text", check)) == list_states(DRAWINGS[table]), table
        if default is not None:
            assert (EDGE, default.split("'")[1]) in DRAWINGS[table], table


@pytest.mark.parametrize("table", TABLES)
def test_a_life_ends_where_nothing_follows_and_every_state_can_be_reached(table: str) -> None:
    arrows = DRAWINGS[table]
    left = {before for before, _ in list_changes(arrows)}
    assert {before for before, after in arrows if after == EDGE} == list_states(arrows) - left
    reached = {after for before, after in arrows if before == EDGE}
    for _ in arrows:
        reached |= {after for before, after in arrows if before in reached}
    assert reached >= list_states(arrows)


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        publish_effective(made)  # for a row that is no default
        yield made


@pytest.mark.parametrize("table", TABLES)
def test_every_arrow_is_accepted_and_every_other_change_refused(
    standing: CompanyWithWorkers, table: str
) -> None:
    """Try as the table's owner; `store/catalogue/test_invariants.py` tries the same as everybody else."""
    with one_row_without_checks(standing, table) as connection:
        for before, after in permutations(sorted(list_states(DRAWINGS[table])), 2):
            expected = "" if (before, after) in DRAWINGS[table] else STATUS_REGRESSION
            assert change_status(connection, OWNER, table, before, after) == expected, (before, after)


def test_tokens_move_as_drawn() -> None:
    """Every arrow is taken in some random history, and no other ever."""
    assert list_states(DRAWINGS[TOKENS]) == set(TokenState)
    moved: Arrows = set()
    for seed in range(HISTORIES):
        history = History(load_seed(seed), Random(seed), interferes=seed % 2 == 1).run()
        for event in history.events:
            after = event.after.position.tokens
            moved |= {
                (state_of(event.before.get(token)), state_of(after.get(token)))
                for token in event.before.keys() | after.keys()
                if event.before.get(token) != after.get(token)
            }
    assert moved | {reject_failed_branch()} == DRAWINGS[TOKENS]


def reject_failed_branch() -> tuple[str, str]:
    """Cancel a failed branch of a block that waits for any: too rare for random histories."""
    execution = begin_block("any")
    [left, _] = execution.open.values()
    execution.end(left, Decision("error", reason="refused"), has_waited=True)
    [failed] = execution.projection.position.held()
    execution.cancel_token(failed, "not wanted", Actor("olga"))
    return failed.state.value, execution.projection.position.tokens[failed.id].state.value


def state_of(token: Token | None) -> str:
    return EDGE if token is None else token.state.value
