"""What the CDK app synthesizes. Needs Node, as CDK does; CI must have it."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

if shutil.which("node") is None and not os.environ.get("CI"):
    pytest.skip("CDK needs Node", allow_module_level=True)

from aws_cdk import App
from aws_cdk.assertions import Template

from infra.app import build_app
from infra.environments import ENVIRONMENTS
from infra.stacks.data import DataStack

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def templates() -> dict[str, Template]:
    return {
        name: Template.from_stack(DataStack(App(), name, settings)) for name, settings in ENVIRONMENTS.items()
    }


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_database_is_encrypted_and_sized_by_its_environment(
    templates: dict[str, Template], name: str
) -> None:
    settings = ENVIRONMENTS[name]
    templates[name].has_resource_properties(
        "AWS::RDS::DBCluster",
        {
            "StorageEncrypted": True,
            "EnableIAMDatabaseAuthentication": True,
            "EngineVersion": settings.database_version,
            "DeletionProtection": settings.is_protected,
            "BackupRetentionPeriod": settings.backup_retention_days,
            "ServerlessV2ScalingConfiguration": {
                "MinCapacity": settings.database_min_capacity,
                "MaxCapacity": settings.database_max_capacity,
            },
        },
    )


def test_production_data_survives_its_stack(templates: dict[str, Template]) -> None:
    templates["prod"].has_resource("AWS::RDS::DBCluster", {"DeletionPolicy": "Retain"})
    templates["dev"].has_resource("AWS::RDS::DBCluster", {"DeletionPolicy": "Delete"})


def test_nothing_is_reachable_from_outside(templates: dict[str, Template]) -> None:
    templates["prod"].resource_count_is("AWS::EC2::InternetGateway", 0)
    templates["prod"].has_resource_properties("AWS::RDS::DBInstance", {"PubliclyAccessible": False})


def test_samconfig_names_the_stacks_of_every_environment() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for name in ENVIRONMENTS:
        stack_name = config[name]["global"]["parameters"]["stack_name"]
        app = build_app(App(context={"environment": name}))
        assert stack_name in [child.node.id for child in app.node.children]
