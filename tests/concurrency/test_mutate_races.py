"""Writers race on one document: versions without gaps, nothing lost, every loser told the current version."""

import threading
from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest

from tests.engine.callers import Report, make_caller, processes, write_from_process, write_often
from tests.engine.standing_company import IS_CAMPAIGN, CompanyWithWorkers, standing_company

THREADS, THREAD_ROUNDS = 2, 500
PROCESSES, PROCESS_ROUNDS = 8, 125 if IS_CAMPAIGN else 40
JOIN_SECONDS = 120


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


def check_race(
    standing: CompanyWithWorkers, document_id: UUID, reports: Sequence[Report], expected: int
) -> None:
    assert sum(written for written, _ in reports) == expected
    assert sum(conflicts for _, conflicts in reports) > 0, "nobody met anybody: this was no race"
    (version, data) = standing.row("SELECT version, data FROM documents WHERE id = %s", document_id)
    assert version == expected + 1
    snapshots = standing.rows(
        "SELECT version, snapshot::json -> 'data' ->> 'cost_center' FROM document_versions"
        " WHERE document_id = %s ORDER BY version",
        document_id,
    )
    assert [number for number, _ in snapshots] == list(range(1, expected + 2))
    # Every acknowledged write is a version of its own.
    assert len({text for _, text in snapshots}) == expected + 1
    assert data["cost_center"] == snapshots[-1][1]
    chain = standing.rows(
        "SELECT seq, previous_hash, hash FROM audit_log WHERE subject_id = %s ORDER BY seq", str(document_id)
    )
    assert [seq for seq, _, _ in chain] == list(range(1, expected + 2))
    assert [previous for _, previous, _ in chain[1:]] == [own for _, _, own in chain[:-1]]
    (events,) = standing.row(
        "SELECT count(*) FROM workflow_events_outbox WHERE instance_id ="
        " (SELECT id FROM workflow_instances WHERE entity_id = %s)",
        document_id,
    )
    assert events == expected + 1


def test_two_threads_race_a_thousand_times(standing: CompanyWithWorkers) -> None:
    company, document_id = standing.company, standing.create().document_id
    reports: list[Report] = []

    def write(name: str) -> None:
        caller = make_caller(company.tenant_id, name)
        reports.append(write_often(company.documents, caller, document_id, THREAD_ROUNDS))

    threads = [threading.Thread(target=write, args=[f"writer-{n}"], daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_SECONDS)
    check_race(standing, document_id, reports, THREADS * THREAD_ROUNDS)


def test_eight_processes_race(standing: CompanyWithWorkers) -> None:
    context, document_id = processes(), standing.create().document_id
    queue = context.SimpleQueue()
    writers = [
        context.Process(
            target=write_from_process,
            args=(
                standing.api_url,
                standing.company.tenant_id,
                f"writer-{n}",
                document_id,
                PROCESS_ROUNDS,
                queue,
            ),
            daemon=True,
        )
        for n in range(PROCESSES)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(JOIN_SECONDS)
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    reports = [queue.get() for _ in writers]
    check_race(standing, document_id, reports, PROCESSES * PROCESS_ROUNDS)
