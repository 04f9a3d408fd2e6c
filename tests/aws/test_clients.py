"""Clients of AWS: one for each service, with timeouts and attempts of its own, at the set address."""

import subprocess
import sys
from dataclasses import replace

import pytest

from functions.wake_up_records import EFFECTS_RESERVE_MS
from signet.aws import clients as module
from signet.aws.clients import CALL_SECONDS, MAX_ATTEMPTS, Clients
from signet.aws.mail import Mail
from signet.engine.integrations.effects import LEASE_SECONDS, MAX_CLAIMED
from signet.outbound.fan_out import FAN_OUT_SECONDS
from signet.settings import DeliverySettings
from signet.wiring.effects import make_connectors
from tests.aws.sending import ANN, message, serving
from tests.outbound.receiver import answering


def test_one_of_each_is_made_when_it_is_asked_for(clients: Clients) -> None:
    assert clients.get("sns") is clients.get("sns")
    assert clients.get("sns") is not clients.get("sesv2")


def test_attempts_are_few_and_times_are_named(clients: Clients) -> None:
    config = clients.get("events").meta.config
    assert config.retries == {"mode": "standard", "total_max_attempts": MAX_ATTEMPTS}
    assert (config.connect_timeout, config.read_timeout) == (module.CONNECT_SECONDS, module.READ_SECONDS)
    assert config.max_pool_connections >= MAX_CLAIMED


def test_a_claim_is_over_before_its_lease_and_its_function() -> None:
    slowest = FAN_OUT_SECONDS + CALL_SECONDS
    assert slowest < LEASE_SECONDS
    assert slowest * 1_000 < EFFECTS_RESERVE_MS


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SESV2", "AWS_ENDPOINT_URL_SNS"])
def test_the_address_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:4566")
    found = {service: Clients().get(service).meta.endpoint_url for service in ("sesv2", "sns")}
    local = {service for service, url in found.items() if url == "http://127.0.0.1:4566"}
    assert local == {"AWS_ENDPOINT_URL": {"sesv2", "sns"}}.get(name, {name.rsplit("_", 1)[1].lower()})


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch, clients: Clients) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(monkeypatch, answering(200, b'{"MessageId": "m-1"}')) as service:
        delivery = Mail(clients, "signet@a.example").deliver(message(ANN))
    assert (delivery.body, len(service.received)) == ({"told": {"ann": "m-1"}}, 1)


def test_what_is_sent_from_elsewhere_needs_no_aws() -> None:
    """Import the API and the engine's processes without the SDK, which would slow their start."""
    program = (
        "import signet.wiring.api, signet.wiring.engine, signet.wiring.effects, sys;"
        "assert not {'boto3', 'botocore.session'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_what_is_named_has_a_connector_and_nothing_else() -> None:
    everything = DeliverySettings("signet@a.example", "signet", "signet", sends_text_messages=True)
    assert set(make_connectors(DeliverySettings())) == {"webhook"}
    assert set(make_connectors(replace(everything, mail_sender=None))) == {"webhook", "sms", "integration"}
    assert set(make_connectors(everything, "eu-central-1")) == {"webhook", "email", "sms", "integration"}
