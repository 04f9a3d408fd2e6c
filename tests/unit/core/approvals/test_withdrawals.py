"""People who were asked read the true reason why it counts no more."""

import pytest

from signet.core.approvals.withdrawals import OLDER_RELEASE, describe_withdrawal
from signet.core.runtime.document_changes import (
    ANOTHER_REQUEST,
    CORRECTED,
    EDITED,
    REFERENCES_CHANGED,
    REQUEST_WITHDRAWN,
    VALUES_ERASED,
)


@pytest.mark.parametrize(
    ("because", "refs", "erased", "reason"),
    [
        (EDITED, {"vendor"}, {"contact"}, "the document was edited"),
        (
            REFERENCES_CHANGED,
            {"vendor", "context.sum"},
            (),
            "what the document refers to has changed: vendor;"
            " variables of the workflow have changed: context.sum",
        ),
        (ANOTHER_REQUEST, (), (), "a new request begins the way again"),
        (REQUEST_WITHDRAWN, (), (), "the request was withdrawn"),
        (CORRECTED, {"vendor"}, (), "the document was corrected"),
        (
            REFERENCES_CHANGED,
            {"vendor", "bank", OLDER_RELEASE},
            (),
            "what the document refers to has changed: bank, vendor",
        ),
        (VALUES_ERASED, (), {"contact"}, "personal values were erased: contact"),
        (
            REFERENCES_CHANGED,
            {"vendor"},
            {"contact"},
            "what the document refers to has changed: vendor; personal values were erased: contact",
        ),
        (REFERENCES_CHANGED, {OLDER_RELEASE}, (), "it was asked by an older release"),
    ],
)
def test_each_withdrawal_has_its_reason(because: str, refs: set[str], erased: set[str], reason: str) -> None:
    assert describe_withdrawal(because, refs, erased) == reason
