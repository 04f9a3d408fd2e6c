"""The database and the seals: the roles that sign in, and the data that survives."""

import json
from collections.abc import Callable

import pytest

from infra.environments import DEPLOYED, ENVIRONMENTS
from signet.store.schema.server import LOGIN_ROLES
from tests.support.cloud.templates import Assembly

Synthesize = Callable[[str], Assembly]


@pytest.mark.parametrize("environment", DEPLOYED)
def test_the_database_is_what_its_environment_says(synthesize: Synthesize, environment: str) -> None:
    settings = ENVIRONMENTS[environment]
    cluster = synthesize(environment).properties("AWS::RDS::DBCluster")
    assert cluster["StorageEncrypted"] is True
    assert cluster["EnableIAMDatabaseAuthentication"] is True
    assert cluster["EngineVersion"] == settings.database_version
    assert cluster["DeletionProtection"] == settings.is_protected
    assert cluster["BackupRetentionPeriod"] == settings.backup_retention_days
    scaling = cluster["ServerlessV2ScalingConfiguration"]
    assert scaling["MinCapacity"] == settings.database_min_capacity
    assert scaling["MaxCapacity"] == settings.database_max_capacity
    instances = [one["Properties"] for one in synthesize(environment).all("AWS::RDS::DBInstance")]
    assert len(instances) == 1 + settings.database_readers
    assert all(one["PubliclyAccessible"] is False for one in instances)


def test_only_dev_sleeps(synthesize: Synthesize) -> None:
    pausing = {
        name: synthesize(name)
        .properties("AWS::RDS::DBCluster")["ServerlessV2ScalingConfiguration"]
        .get("SecondsUntilAutoPause")
        for name in DEPLOYED
    }
    assert pausing == {"dev": 300, "staging": None, "prod": None}
    # A proxy holds connections, and a start each minute opens them: either would keep the database awake.
    assert not synthesize("dev").all("AWS::RDS::DBProxy")
    rates = {
        one["Properties"]["ScheduleExpression"] for one in synthesize("dev").all("AWS::Scheduler::Schedule")
    }
    assert rates == {"rate(1 hour)"}


@pytest.mark.parametrize("environment", DEPLOYED)
def test_rds_itself_keeps_the_password_of_the_admin(synthesize: Synthesize, environment: str) -> None:
    cluster = synthesize(environment).properties("AWS::RDS::DBCluster")
    assert cluster["ManageMasterUserPassword"] is True
    assert "MasterUserPassword" not in cluster


@pytest.mark.parametrize("environment", ["staging", "prod"])
def test_the_proxy_wants_tokens_and_has_no_password(synthesize: Synthesize, environment: str) -> None:
    assembly = synthesize(environment)
    proxy = assembly.properties("AWS::RDS::DBProxy")
    assert (proxy["DefaultAuthScheme"], proxy["RequireTLS"], "Auth" in proxy) == ("IAM_AUTH", True, False)
    (statement,) = assembly.statements_of_role("data", proxy["RoleArn"]["Fn::GetAtt"][0])
    assert statement["Action"] == "rds-db:connect"
    users = {json.dumps(one).rpartition('"/')[2].strip('"]}') for one in statement["Resource"]}
    assert users == {"signet_api", "signet_worker", "signet_janitor"}
    # Clients of the proxy trust Amazon's own authority; the migrator connects to the cluster.
    assert "amazon-roots.pem" in json.dumps(assembly.variables_of("api")["SIGNET_DATABASE_URL"])
    assert "rds-eu-central-1.pem" in json.dumps(assembly.variables_of("migrator")["SIGNET_DATABASE_URL"])


def test_no_two_rules_of_a_group_are_the_same(synthesize: Synthesize) -> None:
    """AWS refuses the second one."""
    for kind in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
        rules = []
        for one in synthesize("prod").all(kind):
            told = {key: value for key, value in one["Properties"].items() if key != "Description"}
            if isinstance(told["FromPort"], dict):
                told |= {"FromPort": 5432, "ToPort": 5432}
            rules.append(json.dumps(told, sort_keys=True))
        assert rules
        assert len(rules) == len(set(rules))


def test_production_survives_its_stacks(synthesize: Synthesize) -> None:
    def kept(environment: str) -> list[str]:
        kinds = ("AWS::RDS::DBCluster", "AWS::RDS::DBInstance")
        assembly = synthesize(environment)
        return [one["DeletionPolicy"] for kind in kinds for one in assembly.all(kind)]

    assert set(kept("prod")) == {"Retain"}
    assert set(kept("dev")) == {"Delete"}


@pytest.mark.parametrize("environment", DEPLOYED)
def test_seals_are_locked(synthesize: Synthesize, environment: str) -> None:
    settings = ENVIRONMENTS[environment]
    (bucket,) = synthesize(environment).all("AWS::S3::Bucket")
    assert bucket["DeletionPolicy"] == "Retain"
    assert bucket["Properties"]["ObjectLockConfiguration"]["Rule"]["DefaultRetention"] == {
        "Mode": settings.anchor_mode,
        "Days": settings.anchor_days,
    }
    assert all(bucket["Properties"]["PublicAccessBlockConfiguration"].values())
    policy = synthesize(environment).properties("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
    assert any(one["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for one in policy)


def test_tokens_are_for_the_roles_that_the_migrator_lets_in() -> None:
    # Imported here because CDK starts Node when it is imported.
    from infra.stacks.data import RUNTIME_ROLES

    assert RUNTIME_ROLES == LOGIN_ROLES
