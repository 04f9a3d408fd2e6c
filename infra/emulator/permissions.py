"""Corrections of permissions that ministack checks otherwise than AWS does."""

from typing import Any

from ministack import app
from ministack.core import iam_actions, iam_evaluator

_BATCH = "Batch"


def check_permissions_as_aws_does() -> None:
    name_other = iam_actions.extract_iam_action

    def name(service: str, *request: Any) -> str | None:
        """Return the action's name; a batch of messages is allowed by the permission for one."""
        action: str | None = name_other(service, *request)
        return action.removesuffix(_BATCH) if service == "sqs" and action else action

    iam_actions.extract_iam_action = name
    # Between processes of one machine plain HTTP stands for TLS, which some policies demand.
    app.pin_request_origin = lambda address, _: iam_evaluator.pin_request_origin(address, True)
