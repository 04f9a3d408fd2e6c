"""The functions as they are deployed, in one process: over their own wiring, as their role."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.node_execution.handler import handler as node_execution
from functions.outbox_relay.handler import handler as outbox_relay
from functions.side_effect_io.handler import handler as side_effect_io
from signet.aws.calls import SignedCalls
from signet.store.database import Database
from signet.wiring import effects as effects_wiring
from signet.wiring import engine as engine_wiring
from signet.wiring import process
from tests.support.database.runtime_roles import as_role
from tests.support.services.message_queues import MessageQueues, QueueMessage, make_event

Handler = Callable[[dict[str, Any], Any], Any]
# The function that receives each queue's messages.
HANDLERS: Mapping[str, Handler] = {"events": node_execution, "effects": side_effect_io}
_LOGGER = logging.getLogger("signet")
_CACHES = [
    process.get_settings,
    engine_wiring.get_consumer,
    engine_wiring.get_relay,
    effects_wiring.get_consumer,
]


@dataclass
class Context:
    """The context of one call. Its clock says what the test wants."""

    remaining_ms: int = 300_000
    function_name: str = "signet-test"
    aws_request_id: str = "a-request"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:000000000000:function:signet-test"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass
class SimulatedDeployment:
    queues: MessageQueues
    context: Context = field(default_factory=Context)
    calls: dict[str, int] = field(default_factory=dict)

    def deliver(self, *messages: QueueMessage) -> dict[str, Any]:
        """Call once the function that the queue of these messages belongs to."""
        queue = messages[0].queue
        self.calls[queue] = self.calls.get(queue, 0) + 1
        return dict(HANDLERS[queue](make_event(messages), self.context))

    def sweep(self) -> Any:
        self.calls["relay"] = self.calls.get("relay", 0) + 1
        context = cast(LambdaContext, self.context)
        return outbox_relay({"version": "0", "detail-type": "Scheduled Event"}, context)

    def deliver_all(self, pick: Callable[[list[QueueMessage]], int] | None = None) -> None:
        """Deliver until nothing is on its way; `pick` chooses the next message."""
        while self.queues.waiting:
            index = pick(self.queues.waiting) if pick else 0
            self.deliver(self.queues.waiting.pop(index))


@contextmanager
def deployed(owner_url: str, queues: MessageQueues, **environment: str) -> Iterator[SimulatedDeployment]:
    """Yield the deployment. Everything that it opens is closed, and the wiring forgets all of it."""
    opened: list[Database | SignedCalls] = []
    with pytest.MonkeyPatch.context() as patch, ExitStack() as leaving:
        for module in (engine_wiring, effects_wiring):
            patch.setattr(module, "make_database", _remember(process.make_database, opened))
        patch.setattr(process, "SignedCalls", _remember(SignedCalls, opened))
        for name, value in {**_describe(queues), **environment}.items():
            patch.setenv(name, value)
        patch.setenv("SIGNET_DATABASE_URL", as_role(owner_url, "signet_worker"))
        leaving.callback(lambda: [each.close() for each in opened])
        # The functions set the level of the logger that the whole package hangs on.
        leaving.callback(_LOGGER.setLevel, _LOGGER.level)
        _forget()
        try:
            yield SimulatedDeployment(queues)
        finally:
            _forget()


def _describe(queues: MessageQueues) -> dict[str, str]:
    """Return the environment as Lambda and the stack's template give it."""
    return {
        "SIGNET_ENVIRONMENT": "local",
        "SIGNET_LOG_LEVEL": "CRITICAL",
        "SIGNET_EVENTS_QUEUE_URL": queues.queue_url("events"),
        "SIGNET_EFFECTS_QUEUE_URL": queues.queue_url("effects"),
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_SESSION_TOKEN": "token",
        "AWS_ENDPOINT_URL_SQS": queues.url,
    }


def _remember(make: Callable[..., Any], opened: list[Any]) -> Callable[..., Any]:
    def remembering(*arguments: Any, **named: Any) -> Any:
        opened.append(make(*arguments, **named))
        return opened[-1]

    return remembering


def _forget() -> None:
    for cached in _CACHES:
        cached.cache_clear()
