"""Seals of the audit trail in a bucket with object lock, beyond the reach of the database's admin.

The bucket's default says how long an object is locked. Nothing is overwritten: an object's name contains
its seals, which never change.
"""

from collections.abc import Sequence
from uuid import UUID

from botocore.exceptions import BotoCoreError, ClientError

from signet.aws.clients import Clients
from signet.core.errors import Transient

# The object exists already, or another call writes it at this moment.
_TAKEN = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})


class BucketAnchors:
    def __init__(self, clients: Clients, bucket: str) -> None:
        self._clients = clients
        self._bucket = bucket

    def write(self, tenant_id: UUID, first: int, last: int, lines: Sequence[str]) -> None:
        try:
            self._clients.get("s3").put_object(
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
