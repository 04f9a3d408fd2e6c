"""The permissions and variables of each function: as few as it needs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.environments import ENVIRONMENTS
from infra.schema_digest import digest_of
from signet.ids import make_id
from tests.infra.conftest import make_bundles
from tests.support.cloud.templates import FUNCTIONS, Assembly, listed

Synthesize = Callable[[str], Assembly]
DATABASE_ROLES = {
    "api": "signet_api",
    "outbox_relay": "signet_worker",
    "node_execution": "signet_worker",
    "side_effect_io": "signet_worker",
    "janitor": "signet_janitor",
}
# Lambda itself puts a function into the VPC, and needs the function's role to allow that.
NETWORK = "ec2:"
READ_SECRET = "secretsmanager:GetSecretValue"


@pytest.fixture
def full(synthesize: Synthesize) -> Assembly:
    return synthesize("everything")


def test_each_function_has_a_role_of_its_own_that_nobody_else_wrote(full: Assembly) -> None:
    roles = {full.role_of(name) for name in FUNCTIONS}
    assert len(roles) == len(FUNCTIONS)
    for role in roles:
        assert "ManagedPolicyArns" not in full.part("app")[role]["Properties"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_the_network_is_allowed_without_a_name(full: Assembly, name: str) -> None:
    open_ended = [
        action
        for statement in full.statements_of(name)
        if statement["Effect"] == "Allow" and "*" in listed(statement.get("Resource", []))
        for action in listed(statement["Action"])
    ]
    assert open_ended
    assert [action for action in open_ended if not action.startswith(NETWORK)] == []
    assert not any("*" in action for one in full.statements_of(name) for action in listed(one["Action"]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_code_of_a_function_cannot_touch_the_network(full: Assembly, name: str) -> None:
    allowed, denied = (
        {
            action
            for statement in full.statements_of(name)
            if statement["Effect"] == effect
            for action in listed(statement["Action"])
            if action.startswith(NETWORK)
        }
        for effect in ("Allow", "Deny")
    )
    assert denied == allowed
    (denial,) = [one for one in full.statements_of(name) if one["Effect"] == "Deny"]
    source = json.dumps(denial["Condition"]["ArnEquals"]["lambda:SourceFunctionArn"])
    assert f":function:{full.function(name)['FunctionName']}" in source


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_comes_to_the_database_as_itself(full: Assembly, name: str) -> None:
    allowed = full.allowed(name, "rds-db:connect")
    url = json.dumps(full.variables_of(name)["SIGNET_DATABASE_URL"])
    assert "sslmode=verify-full" in url
    if name == "migrator":
        assert allowed == []
        assert "postgresql://signet_admin@" in url
        return
    (resource,) = allowed
    assert f'"/{DATABASE_ROLES[name]}"' in resource
    assert f"postgresql://{DATABASE_ROLES[name]}@" in url


def test_the_admin_is_for_the_migrator(full: Assembly) -> None:
    for name in FUNCTIONS:
        may_read = any("MasterUserSecret" in one for one in full.allowed(name, READ_SECRET))
        knows_of = "SIGNET_ADMIN_SECRET" in full.variables_of(name)
        assert may_read == knows_of == (name == "migrator")


def test_tenants_secrets_are_for_those_who_sign_and_check(full: Assembly) -> None:
    reading = {
        name
        for name in FUNCTIONS
        if any(":secret:signet/prod/*/*" in one for one in full.allowed(name, READ_SECRET))
    }
    assert reading == {"api", "side_effect_io"}
    for name in FUNCTIONS:
        prefix = full.variables_of(name).get("SIGNET_SECRETS_PREFIX")
        assert prefix == ("signet/prod" if name in reading else None)


@pytest.mark.parametrize("action", ["events:PutEvents", "ses:SendEmail", "sns:Publish"])
def test_what_leaves_leaves_by_one_function(full: Assembly, action: str) -> None:
    doing = {
        name
        for name in FUNCTIONS
        if any(action in listed(statement["Action"]) for statement in full.statements_of(name))
    }
    assert doing == {"side_effect_io"}


def test_mail_is_sent_from_one_address(full: Assembly) -> None:
    (statement,) = [
        one for one in full.statements_of("side_effect_io") if "ses:SendEmail" in listed(one["Action"])
    ]
    assert statement["Condition"] == {"StringEquals": {"ses:FromAddress": "signet@mail.example"}}
    identities = [json.dumps(one).rpartition("identity/")[2].strip('"]}') for one in statement["Resource"]]
    assert sorted(identities) == ["mail.example", "signet@mail.example"]


def test_text_messages_go_to_no_topic(full: Assembly) -> None:
    (statement,) = [
        one for one in full.statements_of("side_effect_io") if "sns:Publish" in listed(one["Action"])
    ]
    assert "Resource" not in statement
    assert ":sns:*:*:*" in json.dumps(statement["NotResource"])


def test_without_their_settings_there_is_neither_mail_nor_sms(synthesize: Synthesize) -> None:
    plain = synthesize("prod")
    assert not {"ses:SendEmail", "sns:Publish"} & {
        action for one in plain.statements_of("side_effect_io") for action in listed(one["Action"])
    }
    assert not {"SIGNET_MAIL_SENDER", "SIGNET_TEXT_MESSAGES"} & plain.variables_of("side_effect_io").keys()


def test_seals_are_written_by_the_janitor_and_deleted_by_nobody(full: Assembly) -> None:
    touching = [
        (name, action)
        for name in FUNCTIONS
        for statement in full.statements_of(name)
        for action in listed(statement["Action"])
        if action.startswith("s3:")
    ]
    assert touching == [("janitor", "s3:PutObject")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whoever_commits_work_may_wake_both_queues(full: Assembly, name: str) -> None:
    queues = full.allowed(name, "sqs:SendMessage")
    told = {"SIGNET_EVENTS_QUEUE_URL", "SIGNET_EFFECTS_QUEUE_URL"} & full.variables_of(name).keys()
    assert len(queues) == len(told) == (0 if name == "migrator" else 2)
    assert not any("Dead" in one for one in queues)


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_made_alike(synthesize: Synthesize, environment: str, name: str) -> None:
    settings, assembly = ENVIRONMENTS[environment], synthesize(environment)
    function, variables = assembly.function(name), assembly.variables_of(name)
    assert function["Runtime"] == "python3.14"
    assert function["Architectures"] == ["arm64"]
    assert function["Handler"] == f"functions.{name}.handler.handler"
    assert function["VpcConfig"]["Ipv6AllowedForDualStack"] is True
    assert "TracingConfig" not in function
    assert function.get("ReservedConcurrentExecutions") == settings.reserved_concurrency.get(name)
    assert variables["SIGNET_ENVIRONMENT"] == environment
    assert variables["SIGNET_DATABASE_AUTH"] == "iam"
    assert variables["POWERTOOLS_METRICS_NAMESPACE"] == f"Signet/{environment}"
    assert variables["POWERTOOLS_SERVICE_NAME"] == f"signet-{name.replace('_', '-')}"
    assert variables["AWS_USE_DUALSTACK_ENDPOINT"] == "true"


def test_every_log_group_is_kept_for_as_long_as_is_set(full: Assembly) -> None:
    kept = {
        group["Properties"]["LogGroupName"]: group["Properties"]["RetentionInDays"]
        for group in full.all("AWS::Logs::LogGroup")
    }
    assert kept.keys() >= {f"/aws/lambda/{full.function(name)['FunctionName']}" for name in FUNCTIONS}
    assert kept.pop("/signet/prod/network") == 30
    assert set(kept.values()) == {ENVIRONMENTS["prod"].log_retention_days}


def test_the_api_starts_from_a_snapshot_where_that_is_paid_for(synthesize: Synthesize) -> None:
    prod, dev = synthesize("prod"), synthesize("dev")
    assert prod.function("api")["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert "SnapStart" not in dev.function("api")
    (alias,) = [key for key, one in prod.part("app").items() if one["Type"] == "AWS::Lambda::Alias"]
    assert prod.part("app")[alias]["Properties"]["FunctionName"] == {"Ref": FUNCTIONS["api"]}
    called = [one["Properties"]["IntegrationUri"] for one in prod.all("AWS::ApiGatewayV2::Integration")]
    assert called == [{"Ref": alias}, {"Ref": alias}]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whoever_may_find_the_database_asleep_waits_until_it_is_awake(
    synthesize: Synthesize, full: Assembly, name: str
) -> None:
    """The clock starts it once an hour. If it gave up sooner, each start would find the database asleep."""
    dev, variable = synthesize("dev"), "SIGNET_DATABASE_WAIT_SECONDS"
    waits = int(dev.variables_of(name)[variable])
    assert 15 < waits < dev.function(name)["Timeout"]
    assert variable not in full.variables_of(name)


def test_waits_take_a_quarter_of_what_is_reserved_for_the_api(synthesize: Synthesize) -> None:
    prod = synthesize("prod")
    reserved = int(prod.function("api")["ReservedConcurrentExecutions"])
    assert int(prod.variables_of("api")["SIGNET_MAX_WAITS"]) == reserved // 4
    assert "SIGNET_MAX_WAITS" not in synthesize("dev").variables_of("api")


def test_functions_switch_after_the_migration(synthesize: Synthesize) -> None:
    app = synthesize("dev").part("app")
    for name, logical_id in FUNCTIONS.items():
        comes_after = "Migration" in app[logical_id]["DependsOn"]
        assert comes_after == (name != "migrator")
    migration = app["Migration"]
    assert migration["Properties"]["ServiceToken"] == {"Fn::GetAtt": [FUNCTIONS["migrator"], "Arn"]}
    assert migration["DeletionPolicy"] == "Retain"


def test_another_migration_is_another_deployment(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("-- up", encoding="utf-8")
    first = digest_of(tmp_path)
    (tmp_path / "schema.sql").write_text("not a migration", encoding="utf-8")
    assert digest_of(tmp_path) == first
    (tmp_path / "0002_b.sql").write_text("", encoding="utf-8")
    assert digest_of(tmp_path) != first


def test_telemetry_is_a_layer_more(synthesize: Synthesize, full: Assembly) -> None:
    assert len(synthesize("prod").function("api")["Layers"]) == 1
    assert len(full.function("api")["Layers"]) == 2


def test_other_code_makes_another_version_of_the_api(tmp_path: Path) -> None:
    """Callers take the alias of a version: one that stays would keep the old code for ever."""
    from aws_cdk import App

    from infra.app import build_app

    def name_version(code: bytes) -> str:
        folder = tmp_path / make_id().hex
        bundles = make_bundles(folder / "build")
        (bundles / "lambda" / "layer.zip").write_bytes(code)
        context = {"environment": "prod", "aws:cdk:disable-asset-staging": True}
        made = build_app(App(context=context, outdir=str(folder / "out")), bundles).synth()
        resources = made.get_stack_by_name("signet-prod-app").template["Resources"]
        (version,) = [name for name, one in resources.items() if one["Type"] == "AWS::Lambda::Version"]
        return str(version)

    assert name_version(b"one") == name_version(b"one") != name_version(b"another")


def test_every_function_says_which_build_it_is(synthesize: Synthesize) -> None:
    prod = synthesize("prod")
    assert len({prod.variables_of(name)["SIGNET_BUILD"] for name in FUNCTIONS}) == 1
