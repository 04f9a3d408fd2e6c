"""Addresses that a tenant's endpoint may have: those of the public internet and no others.

The lists are explicit. Python's `is_global` includes NAT64, 6to4, multicast and others that lead where no
outsider may come. They are translated into a private network, or reach a machine nearby.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from types import MappingProxyType

_REFUSED_4: Mapping[IPv4Network, str] = MappingProxyType(
    {
        IPv4Network(network): what
        for network, what in {
            "0.0.0.0/8": "this network",
            "10.0.0.0/8": "private",
            "100.64.0.0/10": "shared by carriers (CGNAT)",
            "127.0.0.0/8": "loopback",
            "169.254.0.0/16": "link-local, and where clouds keep their metadata",
            "172.16.0.0/12": "private",
            "192.0.0.0/24": "reserved for protocols",
            "192.0.2.0/24": "documentation",
            "192.31.196.0/24": "AS112",
            "192.52.193.0/24": "AMT",
            "192.88.99.0/24": "6to4 relays",
            "192.168.0.0/16": "private",
            "192.175.48.0/24": "AS112",
            "198.18.0.0/15": "benchmarks",
            "198.51.100.0/24": "documentation",
            "203.0.113.0/24": "documentation",
            "224.0.0.0/4": "multicast",
            "240.0.0.0/4": "reserved, and broadcast",
        }.items()
    }
)
# Only this part of IPv6 is assigned; loopback, mapped, private, link-local and multicast are outside it.
_PUBLIC_6 = IPv6Network("2000::/3")
_REFUSED_6: Mapping[IPv6Network, str] = MappingProxyType(
    {
        IPv6Network(network): what
        for network, what in {
            "2001::/23": "reserved for protocols, with Teredo and ORCHID",
            "2001:db8::/32": "documentation",
            "2002::/16": "6to4, which stands for an IPv4 address",
            "2620:4f:8000::/48": "AS112",
            "3fff::/20": "documentation",
        }.items()
    }
)
_EMBEDDING: Mapping[IPv6Network, str] = MappingProxyType(
    {
        IPv6Network("::ffff:0:0/96"): "an IPv4 address in IPv6",
        IPv6Network("::/96"): "an IPv4 address in IPv6",
        IPv6Network("64:ff9b::/96"): "NAT64, which stands for an IPv4 address",
        IPv6Network("64:ff9b:1::/48"): "NAT64 of a private network",
        IPv6Network("fc00::/7"): "private",
        IPv6Network("fe80::/10"): "link-local",
        IPv6Network("ff00::/8"): "multicast",
    }
)


def find_refusal(address: str) -> str | None:
    """Find the reason against an address, to which a name was resolved; None if it is allowed."""
    try:
        # The zone of a link-local address follows a %, and does not matter here.
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "no address at all"
    if isinstance(parsed, IPv4Address):
        return next((kind for network, kind in _REFUSED_4.items() if parsed in network), None)
    return _find_refusal_6(parsed)


def _find_refusal_6(address: IPv6Address) -> str | None:
    if address not in _PUBLIC_6:
        known = (kind for network, kind in _EMBEDDING.items() if address in network)
        return next(known, "not of the public internet")
    return next((kind for network, kind in _REFUSED_6.items() if address in network), None)
