"""The VPC. AWS is reached by IPv6, which costs nothing; the database has no way out or in."""

from aws_cdk import Aws, aws_ec2, aws_iam
from constructs import Construct

from infra.constructs.kept_log import KeptLog
from infra.constructs.signet_stack import ZONES, SignetStack
from infra.findings import explain
from infra.settings import EnvironmentSettings

POSTGRES = 5432
# The ports of webhooks (`signet.outbound.webhook`) and of all of AWS.
PORTS_OUT = (443, 8443)
FLOW_LOG_DAYS = 30
_WAY_OUT = aws_ec2.SubnetType.PRIVATE_WITH_EGRESS
_NO_WAY = aws_ec2.SubnetType.PRIVATE_ISOLATED


class NetworkStack(SignetStack):
    def __init__(self, scope: Construct, settings: EnvironmentSettings) -> None:
        super().__init__(scope, "network", settings)
        subnets = [
            aws_ec2.SubnetConfiguration(name="functions", subnet_type=_WAY_OUT, cidr_mask=22),
            aws_ec2.SubnetConfiguration(name="database", subnet_type=_NO_WAY, cidr_mask=24),
        ]
        if settings.nat_gateways:
            # These subnets hold the gateways and nothing else.
            subnets.append(
                aws_ec2.SubnetConfiguration(
                    name="gateways",
                    subnet_type=aws_ec2.SubnetType.PUBLIC,
                    cidr_mask=28,
                    map_public_ip_on_launch=False,
                )
            )
        self.vpc = aws_ec2.Vpc(
            self,
            "Vpc",
            ip_protocol=aws_ec2.IpProtocol.DUAL_STACK,
            max_azs=ZONES,
            nat_gateways=settings.nat_gateways,
            create_internet_gateway=settings.nat_gateways > 0,
            subnet_configuration=subnets,
            restrict_default_security_group=settings.closes_default_group,
        )
        self.function_group = self._add_function_group()
        self._add_way_to_s3()
        if settings.has_flow_logs:
            self._add_flow_logs(settings)
        else:
            explain(self.vpc, "VPC7", "What passes is logged in production; here nobody would read it.")

    def _add_function_group(self) -> aws_ec2.SecurityGroup:
        """Make the group here: beside the database or the functions, their stacks would need each other."""
        group = aws_ec2.SecurityGroup(
            self,
            "Functions",
            vpc=self.vpc,
            description="What the functions may reach",
            allow_all_outbound=False,
        )
        for port in PORTS_OUT:
            group.add_egress_rule(aws_ec2.Peer.any_ipv4(), aws_ec2.Port.tcp(port), "AWS and webhooks")
            group.add_egress_rule(aws_ec2.Peer.any_ipv6(), aws_ec2.Port.tcp(port), "AWS and webhooks")
        inside = aws_ec2.Peer.ipv4(self.vpc.vpc_cidr_block)
        group.add_egress_rule(inside, aws_ec2.Port.tcp(POSTGRES), "The database")
        return group

    def _add_way_to_s3(self) -> None:
        """Add a free endpoint of S3.

        CloudFormation reads the migrator's answer from a bucket on IPv4 only.
        """
        endpoint = self.vpc.add_gateway_endpoint(
            "S3",
            service=aws_ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[aws_ec2.SubnetSelection(subnet_type=_WAY_OUT)],
        )
        anyone = aws_iam.AnyPrincipal()
        endpoint.add_to_policy(
            aws_iam.PolicyStatement(
                principals=[anyone],
                actions=["s3:PutObject"],
                resources=["arn:aws:s3:::cloudformation-custom-resource-response-*/*"],
            )
        )
        endpoint.add_to_policy(
            aws_iam.PolicyStatement(
                principals=[anyone],
                actions=["s3:*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
            )
        )

    def _add_flow_logs(self, settings: EnvironmentSettings) -> None:
        name = f"/signet/{settings.name}/network"
        logs = KeptLog(self, "Passed", name, min(settings.log_retention_days, FLOW_LOG_DAYS))
        self.vpc.add_flow_log("FlowLog", destination=aws_ec2.FlowLogDestination.to_cloud_watch_logs(logs))
