"""The vectors that RFC 8785 and its author publish, through the function that hashes everything here."""

import json
import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from signet.core.canonical_json import canonical_bytes, content_hash, hash_bytes
from tests.support.generated.strategies import fuzz

VECTORS = {
    "arrays": ('[56, {"d": true, "10": null, "1": [ ]}]', '[56,{"1":[],"10":null,"d":true}]'),
    "french": (
        '{"peach": "This sorting order", "p\\u00e9ch\\u00e9": "is wrong according to French",'
        ' "p\\u00eache": "but canonicalization MUST", "sin": "ingnore locale"}',
        '{"peach":"This sorting order","p\u00e9ch\u00e9":"is wrong according to French",'
        '"p\u00eache":"but canonicalization MUST","sin":"ingnore locale"}',
    ),
    "structures": (
        '{"1": {"f": {"f": "hi", "F": 5}, "\\n": 56.0}, "10": {}, "": "empty", "a": {},'
        ' "111": [{}], "A": {}}',
        '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{}],"A":{},"a":{}}',
    ),
    "unicode": (
        '{"Unnormalized Unicode": "\\u1e0d\\u0307"}',
        '{"Unnormalized Unicode":"\u1e0d\u0307"}',
    ),
    "values": (
        '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        ' "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",'
        ' "literals": [null, true, false]}',
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ),
    "weird": (
        '{"\\u20ac": "Euro Sign", "\\r": "Carriage Return", "\\ufb33": "Hebrew Letter Dalet With Dagesh",'
        ' "1": "One", "\\ud83d\\ude00": "Emoji: Grinning Face", "\\u0080": "Control",'
        ' "\\u00f6": "Latin Small Letter O With Diaeresis", "</script>": "Browser Challenge"}',
        '{"\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control",'
        '"\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",'
        '"\U0001f600":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
}

# Appendix B: the bits of a double, and its text.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_published_vector(name: str) -> None:
    given, canonical = VECTORS[name]
    assert canonical_bytes(json.loads(given)) == canonical.encode()
    assert content_hash(json.loads(given)) == hash_bytes(canonical.encode())


@pytest.mark.parametrize("bits", NUMBERS)
def test_a_published_number(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_bytes(number) == NUMBERS[bits].encode()


def make_deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        2**53,
        -(2**53),
        {"a": [2**53 + 1]},
        "\ud800",
        {"\udfff": 1},
        make_deep(100_000),
        {1: 2},
        b"bytes",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_exactly_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="not canonical JSON"):
        canonical_bytes(value)


def test_the_order_of_keys_is_no_difference() -> None:
    assert content_hash({"b": 1, "a": 2}) == content_hash({"a": 2, "b": 1})
    assert content_hash({"b": 1, "a": 2}) != content_hash({"b": 2, "a": 1})
    assert content_hash([1, 2]) != content_hash([2, 1])
    assert content_hash({}) == hash_bytes(b"{}")


def test_the_largest_integers() -> None:
    assert canonical_bytes([2**53 - 1, 1 - 2**53]) == b"[9007199254740991,-9007199254740991]"


characters = st.characters(codec="utf-8") | st.sampled_from('\x00\x08\t\n\x0b\x0c\r\x1f\x7f"\\/é€😀\ufb33')
texts = st.text(characters, max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**54), 2**54) | st.floats(width=64) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@fuzz(300)
@given(values)
def test_every_value_has_the_bytes_of_the_reference_implementation(value: Any) -> None:
    try:
        wanted = rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        with pytest.raises(ValueError, match="not canonical JSON"):
            canonical_bytes(value)
    else:
        assert canonical_bytes(value) == wanted


@pytest.mark.parametrize("depth", [1, 59, 60, 61, 200])
def test_depth_makes_no_difference(depth: int) -> None:
    assert canonical_bytes(make_deep(depth)) == rfc8785.dumps(make_deep(depth))
