"""Composition root of housekeeping: the tasks of this deployment, and the bucket of its seals."""

from functools import cache

from signet.aws_settings import AwsSettings
from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping.runner import Housekeeping
from signet.engine.housekeeping.sealing import Anchors
from signet.engine.housekeeping.tasks import list_tasks
from signet.engine.telemetry import SILENT, Telemetry
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_wake


def make_housekeeping(
    database: Database,
    retentions: Retentions,
    telemetry: Telemetry = SILENT,
    anchors: Anchors | None = None,
) -> Housekeeping:
    return Housekeeping(database, list_tasks(retentions, anchors), telemetry)


def make_anchors(aws: AwsSettings | None) -> Anchors | None:
    """Make the anchors; the SDK is loaded only if there is a bucket."""
    if aws is None or aws.anchors_bucket is None:
        return None
    from signet.aws.anchors import BucketAnchors
    from signet.aws.clients import Clients

    return BucketAnchors(Clients(aws.region), aws.anchors_bucket)


@cache
def get_housekeeping() -> Housekeeping:
    """Return housekeeping, wired once per process."""
    settings = get_settings()
    database = make_database(settings, make_wake(settings))
    return make_housekeeping(database, settings.retentions, get_telemetry(), make_anchors(settings.aws))
