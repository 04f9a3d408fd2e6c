"""Seals in a bucket: each object is written once, under a name derived from its content."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import boto3
import pytest
from moto import mock_aws

from signet.aws.anchors import BucketAnchors
from signet.aws.clients import Clients
from signet.core.errors import Transient

TENANT = UUID(int=7)
BUCKET, REGION = "anchors", "eu-central-1"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        made = boto3.client("s3", region_name=REGION)
        made.create_bucket(
            Bucket=BUCKET,
            ObjectLockEnabledForBucket=True,
            CreateBucketConfiguration={"LocationConstraint": REGION},
        )
        lock = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 365}}
        made.put_object_lock_configuration(
            Bucket=BUCKET, ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": lock}
        )
        yield made


def test_lines_are_kept_locked_and_once(client: Any) -> None:
    anchors = BucketAnchors(Clients(REGION), BUCKET)
    for _ in range(2):
        anchors.write(TENANT, 1, 2, ['{"sequence": 1}', '{"sequence": 2}'])
    versions = client.list_object_versions(Bucket=BUCKET)["Versions"]
    assert [one["Key"] for one in versions] == [f"{TENANT}/000000000001-000000000002.jsonl"]
    kept = client.get_object(Bucket=BUCKET, Key=versions[0]["Key"])
    assert kept["Body"].read() == b'{"sequence": 1}\n{"sequence": 2}\n'
    assert kept["ObjectLockMode"] == "COMPLIANCE"


def test_a_bucket_that_is_not_there_is_tried_again(client: Any) -> None:
    with pytest.raises(Transient) as caught:
        BucketAnchors(Clients(REGION), "elsewhere").write(TENANT, 1, 1, ["{}"])
    assert caught.value.code == "ANCHOR_NOT_WRITTEN"
