"""A function of Signet. All functions are made here, and differ only in their arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import ArnFormat, Duration, Stack, aws_ec2, aws_iam, aws_lambda
from constructs import Construct

from infra.constructs.kept_log import KeptLog
from infra.findings import explain, explain_warning
from infra.settings import EnvironmentSettings

RUNTIME = aws_lambda.Runtime.PYTHON_3_14
_ALIAS = "live"
_NETWORK_ACTIONS = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
]


@dataclass(frozen=True)
class FunctionParts:
    """The parts that all functions of an environment share."""

    settings: EnvironmentSettings
    code: aws_lambda.Code
    layers: Sequence[aws_lambda.ILayerVersion]
    vpc: aws_ec2.IVpc
    group: aws_ec2.ISecurityGroup
    environment: Mapping[str, str]


class SignetFunction(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        parts: FunctionParts,
        *,
        name: str,
        seconds: int,
        megabytes: int,
        environment: Mapping[str, str],
        has_snap_start: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        settings = parts.settings
        self.name = name
        self.seconds = seconds
        self.full_name = f"{settings.prefix}-{name.replace('_', '-')}"
        # The name in logs, metrics and traces.
        self.service = f"signet-{name.replace('_', '-')}"
        logs = KeptLog(self, "Log", f"/aws/lambda/{self.full_name}", settings.log_retention_days)
        self.role = self._add_role(logs)
        self.function = aws_lambda.Function(
            self,
            "Function",
            function_name=self.full_name,
            runtime=RUNTIME,
            architecture=aws_lambda.Architecture.ARM_64,
            handler=f"functions.{name}.handler.handler",
            code=parts.code,
            layers=[*parts.layers],
            role=self.role,
            log_group=logs,
            timeout=Duration.seconds(seconds),
            memory_size=megabytes,
            reserved_concurrent_executions=settings.reserved_concurrency.get(name),
            vpc=parts.vpc,
            vpc_subnets=aws_ec2.SubnetSelection(subnet_type=aws_ec2.SubnetType.PRIVATE_WITH_EGRESS),
            security_groups=[parts.group],
            ipv6_allowed_for_dual_stack=True,
            snap_start=aws_lambda.SnapStartConf.ON_PUBLISHED_VERSIONS if has_snap_start else None,
            tracing=aws_lambda.Tracing.DISABLED,
            environment={**parts.environment, **environment, "POWERTOOLS_SERVICE_NAME": self.service},
        )
        # A name that can be typed: `sam remote invoke` needs it.
        self.resource.override_logical_id(f"{construct_id}Function")
        # A snapshot belongs to a published version, so callers use that version.
        self.invoked: aws_lambda.IFunction = self._publish() if has_snap_start else self.function

    @property
    def resource(self) -> aws_lambda.CfnFunction:
        resource = self.function.node.default_child
        assert isinstance(resource, aws_lambda.CfnFunction)
        return resource

    def allow(
        self, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
    ) -> None:
        self.role.add_to_policy(
            aws_iam.PolicyStatement(actions=[*actions], resources=[*resources], conditions=conditions)
        )

    def allow_all_but(self, actions: Sequence[str], resources: Sequence[str]) -> None:
        """Allow actions on all resources but these; a telephone number, for one, is no resource."""
        self.role.add_to_policy(aws_iam.PolicyStatement(actions=[*actions], not_resources=[*resources]))

    def _publish(self) -> aws_lambda.Alias:
        explain_warning(
            self.function,
            "@aws-cdk/aws-lambda:snapStartRequirePublish",
            "It is published here, and its callers take the alias.",
        )
        return aws_lambda.Alias(self, "Alias", alias_name=_ALIAS, version=self.function.current_version)

    def _add_role(self, logs: KeptLog) -> aws_iam.Role:
        role = aws_iam.Role(self, "Role", assumed_by=aws_iam.ServicePrincipal("lambda.amazonaws.com"))
        role.add_to_policy(
            aws_iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[logs.log_group_arn]
            )
        )
        role.add_to_policy(aws_iam.PolicyStatement(actions=_NETWORK_ACTIONS, resources=["*"]))
        itself = Stack.of(self).format_arn(
            service="lambda",
            resource="function",
            resource_name=self.full_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        role.add_to_policy(
            aws_iam.PolicyStatement(
                effect=aws_iam.Effect.DENY,
                actions=_NETWORK_ACTIONS,
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": itself}},
            )
        )
        explain(
            role,
            "IAM5[Resource::*]",
            "Lambda puts the function into the VPC with these actions, which know no single resource, and "
            "refuses the function without them. The code of the function itself is denied them.",
        )
        return role
