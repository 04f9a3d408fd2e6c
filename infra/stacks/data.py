"""The stores: Aurora PostgreSQL Serverless v2, and a bucket that no seal of the audit trail can leave."""

from aws_cdk import Aws, Duration, Fn, RemovalPolicy, aws_ec2, aws_iam, aws_rds, aws_s3
from constructs import Construct

from infra.constructs.kept_log import KeptLog
from infra.constructs.signet_stack import SignetStack
from infra.findings import explain
from infra.settings import EnvironmentSettings
from infra.stacks.network import POSTGRES, NetworkStack

DATABASE = "signet"
ADMIN = "signet_admin"
# Only these roles, which `migrations/` makes, sign in by tokens.
RUNTIME_ROLES = ("signet_api", "signet_worker", "signet_janitor")
_ISOLATED = aws_ec2.SubnetSelection(subnet_type=aws_ec2.SubnetType.PRIVATE_ISOLATED)
_AUTO_PAUSE = Duration.minutes(5)
# libpq reads these from the layer: `infra/certificates/`.
_CERTIFICATES = "/opt/certificates"


class DataStack(SignetStack):
    def __init__(self, scope: Construct, settings: EnvironmentSettings, network: NetworkStack) -> None:
        super().__init__(scope, "data", settings)
        self.database_group = self._add_group("DatabaseGroup", "The database", network)
        self.cluster = self._add_cluster(network)
        self.proxy = self._add_proxy(network) if settings.has_database_proxy else None
        self.anchors = self._add_anchors()

    @property
    def admin_secret_arn(self) -> str:
        secret = self.cluster.secret
        assert secret is not None
        return secret.secret_arn

    def url_of(self, role: str) -> str:
        """Return the URL for a runtime role, through the proxy if there is one."""
        if self.proxy is None:
            return self._url_of_cluster(role)
        return self._url(role, f"{self.proxy.endpoint}:{POSTGRES}", "amazon-roots.pem")

    def admin_url(self) -> str:
        """Return the URL of the cluster itself, because no proxy knows the admin."""
        return self._url_of_cluster(ADMIN)

    def user_arn(self, role: str) -> str:
        """Return the resource on which `rds-db:connect` is granted."""
        if self.proxy is None:
            return self._user_arn(self.cluster.cluster_resource_identifier, role)
        return self._user_arn(Fn.select(6, Fn.split(":", self.proxy.db_proxy_arn)), role)

    def _url_of_cluster(self, role: str) -> str:
        endpoint = self.cluster.cluster_endpoint
        return self._url(role, endpoint.socket_address, f"rds-{self.settings.region}.pem")

    def _url(self, role: str, host_and_port: str, authority: str) -> str:
        verified = f"sslmode=verify-full&sslrootcert={_CERTIFICATES}/{authority}"
        return f"postgresql://{role}@{host_and_port}/{DATABASE}?{verified}"

    def _user_arn(self, resource: str, role: str) -> str:
        return f"arn:{Aws.PARTITION}:rds-db:{self.region}:{Aws.ACCOUNT_ID}:dbuser:{resource}/{role}"

    def _add_group(self, construct_id: str, description: str, network: NetworkStack) -> aws_ec2.SecurityGroup:
        group = aws_ec2.SecurityGroup(
            self, construct_id, vpc=network.vpc, description=description, allow_all_outbound=False
        )
        group.add_ingress_rule(network.function_group, aws_ec2.Port.tcp(POSTGRES), "The functions")
        return group

    def _add_cluster(self, network: NetworkStack) -> aws_rds.DatabaseCluster:
        settings = self.settings
        # RDS would make the log group itself, and keep it for ever.
        name = f"/aws/rds/cluster/{settings.prefix}/postgresql"
        logs = KeptLog(self, "DatabaseLog", name, settings.log_retention_days)
        insights = settings.has_performance_insights
        cluster = aws_rds.DatabaseCluster(
            self,
            "Database",
            cluster_identifier=settings.prefix,
            engine=aws_rds.DatabaseClusterEngine.aurora_postgres(
                version=aws_rds.AuroraPostgresEngineVersion.of(
                    settings.database_version, settings.database_version.split(".")[0]
                )
            ),
            credentials=aws_rds.Credentials.from_username(ADMIN),
            # RDS makes the secret and renews it each week, without a function in this VPC.
            manage_master_user_password=True,
            default_database_name=DATABASE,
            parameters={"rds.force_ssl": "1"},
            vpc=network.vpc,
            vpc_subnets=_ISOLATED,
            security_groups=[self.database_group],
            writer=aws_rds.ClusterInstance.serverless_v2("Writer", enable_performance_insights=insights),
            readers=[
                aws_rds.ClusterInstance.serverless_v2(
                    f"Reader{number}", scale_with_writer=True, enable_performance_insights=insights
                )
                for number in range(1, settings.database_readers + 1)
            ],
            serverless_v2_min_capacity=settings.database_min_capacity,
            serverless_v2_max_capacity=settings.database_max_capacity,
            serverless_v2_auto_pause_duration=None if settings.database_min_capacity else _AUTO_PAUSE,
            cloudwatch_logs_exports=["postgresql"],
            storage_encrypted=True,
            iam_authentication=True,
            copy_tags_to_snapshot=True,
            backup=aws_rds.BackupProps(retention=Duration.days(settings.backup_retention_days)),
            deletion_protection=settings.is_protected,
            removal_policy=RemovalPolicy.RETAIN if settings.is_protected else RemovalPolicy.DESTROY,
        )
        cluster.node.add_dependency(logs)
        if not settings.is_protected:
            explain(cluster, "RDS10", "An environment for trials is deleted again, with all that is in it.")
        return cluster

    def _add_proxy(self, network: NetworkStack) -> aws_rds.DatabaseProxy:
        """Add a proxy with tokens on both sides.

        It has no password and signs in as the runtime roles only.
        """
        role = aws_iam.Role(self, "ProxyRole", assumed_by=aws_iam.ServicePrincipal("rds.amazonaws.com"))
        role.add_to_policy(
            aws_iam.PolicyStatement(
                actions=["rds-db:connect"],
                resources=[
                    self._user_arn(self.cluster.cluster_resource_identifier, name) for name in RUNTIME_ROLES
                ],
            )
        )
        return aws_rds.DatabaseProxy(
            self,
            "Proxy",
            db_proxy_name=self.settings.prefix,
            proxy_target=aws_rds.ProxyTarget.from_cluster(self.cluster),
            default_auth_scheme=aws_rds.DefaultAuthScheme.IAM_AUTH,
            require_tls=True,
            role=role,
            vpc=network.vpc,
            vpc_subnets=_ISOLATED,
            security_groups=[self._add_group("ProxyGroup", "The proxy", network)],
            borrow_timeout=Duration.seconds(5),
        )

    def _add_anchors(self) -> aws_s3.Bucket:
        settings = self.settings
        lock = {
            "GOVERNANCE": aws_s3.ObjectLockRetention.governance,
            "COMPLIANCE": aws_s3.ObjectLockRetention.compliance,
        }
        bucket = aws_s3.Bucket(
            self,
            "Anchors",
            object_lock_enabled=True,
            object_lock_default_retention=lock[settings.anchor_mode](Duration.days(settings.anchor_days)),
            versioned=True,
            enforce_ssl=True,
            encryption=aws_s3.BucketEncryption.S3_MANAGED,
            block_public_access=aws_s3.BlockPublicAccess.BLOCK_ALL,
            # A locked object cannot be deleted, and neither can its bucket.
            removal_policy=RemovalPolicy.RETAIN,
        )
        explain(
            bucket, "S1", "It holds hashes, one function writes it, and CloudTrail can tell who reads it."
        )
        return bucket
