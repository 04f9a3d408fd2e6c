"""Internal addresses: every family is refused, in every form that a resolver may give."""

import pytest

from signet.outbound.addresses import find_refusal

REFUSED = {
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "febf::1"],
    "metadata": ["169.254.169.254", "169.254.170.2", "fd00:ec2::254"],
    "CGNAT": ["100.64.0.1", "100.127.255.254"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "64:ff9b::808:808"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "192.88.99.1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:a9fe:a9fe"],
    "compatible": ["::127.0.0.1", "::10.0.0.1"],
    "Teredo and ORCHID": ["2001::1", "2001:10::1", "2001:20::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1"],
    "documentation": ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"],
    "benchmarks": ["198.18.0.1", "198.19.255.254"],
    "protocols": ["192.0.0.8", "192.0.0.170"],
    "not given out": ["4000::1", "5f00::1", "100::1", "1::1"],
    "no address": ["", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "1.2.3.4.5", "::g"],
}


@pytest.mark.parametrize(("family", "address"), [(f, a) for f, found in REFUSED.items() for a in found])
def test_what_leads_to_the_inside_is_refused(family: str, address: str) -> None:
    assert find_refusal(address) is not None


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.167.255.255",
        "169.253.255.255",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "126.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2001:200::1",
    ],
)
def test_the_public_internet_is_let_through(address: str) -> None:
    assert find_refusal(address) is None
