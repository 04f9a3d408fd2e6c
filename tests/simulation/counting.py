"""The cost of documents on AWS: requests, calls of functions and their milliseconds, as counted here."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from signet.api.application import Application
from signet.store.database import Database, PoolSettings
from signet.wiring.process import get_settings, get_telemetry, make_wake
from tests.cost.counts import Counts
from tests.support.api_application import wire
from tests.support.database.runtime_roles import as_role
from tests.support.http_client import Client
from tests.support.services.deployed_functions import SimulatedDeployment, deployed
from tests.support.services.message_queues import standing_queues
from tests.support.workflow_stage import CONTRACT, WorkflowStage

BATCH = 10
SCRIPT: dict[str, Any] = {"type": "script", "config": {"set": {"seen": "true"}}}
POST: dict[str, Any] = {"id": "post", "type": "action", "config": {"action": "post"}}
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "in_app", "to": [{"by": "user", "user": "carl"}], "text": "Look"},
}
CHECKS = {
    "nodes": [{**SCRIPT, "id": "first"}, POST, TELL],
    "edges": [{"source": "first", "target": "post"}, {"source": "post", "target": "tell"}],
}


@dataclass
class FunctionWork:
    """The calls of one function and their time."""

    calls: int = 0
    milliseconds: float = 0.0


@dataclass
class RequestCount:
    documents: int = 0
    steps: int = 0
    # The requests of our own code to SQS, and those of the event sources for it.
    sends: int = 0
    messages: int = 0
    # Each batch is received with one request, and deleted with another.
    batches: int = 0
    functions: dict[str, FunctionWork] = field(default_factory=dict)
    log_bytes: int = 0

    def time(self, name: str, act: Callable[[], Any]) -> Any:
        work = self.functions.setdefault(name, FunctionWork())
        began = time.perf_counter()
        answer = act()
        work.milliseconds += (time.perf_counter() - began) * 1_000
        work.calls += 1
        return answer


@dataclass
class Counting:
    stage: WorkflowStage
    deployment: SimulatedDeployment
    client: Client
    entity_type: str
    # The stream that telemetry prints to.
    printed: io.StringIO

    def one_after_another(self, documents: int) -> RequestCount:
        """Count documents that come alone, where no wake-up serves another one: the dearest case."""
        count = self._begin(documents)
        for _ in range(documents):
            made = self._create(count)
            self._deliver(count)
            self._submit(count, made)
            self._deliver(count)
        return self._end(count)

    def all_at_once(self, documents: int) -> RequestCount:
        """Count documents that are all made while the first wake-up is on its way."""
        count = self._begin(documents)
        made = [self._create(count) for _ in range(documents)]
        self._deliver(count)
        for one in made:
            self._submit(count, one)
        self._deliver(count)
        return self._end(count)

    def _create(self, count: RequestCount) -> str:
        body = {"entity_type": self.entity_type, "data": {"amount": 1}}
        answer = count.time("api", lambda: self.client.post("/v1/documents", body))
        assert answer.status == 201, answer.text
        return str(answer.body["document_id"])

    def _submit(self, count: RequestCount, document_id: str) -> None:
        path = f"/v1/documents/{document_id}"
        tag = count.time("api", lambda: self.client.get(path)).headers["etag"]
        body = {"transition": "submit", "reason": "for once"}
        answer = count.time("api", lambda: self.client.post(f"{path}/requests", body, if_match=tag))
        assert answer.status < 300, answer.text

    def _deliver(self, count: RequestCount) -> None:
        queues = self.deployment.queues
        while queues.waiting:
            for queue, name in (("events", "node_execution"), ("effects", "side_effect_io")):
                if batch := queues.pick(queue, BATCH):
                    count.batches += 1
                    answer = count.time(name, partial(self.deployment.deliver, *batch))
                    assert answer == {"batchItemFailures": []}

    def _begin(self, documents: int) -> RequestCount:
        self._steps = self._count_steps()
        queues = self.deployment.queues
        queues.sent_count = queues.request_count = 0
        self.printed.truncate(0)
        self.printed.seek(0)
        return RequestCount(documents)

    def _end(self, count: RequestCount) -> RequestCount:
        queues = self.deployment.queues
        count.sends, count.messages = queues.request_count, queues.sent_count
        count.steps = self._count_steps() - self._steps
        count.log_bytes = len(self.printed.getvalue().encode())
        undone = "SELECT count(*) FROM workflow_events_outbox WHERE status <> 'completed'"
        assert self.stage.standing.row(undone) == (0,)
        return count

    def _count_steps(self) -> int:
        (steps,) = self.stage.standing.row("SELECT count(*) FROM workflow_step_executions")
        return int(steps)


@contextmanager
def counting(stage: WorkflowStage) -> Iterator[Counting]:
    entity_type = stage.publish(CONTRACT, checks=CHECKS)
    told = {
        "SIGNET_LOG_LEVEL": "INFO",
        "POWERTOOLS_METRICS_NAMESPACE": "Signet/prod",
        # A new name has a logger of its own, which writes to the stream of this count.
        "POWERTOOLS_SERVICE_NAME": f"signet-{uuid4().hex[:12]}",
    }
    with standing_queues() as queues, deployed(stage.standing.admin_url, queues, **told) as deployment:
        printed = io.StringIO()
        get_telemetry.cache_clear()
        with redirect_stdout(printed):
            telemetry = get_telemetry()
        api = Database(
            as_role(stage.standing.admin_url, "signet_api"), PoolSettings(), wake=make_wake(get_settings())
        )
        application: Application = wire(api, telemetry=telemetry)
        stage.drain()
        yield Counting(stage, deployment, Client(application, stage.tenant_id), entity_type, printed)
        api.close()
        get_telemetry.cache_clear()


def of_1000(count: RequestCount) -> Counts:
    def scale(number: float) -> int:
        return round(number * 1_000 / count.documents)

    api, waves, effects = (count.functions[name] for name in ("api", "node_execution", "side_effect_io"))
    return Counts(
        api_requests=scale(api.calls),
        api_calls=scale(api.calls),
        api_milliseconds=scale(api.milliseconds),
        node_execution_calls=scale(waves.calls),
        node_execution_milliseconds=scale(waves.milliseconds),
        side_effect_io_calls=scale(effects.calls),
        side_effect_io_milliseconds=scale(effects.milliseconds),
        sends=scale(count.sends),
        receives=scale(count.batches),
        deletes=scale(count.batches),
        log_bytes=scale(count.log_bytes),
    )


def describe(title: str, count: RequestCount) -> str:
    steps = count.steps / 1_000
    requests = (count.sends + 2 * count.batches) / steps
    return (
        f"{title}: {count.documents} documents, {count.steps} steps; of 1,000 steps {requests:.0f} requests "
        f"to SQS ({count.sends / steps:.0f} sends of {count.messages / steps:.0f} messages, "
        f"{count.batches / steps:.0f} batches received and deleted)"
    )
