"""The hosts that a tenant may call."""

import pytest
from pydantic import ValidationError

from signet.core.tenants.allowed_hosts import is_among
from signet.core.tenants.tenant_file import MAX_WEBHOOK_HOSTS, TenantSettings


@pytest.mark.parametrize(
    "host", ["a.example", "a-b.example", "*.example", "xn--exmple-cua.example", "localhost"]
)
def test_a_host_or_all_below_one(host: str) -> None:
    assert TenantSettings(webhook_hosts=(host,)).webhook_hosts == (host,)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "*",
        "*.",
        "A.example",
        "a..example",
        ".example",
        "a.example.",
        "a.*.example",
        "a.example:443",
        "-a.example",
        "https://a.example",
        "a_b.example",
        "ä.example",
        "a.example\n",
        "a" * 64 + ".example",
        "a." * 127 + "ab",
    ],
)
def test_what_is_no_host(host: str) -> None:
    with pytest.raises(ValidationError):
        TenantSettings(webhook_hosts=(host,))


def test_hosts_are_so_many_at_most() -> None:
    with pytest.raises(ValidationError):
        TenantSettings(webhook_hosts=tuple(f"a{n}.example" for n in range(MAX_WEBHOOK_HOSTS + 1)))


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("a.example", True),
        ("A.EXAMPLE.", True),
        ("b.c.example", True),
        ("c.example", False),
        ("ba.example", False),
    ],
)
def test_names_are_the_same_however_they_are_written(host: str, found: bool) -> None:
    assert is_among(host, ["a.example", "*.c.example"]) is found
