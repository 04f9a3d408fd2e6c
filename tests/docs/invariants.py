"""The sections of docs/invariants.md: the sentence of WF-01 to WF-16, and the code that enforces each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from tests.mutants.mutation import Mutation
from tests.mutants.table import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "shared" / "signet"
WIDTH = 120


@dataclass(frozen=True)
class Invariant:
    number: int
    sentence: str
    # Below shared/signet.
    modules: Sequence[str]
    # Names that migrations/schema.sql has.
    sql: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"WF-{self.number:02}"

    @property
    def test_file(self) -> Path:
        """The one file that carries the invariant's number."""
        (path,) = (ROOT / "tests").rglob(f"test_wf_{self.number:02}_*.py")
        return path

    @property
    def mutations(self) -> Sequence[Mutation]:
        return [mutation for mutation in MUTATIONS if mutation.invariant == self.number]


INVARIANTS = (
    Invariant(
        1,
        "One transaction at a time moves an instance. Another transaction skips it, which costs no attempt.",
        ("engine/execution/wave.py", "store/outbox/queue.sql"),
        ("open_wave",),
    ),
    Invariant(
        2,
        "A node is executed once for an instance, a token and a version of the document. The steps decide "
        "what has happened, even where the row of the instance says otherwise.",
        ("core/runtime/idempotency_keys.py", "engine/execution/wave.py", "engine/execution/worker.py"),
        ("workflow_step_receipts_pkey", "write_steps"),
    ),
    Invariant(
        3,
        "An approval is given for one version of a document, by people who may decide, and a gate uses it "
        "up once. An edit takes an unused approval away.",
        (
            "core/approvals/eligibility.py",
            "core/approvals/votes.py",
            "engine/approvals/decide.py",
            "engine/approvals/requests.py",
            "engine/execution/nodes/lifecycle_gate.py",
        ),
        ("approval_requests_by_step", "approval_decisions_tenant_id_request_id_stage_position_key"),
    ),
    Invariant(
        4,
        "While its triggers stand, the database refuses every change to a published contract or definition,"
        " even by the owner.",
        (),
        (
            "reject_published_definition_mutation",
            "reject_default_definition_mutation",
            "reject_published_contract_mutation",
            "restrict_status_regression",
        ),
    ),
    Invariant(
        5,
        "An instance notices every version of its document that it did not make itself. In a stable "
        "region it pauses with `WORKFLOW_VERSION_DRIFT`. Elsewhere, work in progress goes back to where "
        "its way began.",
        ("core/runtime/document_changes.py", "core/runtime/projection.py", "engine/documents/decide.py"),
    ),
    Invariant(
        6,
        "The nodes and edges of a tenant stay inside one declared slot. They touch the envelope only at "
        "the ends of the slot.",
        ("core/compiler/slot_graph.py", "core/compiler/merge.py"),
    ),
    Invariant(
        7,
        "The engine runs compiled workflows only: whole, with the hash of the stored bytes, and made by a "
        "compiler that it knows.",
        ("core/compiler/artifact.py", "engine/cache.py", "store/definitions/write.sql"),
        ("workflow_definitions_check2", "workflow_definitions_check3", "workflow_definitions_check4"),
    ),
    Invariant(
        8,
        "Every effective workflow holds the whole envelope of its contract, unaltered and in its order.",
        ("core/compiler/compiler.py", "core/compiler/soundness.py", "core/compiler/merge.py"),
    ),
    Invariant(
        9,
        "A workflow does nothing without a step. Each version, audit row, effect and ended request names "
        "its step, and the row of the step came first.",
        ("engine/execution/wave.py", "engine/execution/nodes/context.py"),
        ("write_steps",),
    ),
    Invariant(
        10,
        "Everything that leaves the system was first committed as a row of the outbox. The result is "
        "recorded on that row and on the step that waited.",
        ("engine/integrations/effects.py", "engine/dispatch/relay.py", "store/wake_ups.py"),
        ("workflow_side_effects_outbox",),
    ),
    Invariant(
        11,
        "An event counts once, however often it is written. Its receipt decides, even when its row is gone.",
        ("core/runtime/idempotency_keys.py", "engine/documents/rows.py"),
        ("workflow_outbox_receipts_pkey", "write_edits"),
    ),
    Invariant(
        12,
        "The same input compiles to the same bytes, on every machine and in any order.",
        ("core/canonical_json.py", "core/compiler/graph.py", "core/compiler/artifact.py"),
    ),
    Invariant(
        13,
        "Nodes are in topological order. Among equal nodes the smaller id comes first.",
        ("core/compiler/soundness.py",),
    ),
    Invariant(
        14,
        "A node acts only after the receipt and the row of its step were written.",
        ("engine/execution/wave.py",),
        ("write_steps",),
    ),
    Invariant(
        15,
        "The row of an instance follows from its steps alone. A rebuild gives the same row at every moment.",
        ("core/runtime/projection.py", "core/runtime/tokens.py", "engine/execution/rebuild.py"),
    ),
    Invariant(
        16,
        "A join fires once for each time that its split sent tokens out, in any order of arrival.",
        ("core/runtime/tokens.py", "core/runtime/idempotency_keys.py", "engine/execution/rows.py"),
        ("workflow_step_receipts_pkey",),
    ),
)


def write_invariants() -> Iterator[str]:
    for invariant in INVARIANTS:
        yield from (f"## {invariant.name}", "", *wrap(invariant.sentence, WIDTH), "")
        if invariant.modules:
            yield f"- Code: {_quote(invariant.modules)}"
        if invariant.sql:
            yield f"- SQL: {_quote(invariant.sql)}"
        yield "- Tests:"
        yield from (f"  - `{name}`" for name in _list_test_files(invariant))
        yield "- Mutants:"
        yield from (f"  - {mutation.name}" for mutation in invariant.mutations)
        if invariant is not INVARIANTS[-1]:
            yield ""


def _list_test_files(invariant: Invariant) -> Sequence[str]:
    """Return the invariant's own file first, then the others that its mutants must turn red."""
    own = str(invariant.test_file.relative_to(ROOT))
    files = {test.partition("::")[0] for mutation in invariant.mutations for test in mutation.tests}
    return [own, *sorted(files - {own})]


def _quote(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
