"""The network: free of charge by default, and closed from outside."""

import json
from collections.abc import Callable

import pytest

from infra.environments import DEPLOYED, ENVIRONMENTS
from signet.outbound.webhook import PORTS
from tests.support.cloud.templates import Assembly

Synthesize = Callable[[str], Assembly]


@pytest.mark.parametrize("environment", DEPLOYED)
def test_there_are_as_many_nat_gateways_as_are_paid_for(synthesize: Synthesize, environment: str) -> None:
    count = ENVIRONMENTS[environment].nat_gateways
    assembly = synthesize(environment)
    assert len(assembly.all("AWS::EC2::NatGateway")) == count
    assert len(assembly.all("AWS::EC2::InternetGateway")) == (1 if count else 0)


def test_dev_pays_for_nothing_that_waits(synthesize: Synthesize) -> None:
    dev = synthesize("dev")
    for kind in ("EC2::NatGateway", "EC2::EIP", "RDS::DBProxy", "KMS::Key"):
        assert dev.all(f"AWS::{kind}") == []
    assert [one["Properties"]["VpcEndpointType"] for one in dev.all("AWS::EC2::VPCEndpoint")] == ["Gateway"]


def test_functions_reach_aws_by_ipv6_and_only_outwards(synthesize: Synthesize) -> None:
    dev = synthesize("dev")
    routes = [one["Properties"] for one in dev.all("AWS::EC2::Route")]
    assert routes
    assert {one["DestinationIpv6CidrBlock"] for one in routes} == {"::/0"}
    assert all("EgressOnlyInternetGatewayId" in one for one in routes)


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_functions_may_go_where_webhooks_go_and_nobody_comes_in(
    synthesize: Synthesize, environment: str
) -> None:
    (group,) = [
        one["Properties"]
        for one in synthesize(environment).part("network").values()
        if one["Type"] == "AWS::EC2::SecurityGroup"
    ]
    assert "SecurityGroupIngress" not in group
    outside = {
        (rule.get("CidrIp") or rule["CidrIpv6"], rule["FromPort"])
        for rule in group["SecurityGroupEgress"]
        if "GetAtt" not in json.dumps(rule)
    }
    assert outside == {(place, port) for place in ("0.0.0.0/0", "::/0") for port in PORTS}
    inside = [rule for rule in group["SecurityGroupEgress"] if "GetAtt" in json.dumps(rule)]
    assert [rule["FromPort"] for rule in inside] == [5432]


@pytest.mark.parametrize("environment", DEPLOYED)
def test_the_default_group_is_closed(synthesize: Synthesize, environment: str) -> None:
    assert len(synthesize(environment).all("Custom::VpcRestrictDefaultSG")) == 1


def test_flow_is_logged_in_production(synthesize: Synthesize) -> None:
    assert len(synthesize("prod").all("AWS::EC2::FlowLog")) == 1
    assert synthesize("dev").all("AWS::EC2::FlowLog") == []


def test_the_answer_of_the_migrator_finds_its_bucket(synthesize: Synthesize) -> None:
    policy = synthesize("dev").properties("AWS::EC2::VPCEndpoint")["PolicyDocument"]["Statement"]
    answering, own = policy
    assert answering["Action"] == "s3:PutObject"
    assert answering["Resource"] == "arn:aws:s3:::cloudformation-custom-resource-response-*/*"
    assert own["Condition"] == {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}
