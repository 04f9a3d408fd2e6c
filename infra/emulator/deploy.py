"""Deploys a synthesized CDK app with nothing but the SDK: no CDK command line, no bootstrap stack.

outputs = deploy(Path("cdk.out"), session_of_the_emulator)
"""

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

Outputs = Mapping[str, Mapping[str, str]]

_BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
_BOOTSTRAP_VERSION = "99"
_CAPABILITIES = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
_POLL_SECONDS = 0.05
STACK_SECONDS = 300.0
_EPOCH = (1980, 1, 1, 0, 0, 0)


class DeployFailed(Exception):
    """A failed deployment, with CloudFormation's reason for each resource that it could not make."""


class Deployment:
    """A deployment of one assembly (`cdk.out`) into one account."""

    def __init__(self, assembly: Path, session: boto3.Session, endpoint: str, account: str) -> None:
        self._assembly = assembly
        self._artifacts: Mapping[str, Any] = json.loads((assembly / "manifest.json").read_text())["artifacts"]
        self._clients = {
            name: session.client(name, endpoint_url=endpoint) for name in ("s3", "cloudformation", "ssm")
        }
        self._names = {
            "${AWS::AccountId}": account,
            "${AWS::Region}": str(session.region_name),
            "${AWS::Partition}": "aws",
        }

    def run(self, say: Callable[[str], None]) -> Outputs:
        """Deploy all stacks in the order of their dependencies. Return the outputs of each by its name."""
        self._clients["ssm"].put_parameter(
            Name=_BOOTSTRAP, Value=_BOOTSTRAP_VERSION, Type="String", Overwrite=True
        )
        outputs: dict[str, Mapping[str, str]] = {}
        for artifact in self._artifacts.values():
            if artifact["type"] == "cdk:asset-manifest":
                self._publish(json.loads((self._assembly / artifact["properties"]["file"]).read_text()))
        for name, artifact in self._list_stacks():
            began = time.monotonic()
            stack = artifact["properties"].get("stackName", name)
            outputs[stack] = self._apply(stack, artifact["properties"]["stackTemplateAssetObjectUrl"])
            say(f"{stack} in {time.monotonic() - began:.1f} s")
        return outputs

    def _publish(self, manifest: Mapping[str, Any]) -> None:
        """Upload each file under the name that its content has."""
        for file in manifest["files"].values():
            for destination in file["destinations"].values():
                bucket = self._fill(destination["bucketName"])
                self._ensure_bucket(bucket)
                self._clients["s3"].put_object(
                    Bucket=bucket, Key=destination["objectKey"], Body=self._read(file["source"])
                )

    def _ensure_bucket(self, name: str) -> None:
        try:
            self._clients["s3"].head_bucket(Bucket=name)
        except ClientError:
            self._clients["s3"].create_bucket(Bucket=name)

    def _read(self, source: Mapping[str, Any]) -> bytes:
        path = self._assembly / source["path"]
        return zip_folder(path) if source.get("packaging") == "zip" else path.read_bytes()

    def _fill(self, text: str) -> str:
        for name, value in self._names.items():
            text = text.replace(name, value)
        return text

    def _list_stacks(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        listed: set[str] = set()

        def visit(name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
            artifact = self._artifacts[name]
            if name in listed or artifact["type"] != "aws:cloudformation:stack":
                return
            listed.add(name)
            for needed in artifact.get("dependencies", []):
                yield from visit(needed)
            yield name, artifact

        for name in self._artifacts:
            yield from visit(name)

    def _apply(self, stack: str, template: str) -> Mapping[str, str]:
        client = self._clients["cloudformation"]
        address = self._fill(template).removeprefix("s3://")
        request = {
            "StackName": stack,
            "TemplateURL": f"https://s3.amazonaws.com/{address}",
            "Capabilities": _CAPABILITIES,
        }
        try:
            client.create_stack(**request)
        except client.exceptions.AlreadyExistsException:
            try:
                client.update_stack(**request)
            except ClientError as error:
                if "No updates" not in str(error):
                    raise
        description = self._await(stack)
        if description["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            raise DeployFailed(
                f"{stack} is {description['StackStatus']}: {'; '.join(self._list_failures(stack))}"
            )
        return {output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", [])}

    def _await(self, stack: str) -> dict[str, Any]:
        deadline = time.monotonic() + STACK_SECONDS
        while True:
            description = self._clients["cloudformation"].describe_stacks(StackName=stack)["Stacks"][0]
            if not description["StackStatus"].endswith("_IN_PROGRESS"):
                return dict(description)
            if time.monotonic() > deadline:
                raise DeployFailed(
                    f"{stack} is still {description['StackStatus']} after {STACK_SECONDS:.0f} s"
                )
            time.sleep(_POLL_SECONDS)

    def _list_failures(self, stack: str) -> list[str]:
        events = self._clients["cloudformation"].describe_stack_events(StackName=stack)["StackEvents"]
        return [
            f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
            for event in reversed(events)
            if event["ResourceStatus"].endswith("_FAILED")
        ]


def zip_folder(folder: Path) -> bytes:
    """Return the folder as an archive without compression, because it stays on this machine."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder)), _EPOCH)
                entry.external_attr = path.stat().st_mode << 16
                archive.writestr(entry, path.read_bytes())
    return written.getvalue()
