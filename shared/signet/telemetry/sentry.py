"""Unforeseen failures, sent to Sentry. Imported only where SENTRY_DSN is set.

An event is built from a closed list: type, code, places and a few tags. So it cannot contain anything that a
library collects by itself (bodies, headers, local variables, error messages).
"""

from collections.abc import Mapping
from typing import Any

import sentry_sdk
from sentry_sdk.transport import Transport
from sentry_sdk.utils import event_from_exception

from signet.telemetry.crash import code_of, name_error

# The parts of an event that are kept.
_KEPT = ("event_id", "timestamp", "platform", "level", "environment", "release", "sdk", "tags", "fingerprint")
_KEPT_OF_A_FRAME = ("filename", "function", "module", "lineno", "in_app")
_KEPT_TAGS = ("code", "tenant_id", "instance_id", "trace_id", "correlation_id", "route")


class Sentry:
    def __init__(self, dsn: str, environment: str, transport: Transport | None = None) -> None:
        # A client of its own, so that other code of the process is not reported.
        self._client = sentry_sdk.Client(
            dsn=dsn,
            environment=environment,
            transport=transport,
            before_send=scrub,  # type: ignore[arg-type]  # its type of an event is a closed dictionary
            default_integrations=False,
            auto_enabling_integrations=False,
            include_local_variables=False,
            include_source_context=False,
            max_breadcrumbs=0,
            server_name="",
        )

    def capture(self, error: BaseException, about: Mapping[str, str]) -> None:
        scope = sentry_sdk.Scope()
        scope.set_tag("code", code_of(error) or name_error(error))
        for name, value in about.items():
            scope.set_tag(name, value)
        event, hint = event_from_exception(error, client_options=self._client.options)
        self._client.capture_event(event, hint=hint, scope=scope)

    def flush(self) -> None:
        self._client.flush(timeout=2.0)


def scrub(event: dict[str, Any], hint: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: event[name] for name in _KEPT if name in event}
    kept["tags"] = {name: value for name, value in (event.get("tags") or {}).items() if name in _KEPT_TAGS}
    values = (event.get("exception") or {}).get("values") or []
    kept["exception"] = {"values": [_scrub_exception(value) for value in values]}
    return kept


def _scrub_exception(value: Mapping[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames") or []
    kept = [{name: frame[name] for name in _KEPT_OF_A_FRAME if name in frame} for frame in frames]
    return {"type": value.get("type"), "module": value.get("module"), "stacktrace": {"frames": kept}}
