"""The types of CloudFormation that ministack lacks, and corrections of those that it has."""

import functools
import inspect
import json
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ministack.services import rds, s3, secretsmanager
from ministack.services.cloudformation import provisioners

from infra.emulator.database import prepare_database
from infra.emulator.plan import EmulatorPlan

Made = tuple[str, dict[str, Any]]
Properties = Mapping[str, Any]

_HANDLERS: dict[str, dict[str, Any]] = provisioners._RESOURCE_HANDLERS

# A block of the addresses that are kept for documentation.
_IPV6_BLOCK = "2001:db8:0:100::/56"
# Records without behaviour: the name's beginning, and the attributes that templates ask for.
_RECORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "AWS::EC2::EIP": ("eipalloc", ("AllocationId", "PublicIp")),
    "AWS::EC2::EgressOnlyInternetGateway": ("eigw", ("Id",)),
    "AWS::EC2::FlowLog": ("fl", ("Id",)),
    "AWS::EC2::NatGateway": ("nat", ("NatGatewayId",)),
    "AWS::EC2::SecurityGroupEgress": ("sgr", ("Id",)),
    "AWS::EC2::SecurityGroupIngress": ("sgr", ("Id",)),
    "AWS::EC2::VPCCidrBlock": ("vpc-cidr", ("Id", "Ipv6CidrBlock")),
    "AWS::RDS::DBProxyTargetGroup": ("prx-tg", ("TargetGroupArn",)),
}


def add_what_is_missing(plan: EmulatorPlan) -> None:
    for name, (prefix, attributes) in _RECORDS.items():
        _HANDLERS.setdefault(name, _make_record(prefix, attributes))
    _HANDLERS.setdefault("AWS::RDS::DBProxy", _make_proxy_handler())
    _amend("AWS::EC2::VPC", add=_describe_vpc)
    _amend("AWS::S3::Bucket", add=_lock_objects)
    _only_record("AWS::CloudWatch::Alarm", when=lambda properties: "Metrics" in properties)
    _amend(
        "AWS::RDS::DBCluster",
        change=lambda properties: {**properties, "Port": plan.door_port},
        add=partial(_describe_cluster, plan),
    )


def _make_record(prefix: str, attributes: tuple[str, ...]) -> dict[str, Any]:
    def describe(name: str) -> Made:
        return name, dict.fromkeys(attributes, name)

    def create(logical_id: str, properties: Properties, stack_name: str) -> Made:
        return describe(f"{prefix}-{secrets.token_hex(8)}")

    def update(
        name: str, old: Properties, new: Properties, stack_name: str, logical_id: str | None = None
    ) -> Made:
        return describe(name)

    return {"create": create, "update": update, "delete": lambda name, properties: None}


def _only_record(resource_type: str, when: Callable[[Properties], bool]) -> None:
    """Record without behaviour the resources that ministack refuses, such as an alarm on a sum of metrics."""
    record = _make_record("record", ("Arn",))
    handler = dict(_HANDLERS[resource_type])

    def create(logical_id: str, properties: Properties, stack_name: str) -> Made:
        action = record if when(properties) else handler
        resource: Made = action["create"](logical_id, properties, stack_name)
        return resource

    def delete(name: str, properties: Properties) -> None:
        (record if when(properties) else handler)["delete"](name, properties)

    _HANDLERS[resource_type].update(create=create, delete=delete)


def _make_proxy_handler() -> dict[str, Any]:
    """Return the handler of RDS Proxy, which ministack knows but not from a template.

    The door stands for it.
    """

    def describe(name: str) -> Made:
        proxy = rds._db_proxies[name]
        return name, {attribute: proxy[attribute] for attribute in ("Endpoint", "DBProxyArn", "VpcId")}

    def create(logical_id: str, properties: Properties, stack_name: str) -> Made:
        allowed = {key: value for key, value in properties.items() if key not in ("DBProxyName", "Tags")}
        name = properties.get("DBProxyName") or provisioners._physical_name(
            stack_name, logical_id, lowercase=True, max_len=63
        )
        query = {"DBProxyName": name, **provisioners._ec_query(allowed)}
        provisioners._rds_call(rds._create_db_proxy, query, "AWS::RDS::DBProxy", "create")
        return describe(name)

    def update(
        name: str, old: Properties, new: Properties, stack_name: str, logical_id: str | None = None
    ) -> Made:
        return describe(name)

    def delete(name: str, properties: Properties) -> None:
        provisioners._rds_call(rds._delete_db_proxy, {"DBProxyName": name}, "AWS::RDS::DBProxy", "delete")

    return {"create": create, "update": update, "delete": delete}


def _amend(
    resource_type: str,
    *,
    change: Callable[[Properties], Properties] = lambda properties: properties,
    add: Callable[[str, Properties], Mapping[str, Any]] = lambda name, properties: {},
) -> None:
    """Change the properties that a handler is given, and add to the attributes that it answers with."""
    for action in ("create", "update"):
        made_by = _HANDLERS[resource_type].get(action)
        if made_by is not None:
            _HANDLERS[resource_type][action] = _wrap(made_by, change, add)


def _wrap(
    made_by: Callable[..., Made],
    change: Callable[[Properties], Properties],
    add: Callable[[str, Properties], Mapping[str, Any]],
) -> Callable[..., Made]:
    # The properties of the result: the second argument of a create, the third of an update.
    position = 1 if len(inspect.signature(made_by).parameters) == 3 else 2

    @functools.wraps(made_by)
    def handle(*arguments: Any, **named: Any) -> Made:
        changed = [change(argument) if isinstance(argument, Mapping) else argument for argument in arguments]
        name, attributes = made_by(*changed, **named)
        return name, {**add(name, arguments[position]), **attributes}

    return handle


def _describe_vpc(name: str, properties: Properties) -> Mapping[str, Any]:
    return {"CidrBlock": properties.get("CidrBlock"), "VpcId": name, "Ipv6CidrBlocks": [_IPV6_BLOCK]}


def _lock_objects(name: str, properties: Properties) -> Mapping[str, Any]:
    if properties.get("ObjectLockEnabled"):
        rule = properties.get("ObjectLockConfiguration", {}).get("Rule", {})
        kept = rule.get("DefaultRetention")
        s3._bucket_object_lock[name] = {
            "enabled": True,
            "default_retention": kept and {"Mode": kept["Mode"], "Days": int(kept["Days"])},
        }
    return {}


def _describe_cluster(plan: EmulatorPlan, name: str, properties: Properties) -> Mapping[str, Any]:
    """Make the cluster's master, database and secret in the real Postgres. Return the secret's attribute."""
    prepare_database(plan, properties)
    if not properties.get("ManageMasterUserPassword"):
        return {}
    cluster = rds._clusters[name]
    secret_name = f"rds!{cluster['DbClusterResourceId']}"
    if secret_name not in secretsmanager._secrets:
        cluster["_MasterUserPassword"] = secrets.token_urlsafe(24)
        credentials = {"username": cluster["MasterUsername"], "password": cluster["_MasterUserPassword"]}
        secretsmanager._store_new_secret(secret_name, secret_string=json.dumps(credentials))
    return {"MasterUserSecret.SecretArn": secretsmanager._secrets[secret_name]["ARN"]}
