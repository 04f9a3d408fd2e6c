"""People who call the API over HTTP, in a process that may be killed at any moment.

    python -m tests.chaos.caller PORT ENTITY_TYPE MAKER_TOKEN VOTER_TOKEN

What has no answer, or one that says "later", is sent again with the same Idempotency-Key. It prints a line
for each answer of 200 to 299 (`made ID`, `asked ID`, `voted ID`). It prints `failed CODE` for what was to be
sent again, and `refused CODE` for what may not be refused.
"""

import http.client
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tests.chaos.api import HOST
from tests.chaos.writer import AT_ONCE, BUSY_SECONDS, PAUSE_SECONDS, say

ANSWER_SECONDS = 15.0
LATER = (429, 502, 503, 504)
NO_ANSWER = "NO_ANSWER"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def is_done(self) -> bool:
        return 200 <= self.status < 300

    @property
    def code(self) -> str:
        return str(self.body.get("code", self.status)) if isinstance(self.body, dict) else str(self.status)


class HttpCaller:
    def __init__(self, port: int, entity_type: str, maker: str, voter: str) -> None:
        self._port, self._entity_type = port, entity_type
        self._maker, self._voter = maker, voter

    def make(self) -> None:
        """Create a document, and ask for it to be submitted."""
        number = str(uuid4())
        data = {"entity_type": self._entity_type, "data": {"number": number, "amount": 1}}
        made = self._until_known("POST", "/v1/documents", self._maker, data, {})
        if not made.is_done:
            say("refused", made.code)
            return
        document_id = made.headers["location"].rpartition("/")[2]
        say("made", document_id)
        content = {"transition": "submit", "reason": "as agreed"}
        match = {"if-match": made.headers["etag"]}
        asked = self._until_known(
            "POST", f"/v1/documents/{document_id}/requests", self._maker, content, match
        )
        say("asked" if asked.is_done else "refused", document_id if asked.is_done else asked.code)

    def vote(self) -> None:
        inbox = self._until_known("GET", f"/v1/approvals?limit={AT_ONCE}", self._voter, None, {})
        for item in inbox.body.get("items", []):
            path = f"/v1/approvals/{item['request_id']}/decision"
            voted = self._until_known("POST", path, self._voter, {"vote": "approved", "comment": "seen"}, {})
            # Another one may have been faster.
            if voted.is_done:
                say("voted", str(item["request_id"]))

    def _until_known(
        self, method: str, path: str, token: str, body: Any, headers: Mapping[str, str]
    ) -> Reply:
        key = {} if method == "GET" else {"idempotency-key": str(uuid4())}
        while True:
            answer = self._call(method, path, token, body, {**headers, **key})
            if answer is not None and answer.status not in LATER and answer.status < 500:
                return answer
            say("failed", NO_ANSWER if answer is None else answer.code)
            time.sleep(BUSY_SECONDS)

    def _call(
        self, method: str, path: str, token: str, body: Any, headers: Mapping[str, str]
    ) -> Reply | None:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=ANSWER_SECONDS)
        sent = {"authorization": f"Bearer {token}", "content-type": "application/json", **headers}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
            kept = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, kept, json.loads(text) if text else None)
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()


def main(arguments: Sequence[str]) -> None:
    port, entity_type, maker, voter = arguments
    caller = HttpCaller(int(port), entity_type, maker, voter)
    while True:
        caller.make()
        caller.vote()
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
