"""Schemathesis calls the whole API with good and bad data, and holds every answer to the document.

The short form is part of `make check`; `make conform` runs more cases of each operation.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from signet.local.development_token import make_development_token
from tests.conformance.stack import running_stack
from tests.support.api_application import SECRET

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "ignored_auth",
)
EXAMPLES = int(os.environ.get("SIGNET_CONFORM_EXAMPLES", "5"))
LIFETIME_SECONDS = 3_600
ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


def test_every_answer_is_as_the_document_says(owner_url: str, tmp_path: Path) -> None:
    with running_stack(owner_url) as stack:
        token = make_development_token(
            SECRET, stack.company.tenant_id, "carl", ["admin"], LIFETIME_SECONDS, datetime.now(UTC)
        )
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={CONFIGURATION}",
            "run",
            f"{stack.url}/openapi.json",
            f"--header=Authorization: Bearer {token}",
            f"--checks={','.join(CHECKS)}",
            f"--max-examples={EXAMPLES}",
            "--seed=1",
            "--continue-on-failure",
            "--generation-database=none",
            "--warnings=off",
            "--no-color",
        ]
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.conformance.hooks", "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )
    print(run.stdout)
    assert run.returncode == 0, f"{run.stdout[-20_000:]}\n{run.stderr[-5_000:]}"
