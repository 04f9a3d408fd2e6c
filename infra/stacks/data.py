"""The database: Aurora PostgreSQL Serverless v2 in subnets without a way out."""

from aws_cdk import Duration, RemovalPolicy, Stack, aws_ec2, aws_rds
from constructs import Construct

from infra.environments import EnvironmentSettings


class DataStack(Stack):
    def __init__(self, scope: Construct, construct_id: str, settings: EnvironmentSettings) -> None:
        super().__init__(scope, construct_id, termination_protection=settings.is_protected)
        isolated = aws_ec2.SubnetConfiguration(
            name="isolated", subnet_type=aws_ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24
        )
        vpc = aws_ec2.Vpc(self, "Vpc", max_azs=2, nat_gateways=0, subnet_configuration=[isolated])
        major = settings.database_version.split(".")[0]
        self.cluster = aws_rds.DatabaseCluster(
            self,
            "Database",
            engine=aws_rds.DatabaseClusterEngine.aurora_postgres(
                version=aws_rds.AuroraPostgresEngineVersion.of(settings.database_version, major)
            ),
            credentials=aws_rds.Credentials.from_generated_secret("signet_admin"),
            default_database_name="signet",
            vpc=vpc,
            vpc_subnets=aws_ec2.SubnetSelection(subnet_type=aws_ec2.SubnetType.PRIVATE_ISOLATED),
            writer=aws_rds.ClusterInstance.serverless_v2("Writer"),
            serverless_v2_min_capacity=settings.database_min_capacity,
            serverless_v2_max_capacity=settings.database_max_capacity,
            storage_encrypted=True,
            iam_authentication=True,
            backup=aws_rds.BackupProps(retention=Duration.days(settings.backup_retention_days)),
            deletion_protection=settings.is_protected,
            removal_policy=RemovalPolicy.RETAIN if settings.is_protected else RemovalPolicy.DESTROY,
        )
