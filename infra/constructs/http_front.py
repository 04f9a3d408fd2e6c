"""An HTTP API in front of a function: throttled, and logged without paths, query strings and headers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_apigatewayv2, aws_certificatemanager, aws_lambda
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from infra.constructs.kept_log import KeptLog
from infra.findings import explain
from infra.settings import EnvironmentSettings

# These are the fields in observing.md: names, codes and times. No path as it was sent, no query string, no
# header.
_LOGGED = {
    "request_id": "$context.requestId",
    "route": "$context.routeKey",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "milliseconds": "$context.responseLatency",
    "function_milliseconds": "$context.integrationLatency",
    "source_ip": "$context.identity.sourceIp",
    "refused_because": "$context.authorizer.error",
}


@dataclass(frozen=True)
class FrontLimits:
    requests_per_second: int
    burst: int


class HttpFront(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        settings: EnvironmentSettings,
        function: aws_lambda.IFunction,
        limits: FrontLimits,
        domain_name: str | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = name
        self._integration = HttpLambdaIntegration(
            "Function", function, payload_format_version=aws_apigatewayv2.PayloadFormatVersion.VERSION_2_0
        )
        self.api = aws_apigatewayv2.HttpApi(
            self,
            "Api",
            api_name=name,
            create_default_stage=False,
            disable_execute_api_endpoint=domain_name is not None,
            ip_address_type=aws_apigatewayv2.IpAddressType.DUAL_STACK,
            # The function itself answers browsers. With CORS here, API Gateway would remove its headers.
        )
        self.stage = aws_apigatewayv2.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=aws_apigatewayv2.ThrottleSettings(
                rate_limit=limits.requests_per_second, burst_limit=limits.burst
            ),
            detailed_metrics_enabled=False,
            domain_mapping=self._add_domain(domain_name, settings.certificate_arn),
        )
        log = KeptLog(self, "Log", f"/aws/apigateway/{name}", settings.log_retention_days)
        resource = self.stage.node.default_child
        assert isinstance(resource, aws_apigatewayv2.CfnStage)
        resource.access_log_settings = aws_apigatewayv2.CfnStage.AccessLogSettingsProperty(
            destination_arn=log.log_group_arn, format=json.dumps(_LOGGED)
        )

    def add_routes(
        self,
        path: str,
        methods: Sequence[aws_apigatewayv2.HttpMethod],
        authorizer: aws_apigatewayv2.IHttpRouteAuthorizer | None = None,
        *,
        why_open: str = "",
    ) -> None:
        routes = self.api.add_routes(
            path=path,
            methods=[*methods],
            integration=self._integration,
            # The API has no default authorizer, so a route without one is open.
            authorizer=authorizer,
        )
        if authorizer is None:
            for route in routes:
                explain(route, "APIG4", why_open)

    def _add_domain(
        self, name: str | None, certificate_arn: str | None
    ) -> aws_apigatewayv2.DomainMappingOptions | None:
        if name is None:
            return None
        if certificate_arn is None:
            raise SystemExit(f"{name} needs a certificate_arn")
        certificate = aws_certificatemanager.Certificate.from_certificate_arn(
            self, "Certificate", certificate_arn
        )
        domain = aws_apigatewayv2.DomainName(
            self,
            "Domain",
            domain_name=name,
            certificate=certificate,
            security_policy=aws_apigatewayv2.SecurityPolicy.TLS_1_2,
        )
        return aws_apigatewayv2.DomainMappingOptions(domain_name=domain)
