"""A reader follows a request through few files, and no file twice: two walks, counted.

(a) A PATCH of a document, up to the approval requests of its wave. (b) A vote, the gate, the webhook.
"""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from signet.core.documents.merge_patch import apply_merge_patch
from signet.core.tenants.permissions import grants
from signet.engine.integrations.effects import Effects
from signet.local.development_token import make_development_token
from signet.outbound.webhook import AllowedAddresses, Webhooks
from signet.store.database import Database, PoolSettings
from tests.architecture.walks import Walk, is_foundation
from tests.support.api_application import SECRET as SIGNING_SECRET
from tests.support.api_application import wire
from tests.support.effects import EDGES, FAILED, add_endpoint
from tests.support.http_client import make_event
from tests.support.services.webhook_receiver import WebhookReceiver, answering, receiving
from tests.support.workflow_stage import CALL, WorkflowStage, standing_stage

# (files, of them beyond the foundation).
# They go up only with a decision, as 0022, 0024, 0030 to 0034, 0044 to 0049, 0053, 0072 and 0075 did.
PATCH_LIMITS = (98, 73)
VOTE_LIMITS = (110, 83)
# The core calls back where a voter is judged.
MAX_TWO_WAY_PAIRS = 4
SECRET = f"whsec_{base64.b64encode(b's' * 32).decode()}"
APPROVAL = {
    "nodes": [{"id": "ask", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}],
    "edges": [{"source": "ask", "target": "out", "on": "approved"}],
}
POSTING = {"nodes": [CALL, FAILED], "edges": EDGES, "exit": "join"}


class Walker:
    """A guide that takes one document after another, by HTTP and by the worker.

    Calls within `walk` are counted.
    """

    def __init__(self, stage: WorkflowStage, database: Database, receiver: WebhookReceiver) -> None:
        self._stage = stage
        self._worker = stage.worker()
        self._application = wire(database)
        addresses = AllowedAddresses(frozenset({"127.0.0.1"}))
        self._effects = Effects(
            stage.database, {"webhook": Webhooks(lambda tenant_id, name: SECRET, addresses)}
        )
        self._entity_type = stage.publish(approval=APPROVAL, posting=POSTING)
        # One token a person: the API knows it after the first walk.
        self._tokens = {user_id: self._make_token(user_id) for user_id in ("ada", "carl")}

    def submit(self) -> UUID:
        made = self._stage.create(self._entity_type)
        self._stage.ask(made.id, "submit")
        self._worker.work(self._stage.tenant_id)
        return made.id

    def patch(self, document_id: UUID, walk: Walk) -> None:
        version = self._stage.version_of(document_id)
        event = self._make_event(
            "PATCH",
            f"/v1/documents/{document_id}",
            "carl",
            {"patch": {"amount": version}},
            if_match=f'"{version}"',
        )
        with walk.counting():
            answer = self._application(event, None)
            self._worker.work(self._stage.tenant_id)
        assert answer["statusCode"] == 200, answer

    def vote(self, request_id: str, walk: Walk) -> None:
        event = self._make_event("POST", f"/v1/approvals/{request_id}/decision", "ada", {"vote": "approved"})
        with walk.counting():
            answer = self._application(event, None)
            self._worker.work(self._stage.tenant_id)
            delivered = self._effects.work(self._stage.tenant_id)
        assert (answer["statusCode"], delivered) == (200, 1), answer

    def find_request(self) -> str:
        answer = self._application(self._make_event("GET", "/v1/approvals", "ada", None), None)
        (request,) = json.loads(answer["body"])["items"]
        return str(request["request_id"])

    def _make_token(self, user_id: str) -> str:
        return make_development_token(
            SIGNING_SECRET, self._stage.tenant_id, user_id, ["admin", "clerk"], 3_600, datetime.now(UTC)
        )

    def _make_event(self, method: str, path: str, user_id: str, body: Any, **headers: str) -> dict[str, Any]:
        sent = {"authorization": f"Bearer {self._tokens[user_id]}", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return make_event(method, path, body, sent, {})


@pytest.fixture(scope="module")
def walks(server_url: str) -> Iterator[tuple[Walk, Walk]]:
    """Yield both walks, each taken once before, so that caches are warm and everything is imported."""
    with standing_stage(server_url) as stage, receiving(answering(200, b"{}")) as receiver:
        stage.add_member("ada")
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/hook")
        database = Database(stage.standing.api_url, PoolSettings())
        walker = Walker(stage, database, receiver)
        for patched, voted in [(Walk(), Walk()), (Walk(), Walk())]:
            walker.patch(walker.submit(), patched)
            walker.vote(walker.find_request(), voted)
        database.close()
        assert len(receiver.received) == 2
        yield patched, voted


def check(name: str, walk: Walk, limits: tuple[int, int]) -> None:
    print(f"\n{walk.describe(name)}")
    assert len(walk.files) <= limits[0], sorted(walk.files)
    assert len(walk.beyond_foundation) <= limits[1], walk.beyond_foundation


def test_a_patch_comes_to_its_approval_requests(walks: tuple[Walk, Walk]) -> None:
    check("PATCH → approval requests", walks[0], PATCH_LIMITS)


def test_a_vote_comes_to_its_webhook(walks: tuple[Walk, Walk]) -> None:
    check("vote → gate → webhook", walks[1], VOTE_LIMITS)


def test_hardly_any_files_call_each_other_both_ways(walks: tuple[Walk, Walk]) -> None:
    pairs = sorted({pair for walk in walks for pair in walk.two_way_pairs})
    assert len(pairs) <= MAX_TWO_WAY_PAIRS, pairs


def test_files_are_counted() -> None:
    walk = Walk()
    with walk.counting():
        apply_merge_patch({}, {"a": {"b": 1}})
        assert grants(["document:*"], "document:read")
    assert walk.files == {"core/documents/merge_patch.py", "core/tenants/permissions.py"}
    assert walk.beyond_foundation == ["core/documents/merge_patch.py"]


def test_a_pair_that_calls_both_ways_is_found() -> None:
    walk = Walk({"engine/a.py", "engine/b.py", "core/errors.py"})
    walk.calls.update(
        [("engine/a.py", "engine/b.py"), ("engine/b.py", "engine/a.py"), ("engine/a.py", "core/errors.py")]
    )
    assert walk.two_way_pairs == [("engine/a.py", "engine/b.py")]
    assert is_foundation("core/tenants/caller.py") and not is_foundation("core/tenants.py")
