"""The settings of each environment, and the files that must agree with them."""

import json
import re
import ssl
import tarfile
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aws_cdk
import pytest

from infra.app import read_flags
from infra.environments import DEPLOYED, ENVIRONMENTS
from infra.settings import LONGEST_DELAY_MINUTES, SettingsRefused, override
from infra.settings_mistakes import list_missing, list_mistakes
from signet.aws.wake_ups import MAX_DELAY_SECONDS

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = ROOT / "infra" / "certificates"


def test_samconfig_names_the_stack_of_every_environment() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for name in DEPLOYED:
        named = config[name]["global"]["parameters"]
        stack = f"{ENVIRONMENTS[name].prefix}-app"
        assert named == {"stack_name": stack, "region": ENVIRONMENTS[name].region}
        assert config[name]["validate"]["parameters"] == {"template_file": f"cdk.out/{stack}.template.json"}
    assert config.keys() == {"version", *DEPLOYED}


@pytest.mark.parametrize("name", DEPLOYED)
def test_every_region_has_the_roots_of_its_database(name: str) -> None:
    region = ENVIRONMENTS[name].region
    roots = read_certificates(CERTIFICATES / f"rds-{region}.pem")
    assert {f"Amazon RDS {region} Root CA {kind} G1" for kind in ("RSA2048", "RSA4096", "ECC384")} == set(
        roots
    )


def test_the_proxy_is_believed_by_the_roots_of_amazon() -> None:
    assert {f"Amazon Root CA {number}" for number in range(1, 5)} < set(
        read_certificates(CERTIFICATES / "amazon-roots.pem")
    )


def read_certificates(path: Path) -> list[str]:
    """Return the names of authorities that signed themselves and are valid for a long time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(path)
    names = []
    for one in context.get_ca_certs():
        assert one["subject"] == one["issuer"]
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(one["notAfter"])), UTC)
        assert ends.year >= 2037
        names += re.findall(r"'commonName', '([^']+)'", str(one["subject"]))
    return names


def test_one_setting_can_be_said_by_hand() -> None:
    dev = ENVIRONMENTS["dev"]
    said = {
        "signet:jwt_issuer": "https://login.acme.test/",
        "signet:jwt_audiences": "one, two",
        "signet:nat_gateways": "1",
        "signet:database_max_capacity": "1.5",
        "signet:has_snap_start": "true",
        "signet:operator_role": "acme:operator",
    }
    changed = override(dev, said)
    assert changed.jwt_issuer == "https://login.acme.test/"
    assert changed.jwt_audiences == ("one", "two")
    assert changed.nat_gateways == 1
    assert changed.database_max_capacity == 1.5
    assert changed.has_snap_start is True
    assert changed.operator_role == "acme:operator"
    assert changed.name == dev.name


def test_a_setting_that_is_none_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"nat_gateway: is no setting$"):
        override(ENVIRONMENTS["dev"], {"signet:nat_gateway": "1"})


def test_all_mistakes_of_the_command_line_are_said_at_once() -> None:
    said = {
        "signet:reserved_concurrency": "many",
        "signet:environment": '{"A": 1}',
        "signet:anchor_mode": "X",
        "signet:has_snap_start": "yes",
        "signet:nat_gateways": "two",
        "signet:nat_gateway": "1",
    }
    with pytest.raises(SettingsRefused) as refused:
        override(ENVIRONMENTS["prod"], said)
    named = [line.strip().partition(":")[0] for line in str(refused.value).splitlines()[1:]]
    assert sorted(named) == sorted(name.removeprefix("signet:") for name in said)


def test_mappings_are_json() -> None:
    said = {
        "signet:environment": '{"OTEL_TRACES_EXPORTER": "none"}',
        "signet:reserved_concurrency": '{"api": 5}',
    }
    changed = override(ENVIRONMENTS["dev"], said)
    assert changed.environment == {"OTEL_TRACES_EXPORTER": "none"}
    assert changed.reserved_concurrency == {"api": 5}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"region": "us-west-2"}, "region"),
        ({"account": "1234"}, "account"),
        ({"jwt_issuer": "http://login.acme.test/"}, "jwt_issuer"),
        ({"jwt_keys_url": "login.acme.test/keys"}, "jwt_keys_url"),
        ({"jwt_audiences": ()}, "jwt_audiences"),
        ({"operator_role": "operator"}, "operator_role"),
        ({"database_min_capacity": 64.0}, "database_min_capacity"),
        ({"reserved_concurrency": {"node_execution": 1}}, "reserved_concurrency"),
        ({"api_domain_name": "api.signet.test"}, "certificate_arn"),
        ({"alarm_emails": ("oncall",)}, "alarm_emails"),
    ],
)
def test_what_no_deployment_could_work_with_is_a_mistake(change: dict[str, Any], named: str) -> None:
    mistakes = list_mistakes(replace(ENVIRONMENTS["prod"], **change))
    assert [mistake.partition(":")[0] for mistake in mistakes] == [named]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_no_file_has_a_mistake(name: str) -> None:
    assert list_mistakes(ENVIRONMENTS[name]) == []


def test_production_with_only_an_issuer_lacks_the_rest() -> None:
    only_issuer = replace(ENVIRONMENTS["prod"], jwt_issuer="https://login.acme.test/")
    named = [missing.partition(" ")[0] for missing in list_missing(only_issuer)]
    assert named == ["jwt_keys_url", "operator_role", "alarm_emails", "account"]
    given = replace(
        only_issuer,
        jwt_keys_url="https://login.acme.test/keys",
        operator_role="signet:operator",
        alarm_emails=("oncall@acme.test",),
        account="000000000000",
    )
    assert list_missing(given) == []


def test_the_app_behaves_as_its_release_of_cdk_recommends() -> None:
    (archive,) = Path(str(aws_cdk.__file__)).parent.glob("_jsii/*.tgz")
    with tarfile.open(archive) as packed:
        recommended = packed.extractfile("package/recommended-feature-flags.json")
        assert recommended is not None
        assert read_flags() == json.load(recommended)


def test_a_message_waits_as_long_as_the_engine_believes() -> None:
    assert LONGEST_DELAY_MINUTES * 60 == MAX_DELAY_SECONDS
    assert [name for name in DEPLOYED if ENVIRONMENTS[name].plans_sweeps] == ["dev"]


def test_only_production_is_protected() -> None:
    assert [name for name in DEPLOYED if ENVIRONMENTS[name].is_protected] == ["prod"]
