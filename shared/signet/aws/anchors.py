"""Seals of the audit trail in a bucket with object lock: whoever rules the database cannot change them there.

How long an object is locked is the bucket's own default. Nothing is written over: an object has the name of
the seals in it, and these never change.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from signet.core.errors import Transient

CONNECT_SECONDS, ANSWER_SECONDS, ATTEMPTS = 2, 10, 3
# Of two that write the same object at once, and of one that was written before.
_TAKEN = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})


class BucketAnchors:
    def __init__(self, bucket: str, client: Any) -> None:
        self._bucket = bucket
        self._client = client

    def write(self, tenant_id: UUID, first: int, last: int, lines: Sequence[str]) -> None:
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=f"{tenant_id}/{first:012d}-{last:012d}.jsonl",
                Body="".join(f"{line}\n" for line in lines).encode(),
                ContentType="application/jsonl",
                # Object lock wants a checksum.
                ChecksumAlgorithm="SHA256",
                IfNoneMatch="*",
            )
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code not in _TAKEN:
                raise Transient("ANCHOR_NOT_WRITTEN", f"the bucket answered {code}") from error
        except BotoCoreError as error:
            raise Transient("ANCHOR_NOT_WRITTEN", f"the bucket: {type(error).__name__}") from error


def make_bucket_anchors(bucket: str, region: str) -> BucketAnchors:
    """Where the bucket is, and who writes, the SDK finds in the environment."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=ANSWER_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
    )
    return BucketAnchors(bucket, boto3.client("s3", region_name=region, config=config))
