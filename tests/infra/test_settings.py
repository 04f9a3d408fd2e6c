"""The settings of each environment, and the files that must agree with them."""

import re
import ssl
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.environments import DEPLOYED, ENVIRONMENTS
from infra.settings import LONGEST_DELAY_MINUTES, override
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
    with pytest.raises(SystemExit, match=r"nat_gateway$"):
        override(ENVIRONMENTS["dev"], {"signet:nat_gateway": "1"})


def test_a_message_waits_as_long_as_the_engine_believes() -> None:
    assert LONGEST_DELAY_MINUTES * 60 == MAX_DELAY_SECONDS
    assert [name for name in DEPLOYED if ENVIRONMENTS[name].plans_sweeps] == ["dev"]


def test_only_production_is_protected() -> None:
    assert [name for name in DEPLOYED if ENVIRONMENTS[name].is_protected] == ["prod"]
