"""A log group with a retention of our choice."""

from aws_cdk import RemovalPolicy, aws_logs
from constructs import Construct


class KeptLog(aws_logs.LogGroup):
    def __init__(self, scope: Construct, construct_id: str, name: str, days: int) -> None:
        super().__init__(scope, construct_id, log_group_name=name, removal_policy=RemovalPolicy.DESTROY)
        group = self.node.default_child
        assert isinstance(group, aws_logs.CfnLogGroup)
        group.retention_in_days = days
