"""The two HTTP APIs in front of one function."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from infra.environments import ENVIRONMENTS
from infra.settings import EnvironmentSettings
from infra.stacks.app import NOBODY
from tests.infra.conftest import EVERYTHING
from tests.support.cloud.templates import Assembly

Synthesize = Callable[[str], Assembly]


def fronts_of(assembly: Assembly) -> Mapping[str, str]:
    """Return the logical id of each front by its name without the environment."""
    return {
        one["Properties"]["Name"].removeprefix(f"signet-{assembly.environment}") or "people": key
        for key, one in assembly.part("app").items()
        if one["Type"] == "AWS::ApiGatewayV2::Api"
    }


def of_front(assembly: Assembly, kind: str, front: str) -> list[Mapping[str, Any]]:
    return [
        one["Properties"]
        for one in assembly.all(f"AWS::ApiGatewayV2::{kind}")
        if one["Properties"]["ApiId"] == {"Ref": fronts_of(assembly)[front]}
    ]


def test_people_come_with_a_token_of_the_issuer(synthesize: Synthesize) -> None:
    assembly = synthesize("prod")
    guards = {one["RouteKey"]: one["AuthorizationType"] for one in of_front(assembly, "Route", "people")}
    assert guards.pop("ANY /v1/{proxy+}") == "JWT"
    assert guards.pop("OPTIONS /v1/{proxy+}") == "NONE"
    assert {key.partition(" ")[2] for key in guards} == {"/openapi.json", "/reference"}
    settings = ENVIRONMENTS["prod"]
    authorizer = assembly.properties("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"] == {
        "Issuer": settings.jwt_issuer or NOBODY,
        "Audience": [*settings.jwt_audiences],
    }
    variables = assembly.variables_of("api")
    assert variables["SIGNET_JWT_ISSUER"] == (settings.jwt_issuer or NOBODY)
    assert variables["SIGNET_JWT_AUDIENCE"] == ",".join(settings.jwt_audiences)


def test_machines_come_to_the_same_function_by_another_door(synthesize: Synthesize) -> None:
    assembly = synthesize("prod")
    routes = {one["RouteKey"]: one["AuthorizationType"] for one in of_front(assembly, "Route", "-machines")}
    assert routes == {"ANY /v1/{proxy+}": "NONE", "GET /metrics": "NONE"}
    called = [one["IntegrationUri"] for one in assembly_integrations(assembly)]
    assert len(called) == 2
    assert called[0] == called[1]


def assembly_integrations(assembly: Assembly) -> list[Mapping[str, Any]]:
    return [one["Properties"] for one in assembly.all("AWS::ApiGatewayV2::Integration")]


@pytest.mark.parametrize("environment", ["dev", "staging", "prod"])
def test_machines_are_let_in_more_slowly(synthesize: Synthesize, environment: str) -> None:
    assembly, settings = synthesize(environment), ENVIRONMENTS[environment]
    rates = {
        front: of_front(assembly, "Stage", front)[0]["DefaultRouteSettings"]["ThrottlingRateLimit"]
        for front in ("people", "-machines")
    }
    assert rates == {
        "people": settings.api_requests_per_second,
        "-machines": settings.machine_requests_per_second,
    }
    assert rates["-machines"] < rates["people"]


def test_both_log_who_came_and_not_what_for(synthesize: Synthesize) -> None:
    for front in ("people", "-machines"):
        (stage,) = of_front(synthesize("prod"), "Stage", front)
        logged = json.loads(stage["AccessLogSettings"]["Format"])
        assert logged["request_id"] == "$context.requestId"
        told = json.dumps(logged).lower()
        for secret in ("path", "query", "header", "claims", "body", "domainname"):
            assert secret not in told


def test_all_requests_are_of_payload_format_2(synthesize: Synthesize) -> None:
    assert {one["PayloadFormatVersion"] for one in assembly_integrations(synthesize("dev"))} == {"2.0"}


def test_browsers_are_answered_by_the_function(synthesize: Synthesize) -> None:
    full = synthesize("everything")
    assert all("CorsConfiguration" not in one["Properties"] for one in full.all("AWS::ApiGatewayV2::Api"))
    assert full.variables_of("api")["SIGNET_CORS_ORIGINS"] == EVERYTHING["signet:cors_origins"]
    assert "SIGNET_CORS_ORIGINS" not in synthesize("prod").variables_of("api")


def test_with_domains_of_their_own_they_have_no_other(synthesize: Synthesize) -> None:
    full = synthesize("everything")
    names = {one["Properties"]["DomainName"] for one in full.all("AWS::ApiGatewayV2::DomainName")}
    assert names == {EVERYTHING["signet:api_domain_name"], EVERYTHING["signet:machine_domain_name"]}
    assert {one["Properties"]["DisableExecuteApiEndpoint"] for one in full.all("AWS::ApiGatewayV2::Api")} == {
        True
    }
    assert len(full.all("AWS::ApiGatewayV2::ApiMapping")) == 2


def test_a_domain_needs_its_certificate() -> None:
    from aws_cdk import App

    from infra.app import read_settings

    context = {"environment": "dev", "signet:api_domain_name": "api.signet.example"}
    settings: EnvironmentSettings = read_settings(App(context=context))
    assert settings.certificate_arn is None
    with pytest.raises(SystemExit, match="certificate_arn"):
        _make_front(settings)


def _make_front(settings: EnvironmentSettings) -> None:
    from aws_cdk import App, Stack, aws_lambda

    from infra.constructs.http_front import FrontLimits, HttpFront

    stack = Stack(App(), "stack")
    function = aws_lambda.Function.from_function_name(stack, "Function", "any")
    limits = FrontLimits(1, 1)
    HttpFront(
        stack,
        "Front",
        name="any",
        settings=settings,
        function=function,
        limits=limits,
        domain_name=settings.api_domain_name,
    )
