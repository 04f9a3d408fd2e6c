"""The generated tables of docs/, each between two comments of a page that is written by hand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from signet.core.compiler.node_types import NODE_TYPES, NodeType
from signet.engine.housekeeping.verification import REBUILT, REBUILT_SENTENCE, TRAIL, TRAIL_SENTENCE
from signet.store.operations.invariants import INVARIANTS
from tests.docs.invariants import write_invariants
from tests.docs.sqlstates import write_sqlstates
from tests.support.repair.table import write_acts, write_ways_on
from tests.support.separation_of_duties import write_further_people, write_further_ways
from tests.support.ways.table import write_people, write_ways

DOCS = Path(__file__).resolve().parents[2] / "docs"


def renew(page: str, tables: Mapping[str, Callable[[], Iterator[str]]]) -> str:
    """Return the page with each of its tables written again."""
    for name, write in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, opened, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        assert opened and closed, f"the page has no place for the table {name}"
        page = before + begin + "\n".join(write()) + "\n" + end + after
    return page


def write_author_nodes() -> Iterator[str]:
    yield "| node | group | does | waits | outcomes | settings |"
    yield "|---|---|---|---|---|---|"
    for node in NODE_TYPES.values():
        if node.group:
            outcomes, settings = _list_outcomes(node), _list_settings(node)
            waits = _say_waits(node)
            yield f"| `{node.name}` | {node.group} | {node.summary} | {waits} | {outcomes} | {settings} |"


def write_compiler_nodes() -> Iterator[str]:
    yield "| node | does | waits | outcomes |"
    yield "|---|---|---|---|"
    for node in NODE_TYPES.values():
        if not node.group:
            yield f"| `{node.name}` | {node.summary} | {_say_waits(node)} | {_list_outcomes(node)} |"


def _say_waits(node: NodeType) -> str:
    return "yes" if node.waits else ""


def _list_outcomes(node: NodeType) -> str:
    required = _list_names(name for name in node.outcomes if name not in node.optional_outcomes)
    optional = _list_names(name for name in node.outcomes if name in node.optional_outcomes)
    return "; ".join(part for part in (required, f"optional {optional}" if optional else "") if part)


def _list_settings(node: NodeType) -> str:
    fields = node.configuration.model_fields.items()
    return ", ".join(
        f"**`{field.alias or name}`**" if field.is_required() else f"`{field.alias or name}`"
        for name, field in fields
    )


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def write_stored_invariants() -> Iterator[str]:
    yield "| invariant | what it says |"
    yield "|---|---|"
    for invariant in INVARIANTS:
        yield f"| `{invariant.name}` | {invariant.sentence} |"
    yield f"| `{REBUILT}` | {REBUILT_SENTENCE} |"
    yield f"| `{TRAIL}` | {TRAIL_SENTENCE} |"


PAGES: Mapping[Path, Mapping[str, Callable[[], Iterator[str]]]] = {
    DOCS / "approvals.md": {
        "people of the table": write_people,
        "ways": write_ways,
        "further people": write_further_people,
        "further ways": write_further_ways,
    },
    DOCS / "authoring.md": {
        "nodes of authors": write_author_nodes,
        "nodes of the compiler": write_compiler_nodes,
    },
    DOCS / "operating.md": {"ways on": write_ways_on, "acts": write_acts},
    DOCS / "invariants.md": {"invariants": write_invariants},
    DOCS / "outages.md": {"sqlstates": write_sqlstates},
    DOCS / "verification.md": {"stored invariants": write_stored_invariants},
}
