"""The API as a client calls it, event by event, with a token of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from signet.api.application import Application
from signet.local.development_token import make_development_token
from tests.support.api_application import SECRET
from tests.support.declared_answers import expect_declared

_OF_PEOPLE = ("/v1/members/", "/v1/roles/", "/v1/org_chart/")


@dataclass(frozen=True)
class ClientAnswer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def places(self) -> list[str]:
        """The places of its errors: pointers into the body, and parameters as `query limit`."""
        errors = self.body["errors"]
        return [error.get("pointer", f"{error.get('in')} {error.get('name')}") for error in errors]

    @property
    def code(self) -> str:
        return str(self.body["code"])


@dataclass(frozen=True)
class Client:
    """A person of a tenant, or a machine with a key."""

    application: Application
    tenant_id: UUID
    subject: str = "carl"
    roles: tuple[str, ...] = ("admin",)
    headers: Mapping[str, str] = field(default_factory=dict)
    # A machine's key, sent instead of a token.
    key: str | None = None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        **headers: Any,
    ) -> ClientAnswer:
        """Send the request; header names have `_` where HTTP has a hyphen."""
        token = self.key or make_development_token(
            SECRET, self.tenant_id, self.subject, list(self.roles), 600, datetime.now(UTC)
        )
        sent = {"authorization": f"Bearer {token}", **self.headers}
        sent |= {name.replace("_", "-"): str(value) for name, value in headers.items()}
        if body is not None:
            sent.setdefault("content-type", "application/json")
        answer = self.application(make_event(method, path, body, sent, query or {}), None)
        expect_declared(method, path, answer["statusCode"])
        return ClientAnswer(answer["statusCode"], answer["headers"], answer["body"])

    def get(self, path: str, **more: Any) -> ClientAnswer:
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> ClientAnswer:
        return self.call("POST", path, body, **more)

    def put(self, path: str, body: Any = None, **more: Any) -> ClientAnswer:
        """Put people and roles over what is there: few tests ask which version that is."""
        answered = self.call("PUT", path, body, **more)
        if answered.status == 428 and not more and path.startswith(_OF_PEOPLE):
            return self.call("PUT", path, body, if_match="*")
        return answered

    def delete(self, path: str, **more: Any) -> ClientAnswer:
        return self.call("DELETE", path, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> ClientAnswer:
        return self.call("PATCH", path, body, **more)


def make_event(
    method: str, path: str, body: Any, headers: Mapping[str, str], query: Mapping[str, Any]
) -> dict[str, Any]:
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": urlencode(query, doseq=True),
        "headers": dict(headers),
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": str(uuid4()),
            "stage": "$default",
        },
        "isBase64Encoded": False,
    }
    if query:
        event["queryStringParameters"] = {name: str(value) for name, value in query.items()}
    if body is not None:
        event["body"] = body if isinstance(body, str) else json.dumps(body)
    return event
