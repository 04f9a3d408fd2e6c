"""The deployed stacks as a test sees them: people, queues, functions, logs, and the database behind."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from infra.emulator.stack import PREFIX, EmulatedStack
from tests.support.cloud.people import DeployedCaller, await_that

_OWN_VISIBILITY_SECONDS = 1


@dataclass(frozen=True)
class Deployed:
    stack: EmulatedStack
    # A connection of the superuser, in no tenant.
    database: psycopg.Connection[tuple[Any, ...]]

    @property
    def tenant_id(self) -> UUID:
        return self.stack.tenant.tenant_id

    def as_person(self, user_id: str) -> DeployedCaller:
        return DeployedCaller(self.stack.api_url, self.stack.tokens[user_id])

    # --- the database ---

    def read(self, query: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        return self.database.execute(query, values).fetchall()

    def write(self, query: LiteralString, *values: object) -> None:
        self.database.execute(query, values)

    def end_leases(self) -> None:
        """End the leases, as if their owners had died long ago."""
        for table in ("workflow_events_outbox", "workflow_side_effects_outbox"):
            self.database.execute(
                f"UPDATE {table} SET lease_until = now() - interval '1 second' WHERE status = 'processing'"
            )

    # --- queues ---

    def queue_url(self, name: str) -> str:
        return str(self.stack.client("sqs").get_queue_url(QueueName=f"{PREFIX}-{name}")["QueueUrl"])

    def count_messages(self, name: str) -> int:
        attributes = self.stack.client("sqs").get_queue_attributes(
            QueueUrl=self.queue_url(name), AttributeNames=["All"]
        )["Attributes"]
        return int(attributes["ApproximateNumberOfMessages"]) + int(
            attributes["ApproximateNumberOfMessagesNotVisible"]
        )

    def come_back_soon(self, name: str) -> None:
        """Let undeleted messages be seen again after a second instead of minutes."""
        self.stack.client("sqs").set_queue_attributes(
            QueueUrl=self.queue_url(name), Attributes={"VisibilityTimeout": str(_OWN_VISIBILITY_SECONDS)}
        )

    def set_deaf(self, function: str, is_deaf: bool) -> None:
        """Set whether the function hears its queue."""
        client = self.stack.client("lambda")
        for source in client.list_event_source_mappings(FunctionName=f"{PREFIX}-{function}")[
            "EventSourceMappings"
        ]:
            client.update_event_source_mapping(UUID=source["UUID"], Enabled=not is_deaf)

    # --- functions ---

    def invoke(self, function: str, event: Mapping[str, Any] | None = None) -> Any:
        answer = self.stack.client("lambda").invoke(
            FunctionName=f"{PREFIX}-{function}", Payload=json.dumps(event or {}).encode()
        )
        said = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, said
        return said

    def list_processes(self, function: str) -> list[int]:
        return [pid for pid, environment in _list_environments() if self._is_of(environment, function)]

    def read_environment(self, function: str) -> Mapping[str, str]:
        """Return the environment of one process of the function, with the credentials of its role."""
        return next(found for _, found in _list_environments() if self._is_of(found, function))

    def kill(self, function: str) -> None:
        for pid in self.list_processes(function):
            os.kill(pid, signal.SIGKILL)

    def _is_of(self, environment: Mapping[str, str], function: str) -> bool:
        """Return whether the process is of our function. Functions of another clone have the same names."""
        return (
            environment.get("AWS_LAMBDA_FUNCTION_NAME") == f"{PREFIX}-{function}"
            and environment.get("AWS_ENDPOINT_URL") == self.stack.emulator.plan.gateway_url
        )

    # --- logs ---

    def await_line(self, function: str, message: str, trace: str) -> Mapping[str, Any]:
        """Wait for the function's log line of that trace."""

        def find() -> Mapping[str, Any] | None:
            return next(
                (line for line in self.list_lines(function, message) if trace in line["trace_id"]), None
            )

        return await_that(find, f"{function} says {message!r} of trace {trace}")

    def list_waves(self, trace: str) -> Iterator[Mapping[str, Any]]:
        return (line for line in self.list_lines("node-execution", "wave") if trace in line["trace_id"])

    def list_lines(self, function: str, message: str) -> Iterator[Mapping[str, Any]]:
        group = f"/aws/lambda/{PREFIX}-{function}"
        pages = self.stack.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group)
        for event in (event for page in pages for event in page["events"]):
            if event["message"].startswith("{"):
                line = json.loads(event["message"])
                if line.get("message") == message:
                    yield line


def _list_environments() -> Iterator[tuple[int, Mapping[str, str]]]:
    for place in Path("/proc").iterdir():
        if not place.name.isdecimal():
            continue
        try:
            told = (place / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue  # the process has ended, or belongs to another user
        yield int(place.name), dict(pair.split("=", 1) for pair in told.split("\0") if "=" in pair)
