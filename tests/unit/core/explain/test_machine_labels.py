"""Keys and service accounts in sentences: by their labels, where those are known."""

from typing import Any

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.vocabulary import Vocabulary
from signet.core.tenants.machine_label import MachineLabel

POSTING = MachineLabel("service:posting", "service_account", "ERP\nposting", "olga")
KEY = MachineLabel("key:1", "key", "erp", "olga")
WORDS = Vocabulary("invoice", None, {POSTING.subject: POSTING, KEY.subject: KEY})
ACCOUNT = {"run_as": "service_account", "service_account": "posting"}


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("carl", "carl"),
        ("key:1", 'the key "erp" (owned by olga)'),
        ("key:2", "key:2"),
        ("service:posting", 'the service account "ERP posting" (owned by olga)'),
    ],
)
def test_a_subject_is_named_by_its_label(subject: str, shown: str) -> None:
    assert WORDS.describe_subject(subject) == shown


@pytest.mark.parametrize(
    ("node_type", "config", "sentence"),
    [
        (
            "action",
            {"action": "post", **ACCOUNT},
            '[post] runs as the service account "ERP posting" (owned by olga).',
        ),
        (
            "webhook_out",
            {"endpoint": "erp", "run_as": "service_account", "service_account": "erp_calls"},
            'is called as the service account "erp calls" [erp_calls];',
        ),
        (
            "policy_gate",
            {"action": "post", "permission": "invoice:post", "permission_condition": None, **ACCOUNT},
            'runs only if the service account "ERP posting" (owned by olga) has the permission invoice:post.',
        ),
    ],
)
def test_a_step_names_the_account_that_it_runs_as(
    node_type: str, config: dict[str, Any], sentence: str
) -> None:
    complete = NODE_TYPES[node_type].configuration.model_validate(config)
    described = describe_step(node_type, complete.model_dump(mode="json", by_alias=True), WORDS)
    assert sentence in " ".join(described)
