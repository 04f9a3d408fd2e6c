"""The migrator's Lambda, which a deployment calls before it switches any function to the new schema.

CloudFormation waits for the answer, and rolls the stack back on a failure. So there is always an answer.
"""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.aws.custom_resources import ResourceOutcome, answer_request
from signet.wiring.migration import migrate_database

PHYSICAL_ID = "signet-schema"
# Not the log that the settings ask for: they may be what is wrong.
logger = Logger("signet-migrator")


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    answer_request(event, PHYSICAL_ID, _migrate(event))


def _migrate(event: dict[str, Any]) -> ResourceOutcome:
    # A deleted stack leaves its data to the database's own protection.
    if event.get("RequestType") == "Delete":
        return ResourceOutcome(True)
    try:
        count = migrate_database(logger.info)
    except Exception as error:
        logger.exception("the database was not migrated")
        return ResourceOutcome(False, f"{type(error).__name__}: {error}")
    return ResourceOutcome(True, f"{count} migrations applied")
