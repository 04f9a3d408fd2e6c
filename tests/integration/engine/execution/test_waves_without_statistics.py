"""Waves and votes of sessions that planned while tables were empty, as each month's new partitions are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Applied, Create, Operation, RequestTransition
from signet.engine.documents.mutate import Documents
from signet.store.database import Database, PoolSettings
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import IS_POOLED, as_role
from tests.support.drained_waves import drain
from tests.support.workflow_stage import CALL, CallAnswer, WorkflowStage, standing_stage

# PostgreSQL 15 filters the rows of an UPDATE until its table is analysed; 16 and 17 were not tried.
LOOKS_UP_ARRAYS = 180_000
DOCUMENTS, FILLING, ROUNDS = 20, 100, 3
READ_MORE = 5.0  # entries for each document; one look at all of the tenant is 15
# Entries of rows that were done before stay in the indexes of what is due, until a vacuum.
READ = """
    SELECT sum(idx_tup_read)::integer FROM pg_stat_user_indexes WHERE indexrelname NOT LIKE '%%due%%'
"""
UNTENDED = """
    SELECT format('ALTER TABLE %%I SET (autovacuum_enabled = off)', relname) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


class Lives:
    """Documents from their creation to the end, each act of all of them together, in two sessions."""

    def __init__(self, stage: WorkflowStage, worker: Database, api: Database) -> None:
        self.reads = list[float]()
        self._stage, self._sessions = replace(stage, database=worker), (worker, api)
        node = {"id": "look", "type": "approval", "config": {"approvers": [role("finance")]}}
        self._type = stage.publish(approval={"nodes": [node]}, posting={"nodes": [CALL]})
        self._documents = Documents(api, stage.registry)
        self._approvals = Approvals(api, self._documents.caches)
        self._worker = self._stage.worker()

    def live(self, count: int) -> None:
        """Let so many documents live, and note how many entries of indexes each act has read for one."""
        self.reads = []
        made = self._mutate([Create(self._type, {"amount": 1}) for _ in range(count)])
        ids = [one.document_id for one in made]
        self._look(count, self._drain)
        self._mutate([RequestTransition(document_id, 1, "submit", "why") for document_id in ids])
        self._look(count, self._drain)
        asked = self._find("SELECT id FROM approval_requests WHERE document_id = ANY (%s)", ids)
        assert len(asked) == count
        self._look(count, lambda: self._vote(asked))
        self._look(count, self._drain)
        steps = self._find(
            "SELECT e.step_execution_id FROM workflow_side_effects_outbox e"
            " JOIN workflow_instances i ON i.id = e.instance_id WHERE i.entity_id = ANY (%s)",
            ids,
        )
        assert len(steps) == count
        answers = {step: CallAnswer() for step in steps}
        self._look(count, lambda: self._stage.answer_steps(answers))
        self._look(count, self._drain)
        ended = "SELECT id FROM workflow_instances WHERE status = 'completed' AND entity_id = ANY (%s)"
        assert len(self._find(ended, ids)) == count

    def _mutate(self, operations: Sequence[Operation]) -> list[Applied]:
        outcomes = self._documents.mutate_many(self._stage.standing.company.caller("carl"), operations)
        applied = [outcome for outcome in outcomes if isinstance(outcome, Applied)]
        assert len(applied) == len(operations)
        return applied

    def _drain(self) -> None:
        drain(self._worker, [self._stage.tenant_id])

    def _vote(self, asked: Sequence[UUID]) -> None:
        for request_id in asked:
            self._approvals.decide(self._stage.standing.company.caller("mona"), request_id, "approved")

    def _look(self, count: int, act: Callable[[], None]) -> None:
        before = self._count_entries()
        act()
        self.reads.append((self._count_entries() - before) / count)

    def _count_entries(self) -> int:
        for session in self._sessions:
            with session.tenantless_transaction() as connection:
                connection.execute("SELECT pg_stat_force_next_flush()")
        self._stage.standing.run("SELECT pg_stat_force_next_flush()")
        (read,) = self._stage.standing.row(READ)
        return int(read)

    def _find(self, query: str, ids: Sequence[UUID]) -> list[UUID]:
        return [row[0] for row in self._stage.standing.admin.execute(query, [ids]).fetchall()]


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(
                connection, made.tenant_id, (Role(role="finance", permissions=("*:approve",)),), COMMAND_LINE
            )
            people = {"mona": ("finance",), "carl": ("clerk", "admin")}
            members = [Member(user_id=name, display_name=name, roles=held) for name, held in people.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        for (statement,) in made.standing.rows(UNTENDED):
            made.standing.admin.execute(statement)
        yield made


def test_a_wave_reads_no_more_where_its_plans_are_older_than_the_rows(stage: WorkflowStage) -> None:
    if stage.standing.admin.info.server_version < LOOKS_UP_ARRAYS:
        pytest.skip("this server looks up no arrays before a table was analysed")
    if IS_POOLED:
        pytest.skip("one session plans before, and asks afterwards")
    url = stage.standing.admin_url
    with (
        closing(Database(as_role(url, "signet_worker"), PoolSettings())) as worker,
        closing(Database(as_role(url, "signet_api"), PoolSettings())) as api,
    ):
        lives = Lives(stage, worker, api)
        lives.live(DOCUMENTS)
        first = lives.reads
        for _ in range(ROUNDS):
            lives.live(FILLING)
        lives.live(DOCUMENTS)
        assert all(now <= before + READ_MORE for before, now in zip(first, lives.reads, strict=True)), (
            first,
            lives.reads,
        )
