"""A server that refuses the Nth statement of a worker, a delivery, the relay, a task or a command.

Then all faults stop. Within a few moved leases nothing is undone, paused or dead, and what is stored agrees
with itself. With SIGNET_TEST_CAMPAIGN each state of the table is tried at each statement.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import LiteralString
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from signet.core.errors import SignetError
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.request_limits import DEFAULT_LIMITS
from signet.core.tenants.retention import Retentions
from signet.core.tenants.tenant_file import Member
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.access.waits import RequestWaits
from signet.engine.audit.export import export_bundle
from signet.engine.audit.trail import list_seals
from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.dispatch.relay import Relay
from signet.engine.documents.commands import Create, Update
from signet.engine.documents.mutate import Documents
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.housekeeping.runner import Housekeeping
from signet.engine.housekeeping.tasks import list_tasks
from signet.engine.housekeeping.verification import VerificationLimits, find_stored_violations
from signet.engine.instances.dead_effects import DeadEffects
from signet.engine.integrations.effects import Effects
from signet.engine.tenants.install import install_tenant
from signet.engine.tenants.look_alikes import list_look_alikes
from signet.engine.tenants.members import Members
from signet.engine.tenants.tenant_files import install_tenant_file
from signet.ids import make_id
from signet.store import database as database_module
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from tests.conftest import make_tenant_file
from tests.faults.refused_work import WORKED
from tests.support.automated_documents import automate
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import FROM_CLIENT, FROM_SERVER, Cut, Silence, WireProxy
from tests.support.effects import Answering, add_endpoint, come_due
from tests.support.injected_faults import STATES, codes_of, refuse, watching_openers
from tests.support.repair.contract import CONTRACT, LOOK_OF_BENCH, slot
from tests.support.repair.scene import RepairScene
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.stored_violations import list_violations
from tests.support.workflow_stage import CALL, Made, WorkflowStage, standing_stage

ROLES = ("signet_api", "signet_worker", "signet_janitor", "signet_owner")
MOST_STATEMENTS = 400
# Of longer commands the short form tries every tenth further statement.
EACH_OF_FIRST, FURTHER = 30, 1 if IS_CAMPAIGN else 10
# After so many leases everything must be done.
MOVED_LEASES = 6
UNDONE: LiteralString = (
    "SELECT 'trigger ' || status, error FROM workflow_events_outbox WHERE status <> 'completed'"
    " UNION ALL SELECT 'effect ' || status, error FROM workflow_side_effects_outbox"
    " WHERE status <> 'completed'"
    " UNION ALL SELECT 'instance ' || status, reason FROM workflow_instances WHERE status = 'paused'"
    " UNION ALL SELECT 'incident ' || code, message FROM incidents WHERE closed_at IS NULL"
)
OPEN: LiteralString = "SELECT id FROM approval_requests WHERE status = 'open' ORDER BY id"
TASKS = {task.name: task for task in list_tasks(Retentions(history_days=365))}


@dataclass
class WorkBench:
    """Documents with an approval and a call, and databases of each role behind the proxy."""

    scene: RepairScene
    proxy: WireProxy
    folder: Path
    # The type whose documents start an automation.
    watched_type: str
    databases: dict[str, Database] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    statement_seconds: float = 30.0

    @property
    def stage(self) -> WorkflowStage:
        return self.scene.stage

    def behind(self, role: str) -> Database:
        """Return the database in this role, behind the proxy, with a connection that is open."""
        if role not in self.databases:
            url = make_conninfo(
                act_as(self.stage.standing.admin_url, role),
                host="127.0.0.1",
                port=self.proxy.port,
                sslmode="prefer",
            )
            settings = PoolSettings(size=1, wait_seconds=5, statement_seconds=self.statement_seconds)
            self.databases[role] = Database(url, settings)
        return self.databases[role]

    def reopen(self, statement_seconds: float = 30.0) -> None:
        """Let a statement take so long from now on."""
        self.proxy.arm(None)
        for database in self.databases.values():
            database.close()
        self.databases, self.statement_seconds = {}, statement_seconds

    def connect(self) -> None:
        self.proxy.arm(None)
        for role in ROLES:
            with self.behind(role).tenantless_transaction():
                pass

    def submit(self) -> Made:
        made = self.stage.create(self.scene.entity_type, number=f"N-{next(self.numbers)}")
        self.stage.ask(made.id, "submit")
        return made

    def start_automation(self) -> None:
        self.stage.create(self.watched_type, number=f"N-{next(self.numbers)}")

    def approve(self) -> None:
        made = self.submit()
        self.stage.drain()
        self.scene.vote(made)
        self.stage.drain()

    def finish(self) -> None:
        """Let everything come to its end, while leases run out."""
        self.proxy.arm(None)
        for _ in range(MOVED_LEASES):
            self.stage.expire_leases()
            self.stage.make_due()
            self.stage.drain()
            for (request_id,) in self.stage.standing.rows(OPEN):
                self.scene.decide(request_id, "approved", "anna")
            come_due(self.stage)
            self.deliver(self.stage.database)
            self.stage.drain()
            if not self.stage.standing.rows(UNDONE):
                return

    def deliver(self, database: Database) -> None:
        worker = Effects(database, {"webhook": Answering()})
        while worker.work(self.stage.tenant_id):
            pass

    def dismiss(self) -> None:
        """Let a person who was asked lose the role, while another one has it."""
        self.save_ben(("bench", "voter"))
        self.submit()
        self.stage.drain()
        self.save_ben(("voter",))

    def save_ben(self, roles: tuple[str, ...]) -> None:
        operator = self.stage.standing.company.caller(f"operator_{next(self.numbers)}")
        ben = Member(user_id="ben", display_name="Ben", roles=roles)
        Members(self.scene.database).save(operator, ben, "active", reason="for once")

    # --- the work that is refused ---

    def work(self) -> None:
        worker = self.stage.worker(database=self.behind("signet_worker"))
        while worker.work(self.stage.tenant_id):
            pass

    def sweep(self) -> None:
        Relay(self.behind("signet_worker"), lambda woken: None).sweep()

    def keep_house(self, name: str) -> None:
        self.stage.standing.run(
            "UPDATE housekeeping_tasks SET next_due_at = now(), claim_id = NULL, lease_until = NULL"
        )
        Housekeeping(self.behind("signet_janitor"), [TASKS[name]]).run(60.0)

    def create_against_a_rule(self) -> None:
        self._be_refused(Create(self.scene.entity_type, {"number": f"N-{next(self.numbers)}", "amount": -1}))

    def edit_against_a_rule(self) -> None:
        """Be refused by what another person has written, who stands behind what was not done."""
        self._be_refused(Update(self.submit().id, 1, {"amount": -1}))

    def _be_refused(self, operation: Create | Update) -> None:
        documents = Documents(self.behind("signet_api"))
        (outcome,) = documents.mutate_many(self.stage.standing.company.caller(), [operation])
        assert getattr(outcome, "code", None) == "RULE_REJECTED"


@pytest.fixture(scope="module")
def bench(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkBench]:
    with standing_stage(server_url) as stage:
        parts = describe_url(stage.standing.admin_url)
        with WireProxy(parts["host"], int(parts["port"])) as proxy:
            scene = RepairScene(stage)
            scene.hire()
            scene.seat_bench()
            scene.publish(CONTRACT, {"checks": slot(LOOK_OF_BENCH), "booking": slot(CALL)})
            add_endpoint(stage)
            stage.add_rule(scene.entity_type, "positive", "entity.amount < 0", on="create")
            of_number = "entity.number != '' && entity.amount < 0"
            stage.add_rule(scene.entity_type, "fixed", of_number, on="update")
            watched = stage.publish()
            automate(stage, watched, {"on": "create"}, limits={"starts_per_minute": 1000})
            made = WorkBench(scene, proxy, tmp_path_factory.mktemp("bundles"), watched)
            made.submit()
            yield made
            for database in made.databases.values():
                database.close()


Act = Callable[[WorkBench], object]


def _nothing(bench: WorkBench) -> None:
    """Prepare nothing."""


# What is prepared before each try, and what is then refused.
JOBS: Mapping[str, tuple[Act, Act]] = MappingProxyType(
    {
        "wave": (WorkBench.submit, WorkBench.work),
        "start": (WorkBench.start_automation, WorkBench.work),
        "recheck": (WorkBench.dismiss, WorkBench.work),
        "delivery": (WorkBench.approve, lambda bench: bench.deliver(bench.behind("signet_worker"))),
        "relay": (
            WorkBench.submit,
            lambda bench: Relay(bench.behind("signet_worker"), lambda woken: None).sweep(),
        ),
        **{name: (_nothing, partial(WorkBench.keep_house, name=name)) for name in TASKS},
    }
)


def _install(bench: WorkBench) -> None:
    install_tenant(bench.behind("signet_api"), make_tenant_file(uuid4()), COMMAND_LINE)


def _install_file(bench: WorkBench) -> None:
    database, tenant = bench.behind("signet_api"), make_tenant_file(uuid4())
    install_tenant_file(database, read_command_line_caller(database, tenant.tenant_id), tenant)


def _export(bench: WorkBench) -> None:
    export_bundle(bench.behind("signet_api"), bench.stage.tenant_id, bench.folder / str(next(bench.numbers)))


def _rebuild(bench: WorkBench) -> None:
    (instance_id,) = bench.stage.standing.row("SELECT id FROM workflow_instances ORDER BY id LIMIT 1")
    rebuild_instance(bench.behind("signet_worker"), CompiledCache(), bench.stage.tenant_id, instance_id)


def _requeue(bench: WorkBench) -> None:
    acts = DeadEffects(bench.behind("signet_api"), bench.stage.caches(), CompiledCache())
    acts.requeue(bench.stage.standing.company.caller(), [make_id()])


def _verify(bench: WorkBench) -> None:
    database = bench.behind("signet_owner")
    limits = VerificationLimits(instances=2)
    list(find_stored_violations(database, CompiledCache(), bench.stage.tenant_id, limits))


def _wait(bench: WorkBench) -> None:
    waits = RequestWaits(bench.behind("signet_api"), DEFAULT_LIMITS)
    with waits.holding_place(bench.stage.standing.company.caller().principal, 0.0):
        bench.stage.standing.run("UPDATE request_waits SET expires_at = now()")


# What a person waits for: they are told the code of the state.
COMMANDS: Mapping[str, Act] = MappingProxyType(
    {
        "install": _install,
        "install file": _install_file,
        "export": _export,
        "seals": lambda bench: list_seals(bench.behind("signet_api"), bench.stage.tenant_id),
        "verify trail": lambda bench: verify_tenant(bench.behind("signet_api"), bench.stage.tenant_id),
        "verify": _verify,
        "look-alikes": lambda bench: list_look_alikes(bench.behind("signet_api"), bench.stage.tenant_id),
        "rebuild": _rebuild,
        "requeue": _requeue,
        "rejection": WorkBench.create_against_a_rule,
        "refused edit": WorkBench.edit_against_a_rule,
        "wait": _wait,
    }
)


def states_of(name: str, number: int) -> Sequence[str]:
    """Return the states for a statement: all of them, or one that is another for the next statement."""
    place = [*JOBS, *COMMANDS].index(name)
    return STATES if IS_CAMPAIGN else (STATES[(place + 5 * number) % len(STATES)],)


def attempt(act: Act, bench: WorkBench) -> str:
    """Return the code that the caller was told, or "done"."""
    try:
        act(bench)
    except SignetError as error:
        return error.code
    return "done"


def expect_all_done(bench: WorkBench) -> None:
    bench.finish()
    standing = bench.stage.standing
    assert standing.rows(UNDONE) == []
    assert list_violations(standing.admin_url, bench.stage.tenant_id, grace_seconds=0) == []


@pytest.mark.parametrize("name", JOBS)
def test_refused_work_is_done_when_the_faults_have_stopped(bench: WorkBench, name: str) -> None:
    prepare, act = JOBS[name]
    prepare(bench)
    act(bench)
    for number in range(1, MOST_STATEMENTS):
        for state in states_of(name, number):
            prepare(bench)
            bench.connect()
            bench.proxy.arm(refuse(number, state))
            said, refused = attempt(act, bench), bench.proxy.answered
            bench.proxy.arm(None)
            assert said in {"done", *codes_of(state)}, f"{name} at {number} with {state}"
        if refused == 0:
            assert number > 1
            expect_all_done(bench)
            return
    pytest.fail(f"{name} has no end")


@pytest.mark.parametrize("is_delivered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", JOBS if IS_CAMPAIGN else [name for name in JOBS if name not in TASKS])
def test_work_that_was_cut_off_is_done_when_the_faults_have_stopped(
    bench: WorkBench, name: str, is_delivered: bool
) -> None:
    prepare, act = JOBS[name]
    prepare(bench)
    act(bench)
    for number in range(1, MOST_STATEMENTS) if IS_CAMPAIGN else (1, 2, 3, 5, 8, 13):
        prepare(bench)
        bench.connect()
        bench.proxy.arm(Cut(FROM_CLIENT, number, is_delivered))
        said, backend = attempt(act, bench), bench.proxy.cut_backend
        assert said in ("done", "DATABASE_UNAVAILABLE", "OUTCOME_UNKNOWN"), f"{name} at {number}"
        if backend == 0:
            break
    expect_all_done(bench)


@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
@pytest.mark.parametrize("name", JOBS if IS_CAMPAIGN else ["wave", "delivery"])
def test_work_that_nobody_answers_is_done_when_the_faults_have_stopped(
    bench: WorkBench, monkeypatch: pytest.MonkeyPatch, name: str, direction: str
) -> None:
    monkeypatch.setattr(database_module, "BEYOND_STATEMENT_SECONDS", 0.2)
    bench.reopen(statement_seconds=0.5)
    prepare, act = JOBS[name]
    for number in range(1, MOST_STATEMENTS) if IS_CAMPAIGN else (2, 5, 9):
        prepare(bench)
        bench.connect()
        bench.proxy.arm(Silence(direction, number))
        said, backend = attempt(act, bench), bench.proxy.cut_backend
        assert said in ("done", "DATABASE_UNAVAILABLE", "OUTCOME_UNKNOWN"), f"{name} at {number}"
        if backend == 0:
            break
    bench.reopen()
    expect_all_done(bench)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_refused_command_says_why(bench: WorkBench, name: str) -> None:
    for number in [*range(1, EACH_OF_FIRST), *range(EACH_OF_FIRST, MOST_STATEMENTS, FURTHER)]:
        for state in states_of(name, number):
            bench.connect()
            bench.proxy.arm(refuse(number, state))
            said, refused = attempt(COMMANDS[name], bench), bench.proxy.answered
            bench.proxy.arm(None)
            assert said in ({"done", *codes_of(state)} if refused else {"done"}), f"{name} at {number}"
        if refused == 0:
            assert number > 1
            return
    pytest.fail(f"{name} has no end")


def test_the_work_that_is_tried_opens_transactions_in_these_modules(
    bench: WorkBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watching_openers(monkeypatch) as seen:
        for prepare, act in JOBS.values():
            prepare(bench)
            act(bench)
        for act in COMMANDS.values():
            act(bench)
    assert WORKED <= seen
